"""Exchanges in a ring through all ranks, which tell what two ranks cannot: what is waited for, and where flows meet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pready.calibrate.build import Built
from pready.calibrate.exchange_plan import StepPlan, step_plan
from pready.calibrate.launch import Launcher
from pready.calibrate.measure import Progress, measure
from pready.calibrate.records import Content
from pready.model.files import validated
from pready.model.interfaces import Approach
from pready.model.machine import Machine
from pready.model.version import VERSION
from pready.model.workload import Workload
from pready.validate.prove import design
from pready.validate.prove.design import ROUNDS, Way, way_of
from pready.validate.prove.expected import Expected
from pready.validate.prove.performed import Performed, performed_in

FIRST = 3
"""Iterations that go before those that count."""


@dataclass(frozen=True)
class Ring:
    """Each rank sends to the next one, or to both beside it, all its threads ready at once."""

    workload: Workload
    plan: StepPlan
    way: Way
    seed: int
    iterations: int
    """That count."""

    @property
    def threads(self) -> int:
        """Of a rank."""
        return self.workload.threads

    def performed(self, content: Content, environment: str) -> Performed | None:
        """All its rounds; None if one is missing."""
        return performed_in(content, self.way, environment, self.plan.name, FIRST, 1)

    def expected(self, on: Machine, *, threads_wait: bool = True) -> Expected:
        """What a machine says of it."""
        return Expected(on, self.workload, self.seed, FIRST, self.iterations, threads_wait)


def ring(
    ranks: int,
    approach: Approach,
    buffer: int,
    *,
    compute_s: float,
    iterations: int,
    seed: int,
    threads: int = 1,
    partitions_per_thread: int = 1,
    both_ways: bool = False,
) -> Ring:
    """One, of so many bytes to each neighbour."""
    steps = (1, -1) if both_ways else (1,)
    workload = validated(
        Workload,
        {
            "name": f"ring{' both ways' * both_ways}, {buffer} B by {threads}",
            "threads": threads,
            "partitions_per_thread": partitions_per_thread,
            "buffer": f"{buffer} B",
            "receiver": "computing",
            "compute": {"time": f"{compute_s:.6g} s"},
            "arrivals": {"model": "none"},
            "pattern": "neighbours",
            "neighbour_list": [[(r + step) % ranks for step in steps] for r in range(ranks)],
        },
        "ring",
    )
    plan = step_plan(workload, FIRST + iterations, seed)
    return Ring(workload, plan, way_of(approach, workload.n_partitions), seed, iterations)


def measure_rings(
    rings: Sequence[Ring],
    launcher: Launcher,
    built: Built,
    raw: Path,
    folder: Path,
    *,
    budget_s: float,
    seed: int,
    on_point: Callable[[Progress], None],
) -> None:
    """Measure what `raw` does not hold yet, in rounds; plans go to `folder`."""
    points = [
        ring.way.point(name, r, design.MOST)
        for r in range(ROUNDS)
        for ring, name in [(ring, ring.plan.write(folder)) for ring in rings]
    ]
    if points:
        measure(
            points, launcher, raw, budget_s, on_point,
            built=built, tool=VERSION, seed=seed, folder=folder, point_budget_s=1.0,
        )  # fmt: skip
