"""What whole exchanges say of a machine: each for what it takes longer than another, or than the machine so far.

The points are `measurement_plan.exchanges`. Where two exchanges differ in one thing only, their difference is its
cost. Where they do not, the timeline itself says what is known already, and the rest is the cost that was left out.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, cast

import numpy as np

from pready.calibrate.benchmark_list import interface_of
from pready.calibrate.from_records import Exchange, Sample
from pready.calibrate.measurement_plan import (
    EARLY_APPROACHES,
    EARLY_DELAY_S,
    EARLY_PUTS,
    EARLY_SIZES,
    MORE_PUTS,
    PUTS,
    SMALL_EXCHANGE,
    SMALLER_PUT,
)
from pready.model.arrays import Array
from pready.model.costs import Costs, costs
from pready.model.evaluate import setting_of
from pready.model.files import validated
from pready.model.interfaces import Approach
from pready.model.machine import Machine
from pready.model.sampling import Sampler
from pready.model.timeline import run
from pready.model.units import Unit, format_exact, parse
from pready.model.workload import Workload

SYNC = {"active": "epoch", "passive": "flush"}
OPENS = {"active": "open", "passive": "lock"}
SHORTEST_S = 1e-9
"""A cost that came out below is taken as this: it stays positive."""
LARGE_PUT = 1 << 20
"""Bytes from which the time of a put's call says how fast its data are copied."""
SETTLES_S = 2e-3
"""Puts that take less together say little of what moved meanwhile: after a pause, they start slowly."""
MOVED = 0.85
"""Share of the puts before a pause from which all of them are said to have moved in it."""
STUCK = 0.1
"""Share up to which none are."""
SOON_S = 0.3e-3
"""Before that, threads have slept for nothing; all that have slept have done so for longer than twice that."""
SHARES = tuple(k / 10 for k in range(11))
"""Of being cold."""
UNDISTURBED = 5.0
"""Standard deviations, by the median absolute one, beyond which a neighbour's time slice was measured instead."""
TURNS = "by the threads of a team that had nothing to wait for, one each, on fewer cores than threads"
SURE = 0.95
"""What share of exchanges an interval shall hold."""
WIDEST = 0.95
"""Relative half-width of an interval, at most: what it spans stays above 0."""


@dataclass(frozen=True)
class Found:
    """Exchanges by what they were."""

    all: Sequence[Exchange]

    @property
    def rounds(self) -> list[Found]:
        """Each round on its own."""
        numbers = sorted({e.round for e in self.all})
        return [Found([e for e in self.all if e.round == number]) for number in numbers]

    def one(self, approach: str, size: int, theta: int = 1, delay_s: float = 0.0) -> Exchange | None:
        """The exchange of one thread, if it was measured."""
        wanted = (approach, size, 1, theta, delay_s)
        return _middle([e for e in self.all if (e.approach, e.bytes, e.threads, e.theta, e.delay_s) == wanted])

    def ones(self, approach: str) -> dict[int, dict[float, Exchange]]:
        """Exchanges by one thread with one partition: by size, then by pause."""
        kinds = sorted({(e.bytes, e.delay_s) for e in self.all if (e.approach, e.threads, e.theta) == (approach, 1, 1)})
        out: dict[int, dict[float, Exchange]] = {}
        for size, pause in kinds:
            found = self.one(approach, size, 1, pause)
            assert found is not None
            out.setdefault(size, {})[pause] = found
        return out

    def team(self, approach: str, threads: int, theta: int) -> Exchange | None:
        """The exchange of several threads that are ready together."""
        wanted = (threads, theta, 0.0)
        return _middle([e for e in self.teams(approach) if (e.threads, e.theta, e.delay_s) == wanted])

    def teams(self, approach: str) -> list[Exchange]:
        """Small exchanges of several threads, every round of each."""
        return [e for e in self.all if e.approach == approach and e.threads > 1 and e.ready]


def _middle(rounds: Sequence[Exchange]) -> Exchange | None:
    """The same exchange in all its rounds, as one."""
    if not rounds:
        return None
    total, after = (
        Sample(*(float(np.median([getattr(getattr(e, of), end) for e in rounds])) for end in ("value", "low", "high")))
        for of in ("total", "after")
    )
    return replace(rounds[0], total=total, after=after)


