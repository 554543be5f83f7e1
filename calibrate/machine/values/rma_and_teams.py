"""Costs that whole exchanges show: RMA, and meetings of threads.

The points are `measure/schedule.py::exchanges`. Where two exchanges differ in one thing only, their difference is its
cost. Elsewhere the timeline supplies what is known already, and the rest is the missing cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from pready.calibrate.fit import Estimate
from pready.calibrate.fit.location import mad_sigma
from pready.calibrate.machine.values.estimates import SHORTEST_S, TIME, between, exact, size_curve, value, with_fields
from pready.calibrate.machine.values.observations_of import TimedExchange
from pready.calibrate.machine.values.team_costs import barrier_curve
from pready.calibrate.measure.catalogue import interface_of
from pready.calibrate.measure.schedule import MORE_PUTS, PUTS, SMALL_EXCHANGE, SMALLER_PUT
from pready.model.common.arrays import Array
from pready.model.common.normal import student95
from pready.model.common.units import format_time
from pready.model.engine.simulate import exchanges_from_rest
from pready.model.machine.machine import Machine
from pready.model.machine.path import SizeCurve
from pready.model.machine.rma import Puts
from pready.model.machine.threads import Barrier
from pready.model.toml.provenance import Value
from pready.model.workload.workload import Workload

SYNC = ("active", "passive")
TEAMS_OF_RMA = ("rma-single-active", "rma-single-passive", "rma-many-active")
EARLY_PUTS = "rma-single-passive"
"""The approach whose puts are issued long before the last one."""
SETTLES_S = 2e-3
"""Shorter transfers say little about a pause: after it, they start slowly."""
MOVED = 0.85
"""Share of the puts before a pause from which all of them count as moved in it."""
STUCK = 0.1
"""Share up to which none are."""
SLICE_S = 0.75e-3
"""Linux's shortest time slice (sched_min_granularity_ns, sched_base_slice_ns): who waits so long waits for a core."""
UNDISTURBED = 5.0
"""Standard deviations, by the median absolute one, beyond which a neighbour's time slice was measured instead."""


@dataclass(frozen=True)
class Found:
    """Exchanges by approach, size, team and pause."""

    all: Sequence[TimedExchange]

    @property
    def rounds(self) -> list[Found]:
        numbers = sorted({e.round for e in self.all})
        return [Found([e for e in self.all if e.round == number]) for number in numbers]

    def one(self, approach: str, size: int, theta: int = 1, delay_s: float = 0.0) -> TimedExchange | None:
        """The exchange of one thread, if it was measured."""
        wanted = (approach, size, 1, theta, delay_s)
        return _middle([e for e in self.all if (e.approach, e.bytes, e.threads, e.theta, e.delay_s) == wanted])

    def team(self, approach: str, threads: int, theta: int) -> TimedExchange | None:
        """The exchange of several threads that are ready together."""
        wanted = (threads, theta, 0.0)
        return _middle([e for e in self.teams(approach) if (e.threads, e.theta, e.delay_s) == wanted])

    def teams(self, approach: str) -> list[TimedExchange]:
        """Small exchanges of several threads, every round of each."""
        return [e for e in self.all if e.approach == approach and e.threads > 1 and e.ready]


def _middle(rounds: Sequence[TimedExchange]) -> TimedExchange | None:
    if not rounds:
        return None
    total, after = ([getattr(e, of) for e in rounds] for of in ("total", "after"))
    return replace(rounds[0], total=_median(total), after=_median(after))


def _median(of: Sequence[Estimate]) -> Estimate:
    value, low, high = (float(np.median([getattr(e, end) for e in of])) for end in ("value", "low", "high"))
    return Estimate(value, low, high)


def refined(machine: Machine, exchanges: Sequence[TimedExchange], notes: list[str] | None = None) -> Machine:
    """The machine, as known without them, with the costs that exchanges show; `notes` receives what they do not."""
    found = Found(exchanges)
    if (barrier := _barrier(machine, found, [] if notes is None else notes)) is not None:
        machine = with_fields(machine, threads=with_fields(machine.threads, barrier=barrier))
    machine = _with_rma(machine, {**_put(found), **_puts(found)})
    machine = _with_rma(machine, _epochs(machine, found))
    return _with_rma(machine, _epochs_of_teams(machine, found))


def _with_rma(machine: Machine, fields: Mapping[str, object]) -> Machine:
    return with_fields(machine, one_sided=with_fields(machine.one_sided, **fields))


def modelled(machine: Machine, e: TimedExchange) -> float:
    """The model's time of an exchange: the median over its repeats, until both sides are done."""
    approach, buffer = interface_of(e.approach).into(e.threads * e.theta), cast("float", f"{e.bytes} B")
    workload = Workload(threads=e.threads, partitions_per_thread=e.theta, buffer=buffer)
    ready = np.array(e.ready or [[0.0] * (e.threads * e.theta - 1) + [e.delay_s]])
    return float(np.median([of.end for of in exchanges_from_rest(machine, workload, approach, ready.tolist())]))


def _rest(machine: Machine, e: TimedExchange) -> float:
    return e.after.value - modelled(machine, e)


