"""The measurements of an exchange: which ways, how often, in which order."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pready.calibrate.measure.catalogue import EXCHANGE_WAYS, MOST_WINDOWS
from pready.calibrate.measure.raw_file import Point
from pready.model.advice.predict import chosen_ways
from pready.model.approach.interfaces import EACH, PART, PART_AM, PART_WHOLE, Approach, Interface, whole
from pready.model.approach.libraries import LibraryProfile
from pready.model.common.errors import PreadyError
from pready.model.engine.layout import of_a_step
from pready.model.engine.messages import in_directions
from pready.model.result.prediction import ApproachPrediction, Prediction
from pready.model.result.verdict import candidates
from pready.model.workload.workload import Workload

MOST_ADVISED = 3
"""Approaches beside bulk, if nobody names them."""
ROUNDS = 5
"""How often each is measured, far apart in time: their spread is the measurement's own."""
FEWEST_ROUNDS = ROUNDS - 1
"""Fewer say nothing of how well a measurement repeats."""
WARM_UP = 3
"""Exchanges that go before: ranks start together, and are pulled apart within about so many."""
FEWEST, MOST = 8, 100
"""Iterations that count, of a round."""
START_S = 3.0
"""About the time to start a run and to check its bytes."""


@dataclass(frozen=True)
class Sent:
    """One exchange: an approach, and what ``pready-bench exchange`` calls it."""

    approach: Approach
    name: str
    transport: int  # partitions that the benchmark hands over: where the library sends one message, still the user's

    def __str__(self) -> str:
        return f"{self.name}-{self.transport}-{self.approach.vcis}"


@dataclass(frozen=True)
class Way:
    """How a workload's exchanges are performed, each in turn."""

    each: tuple[Sent, ...]

    @property
    def approaches(self) -> tuple[Approach, ...]:
        return tuple(s.approach for s in self.each)

    @property
    def approach(self) -> Approach:
        """What stands for them."""
        return whole(self.approaches)

    @property
    def interface(self) -> Interface:
        """The interface of all exchanges; `EACH` where they differ."""
        return self.each[0].approach.interface if len({a.interface for a in self.approaches}) == 1 else EACH

    @property
    def transports(self) -> str:
        """Transport partitions of each exchange in words, once if all have as many."""
        counts = [str(a.transport_partitions) for a in self.approaches]
        return "/".join(counts if len(set(counts)) > 1 else counts[:1])

    @property
    def most(self) -> int:
        """Transport partitions, of the exchange that has most."""
        return max(a.transport_partitions for a in self.approaches)

    @property
    def vcis(self) -> int:
        """VCIs of the process: as many as any exchange asks for."""
        return max(a.vcis for a in self.approaches)

    def __str__(self) -> str:
        words = [*map(str, self.each)]
        return "+".join(words if len(set(words)) > 1 else words[:1])

    def point(self, plan: str, round_: int) -> Point:
        """The benchmark's point for one round."""
        if len(self.each) > 1:
            ways = "_".join(f"{s.name}.{s.transport}" for s in self.each)
            return Point.of("exchange", ways=ways, plan=plan, round=round_)
        (one,) = self.each
        return Point.of("exchange", approach=one.name, plan=plan, transport=one.transport, round=round_)


def as_done_by(library: LibraryProfile, approach: Approach) -> Approach:
    """``part`` as the library does it, which may send no partition early."""
    if approach.interface is PART and library.part is PART_AM:
        return PART_AM.into(1, approach.vcis)
    if approach.interface is PART and library.part is PART_WHOLE:
        return replace(approach, interface=PART_WHOLE)
    return approach


def way_of(approaches: Sequence[Approach], workload: Workload) -> Way:
    """How the benchmark performs an approach for each exchange of a workload. Raises PreadyError: it cannot."""
    return Way(tuple(_sent(a, w) for a, w in zip(approaches, workload.parts, strict=True)))


