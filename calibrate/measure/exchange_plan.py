"""A workload's exchanges as `pready-bench exchange` performs them: edges, and when partitions are ready.

Edges and their order are the pattern's (`pready.model.workload.edges`), the ready times the engine's draws
(`pready.model.engine.plan`): the same seed gives both the same iterations. The benchmark's side is
`bench/exchange/plan.c`.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pready.calibrate.measure.catalogue import LARGEST_ARENA, MOST_PHASES
from pready.model.common.arrays import Array
from pready.model.common.errors import PreadyError
from pready.model.engine.layout import Layout, of_a_step
from pready.model.engine.messages import owners
from pready.model.engine.pattern import Pattern
from pready.model.engine.plan import drawn_times
from pready.model.workload import supported_by
from pready.model.workload.draws import exchange_seed
from pready.model.workload.edges import Edge, edges
from pready.model.workload.workload import Workload

ALIGNMENT = 4096
LARGEST_MESSAGE = int(np.iinfo(np.intc).max)
"""Bytes to one neighbour: the benchmark's calls count in int."""


@dataclass(frozen=True)
class ExchangePlan:
    """One exchange of some ranks."""

    ranks: int
    threads: int
    partitions_per_thread: int
    edges: tuple[Edge, ...]
    """Of each phase, which begins with a computation; their tags are unique between two ranks in a phase."""
    ready: Array  # shape (ranks, iterations, phases, user partitions): seconds after the start of the phase
    receives_first: bool = False  # does a computation wait for what its phase receives? In a sweep
    shares: tuple[tuple[tuple[int, int], ...], ...] = ()
    """By tag, the threads that own a part of such a buffer, in order, each with the peer's thread that receives it.
    None: every thread owns a part of every buffer."""
    receive_partitions: int | None = None  # of a buffer at its receiver; None: as many as at its sender
    interior: float | None = None  # share of a thread's computing that may follow the sends; None: nothing

    @property
    def iterations(self) -> int:
        return int(self.ready.shape[1])

    @property
    def phases(self) -> int:
        return int(self.ready.shape[2])

    def text(self) -> str:
        out_free, in_free = [0] * self.ranks, [0] * self.ranks
        counts = (self.ranks, self.threads, self.partitions_per_thread, self.phases, self.iterations)
        lines = [" ".join(map(str, ("exchange", *counts)))]
        lines += [f"share {tag} {a} {b}" for tag, pairs in enumerate(self.shares) for a, b in pairs]
        if self.receive_partitions is not None:
            lines.append(f"receive {self.receive_partitions}")
        if self.interior is not None:
            lines.append(f"interior {self.interior!r}")
        lines += [f"first {phase}" for phase in range(self.phases if self.receives_first else 0)]
        for e in self.edges:
            words = (e.phase, e.sender, e.receiver, e.bytes, e.tag, out_free[e.sender], in_free[e.receiver])
            lines.append(" ".join(map(str, ("edge", *words))))
            out_free[e.sender] += _aligned(e.bytes)
            in_free[e.receiver] += _aligned(e.bytes)
        lines += [f"arena {r} {o} {i}" for r, (o, i) in enumerate(zip(out_free, in_free, strict=True))]
        return "\n".join([*lines, "end", ""])


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


@dataclass(frozen=True)
class StepPlan:
    """The exchanges of an iteration, one after the other."""

    exchanges: tuple[ExchangePlan, ...]

    @property
    def ranks(self) -> int:
        return self.exchanges[0].ranks

    @property
    def iterations(self) -> int:
        return self.exchanges[0].iterations

    @property
    def text(self) -> str:
        return "".join(e.text() for e in self.exchanges)

    @property
    def ready(self) -> bytes:
        return b"".join(np.ascontiguousarray(e.ready, dtype=np.float64).tobytes() for e in self.exchanges)

    @property
    def name(self) -> str:
        """Names the files: a hash of what they hold, so that a point means the same in every folder."""
        return hashlib.sha256(self.text.encode() + self.ready).hexdigest()[:16]

    def write(self, folder: Path) -> str:
        folder.mkdir(parents=True, exist_ok=True)
        name = self.name
        (folder / f"{name}.plan").write_text(self.text, encoding="ascii")
        (folder / f"{name}.ready").write_bytes(self.ready)
        return name


def step_plan(workload: Workload, iterations: int, seed: int) -> StepPlan:
    """The plan of a workload's first iterations: of its one exchange, or of all in a step.

    Raises PreadyError: the benchmark cannot perform it.

    Parameters
    ----------
    iterations
        Of the whole pattern; of a sweep, of all its octants and blocks.
    seed
        Of the arrivals, as of a simulation.
    """
    supported_by.refuse_broadcast(workload, "to perform an exchange")
    each = list(zip(workload.parts, of_a_step(workload), strict=True))
    plans = []
    for number, (part, of) in enumerate(each):
        try:
            plans.append(_of_exchange(part, of, iterations, exchange_seed(seed, number)))
        except PreadyError as error:
            where = "" if workload.exchanges is None else f"exchanges[{number}]: "
            raise PreadyError(f"{where}{error.problem}", valid=error.valid, source=error.source) from None
    return StepPlan(tuple(plans))


def _of_exchange(workload: Workload, of: Layout, iterations: int, seed: int) -> ExchangePlan:
    pattern = of.pattern(workload)
    steps = pattern.exchanges(workload.blocks)
    if steps > MOST_PHASES:
        raise PreadyError(
            f"blocks = {workload.blocks} makes {steps} exchanges", valid=f"at most {MOST_PHASES} to measure"
        )
    rows = edges(pattern.tables, steps, workload.buffer, workload.sizes, workload.neighbour_sizes)
    sent = tuple(map(Edge._make, rows.tolist()))
    for edge in sent:
        if edge.bytes > LARGEST_MESSAGE or edge.bytes % workload.divisor:
            raise PreadyError(
                f"{edge.bytes} B for a neighbour",
                valid=f"a multiple of the {workload.divisor} partitions, at most {LARGEST_MESSAGE} B, to measure",
            )
    arenas = Counter[tuple[str, int]]()
    for edge in sent:
        arenas["sends", edge.sender] += _aligned(edge.bytes)
        arenas["receives", edge.receiver] += _aligned(edge.bytes)
    if (most := max(arenas.values(), default=0)) > LARGEST_ARENA:
        raise PreadyError(f"{most} B that one rank sends or receives", valid=f"at most {LARGEST_ARENA} B, to measure")
    drawn = [drawn_times(workload, iterations * steps, seed, rank=r) for r in range(pattern.ranks)]
    ready = np.stack(drawn).reshape(pattern.ranks, iterations, steps, workload.n_partitions)
    shares = _shares(pattern, workload.blocks_of_threads)
    return ExchangePlan(
        pattern.ranks,
        workload.threads,
        workload.partitions_per_thread,
        sent,
        ready,
        steps > 1,
        shares,
        workload.receive_partitions,
        workload.interior,
    )


def _shares(pattern: Pattern, thread_grid: tuple[int, int, int] | None) -> tuple[tuple[tuple[int, int], ...], ...]:
    """The threads at each side of a rank, and those at the side of its neighbour that lies against it."""
    if thread_grid is None:
        return ()
    across = [(-x, -y, -z) for x, y, z in pattern.steps]
    return tuple(
        tuple(zip(owners(thread_grid, here), owners(thread_grid, there), strict=True))
        for here, there in zip(pattern.steps, across, strict=True)
    )