def refined(
    data: dict[str, Any], exchanges: Sequence[Exchange], *, active_messages: bool, cores: int | None = None
) -> dict[str, Any]:
    """The machine's data with what exchanges add to them; `data` stays as it is.

    Parameters
    ----------
    data
        As `Machine` takes them.
    active_messages
        Does ``MPI_Psend`` travel as an active message here?
    cores
        Of a rank, if that is known: threads that outnumber them take turns.
    """
    out, found = copy.deepcopy(data), Found(exchanges)
    out |= _cold(found)
    if active_messages:
        out |= _active_message(found)
    _meeting(out, found)
    _put(out, found)
    _unattended(out, found)
    _epochs(out, found)
    _turns(out, found, cores)
    _own_share(out, found)
    _epochs_of_teams(out, found)
    out["one_sided"] |= _opening(found)
    return out


def _described(machine: Machine, e: Exchange) -> tuple[Approach, Workload, Costs]:
    """An exchange as the model has it, and what its messages cost."""
    approach, buffer = interface_of(e.approach).into(e.threads * e.theta), cast("float", f"{e.bytes} B")
    workload = Workload(threads=e.threads, partitions_per_thread=e.theta, buffer=buffer)
    return approach, workload, costs(Sampler(machine), workload, approach.message_size(workload.buffer))


def modelled(machine: Machine, e: Exchange) -> float:
    """What the timeline says of an exchange: the median over its repeats, until both sides are done."""
    approach, workload, c = _described(machine, e)
    ready = np.array(e.ready or [[0.0] * (e.threads * e.theta - 1) + [e.delay_s]])
    setting = replace(setting_of(machine, workload), receivers_meet=False)  # one thread receives (measurement_plan)
    line = run(ready, c, approach, setting)
    return float(np.median(line.end))


def _rest(data: dict[str, Any], e: Exchange) -> float:
    return e.after.value - modelled(validated(Machine, data, "calibration"), e)


