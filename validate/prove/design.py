"""What is measured of an exchange: which ways, how often, in which order."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from pready.calibrate.benchmark_list import EXCHANGE_WAYS
from pready.calibrate.records import Point
from pready.model.approach import PART_AM, Approach
from pready.model.errors import PreadyError
from pready.model.prediction import ApproachPrediction
from pready.model.verdict import candidates

MOST_ADVISED = 3
"""Approaches beside bulk, if nobody names them."""
ROUNDS = 3
"""How often each is measured, far apart in time: their spread is the measurement's own."""
WARM_UP = 3
"""Exchanges that go before: ranks start together, and are pulled apart within about so many."""
FEWEST, MOST = 8, 100
"""Iterations that count, of a round."""
START_S = 3.0
"""What it takes to start a run and to check its bytes, about."""


@dataclass(frozen=True)
class Way:
    """An approach, and what ``pready-bench exchange`` calls it."""

    approach: Approach
    name: str
    transport: int
    """Partitions that the benchmark hands over: where the library sends one message, still the user's."""

    def __str__(self) -> str:
        return f"{self.name}-{self.transport}-{self.approach.vcis}"

    def point(self, plan: str, round_: int, keep: int) -> Point:
        """One round."""
        return Point.of("exchange", approach=self.name, plan=plan, transport=self.transport, round=round_, keep=keep)


def way_of(approach: Approach, n_partitions: int) -> Way:
    """How the benchmark performs an approach.

    Raises
    ------
    PreadyError
        It cannot.
    """
    interface = approach.interface
    if interface is PART_AM:
        return Way(approach, "part", n_partitions)
    if interface.key not in EXCHANGE_WAYS:
        raise PreadyError(f"approach = '{interface.key}' cannot be measured", valid=", ".join(EXCHANGE_WAYS))
    return Way(approach, interface.key, approach.transport_partitions)


def advised(rows: Sequence[ApproachPrediction], best: ApproachPrediction, today: Approach) -> list[Approach]:
    """What the application does today, what is advised, and the best of the interfaces that come next."""
    found: dict[str, ApproachPrediction] = {best.key: best}
    for row in sorted(candidates(rows, today), key=lambda p: -p.eta):
        if row.key in EXCHANGE_WAYS or row.approach.interface is PART_AM:
            found.setdefault(row.key, row)
    return [today, *(row.approach for row in list(found.values())[:MOST_ADVISED])]


def iterations(iteration_s: float, ways: int, budget_s: float, steps: int) -> tuple[int, int]:
    """Iterations that go before, and that count, so that all rounds of all ways fit into the budget.

    Rounded to two powers of two a step, so that a prediction that moves a little leaves the plan, and what was
    measured of it, alone.
    """
    first = -(-WARM_UP // steps)
    affordable = (budget_s / (ROUNDS * ways) - START_S) / iteration_s - first
    steps_of_two = math.floor(2 * math.log2(affordable)) if affordable > FEWEST else 0
    return first, int(np.clip(round(2 ** (steps_of_two / 2)), FEWEST, MOST))


def order(ways: Iterable[Way], seed: int) -> list[tuple[Way, int]]:
    """Rounds after each other, the ways of each in an order of its own: slow drift falls on all of them alike."""
    listed, rng = list(ways), np.random.default_rng([seed, 3])
    return [(listed[i], r) for r in range(ROUNDS) for i in rng.permutation(len(listed))]