def _barrier(machine: Machine, found: Found, notes: list[str]) -> Barrier | None:
    """The threads' barrier before a bulk send, in place: sleeping threads meet otherwise than busy ones. None: not
    measured, or threads waited for cores, not for each other."""
    known = machine.threads.barrier
    free = with_fields(machine.threads, barrier=barrier_curve({known.threads[-1]: 0.0}, "left out to measure it"))
    without, rests = with_fields(machine, threads=free), dict[int, list[float]]()
    for e in found.teams("single"):
        rests.setdefault(e.threads, []).append(_rest(without, e))
    if not rests:
        return None
    times = {team: max(float(np.median(rests[team])), 0.0) for team in sorted(rests)}
    off = np.concatenate([np.array(rests[team]) - time for team, time in times.items()])
    within, longest = next_within(off), max(times.values())
    if max(within, longest) >= SLICE_S:
        said = f"a team meets after {format_time(longest)}, give or take {format_time(within)}"
        notes.insert(0, f"cores were held by others: {said}; the barrier is assumed, not measured")
        return None
    half = within / max(float(np.mean(list(times.values()))), SHORTEST_S)
    if max(times) < known.threads[-1]:  # larger teams, which the budget did not reach: its time never falls
        times[known.threads[-1]] = 0.0
    why = "a team's bulk send, ready together, one by one or the last late, less one thread's; larger teams as these"
    return barrier_curve(times, why, half=half)


def _put(found: Found) -> dict[str, SizeCurve]:
    """The cost of each further put: a thread marks its partitions one after the other.

    All rounds count: in one minute 64 puts by eight threads take 486 us, in another 800.
    """
    puts = [put for of in found.rounds for put in _further_puts(of)]
    why = f"{MORE_PUTS} puts less {PUTS}, and {PUTS} less one, by one thread and by each of a team"
    if not puts:
        return {}
    of = between(puts, why)
    low, high = of.interval or (of.value, of.value)
    half = max(high / of.value - 1, 1 - low / of.value)
    return {"put": size_curve({SMALL_EXCHANGE: of.value}, why, half)}


def _further_puts(found: Found) -> Iterator[float]:
    for way in SYNC:
        one = found.one(f"rma-single-{way}", SMALL_EXCHANGE)
        several = found.one(f"rma-single-{way}", SMALL_EXCHANGE * PUTS, PUTS)
        more = found.one(f"rma-single-{way}", SMALLER_PUT * MORE_PUTS, MORE_PUTS)
        if one is not None and several is not None:
            yield (several.total.value - one.total.value) / (PUTS - 1)
        if several is not None and more is not None:
            yield (more.total.value - several.total.value) / (MORE_PUTS - PUTS)
        for threads in sorted({e.threads for e in found.teams(f"rma-single-{way}")}):
            alone, each = (found.team(f"rma-single-{way}", threads, theta) for theta in (1, PUTS))
            if alone is not None and each is not None:
                yield (each.total.value - alone.total.value) / (threads * (PUTS - 1))


def _puts(found: Found) -> dict[str, Value[Puts]]:
    """Deferred puts: those issued before a long pause outside MPI are still to be moved after it.

    The smallest size that is conclusive counts. Whether the adapter or the target's processor moves other puts does
    not show here, since the target is in MPI.
    """
    early = [e for e in found.all if e.approach == EARLY_PUTS and e.threads == 1 and e.theta > 1]
    for size, theta in sorted({(e.bytes, e.theta) for e in early}):
        together = found.one(EARLY_PUTS, size, theta)
        pauses = {e.delay_s for e in early if (e.bytes, e.theta) == (size, theta)}
        delayed = found.one(EARLY_PUTS, size, theta, max(pauses))
        if together is None or delayed is None or not SETTLES_S < together.total.value < delayed.delay_s:
            continue
        left = delayed.after.value / together.total.value
        before = (theta - 1) / theta
        if 1 - left >= MOVED * before:
            continue
        if 1 - left >= STUCK * before:
            return {}
        why = (
            f"{100 * left:.0f} % of the time of {theta} puts of {size // theta} B was left after a pause before "
            "the last"
        )
        return {"puts": Value[Puts](value="deferred", source="measured", why=why)}
    return {}


def _epochs(machine: Machine, found: Found) -> dict[str, Value[float]]:
    """An epoch is the rest of an exchange by one put."""
    without = _with_rma(machine, {"epoch": exact(TIME, 0.0, "left out to measure it")})
    exchanges = {way: found.one(f"rma-single-{way}", SMALL_EXCHANGE) for way in SYNC}
    rests = [_rest(without, e) for e in exchanges.values() if e is not None]
    return {"epoch": between(rests, "one put's exchange, active and passive, less its messages")} if rests else {}


def _epochs_of_teams(machine: Machine, found: Found) -> dict[str, Value[float]]:
    """Epochs again, by teams as applications have them: threads put at the same time, and share one's wait."""
    alone = machine.one_sided.epoch.value
    rests = [
        _rest(machine, e) / interface_of(e.approach).windows(e.threads) for a in TEAMS_OF_RMA for e in found.teams(a)
    ]
    if not rests:
        return {}
    time, half = max(alone + float(np.median(rests)), SHORTEST_S), next_within(rests)
    why = "one put's exchange by each thread of a team less its messages, by window"
    return {"epoch": value(TIME, Estimate(time, max(time - half, 0.0), time + half), why)}


def next_within(values: Sequence[float] | Array) -> float:
    """How far from their median the next such value lies, with 95 % probability, by Student's t.

    Not how well the median is known: a prediction is of one exchange. Exchanges in which a neighbour's time slice was
    measured instead do not count.
    """
    off = np.asarray(values) - np.median(values)
    off = off[np.abs(off) <= UNDISTURBED * max(float(mad_sigma(off)), SHORTEST_S)]
    n = len(off)
    return student95(n - 1) * float(off.std(ddof=1)) * (1 + 1 / n) ** 0.5 if n > 1 else 0.0
