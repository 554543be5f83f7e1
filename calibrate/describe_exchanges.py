"""What whole exchanges say of a machine: each for what it takes longer than another, or than the machine so far.

The points are `run.exchanges`. Where two exchanges differ in one thing only, their difference is its cost. Where they
do not, the timeline itself says what is known already, and the rest is the cost that was left out.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import curve_fit
from scipy.stats import median_abs_deviation
from scipy.stats import t as student_t

from pready.calibrate.observe import Exchange
from pready.calibrate.run import ACTIVE_PAUSE, EARLY_PUTS, EARLY_SIZES, MORE_PUTS, PUTS, SMALL_EXCHANGE, SMALLER_PUT
from pready.model.approach import BY_KEY, Approach
from pready.model.costs import Sampler, costs
from pready.model.evaluate import message_size, setting_of
from pready.model.files import validated
from pready.model.machine import Machine
from pready.model.timeline import run
from pready.model.units import Unit, format_exact, parse
from pready.model.values import Array
from pready.model.workload import Workload

SYNC = {"active": "epoch", "passive": "flush"}
SHORTEST_S = 1e-9
"""A cost that came out below is taken as this: it stays positive."""
EARLY_BELOW = 0.5
"""Share of the time without delay, below which puts have moved before the last one."""
UNDISTURBED = 5.0
"""Standard deviations, by the median absolute one, beyond which a neighbour's time slice was measured instead."""
SURE = 0.95
"""What share of exchanges an interval shall hold."""
NARROWEST = 1e-3
"""An interval reaching zero or below is cut off at this share of its value: a cost stays positive."""
WIDEST = 0.95
"""Relative half-width of an interval, at most."""


@dataclass(frozen=True)
class Found:
    """Exchanges by what they were."""

    all: Sequence[Exchange]

    def one(self, approach: str, size: int, theta: int = 1, delay_s: float = 0.0) -> Exchange | None:
        """The exchange of one thread, if it was measured."""
        wanted = (approach, size, 1, theta, delay_s)
        return next((e for e in self.all if (e.approach, e.bytes, e.threads, e.theta, e.delay_s) == wanted), None)

    def team(self, approach: str, threads: int, theta: int) -> Exchange | None:
        """The exchange of several threads that are ready together."""
        found = (e for e in self.teams(approach) if (e.threads, e.theta, e.delay_s) == (threads, theta, 0.0))
        return next(found, None)

    def teams(self, approach: str) -> list[Exchange]:
        """Small exchanges of several threads."""
        return [e for e in self.all if e.approach == approach and e.threads > 1 and e.ready]


def refined(data: dict[str, Any], exchanges: Sequence[Exchange], *, active_messages: bool) -> dict[str, Any]:
    """The machine's data with what exchanges add to them; `data` stays as it is.

    Parameters
    ----------
    data
        As `Machine` takes them.
    active_messages
        Does ``MPI_Psend`` travel as an active message here?
    """
    out, found = copy.deepcopy(data), Found(exchanges)
    out |= _cold(found)
    if active_messages:
        out |= _active_message(found)
    _meeting(out, found)
    _put(out, found)
    _epochs(out, found)
    _waking(out, found)
    _epochs_of_teams(out, found)
    return out


def modelled(machine: Machine, e: Exchange) -> float:
    """What the timeline says of an exchange: the median over its repeats, until both sides are done."""
    interface = BY_KEY[e.approach]
    approach = Approach(interface, e.threads * e.theta if interface.splits else 1)
    buffer: Any = f"{e.bytes} B"
    workload = Workload(threads=e.threads, partitions_per_thread=e.theta, buffer=buffer)
    ready = np.array(e.ready or [[0.0] * (e.threads * e.theta - 1) + [e.delay_s]])
    c = costs(Sampler(machine), workload, message_size(workload.buffer, approach))
    line = run(ready, c, approach, setting_of(machine, workload))
    return float(np.median(np.maximum(line.end, line.join)))


def _rest(data: dict[str, Any], e: Exchange) -> float:
    return e.after.value - modelled(validated(Machine, data, "calibration"), e)


