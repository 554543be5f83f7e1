"""OTF2 traces made by the reader's own writer, as Score-P writes them of MPI+OpenMP programs."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import otf2
from otf2 import CollectiveOp, GroupType, Paradigm, RegionRole

TICKS = 10**9
START = 123_456_789
"""The clock does not begin at 0."""


def noting(event: str, *arguments: object) -> Callable[[Any], object]:
    """Writes an event, given a writer."""
    return lambda writer: getattr(writer, event)(*arguments)


class Trace:
    """Ranks of so many threads, two on a node; their communicator has them in reverse order."""

    def __init__(self, archive: Any, ranks: int, threads: int) -> None:
        self.definitions = d = archive.definitions
        root = d.system_tree_node("machine", class_name="machine")
        nodes = [d.system_tree_node(f"node{n}", class_name="node", parent=root) for n in range(-(-ranks // 2))]
        groups = [d.location_group(f"MPI Rank {r}", system_tree_parent=nodes[r // 2]) for r in range(ranks)]
        self.locations = [
            [d.location("Master thread" if t == 0 else f"OMP thread {t}", group=g) for t in range(threads)]
            for g in groups
        ]
        self.writers = [[archive.event_writer_from_location(at) for at in of] for of in self.locations]
        masters = [of[0] for of in self.locations]
        d.group("", group_type=GroupType.COMM_LOCATIONS, paradigm=Paradigm.MPI, members=masters)
        backwards = d.group("", group_type=GroupType.COMM_GROUP, paradigm=Paradigm.MPI, members=masters[::-1])
        self.comm = d.comm("backwards", group=backwards)
        self.win = d.rma_win("window", comm=self.comm)
        self.ranks = ranks
        self.main = d.region("main")

    def called(self, rank: int) -> int:
        """A rank in the communicator."""
        return self.ranks - 1 - rank

    def region(self, name: str, role: RegionRole, paradigm: Paradigm = Paradigm.OPENMP) -> Any:
        found = {r.name: r for r in self.definitions.regions}
        return found.get(name) or self.definitions.region(
            name, region_role=role, paradigm=paradigm, source_file="halo.c", begin_line_number=17
        )

    def call(self, rank: int, name: str, begin: int, end: int, *inside: Callable[[Any], object]) -> None:
        """A call of MPI by the master, with what is recorded in it."""
        mpi = self.region(name, RegionRole.FUNCTION, Paradigm.MPI)
        writer = self.writers[rank][0]
        writer.enter(START + begin, mpi)
        for note in inside:
            note(writer)
        writer.leave(START + end, mpi)

    def parallel(self, rank: int, begin: int, finish: Sequence[int], late: int = 0) -> int:
        """A parallel loop whose threads finish then, and begin `late` after one another; when it ends."""
        region = self.region("!$omp parallel", RegionRole.PARALLEL)
        loop = self.region("!$omp for", RegionRole.LOOP)
        barrier = self.region("!$omp implicit barrier", RegionRole.IMPLICIT_BARRIER)
        end = max(finish)
        self.writers[rank][0].thread_fork(START + begin, Paradigm.OPENMP, len(finish))
        for thread, (writer, done) in enumerate(zip(self.writers[rank], finish, strict=True)):
            for note, at, what in (
                (writer.enter, begin + late * thread, region),
                (writer.enter, begin + late * thread, loop),
                (writer.leave, done, loop),
                (writer.enter, done, barrier),
                (writer.leave, end, barrier),
                (writer.leave, end, region),
            ):
                note(START + at, what)
        self.writers[rank][0].thread_join(START + end, Paradigm.OPENMP)
        return end

    def exchange(self, rank: int, at: int, sent: Sequence[tuple[int, int]], took: int, request: int) -> int:
        """Receives are posted, messages sent, all waited for; when that is over."""
        writer, comm = self.writers[rank][0], self.comm
        writer.enter(START + at, self.region("exchange", RegionRole.FUNCTION, Paradigm.COMPILER))
        for n, _ in enumerate(sent):
            self.call(rank, "MPI_Irecv", at, at, noting("mpi_irecv_request", START + at, request + n))
        for n, (to, size) in enumerate(sent, len(sent)):
            message = self.called(to), comm, 0, size, request + n
            self.call(rank, "MPI_Isend", at, at, noting("mpi_isend", START + at, *message))
        done = []
        for n, (to, size) in enumerate(sent):
            done.append(noting("mpi_irecv", START + at + took, self.called(to), comm, 0, size, request + n))
            done.append(noting("mpi_isend_complete", START + at + took, request + len(sent) + n))
        self.call(rank, "MPI_Waitall", at, at + took, *done)
        writer.leave(START + at + took, self.region("exchange", RegionRole.FUNCTION, Paradigm.COMPILER))
        return at + took

    def reduced(self, rank: int, begin: int, end: int, op: CollectiveOp = CollectiveOp.ALLREDUCE) -> None:
        """A collective of all ranks."""
        name = "MPI_Barrier" if op == CollectiveOp.BARRIER else "MPI_Allreduce"
        over = noting("mpi_collective_end", START + end, op, self.comm, 0, 8, 8)
        self.call(rank, name, begin, end, noting("mpi_collective_begin", START + begin), over)


def write(folder: Path, ranks: int, threads: int, each: Callable[[Trace, int], None]) -> Path:
    """A trace of what `each` does for every rank; its anchor file."""
    with otf2.writer.open(str(folder), timer_resolution=TICKS) as archive:
        made = Trace(archive, ranks, threads)
        for rank in range(ranks):
            made.writers[rank][0].enter(START, made.main)
            each(made, rank)
    return folder / "traces.otf2"
