"""A workload as a job in SST: its ranks on a network, the motif's arguments for an approach, and the configuration.

Every run draws the same ready times (the model's, from a file). Iteration 0 has no arrival spread and
serves as warm-up and as the papers' "without noise"; means are taken over the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from pready.files.writing import texts, write_all
from pready.model.advice.predict import allowed_transports, effective_library
from pready.model.approach.interfaces import BULK, MANY, PART, SINGLE, Approach
from pready.model.approach.vcis import issuing_threads, transport_counts
from pready.model.common.arrays import Array, Wholes
from pready.model.common.errors import PreadyError
from pready.model.engine.plan import drawn_times
from pready.model.machine.contention_by_library import contention, waiting
from pready.model.machine.machine import Machine
from pready.model.workload import supported_by
from pready.model.workload.edges import HALOS, PATTERNS, WITH_ENDS, Edge, Ranks, edges
from pready.model.workload.workload import Workload
from pready.sst import config
from pready.sst.firefly import CONTROL, LARGEST_MESSAGE, Cpu, Priced
from pready.sst.parameters import arguments
from pready.sst.topology import Topology, near_cube, topology

SIMULATED = (SINGLE, PART, MANY)
"""The interfaces that the motifs have, under the same keys."""
PROGRESS_NS = 500.0
"""How often a rank with asynchronous progress enters MPI while computing. Assumed."""
RECORDED_MESSAGES = 200_000
"""Above it, the record does not list every message."""
TRANSPORTS = 4
"""How many counts of transport partitions are tried if none are named."""


@dataclass(frozen=True)
class Setup:
    """A workload on a machine, on ranks of a topology."""

    machine: Machine
    workload: Workload
    topology: Topology
    ranks: int
    grid: tuple[int, ...] = ()  # ranks along x, y, z; empty: the motif chooses
    iterations: int = 10  # counted ones; one more goes before them
    seed: int = 0
    allocation: str = "linear"  # how hosts are given to ranks: linear, or random
    background: int = 0  # bytes of a message of another job, on as many hosts again; 0: there is none
    load: float = 1.0  # how much of its hosts' links that job uses while nothing is in its way, at most; 1: all it can
    packet: int = 0  # bytes of a packet; 0: as many as the latency allows

    @property
    def motif(self) -> str:
        """The motif of the workload's pattern."""
        return "PartPingPong" if self.workload.pattern == "pt2pt" else "PartExchange"

    @property
    def phases(self) -> int:
        """Exchanges of an iteration: of a sweep, octants × blocks."""
        return PATTERNS[self.workload.pattern].octants * self.workload.blocks

    @cached_property
    def edges(self) -> Wholes:
        """The table of edges, phases that are alike written once; empty for PartPingPong, which knows its two ranks."""
        w, of = self.workload, PATTERNS[self.workload.pattern]
        if self.motif == "PartPingPong":
            return np.zeros((0, 5), np.int64)
        x, y, z = (*self.grid, 1, 1)[:3] if self.grid else (self.ranks, 1, 1)
        if not self.grid and w.pattern in WITH_ENDS:
            x, y, z = near_cube(self.ranks, len(of.grid))
        tables = of.edges(Ranks((x, y, z), (w.boundaries == "periodic",) * 3, w.neighbour_lists))
        return edges(tables, len(tables), w.buffer, w.sizes, w.neighbour_sizes)

    @property
    def peers(self) -> int:
        """Other ranks that one sends to in a phase, at most: two directions may lead to the same one."""
        if self.motif == "PartPingPong":
            return 1
        pairs = np.unique(self.edges[:, :3], axis=0)  # phase, sender, receiver
        return int(np.unique(pairs[:, :2], axis=0, return_counts=True)[1].max())

    @cached_property
    def priced(self) -> Priced:
        """What messages cost."""
        return Priced(self.machine, self.workload, self.packet)

    def shakes(self, approach: Approach) -> bool:
        """Does a message go by a rendezvous?"""
        return self.priced.firefly.fetches(max(self.message_sizes(approach)))

    def message_sizes(self, approach: Approach) -> list[int]:
        """Bytes of the messages of each buffer, of its largest."""
        buffers = {int(self.workload.buffer)} if self.motif == "PartPingPong" else {*self.edges[:, 3].tolist()}
        return [-(-n // approach.messages) for n in sorted(buffers)]

    @property
    def ranks_per_node(self) -> int:
        """Ranks that share a host."""
        return self.workload.ranks_of_a_node or 1

    @property
    def pause(self) -> float:
        """Seconds between two messages of the other job, with which it uses `load` of its links. Raises PreadyError: a
        load that messages of this size cannot have, one after the other."""
        if not self.background or self.load == 1:
            return 0.0
        sent, takes = self.background / self.priced.firefly.link_bytes_per_s, self.priced.alone(self.background)
        if not 0 < self.load <= sent / takes:
            raise PreadyError(
                f"sst.load = {100 * self.load:g} % by messages of {self.background} B",
                valid=f"above 0, at most {100 * sent / takes:.1f} %, which each takes of its link by itself",
            )
        return sent / self.load - takes


def setup(
    machine: Machine, workload: Workload, network: str = "single", ranks: Sequence[int] = (), **options: Any
) -> Setup:
    """A `Setup` from names and sizes.

    Raises PreadyError: a topology, number of ranks or pattern that does not fit.

    Parameters
    ----------
    network
        See `pready.sst.topology.topology`.
    ranks
        Their number, or their grid; empty: the workload's, else 2 for pt2pt, 8 otherwise.
    """
    supported_by.check(workload, "sst")
    if workload.blocks_of_threads is not None:
        raise PreadyError("thread_grid is not simulated by SST", valid="a workload without one")
    some = (2,) if workload.pattern == "pt2pt" else (len(workload.neighbour_lists or range(8)),)
    shape = tuple(ranks) or workload.grid or some
    count = int(np.prod(shape))
    grid = shape if len(shape) > 1 and workload.pattern != "pt2pt" else ()
    if len(shape) > 1 and len(shape) != (2 if workload.pattern == "sweep3d" else 3):
        raise PreadyError(f"ranks = {','.join(map(str, shape))}", valid="a number, or one per dimension of the pattern")
    if count < 2:
        raise PreadyError(f"ranks = {count}", valid="at least 2")
    each = workload.ranks_of_a_node or 1
    if workload.node_grid is not None:
        raise PreadyError("node_grid is not simulated by SST", valid="ranks_per_node: ranks of a node in a row")
    if count % each:
        raise PreadyError(f"ranks_per_node = {each} does not divide {count} ranks", valid=f"a divisor of {count}")
    hosts = count // each * (2 if options.get("background") else 1)
    made = Setup(machine, workload, topology(network, hosts), count, grid, **options)
    if made.background and made.topology.name == "single":
        raise PreadyError("a background job on one router meets no other", valid="a --topology with several")
    if "load" in options and not made.background:
        raise PreadyError(f"sst.load = {100 * made.load:g} % without sst.background", valid="bytes of its messages")
    if made.iterations < 1:
        raise PreadyError(f"iterations = {made.iterations}", valid="at least 1")
    if workload.buffer > LARGEST_MESSAGE:
        raise PreadyError(f"buffer = {workload.buffer:g} B", valid=f"at most {LARGEST_MESSAGE} B for SST")
    if workload.buffer != int(workload.buffer):
        raise PreadyError(f"buffer = {workload.buffer:g} B", valid="whole bytes")
    ends = (len(np.unique(made.edges[:, column])) for column in (1, 2))
    if made.motif == "PartExchange" and made.phases == 1 and min(ends) < count:
        raise PreadyError("a rank that only sends or only receives", valid="for SST, ranks that do both")
    return made


def ready_times(s: Setup) -> Array:
    """Ready times of all ranks as the motifs read them, in seconds.

    Returns
    -------
    Array of shape (ranks · draws, N_part), draws = (1 + iterations) · draws per iteration. A rank's first
    iteration has no spread; its draw k after that is the model's iteration k.
    """
    w, each = s.workload, s.phases
    calm = np.full((each, w.n_partitions), w.thread_time)
    return np.concatenate(
        [part for rank in range(s.ranks) for part in (calm, drawn_times(w, s.iterations * each, s.seed, rank=rank))]
    )


def motif_values(s: Setup, approach: Approach, arrivals: str, record: str, listed: str = "") -> dict[str, object]:
    """The motif's parameters for one approach."""
    m, w, transports = s.machine, s.workload, approach.messages
    halo = w.pattern in HALOS
    # In a halo all ranks compute: a receiver that waits in MPI is one whose messages progress meanwhile.
    progress = m.progress.value != "on-call" or (halo and w.receiver == "waiting")
    waits = not w.receiver_computes and w.pattern == "pt2pt"
    values: dict[str, object] = {
        "approach": approach.interface.key,
        "threads": w.threads,
        "partitions": w.partitions_per_thread,
        "transport": transports,
        "iterations": s.iterations + 1,
        "arrivals": arrivals,
        "barrier_ns": m.threads.barrier.at(w.threads) * 1e9,
        "contention_ns": contention(m).at(_sharing(s, approach)) * 1e9,
        "progress_ns": PROGRESS_NS if progress and not waits else 0.0,
        "waiting_ns": PROGRESS_NS if approach.interface.completes == "threads" else 0.0,
        "answers": int(s.shakes(approach)),
        "record": record,
        "messages": int(s.ranks * w.peers * transports * (s.iterations + 1) <= RECORDED_MESSAGES),
    }
    if s.motif == "PartPingPong":
        values |= {"bytes": int(w.buffer), "receiver": "waiting" if waits else "computing"}
    else:
        values |= {"edges": listed, "phases": s.phases, "receives_first": int(s.phases > 1)}
    return values


def _sharing(s: Setup, approach: Approach) -> int:
    """Threads that share the VCI."""
    w, transports = s.workload, approach.messages
    return issuing_threads(list(range(transports)), transports, w.threads, w.partitions_per_thread)


def cpu(s: Setup, approach: Approach) -> dict[int, Cpu]:
    """Processors' times by the bytes of each message, of what matches requests and of another job's, too.

    Where each thread waits for messages of its own, handing over costs time: of each message its share of all waits, as
    in `pready.model.timeline.rules.received`.
    """
    more = 0.0
    if approach.interface.completes == "threads":
        k = _sharing(s, approach)
        more = 1e9 * waiting(s.machine).at(k) * k / (s.workload.peers * approach.messages)
    sizes = {CONTROL, *s.message_sizes(approach), *[s.background] * (s.background > 0)}
    return {n: c._replace(receive=c.receive + more) for n, c in ((n, s.priced.cpu(n)) for n in sorted(sizes))}


def simulation(
    s: Setup, approach: Approach, arrivals: str, record: str, counts: str = "", listed: str = ""
) -> config.Simulation:
    """The configuration of one approach."""
    w = s.workload
    transports = approach.messages
    values = motif_values(s, approach, arrivals, record, listed)
    return config.Simulation(
        title=f"{w.name or w.pattern}: {approach.name}, {transports} message(s) per peer, on {s.machine.name}",
        firefly=s.priced.firefly,
        topology=s.topology,
        ranks=s.ranks,
        motifs=((f"pready.{s.motif}", arguments(s.motif, values)),),
        cpu=cpu(s, approach),
        receives=w.peers * transports,
        peers=s.peers,
        ranks_per_node=s.ranks_per_node,
        allocation=s.allocation,
        seed=s.seed,
        background=s.background,
        pause_ns=1e9 * s.pause,
        statistics=counts,
    )


def write_config(s: Setup, approach: Approach, path: Path) -> Path:
    """Write a configuration and, beside it, its arrivals and edges.

    Returns
    -------
    The record that a run of it will write, beside it too.
    """
    arrivals, record = path.with_suffix(".arrivals.npy"), path.with_suffix(".csv")
    times = ready_times(s)
    listed, counts = path.with_suffix(".edges"), path.with_suffix(".counts.csv")
    made = simulation(s, approach, arrivals.name, record.name, counts.name, listed.name)
    lines = [f"# {' '.join(Edge._fields)}", *(" ".join(map(str, row)) for row in s.edges.tolist()), ""]
    write = {listed: texts("\n".join(lines))} if len(s.edges) else {}
    write_all({arrivals: lambda file: np.save(file, times), **write, path: config.written(made, path)})
    return record


def candidates(s: Setup, mpi: str | None, chosen: Sequence[Approach] = ()) -> list[Approach]:
    """The approaches to run: bulk, then `chosen` or those of the library on one VCI."""
    if chosen:
        return [BULK, *(a for a in chosen if a != BULK)]
    w, profile = s.workload, effective_library(s.machine, mpi)
    counts = list(w.transport_partitions or transport_counts(w.n_partitions, TRANSPORTS))
    ways = [i for i in SIMULATED if i.splits and (not i.partitioned or i is profile.part)]
    return [BULK, *(i.into(t) for i in ways for t in allowed_transports(w, profile, i, counts))]