def _cold(found: Found) -> dict[str, Any]:
    """What a message takes longer after a pause: a time per size, and one for how soon it is paid."""
    extra: dict[int, dict[float, float]] = {}
    for e in found.all:
        base = found.one("single", e.bytes)
        if e.approach == "single" and e.threads == 1 and e.delay_s > 0 and base is not None:
            extra.setdefault(e.bytes, {})[e.delay_s] = e.after.value - base.after.value
    extra = {size: at for size, at in extra.items() if len(at) > 1}
    if not extra:
        return {}
    sizes = sorted(extra)
    pauses = np.array(sorted({d for at in extra.values() for d in at}))
    times = np.array([[extra[s].get(d, np.nan) for d in pauses] for s in sizes])
    mean = np.nanmean(times, axis=0)
    if mean[-1] <= 0:
        return {}

    def paid(pause: Any, most: float, after: float) -> Any:
        return most * -np.expm1(-pause / after)

    # In units of the data: the optimiser's tolerances take microseconds for nothing.
    time, pause = mean[-1], pauses[len(pauses) // 2]
    bounds = ([0.0, pauses[0] / pause / 10], [np.inf, pauses[-1] / pause])
    (_, after), _ = curve_fit(paid, pauses / pause, mean / time, p0=[1.0, 1.0], bounds=bounds)
    after *= pause
    shape = paid(pauses, 1.0, after)
    known = np.isfinite(times)
    fitted = [float(t[k] @ shape[k] / (shape[k] @ shape[k])) for t, k in zip(times, known, strict=True)]
    most = np.maximum(fitted, 0.0)
    left = times - most[:, None] * shape
    half = float(np.nanstd(left) * 1.96 / most.mean()) if most.mean() > 0 else 0.0
    why = "a send by one thread after sleeping, less one without"
    return {
        "cold": {
            **_curve(dict(zip(sizes, most.tolist(), strict=True)), why, min(half, WIDEST)),
            "after": {"value": format_exact(float(after), Unit.TIME), "source": "measured", "why": why},
        }
    }


def _active_message(found: Found) -> dict[str, Any]:
    """After a pause, as in an application: the clear-to-send that came meanwhile is handled cold, too."""
    times = {
        e.bytes: max(e.after.value - single.after.value, 0.0)
        for e in found.all
        if e.approach == "part" and (e.threads, e.theta, e.delay_s) == (1, 1, ACTIVE_PAUSE)
        if (single := found.one("single", e.bytes, 1, ACTIVE_PAUSE)) is not None
    }
    return {"active_message": _curve(times, "MPI_Psend of one partition less a send of the same size")} if times else {}


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
    teams = sorted(rests)
    times = np.maximum.accumulate([max(float(np.median(rests[t])), 0.0) for t in teams])  # noise may say otherwise
    off = np.concatenate([np.array(rests[team]) - time for team, time in zip(teams, times, strict=True)])
    why = "what a team's bulk send takes longer than one thread's, ready together, in turn or the last late"
    data["threads"]["barrier"] = {
        "threads": [1, *teams],
        "time": ["0 s", *(format_exact(float(time), Unit.TIME) for time in times)],
        "source": "measured",
        "why": why,
    }
    data["threads"]["meet"] = _around(0.0, _next_within(off), f"{why}: how much they differ without a cause")


def _put(data: dict[str, Any], found: Found) -> None:
    """A thread marks its partitions one after the other: from the start on, each further put adds one."""
    puts = []
    for way in SYNC:
        one = found.one(f"rma-single-{way}", SMALL_EXCHANGE)
        several = found.one(f"rma-single-{way}", SMALL_EXCHANGE * PUTS, PUTS)
        more = found.one(f"rma-single-{way}", SMALLER_PUT * MORE_PUTS, MORE_PUTS)
        if one is not None and several is not None:
            puts.append((several.total.value - one.total.value) / (PUTS - 1))
        if several is not None and more is not None:
            puts.append((more.total.value - several.total.value) / (MORE_PUTS - PUTS))
        for threads in sorted({e.threads for e in found.teams(f"rma-single-{way}")}):
            alone, each = (found.team(f"rma-single-{way}", threads, theta) for theta in (1, PUTS))
            if alone is not None and each is not None:
                puts.append((each.total.value - alone.total.value) / (threads * (PUTS - 1)))
    if puts:
        why = f"{MORE_PUTS} puts less {PUTS}, and {PUTS} less one, by one thread and by each of a team"
        data["one_sided"]["put"] = _between(puts, why)
    for size in sorted(EARLY_SIZES, reverse=True):
        late = [e for e in found.all if (e.bytes, e.theta) == (size * EARLY_PUTS, EARLY_PUTS) and e.threads == 1]
        together = next((e for e in late if e.delay_s == 0), None)
        delayed = next((e for e in late if e.delay_s > 0), None)
        if together is None or delayed is None:
            continue
        share = delayed.after.value / together.total.value
        if share < EARLY_BELOW or size == min(EARLY_SIZES):
            moves = share < EARLY_BELOW
            why = f"{share:.0%} of the time of {EARLY_PUTS} such puts was left when the last was late"
            bytes_ = size if moves else 0
            data["one_sided"]["early"] = {"value": f"{bytes_} B", "source": "measured", "why": why}
            return


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


def _waking(data: dict[str, Any], found: Found) -> None:
    """What small exchanges of teams take beyond the model, and how much they differ without a cause.

    The latter also bounds what one small exchange, measured once, can say of an active message.
    """
    rests = [_rest(data, e) for e in found.teams("many")]
    if not rests:
        return
    unknown = _next_within(rests)
    if "active_message" in data:
        times = [parse(time, Unit.TIME, "active_message") for time in data["active_message"]["time"]]
        data["active_message"]["interval"] = min(unknown / max(float(np.mean(times)), SHORTEST_S), WIDEST)
    why = "sends by the threads of a team, together or in turn, less what the rest explains"
    data["threads"]["wake"] = _around(float(np.median(rests)), unknown, why)


def _epochs_of_teams(data: dict[str, Any], found: Found) -> None:
    """Epochs again, by teams as applications have them: threads put at the same time, and share what one waits for."""
    for way, name in SYNC.items():
        rests = [_rest(data, e) for a in ("single", "many") for e in found.teams(f"rma-{a}-{way}")]
        if rests and name in data["one_sided"]:
            alone = parse(data["one_sided"][name]["value"], Unit.TIME, name)
            value, half = max(alone + float(np.median(rests)), SHORTEST_S), _next_within(rests)
            found_out = _around(value, half, f"one put's exchange by each thread of a team, {way}, less its messages")
            found_out["interval"][0] = format_exact(max(value - half, NARROWEST * value), Unit.TIME)
            data["one_sided"][name] = found_out


def _next_within(values: Sequence[float] | Array) -> float:
    """How far from their middle the next such value lies, with 95 % probability, by Student's t.

    Not how well the middle is known: a prediction is of one exchange. Exchanges in which a neighbour's time
    slice was measured instead do not count.
    """
    off = np.asarray(values) - np.median(values)
    off = off[np.abs(off) <= UNDISTURBED * max(float(median_abs_deviation(off, scale="normal")), SHORTEST_S)]
    n = len(off)
    return float(student_t.ppf((1 + SURE) / 2, n - 1) * off.std(ddof=1) * np.sqrt(1 + 1 / n)) if n > 1 else 0.0


def _around(value: float, half: float, why: str) -> dict[str, Any]:
    ends = [format_exact(value - half, Unit.TIME), format_exact(value + half, Unit.TIME)]
    return {"value": format_exact(value, Unit.TIME), "interval": ends, "source": "measured", "why": why}


def _curve(times: dict[int, float], why: str, interval: float = 0.0) -> dict[str, Any]:
    return {
        "sizes": [format_exact(float(s), Unit.SIZE) for s in sorted(times)],
        "time": [format_exact(times[s], Unit.TIME) for s in sorted(times)],
        "interval": interval,
        "source": "measured",
        "why": why,
    }


def _between(values: Sequence[float], why: str) -> dict[str, Any]:
    """The middle of a few measurements, and their range as its interval."""
    kept = [max(v, SHORTEST_S) for v in values]
    low, high = format_exact(min(kept), Unit.TIME), format_exact(max(kept), Unit.TIME)
    value = format_exact(float(np.mean(kept)), Unit.TIME)
    return {"value": value, "interval": [low, high], "source": "measured", "why": why}
