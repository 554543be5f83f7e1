"""Summary of a run: time in MPI, regions, and the reclaimable time of waiting threads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pready.calibrate.capture.files import COLLECTIVES, OPENMP, Process, Run, kinds
from pready.calibrate.capture.regions import Stretch, stretches
from pready.calibrate.capture.symbols import function_of
from pready.calibrate.capture.thresholds import SAID
from pready.calibrate.capture.timeline import apart
from pready.model.common.arrays import Array


@dataclass(frozen=True)
class RegionSummary:
    """One stretch of computing, over all ranks."""

    name: str
    threads: int
    calls: int
    time_s: float  # of all calls, from the begin until the last thread has finished; mean over ranks
    reclaimable_s: float  # of all calls, wait of finished shares for the last thread; mean over threads and ranks
    late: float  # the last thread behind the median one, as a part of the stretch; median over calls
    tasks: bool  # explicit tasks were created in it: shares end later than was seen


@dataclass(frozen=True)
class RunSummary:
    """Summary of a run; times are means over ranks, from MPI_Init to MPI_Finalize, or of the process without MPI."""

    ranks: int
    hosts: int
    run_s: float
    in_mpi_s: float  # of the thread that called MPI_Init
    messages: int
    message_bytes: float
    collectives: int
    regions: tuple[RegionSummary, ...]  # those first that could be given back most
    notes: tuple[str, ...]

    @property
    def reclaimable_s(self) -> float:
        return sum(r.reclaimable_s for r in self.regions)

    @property
    def waiting(self) -> float:
        """Reclaimable time as a share of the run."""
        return self.reclaimable_s / self.run_s if self.run_s else 0.0


def summarise(run: Run) -> RunSummary:
    processes = run.ranks or run.processes
    return RunSummary(
        ranks=len(processes),
        hosts=len({p.host for p in processes}),
        run_s=float(np.mean([time_within_mpi(p) for p in processes])),
        in_mpi_s=float(np.mean([time_in_mpi(p) for p in processes])),
        messages=sum(int(p.sent.sum()) for p in processes),
        message_bytes=float(sum(int(p.records["what"][p.sent].sum()) for p in processes)),
        collectives=sum(int(p.of(*COLLECTIVES).sum()) for p in processes),
        regions=_regions(processes),
        notes=tuple(notes(run)),
    )


def time_within_mpi(process: Process) -> float:
    begin, end = process.within_mpi_s
    return end - begin


def time_in_mpi(process: Process) -> float:
    """Seconds in MPI between MPI_Init and MPI_Finalize, of the first thread that calls it."""
    inits = process.thread[process.of("init")]
    mine = process.thread == (inits[0] if len(inits) else 0)  # an init may be filtered out
    rows = process.records[mine & ~process.of(*OPENMP, "init", "finalize")]
    return _covered(process, rows["start"], rows["end"])


def _time_outside_mpi(process: Process) -> float:
    """Seconds with no thread in MPI, nor between a test that completes nothing and its thread's next call: it waits."""
    mpi = ~process.of(*OPENMP, "init", "finalize")
    rows, thread = process.records[mpi], process.thread[mpi]
    ends = rows["end"].copy()
    waits = (rows["kind"] == kinds()["test"]) & (rows["what"] == 0)
    for of in np.unique(thread):
        before, after = (each := np.flatnonzero(thread == of))[:-1], each[1:]
        ends[before] = np.where(waits[before], rows["start"][after], ends[before])
    return time_within_mpi(process) - _covered(process, rows["start"], ends)


def _covered(process: Process, *ends: Array) -> float:
    """Seconds of the run in intervals from such times in ns, in order, to such."""
    begins, until = apart(*(np.clip(each * 1e-9, *process.within_mpi_s) for each in ends))
    return float((until - begins).sum())


def _regions(processes: Sequence[Process]) -> tuple[RegionSummary, ...]:
    by_name = defaultdict[tuple[str, int], list[Stretch]](list)
    for process in processes:
        for stretch in stretches(process):
            by_name[stretch_name(process, stretch), stretch.threads].append(stretch)
    found = [
        RegionSummary(
            name=name,
            threads=threads,
            calls=sum(len(s.begin) for s in group),
            time_s=sum(float(s.computing.max(axis=1).sum()) for s in group) / len(processes),
            reclaimable_s=sum(float(s.reclaimable.sum()) for s in group) / len(processes),
            late=float(np.median(np.concatenate([_late(s.computing) for s in group]))),
            tasks=any(s.tasks for s in group),
        )
        for (name, threads), group in by_name.items()
    ]
    return tuple(sorted(found, key=lambda r: -r.reclaimable_s))