def _cold(found: Found) -> dict[str, Any]:
    """What a message takes longer after a pause: a time per size, and one for how soon it is paid.

    Each difference counts as much as it is known: a neighbour's time slices in some repeats of one pause shall not
    become a term. What is known of a size alone is drawn towards all sizes' mean by as much as it is uncertain.
    """
    singles = found.ones("single")
    extra = {
        size: {
            pause: (e.after.value - at[0.0].after.value, _unsure(e, at[0.0])) for pause, e in at.items() if pause > 0
        }
        for size, at in singles.items()
        if 0.0 in at
    }
    extra = {size: at for size, at in extra.items() if len(at) > 1}
    if not extra:
        return {}
    sizes = sorted(extra)
    pauses = np.array(sorted({d for at in extra.values() for d in at}))
    unknown = (0.0, np.inf)
    times, within = np.moveaxis(np.array([[extra[s].get(d, unknown) for d in pauses] for s in sizes]), -1, 0)
    weights = within**-2.0
    mean = (weights * times).sum(axis=0) / weights.sum(axis=0)
    if mean[-1] <= 0:
        return {}

    def paid(pause: Any, most: float, after: float) -> Any:
        return most * -np.expm1(-pause / after)

    # In units of the data: the optimiser's tolerances take microseconds for nothing.
    time, pause = mean[-1], pauses[len(pauses) // 2]
    bounds = ([0.0, pauses[0] / pause / 10], [np.inf, pauses[-1] / pause])
    from scipy.optimize import curve_fit

    (_, after), _ = curve_fit(paid, pauses / pause, mean / time, p0=[1.0, 1.0], bounds=bounds)
    after *= pause
    shape = paid(pauses, 1.0, after)
    precision = (weights * shape**2).sum(axis=1)
    most = np.maximum(_drawn_together((weights * times * shape).sum(axis=1) / precision, 1 / precision), 0.0)
    left = np.average((times - most[:, None] * shape) ** 2, weights=weights) ** 0.5
    half = float(left * 1.96 / most.mean()) if most.mean() > 0 else 0.0
    why = "a send by one thread after sleeping, less one without"
    return {
        "cold": {
            **curve(dict(zip(sizes, most.tolist(), strict=True)), why, half),
            "after": {"value": format_exact(float(after), Unit.TIME), "source": "measured", "why": why},
        }
    }


def _unsure(a: Exchange, b: Exchange) -> float:
    """Half of the interval of a difference, seconds."""
    return max(float(np.hypot(a.after.high - a.after.low, b.after.high - b.after.low)) / 2, SHORTEST_S)


def _drawn_together(values: Array, variances: Array) -> Array:
    """Values drawn towards their mean: by none where they differ by more than they are uncertain.

    Between-group variance by moments: DerSimonian and Laird 1986, doi:10.1016/0197-2456(86)90046-2.
    """
    weights = 1 / variances
    mean = np.average(values, weights=weights)
    scatter = (weights * (values - mean) ** 2).sum() - (len(values) - 1)
    between = max(float(scatter), 0.0) / max(float(weights.sum() - (weights**2).sum() / weights.sum()), 1e-300)
    return np.asarray((values * between + mean * variances) / (between + variances))


def _active_message(found: Found) -> dict[str, Any]:
    """Over several pauses, as applications have them: the clear-to-send that came meanwhile is handled cold, too."""
    singles, extra = found.ones("single"), dict[int, list[float]]()
    for e in found.all:
        single = singles.get(e.bytes, {}).get(e.delay_s)
        if e.approach == "part" and (e.threads, e.theta) == (1, 1) and single is not None:
            extra.setdefault(e.bytes, []).append(e.after.value - single.after.value)
    if not extra:
        return {}
    times = {size: max(float(np.median(of)), 0.0) for size, of in extra.items()}
    off = np.concatenate([np.array(of) - times[size] for size, of in extra.items()])
    half = _next_within(off) / max(float(np.mean(list(times.values()))), SHORTEST_S)
    why = "MPI_Psend of one partition less a send of the same size, after several pauses"
    return {"active_message": curve(times, why, half)}


def _meeting(data: dict[str, Any], found: Found) -> None:
    """The threads' barrier before a bulk send, in place: sleeping threads meet otherwise than busy ones.

    How far the next such exchange may lie off is an interval of its own: where the threads hardly wait for each
    other, a share of the barrier would say nothing.
    """
    rests: dict[int, list[float]] = {}
    without = copy.deepcopy(data)
    without["threads"]["barrier"] |= {"time": ["0 s"] * len(data["threads"]["barrier"]["threads"])}
    for e in found.teams("single"):
        rests.setdefault(e.threads, []).append(_rest(without, e))
    if not rests:
        return
    teams, times, off = _by_team(rests, data["threads"]["barrier"]["threads"][-1])
    why = "what a team's bulk send takes longer than one thread's, ready together, in turn or the last late"
    data["threads"]["barrier"] = {
        "threads": [1, *teams],
        "time": ["0 s", *(format_exact(float(time), Unit.TIME) for time in times)],
        "source": "measured",
        "why": why,
    }
    data["threads"]["meet"] = _around(0.0, _next_within(off), f"{why}: how much they differ without a cause")


def _put(data: dict[str, Any], found: Found) -> None:
    """A thread marks its partitions one after the other: from the start on, each further put adds one.

    Rounds count each: in one minute 64 puts by eight threads take 486 us, in another 800.
    """
    puts = [put for of in found.rounds for put in _further_puts(of)]
    if puts:
        why = f"{MORE_PUTS} puts less {PUTS}, and {PUTS} less one, by one thread and by each of a team"
        data["one_sided"]["put"] = _between(puts, why)


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


def _unattended(data: dict[str, Any], found: Found) -> None:
    """How much of puts moves with nobody inside MPI, and of sends, unless these wait for an answer to be seen there."""
    puts, sends = EARLY_APPROACHES
    if (moved := _moved(found, puts, "puts")) is not None:
        data["one_sided"]["unattended"] = moved
        if parse(moved["value"], Unit.SIZE) == 0 and (kept := _kept(found, puts)):
            why = "what lies between the calls of puts one after the other, of 1 MiB and more, per byte"
            data["one_sided"]["O_s"] = _between(kept, why, Unit.TIME_PER_BYTE)
    if data.get("sender_progress", {}).get("value") != "on-call" and (moved := _moved(found, sends, "sends")):
        data["inter"]["unattended"] = moved


def _kept(found: Found, approach: str) -> list[float]:
    """What a put takes per byte in its call: the next partition of its thread is ready when it returns."""
    large = [s for s in EARLY_SIZES if s >= LARGE_PUT]
    rows = {s: e.ready for s in large if (e := found.one(approach, s * EARLY_PUTS, EARLY_PUTS)) is not None and e.ready}
    return [float(np.median([row[-1] - row[1] for row in of])) / (EARLY_PUTS - 2) / s for s, of in rows.items()]


def _moved(found: Found, approach: str, what: str) -> dict[str, Any] | None:
    """Some before a long pause outside MPI, and one more after it: what is left then had not moved in the pause.

    The smallest that did not all move say it best: what is left of larger ones is mostly their own. As much as smaller
    ones moved has room.
    """
    least = 0
    for size in sorted(EARLY_SIZES):
        together, delayed = (found.one(approach, size * EARLY_PUTS, EARLY_PUTS, d) for d in (0.0, EARLY_DELAY_S))
        if together is None or delayed is None or together.total.value < SETTLES_S:
            continue
        left = delayed.after.value / together.total.value
        before = (EARLY_PUTS - 1) / EARLY_PUTS
        if 1 - left >= MOVED * before:
            least = size * (EARLY_PUTS - 1)
            continue
        moved = 0 if 1 - left < STUCK * before else max(round((1 - left) * size * EARLY_PUTS), least)
        why = f"{left:.0%} of the time of {EARLY_PUTS} {what} of {size} B was left after a pause before the last"
        return {"value": f"{moved} B", "source": "measured", "why": why}
    return None


def _epochs(data: dict[str, Any], found: Found) -> None:
    """What is left of an exchange by one put; and after the last of several windows, less after an only one."""
    free = {"value": "0 s", "source": "assumed", "why": "left out to measure it"}
    without = copy.deepcopy(data)
    without["one_sided"] |= {"epoch": free, "flush": free, "window": free}
    further = []
    for way, name in SYNC.items():
        one = found.one(f"rma-single-{way}", SMALL_EXCHANGE)
        if one is not None:
            why = f"one put's exchange, {way}, less its messages"
            data["one_sided"][name] = _between([_rest(without, one)], why)
        window = found.one(f"rma-many-{way}", SMALL_EXCHANGE)
        windows = found.one(f"rma-many-{way}", SMALL_EXCHANGE * PUTS, PUTS)
        if window is not None and windows is not None:
            further.append((windows.after.value - window.after.value) / (PUTS - 1))
    if further:
        why = f"after the last of {PUTS} windows less after an only one, both synchronisations"
        data["one_sided"]["window"] = _between(further, why)


def _turns(data: dict[str, Any], found: Found, cores: int | None) -> None:
    """What a thread's turn takes on a core that it shares: of teams with nothing to wait for, one message each.

    One is ready when it has the core, and keeps it until its message is issued: what lies between two that are ready
    is that and a turn. Puts that are put off are one thread's, which takes no turns.
    """
    machine = validated(Machine, data, "calibration")
    unattended = machine.one_sided.unattended
    put_off = unattended is not None and unattended.value == 0
    puts = () if put_off else tuple(f"rma-single-{way}" for way in SYNC)
    for name, approaches, what in (("turn", ("many",), "sends"), ("turn_put", puts, "puts")):
        each = [
            float(np.median([max(row) - min(row) for row in e.ready])) / (e.threads - 1) - _issued_in(machine, e)
            for e in chain.from_iterable(map(found.teams, approaches))
            if cores is not None and cores < e.threads and e.theta == 1 and _together(e)
        ]
        if each:
            middle = format_exact(max(float(np.median(each)), SHORTEST_S), Unit.TIME)
            data["threads"][name] = {**_between(each, f"{what} {TURNS}"), "value": middle}


def _issued_in(machine: Machine, e: Exchange) -> float:
    """CPU time of a message that another thread's has just been issued before."""
    approach, _, c = _described(machine, e)
    own, taken = (c.put, c.contention_put) if approach.interface.one_sided else (c.hold, c.contention)
    return float(own + taken[e.threads])


def _opening(found: Found) -> dict[str, Any]:
    """What a team waits for, before it computes, until its epoch is open: when its first partition is ready later than
    that of its sends. Exchanges are judged from when partitions are ready, so that no other cost contains it."""

    def first(threads: int, *approaches: str) -> float | None:
        at = [
            float(np.median([min(row) for row in e.ready]))
            for e in found.all
            if e.approach in approaches and e.threads == threads and e.ready and _together(e)
        ]
        return float(np.median(at)) if at else None

    out = {}
    for way, name in OPENS.items():
        approach = f"rma-single-{way}"
        both = [(first(t, approach), first(t, "single", "many")) for t in sorted({e.threads for e in found.all})]
        later = [puts - sends for puts, sends in both if puts is not None and sends is not None]
        if later and (value := float(np.median(later))) > SHORTEST_S:
            why = f"when teams that put, {way}, have their first partition ready, less when those that send do"
            out[name] = _around(value, min(_next_within(later), value), why)
    return out


def _together(e: Exchange) -> bool:
    """Had the threads of a team nothing to wait for?"""
    return e.delay_s == 0 and float(np.median([max(row) for row in e.ready])) < SOON_S


def _own_share(data: dict[str, Any], found: Found) -> None:
    """Which share of being cold a thread of a team is by itself, though others have just sent: the one by which the
    model is least off all small exchanges of teams that have computed. Least absolute deviations, since some of them
    are a neighbour's time slices; its interval is the range over the rounds."""
    if "cold" not in data:
        return
    of = [[e for e in part.teams("many") if not _together(e)] for part in found.rounds]
    if not any(of):
        return
    said: dict[str, Any] = {"source": "measured", "why": "sends by the threads of a team, late or in turn"}
    off = []
    for share in SHARES:
        data["cold"]["own"] = {"value": f"{share:.0%}", **said}
        machine = validated(Machine, data, "calibration")
        off.append([sum(abs(e.after.value - modelled(machine, e)) for e in part) for part in of])
    each = [SHARES[i] for i, part in zip(np.argmin(off, axis=0), of, strict=True) if part]
    whole = (min(each), max(each)) if len(each) > 1 else (SHARES[0], SHARES[-1])
    value = float(np.clip(SHARES[int(np.sum(off, axis=1).argmin())], *whole))
    data["cold"]["own"] = {"value": f"{value:.0%}", "interval": [f"{end:.0%}" for end in whole], **said}


def _by_team(rests: dict[int, list[float]], most: int) -> tuple[list[int], Array, Array]:
    """Teams, a time for each that never falls with their size, and how far each rest lies off it.

    Teams up to `most` that the budget did not reach are as the largest measured.
    """
    teams = sorted(rests)
    times = np.maximum.accumulate([max(float(np.median(rests[t])), 0.0) for t in teams])  # noise may say otherwise
    off = np.concatenate([np.array(rests[team]) - time for team, time in zip(teams, times, strict=True)])
    if teams[-1] < most:
        return [*teams, most], np.append(times, times[-1]), off
    return teams, times, off


def _epochs_of_teams(data: dict[str, Any], found: Found) -> None:
    """Epochs again, by teams as applications have them: threads put at the same time, and share what one waits for."""
    for way, name in SYNC.items():
        rests = [_rest(data, e) for a in ("single", "many") for e in found.teams(f"rma-{a}-{way}")]
        if rests and name in data["one_sided"]:
            alone = parse(data["one_sided"][name]["value"], Unit.TIME, name)
            value, half = max(alone + float(np.median(rests)), SHORTEST_S), _next_within(rests)
            found_out = _around(value, half, f"one put's exchange by each thread of a team, {way}, less its messages")
            found_out["interval"][0] = format_exact(max(value - half, 0.0), Unit.TIME)
            data["one_sided"][name] = found_out


def _next_within(values: Sequence[float] | Array) -> float:
    """How far from their middle the next such value lies, with 95 % probability, by Student's t.

    Not how well the middle is known: a prediction is of one exchange. Exchanges in which a neighbour's time
    slice was measured instead do not count.
    """
    off = np.asarray(values) - np.median(values)
    from scipy.stats import median_abs_deviation
    from scipy.stats import t as student_t

    off = off[np.abs(off) <= UNDISTURBED * max(float(median_abs_deviation(off, scale="normal")), SHORTEST_S)]
    n = len(off)
    return float(student_t.ppf((1 + SURE) / 2, n - 1) * off.std(ddof=1) * np.sqrt(1 + 1 / n)) if n > 1 else 0.0


def _around(value: float, half: float, why: str) -> dict[str, Any]:
    ends = [format_exact(value - half, Unit.TIME), format_exact(value + half, Unit.TIME)]
    return {"value": format_exact(value, Unit.TIME), "interval": ends, "source": "measured", "why": why}


def curve(times: Mapping[int, float], why: str, half: float = 0.0) -> dict[str, Any]:
    """A `SizeCurve` as measured: seconds by bytes, and the relative half-width of their interval."""
    return {
        "sizes": [format_exact(float(s), Unit.SIZE) for s in sorted(times)],
        "time": [format_exact(times[s], Unit.TIME) for s in sorted(times)],
        "interval": min(half, WIDEST),
        "source": "measured",
        "why": why,
    }


def _between(values: Sequence[float], why: str, unit: Unit = Unit.TIME) -> dict[str, Any]:
    """The middle of a few measurements, and their range as its interval."""
    kept = [max(v, SHORTEST_S if unit is Unit.TIME else 0.0) for v in values]
    low, high = format_exact(min(kept), unit), format_exact(max(kept), unit)
    value = format_exact(float(np.mean(kept)), unit)
    return {"value": value, "interval": [low, high], "source": "measured", "why": why}