def _sent(approach: Approach, workload: Workload) -> Sent:
    interface = approach.interface
    if interface is PART_AM:
        return Sent(approach, "part", math.gcd(*in_directions(workload, PART.into(workload.n_partitions))))
    if interface is not PART_WHOLE and interface.key not in EXCHANGE_WAYS:
        raise PreadyError(f"approach = '{interface.key}' cannot be measured", valid=", ".join(EXCHANGE_WAYS))
    if {*in_directions(workload, approach)} != {approach.messages}:
        raise PreadyError(
            f"{approach.messages} messages to sides of fewer partitions cannot be measured",
            valid="transport partitions that divide those of each side",
        )
    return Sent(approach, "part" if interface is PART_WHOLE else interface.key, approach.transport_partitions)


def check_windows(approaches: Sequence[Approach], workload: Workload) -> None:
    """Refuse more windows, one for each transport partition in each exchange of an iteration, than there can be."""
    windows = 0
    for part, of, a in zip(workload.parts, of_a_step(workload), approaches, strict=True):
        if a.interface.windows_per_thread:
            pattern = of.pattern(part)
            sides = 1 if part.blocks_of_threads is None else pattern.directions
            windows += a.transport_partitions * pattern.exchanges(part.blocks) * sides
    if windows > MOST_WINDOWS:
        raise PreadyError(
            f"approaches that take {windows} windows cannot be measured", valid=f"at most {MOST_WINDOWS} windows"
        )


def advised(prediction: Prediction, workload: Workload) -> list[tuple[Approach, ...]]:
    """The baseline, the advised approach, and the best of the next interfaces; the best of those that can be measured
    stands for an advised one that cannot.

    Of a step with several exchanges: each as it is advised, then one interface for all of them, those that are
    advised for any exchange first.
    """
    each = prediction.exchanges or (prediction,)
    baseline = tuple(w.baseline for w in workload.parts)
    usable = [_best_of_interfaces(e, w) for e, w in zip(each, workload.parts, strict=True)]
    chosen = chosen_ways(workload, each) if workload.exchanges is not None else [prediction.advised.approach]
    chosen = [
        a if a == base or measurable(a, w) or not some else min(some.values(), key=lambda row: row.time_s).approach
        for a, w, base, some in zip(chosen, workload.parts, baseline, usable, strict=True)
    ]
    common = [i for i in usable[0] if all(i in some for some in usable)]
    own = {a.interface for a in chosen}
    common.sort(key=lambda i: (i not in own, sum(some[i].time_s for some in usable)))
    uniform = [tuple(some[i].approach for some in usable) for i in common]
    return [*dict.fromkeys([baseline, tuple(chosen), *uniform])][: 1 + MOST_ADVISED]


def _best_of_interfaces(prediction: Prediction, workload: Workload) -> dict[Interface, ApproachPrediction]:
    """For each interface that can be measured its best row; for the advised interface the advised row."""
    best, baseline = prediction.advised, workload.baseline
    found = {best.approach.interface: best} if best.approach != baseline and measurable(best.approach, workload) else {}
    for row in sorted(candidates(prediction.approaches, baseline), key=lambda p: -p.eta):
        if measurable(row.approach, workload):
            found.setdefault(row.approach.interface, row)
    return found


def measurable(approach: Approach, workload: Workload) -> bool:
    """Does the benchmark perform it?"""
    try:
        _sent(approach, workload)
    except PreadyError:
        return False
    return True


def iterations(iteration_s: float, ways: int, budget_s: float, steps: int, rounds: int = ROUNDS) -> tuple[int, int]:
    """Iterations that go before, and that count, so that all rounds of all ways fit into the budget.

    Rounded to two powers of two a step, so that a prediction that moves a little leaves the plan, and what was
    measured of it, alone.
    """
    first = -(-WARM_UP // steps)
    affordable = (budget_s / (rounds * ways) - START_S) / iteration_s - first
    steps_of_two = math.floor(2 * math.log2(affordable)) if affordable > FEWEST else 0
    return first, int(np.clip(round(2 ** (steps_of_two / 2)), FEWEST, MOST))


def order(ways: Iterable[Way], seed: int, rounds: int = ROUNDS) -> list[tuple[Way, int]]:
    """Rounds after each other, the ways of each in an order of its own: slow drift falls on all of them alike."""
    listed, rng = list(ways), np.random.default_rng([seed, 3])
    return [(listed[i], r) for r in range(rounds) for i in rng.permutation(len(listed))]
