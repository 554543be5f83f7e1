"""A workload's exchange as `pready-bench exchange` performs it: who sends what to whom, and when partitions are ready.

Ranks, neighbours and their order are the engine's (`pready.model.engine.pattern`), the moments its draws
(`pready.model.arrivals`): the same seed gives both the same iterations. The benchmark's side is
`bench/exchange_plan.c`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pready.model import arrivals
from pready.model.engine.layout import layout
from pready.model.engine.pattern import Pattern
from pready.model.errors import PreadyError
from pready.model.values import Array
from pready.model.workload import Workload

ALIGNMENT = 4096
MOST_PHASES = 1000
"""Of an iteration; as many tags the benchmark sets aside for RMA."""
LARGEST_MESSAGE = 2**31 - 1
"""Bytes to one neighbour: the benchmark's calls count in int."""
CORNERS = ((1, 1), (-1, 1), (-1, -1), (1, -1))
"""Directions of a sweep, each for two octants: the engine's order."""


@dataclass(frozen=True)
class Edge:
    """One buffer from a rank to another. Of all that two ranks exchange in a phase, the tag tells it apart."""

    sender: int
    receiver: int
    bytes: int
    tag: int


@dataclass(frozen=True)
class Phase:
    """What is exchanged after one computation; of a sweep, `receives_first` what that computation needs."""

    edges: tuple[Edge, ...]
    receives_first: bool = False


@dataclass(frozen=True)
class ExchangePlan:
    """An exchange of some ranks.

    Attributes
    ----------
    ready
        Shape (ranks, iterations, phases, user partitions): seconds after the start of the phase.
    """

    ranks: int
    threads: int
    partitions_per_thread: int
    phases: tuple[Phase, ...]
    ready: Array

    @property
    def iterations(self) -> int:
        """How often."""
        return int(self.ready.shape[1])

    @property
    def name(self) -> str:
        """Names the files: a hash of what they hold, so that a point means the same in every folder."""
        return hashlib.sha256(self.text().encode() + self.ready.tobytes()).hexdigest()[:16]

    def text(self) -> str:
        """The plan's file, as `bench/exchange_plan.c` reads it."""
        out_free, in_free = [0] * self.ranks, [0] * self.ranks
        counts = (self.ranks, self.threads, self.partitions_per_thread, len(self.phases), self.iterations)
        lines = [" ".join(map(str, ("exchange", *counts)))]
        lines += [f"first {i}" for i, phase in enumerate(self.phases) if phase.receives_first]
        for i, phase in enumerate(self.phases):
            for e in phase.edges:
                places = out_free[e.sender], in_free[e.receiver]
                words = ("edge", i, e.sender, e.receiver, e.bytes, e.tag, *places)
                lines.append(" ".join(map(str, words)))
                taken = -(-e.bytes // ALIGNMENT) * ALIGNMENT
                out_free[e.sender] += taken
                in_free[e.receiver] += taken
        lines += [f"arena {r} {o} {i}" for r, (o, i) in enumerate(zip(out_free, in_free, strict=True))]
        return "\n".join([*lines, "end", ""])

    def write(self, folder: Path) -> str:
        """Write both files; returns their name."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{self.name}.plan").write_text(self.text(), encoding="ascii")
        (folder / f"{self.name}.ready").write_bytes(np.ascontiguousarray(self.ready, dtype=np.float64).tobytes())
        return self.name


def exchange_plan(workload: Workload, iterations: int, seed: int) -> ExchangePlan:
    """The plan of a workload's first iterations.

    Parameters
    ----------
    iterations
        Of the whole pattern; of a sweep, of all its octants and blocks.
    seed
        Of the arrivals, as of a simulation.

    Raises
    ------
    PreadyError
        What the benchmark cannot perform.
    """
    for name, given in (("thread_grid", workload.thread_grid), ("exchanges", workload.exchanges)):
        if given is not None:
            raise PreadyError(f"{name} is nothing that the benchmark performs", valid=f"no {name}")
    what = layout(workload)
    pattern = what.pattern(workload)
    steps = pattern.exchanges(what.blocks)
    if steps > MOST_PHASES:
        raise PreadyError(f"blocks = {what.blocks} makes {steps} exchanges", valid=f"at most {MOST_PHASES} to measure")
    sweep = pattern.name == "sweep3d"
    phases = tuple(_sweep(pattern, workload.buffer, steps)) if sweep else (_together(workload, pattern),)
    for edge in (e for phase in phases for e in phase.edges):
        if edge.bytes > LARGEST_MESSAGE or edge.bytes % workload.n_partitions:
            raise PreadyError(
                f"{edge.bytes} B for a neighbour",
                valid=f"a multiple of the {workload.n_partitions} partitions, at most {LARGEST_MESSAGE} B, to measure",
            )
    drawn = [arrivals.draw(workload, iterations * steps, seed, rank=r) for r in range(pattern.ranks)]
    ready = np.stack(drawn).reshape(pattern.ranks, iterations, steps, workload.n_partitions)
    return ExchangePlan(pattern.ranks, workload.threads, workload.partitions_per_thread, phases, ready)


def _together(workload: Workload, pattern: Pattern) -> Phase:
    """All ranks with all their neighbours at once; the direction is the tag."""
    by_direction, listed = workload.sizes, workload.neighbour_sizes

    def size(rank: int, direction: int) -> int:
        if listed is not None:
            return int(listed[rank][direction])
        return int(workload.buffer if by_direction is None else by_direction.towards(pattern.steps[direction]))

    return Phase(
        tuple(
            Edge(rank, there, size(rank, direction), direction)
            for rank in range(pattern.ranks)
            for direction, there in enumerate(pattern.neighbours(rank))
            if there is not None
        )
    )


def _sweep(pattern: Pattern, size: float, steps: int) -> Iterator[Phase]:
    """Each block of each octant: downstream along x, then along y."""
    x, y, _ = pattern.grid
    for step in range(steps):
        sx, sy = CORNERS[step * len(CORNERS) // steps]
        edges = []
        for j in range(y):
            for i in range(x):
                for tag, (a, b) in enumerate(((i + sx, j), (i, j + sy))):
                    if 0 <= a < x and 0 <= b < y:
                        edges.append(Edge(i + x * j, a + x * b, int(size), tag))
        yield Phase(tuple(edges), receives_first=True)