@dataclass(frozen=True)
class Messages:
    """What a run sends, step or none; bytes and messages of a rank are means, the others the least and the most.

    No MPI library shortens the run by more than `most_s`, `most` of it: for the rest, no thread of `rank` is in MPI.
    """

    messages: float
    bytes: float
    peers: tuple[int, int]
    sizes: tuple[int, int]
    rank: int
    most_s: float
    most: float


def messages_of(run: Run) -> Messages | None:
    """None: it sends nothing to other ranks."""
    rows = [p.records[p.sent & (p.records["who"] != p.rank)] for p in run.ranks]
    if not any(map(len, rows)):
        return None
    every = np.concatenate(rows)
    peers = [len(np.unique(of["who"])) for of in rows]
    run_s = max(map(time_within_mpi, run.ranks))
    outside = [*map(_time_outside_mpi, run.ranks)]
    most_s = run_s - max(outside)
    return Messages(
        messages=len(every) / len(rows),
        bytes=float(every["what"].sum()) / len(rows),
        peers=(min(peers), max(peers)),
        sizes=(int(every["what"].min()), int(every["what"].max())),
        rank=run.ranks[outside.index(max(outside))].rank,
        most_s=most_s,
        most=most_s / run_s if run_s else 0.0,
    )


def stretch_name(process: Process, stretch: Stretch) -> str:
    """The function of the region, and that of the barrier that ends the stretch if it is another one."""
    begin, end = (function_of(process.places[site]) if site else "" for site in stretch.key[:2])
    return f"{begin} until {end}" if end not in ("", begin) else begin


def _late(finish: Array) -> Array:
    """Lateness of the last thread after the median one, as a share of the stretch, shape (instances,)."""
    last = finish.max(axis=1)
    behind = last - np.median(finish, axis=1)
    return np.asarray(np.divide(behind, last, out=np.zeros_like(last), where=last > 0))


def notes(run: Run) -> list[str]:
    """Notes on lost records, and on what could not be recorded."""
    said = []
    processes = run.ranks or run.processes
    if run.shares_cores:
        said.append("ranks share cores: their waits are the cores' own")
    if not run.ranks:
        said.append("no process called MPI_Init (sessions do not count), or its MPI is linked statically: no messages")
    elif len(run.ranks) < run.ranks[0].ranks:
        said.append(
            f"{len(run.ranks)} of {run.ranks[0].ranks} ranks have a file: the others wrote none, or to another folder"
        )
    counted = {
        "records were dropped: the limit of a file was reached (--limit), or the disk is full": "dropped",
        "persistent requests were not followed: too many at once": "dropped_requests",
        "forks: children are not captured": "forks",
    }
    for what, name in counted.items():
        if count := sum(getattr(p, name) for p in run.processes):
            said.append(f"{count} {what}")
    if all(p.runtime == "none" for p in processes):
        seen = "MPI was called by several threads" if any(p.threads > 1 for p in processes) else "no threads were seen"
        said.append(f"no parallel region was seen: no OpenMP, linked statically, or pthreads ({seen})")
    files = [p.records[p.of("other")] for p in run.ranks]
    in_files = 1e-9 * sum(int((of["end"] - of["start"]).sum()) for of in files)
    whole = sum(map(time_within_mpi, run.ranks))
    if in_files and in_files >= SAID / 2 * whole:
        said.append(f"MPI's files take {100 * in_files / whole:.1f} % of the run")
    if nested := sum(int(p.of("nested").sum()) for p in run.processes):
        said.append(f"{nested} nested regions: only the outermost teams are recorded")
    aborted = [p.rank for p in processes if p.ended == "abort"]
    killed = [p.rank for p in run.ranks if p.mpi_s[1] is None and p.ended != "abort"]
    for ranks, how in ((aborted, "called MPI_Abort"), (killed, "ended without MPI_Finalize")):
        if ranks:
            shown = ", ".join(map(str, ranks[:8])) + (", …" if len(ranks) > 8 else "")
            said.append(f"{len(ranks)} ranks {how}: {shown}")
    return said
