"""The fit: from observations to a machine's segments, each parameter with its interval.

    observations -> curves (series.py) -> thresholds (changepoints.py) -> robust lines (lines.py)
                 -> intervals (bootstrap.py) -> Fit (results.py)

Identifiable parameters, measured with synthetic machines (tests/calibrate/fit/test_fit_acceptance.py):
a parameter is read off a difference of measured times, so its error is the times' error divided by
its share in them. With 50 repeats of 1-3 % noise a size's time is known to 0.2-0.5 %; a parameter
that makes up 5 % of the times it is read from is then known to a few per cent, one that makes up
a hundredth is not. Examples are G of an eager segment too short for G·s to reach a tenth of L,
and for o_s, o_r, g and L of a segment that begins where G·s is many times L: their intervals are
wider than ±10 %, and `refine_sizes` lists the sizes that help.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from pready.calibrate.fit.bootstrap import CurveLines, draw_lines, fit_lines
from pready.calibrate.fit.changepoints import FEWEST_IN_SEGMENT
from pready.calibrate.fit.changepoints import cuts as find_cuts
from pready.calibrate.fit.observations import Observations
from pready.calibrate.fit.results import Estimate, Fit, Protocol, Segment, Thin, ThinDataError
from pready.calibrate.fit.series import derive
from pready.calibrate.fit.sizes_to_measure import default_sizes
from pready.model.common.arrays import Array
from pready.model.common.units import format_time

DRAWS = 400  # resamples of a bootstrap
FEWEST_FOR_A_LINE = FEWEST_IN_SEGMENT  # sizes of the time curve: a line and one to spare
FEWEST_SIZES = 2 * FEWEST_FOR_A_LINE  # of the time curve: two segments
FEWEST_PER_SEGMENT = FEWEST_FOR_A_LINE + 1  # sizes of the time curve: a line and two to spare
FEWEST_OF_OTHERS = {"gap": 2, "send": 2, "receive": 2}
DEMANDED = ("gap", "send")  # not receives: large messages may still be on the way
WIDEST_THRESHOLD = 2.0  # ratio of the sizes around a threshold
WIDEST_TIME = 0.10  # relative half width of a fitted time

SMALLEST_RENDEZVOUS = 1024
"""Bytes; no library sends an RTS for a message that fits into a packet."""
HANDSHAKE = 0.5
"""The least that RTS and CTS add to t(0), as a share of it: about twice L, so 1 to 2."""

SIZES_SAID = 12
"""The most sizes to measure next that a note lists."""

MEASURED_BY = {"gap": "PRTT(n,0,s)", "send": "PRTT(n,d,s)", "receive": "delayed receives"}


def fit(observed: Observations, rng: np.random.Generator, *, draws: int = DRAWS) -> Fit:
    """Fits a machine.

    Data are thin (`Fit.thin`, and a note) with fewer than 6 sizes; a segment of fewer than 4 (or, of a curve that is
    measured elsewhere, 3 gaps or 2 overheads of sends); sizes around a threshold more than a factor of 2 apart; or a
    fitted time that is not known to ±10 %. Intervals show it. Raises ThinDataError: fewer than 3 sizes; PreadyError: no
    curve of times, or curves that do not belong together.

    Parameters
    ----------
    observed
        The measurements.
    rng
        Source of the bootstrap's draws: the same state gives the same intervals.
    draws
        How many; fewer than 200 make the intervals' ends themselves uncertain.
    """
    curves = derive(observed)
    time = curves["time"]
    if len(time) < FEWEST_FOR_A_LINE:
        raise ThinDataError(
            f"{len(time)} message size{'s were' if len(time) != 1 else ' was'} timed",
            valid=f"at least {FEWEST_FOR_A_LINE}",
            measure_next=_more_sizes(time.size),
        )
    grid = np.unique(np.concatenate([series.size for series in curves.values()]))
    cuts = find_cuts(curves, grid)
    lines = {name: fit_lines(series, grid, cuts) for name, series in curves.items()}
    drawn, drawn_cuts = draw_lines(lines, grid, cuts, rng, draws)

    notes: list[str] = []
    point = _parameters(lines, np.full(1, 0.5))
    position = rng.random(draws)
    spread = _parameters(drawn, position)
    starts = [0.0, *(float(grid[c]) for c in cuts)]
    segments = tuple(_segment(k, starts[k], point, spread, lines, notes) for k in range(len(starts)))
    thin = _thin(starts, lines, drawn["time"])
    if thin is not None:
        thin = replace(thin, measure_next=thin.measure_next or _more_sizes(time.size))
        next_sizes = ", ".join(map(str, thin.measure_next[:SIZES_SAID]))
        notes.append(f"thin data: {thin.problem} (wanted: {thin.wanted}); measure next: {next_sizes} B")
    return Fit(
        segments=_named(segments, drawn["time"].intercept, drawn["time"].slope),
        thresholds=tuple(_threshold(grid, cut, drawn_cuts[:, k]) for k, cut in enumerate(cuts)),
        curves=lines,
        draws={**spread, "threshold": grid[drawn_cuts]},
        sizes=grid,
        thin=thin,
        notes=tuple(notes),
    )


def _determined(lines: Mapping[str, CurveLines], name: str, segment: int) -> bool:
    """Whether a segment has enough points of a curve to read its parameter off."""
    return name in lines and int(lines[name].points[segment]) >= FEWEST_OF_OTHERS[name]


def _parameters(lines: Mapping[str, CurveLines], u: Array) -> dict[str, Array]:
    """LogGP from lines, shape (len(u), segments) each.

    Where a curve is missing, its parameter is spread over the possible range by `u` in [0, 1] (0.5 the
    middle): o_s and o_r from 0 to half of t(0), o_s also at most g; g from
    0 to half of it.
    """
    fixed, per_byte = lines["time"].intercept, lines["time"].slope
    made = {name: np.zeros_like(fixed) for name in ("L", "o_s", "o_r", "g", "G", "G_stream")}
    made["G"] = per_byte
    room = np.maximum(fixed, 0.0)
    for k in range(fixed.shape[1]):
        if _determined(lines, "gap", k):
            made["g"][:, k] = lines["gap"].intercept[:, k]
            made["G_stream"][:, k] = lines["gap"].slope[:, k]
            ceiling = np.clip(made["g"][:, k], 0.0, room[:, k] / 2)
        else:
            made["g"][:, k] = u * room[:, k] / 2
            made["G_stream"][:, k] = per_byte[:, k]
            ceiling = room[:, k] / 2
        for name, curve, most in (("o_s", "send", ceiling), ("o_r", "receive", room[:, k] / 2)):
            if _determined(lines, curve, k):
                made[name][:, k] = lines[curve].intercept[:, k]
            else:
                made[name][:, k] = u * most
    made["L"] = fixed - made["o_s"] - made["o_r"]
    return made


def _segment(
    k: int,
    start: float,
    point: Mapping[str, Array],
    spread: Mapping[str, Array],
    lines: Mapping[str, CurveLines],
    notes: list[str],
) -> Segment:
    known = {name: _determined(lines, name, k) for name in ("gap", "send", "receive")}

    sure = {"L": known["send"] and known["receive"], "o_s": known["send"], "o_r": known["receive"]}
    sure |= {"g": known["gap"], "G": True, "G_stream": known["gap"]}
    values = {
        name: replace(Estimate.of(point[name][0, k], spread[name][:, k]), assumed=not measured)
        for name, measured in sure.items()
    }
    guessed = [name for name, measured in sure.items() if not measured]
    if guessed:
        missing = [MEASURED_BY[name] for name, measured in known.items() if not measured]
        notes.append(
            f"from {start:g} B: {', '.join(guessed)} assumed within what "
            f"t(0) = {format_time(float(lines['time'].intercept[0, k]))} allows; measure {', '.join(missing)}"
        )
    return Segment(start, None, **values)


def _named(segments: tuple[Segment, ...], fixed: Array, slope: Array) -> tuple[Segment, ...]:
    """Protocols guessed from L, or from the times t(s) = fixed + slope·s, shape (draws, segments), where L is assumed.

    A rendezvous pays a handshake, a round trip more than an eager message: the first segment from
    1 KiB on whose L is at least 1.5 times the first segment's, and above its interval, begins it. With two
    or more segments before that, the first is short and the others are buffered copies.
    """
    first = segments[0].L

    def asks(k: int, segment: Segment) -> bool:
        if segment.from_bytes < SMALLEST_RENDEZVOUS:
            return False
        if segment.L.assumed or first.assumed:
            return _has_handshake(k, segment.from_bytes, fixed, slope)
        return segment.L.value > 1.5 * first.value and segment.L.low > first.high

    begins = next((k for k, segment in enumerate(segments) if k and asks(k, segment)), len(segments))
    names: list[Protocol | None] = [None] * len(segments)
    names[begins:] = ["rendezvous"] * (len(segments) - begins)
    if begins >= 2:
        names[0], names[1:begins] = "short", ["bcopy"] * (begins - 1)
    return tuple(replace(s, protocol=name) for s, name in zip(segments, names, strict=True))


def _has_handshake(k: int, start: float, fixed: Array, slope: Array) -> bool:
    """Whether ping-pongs alone say that segment k pays a handshake.

    RTS and CTS cross the network once each, so that t(0) about doubles: it grows by at least HANDSHAKE
    of it. A line that only bends, because large messages move faster, has a larger t(0) too; the
    step of the time at the limit tells the two apart. Both hold in all but a fortieth of the
    draws.
    """
    tail = 2.5
    grown = fixed[:, k] - fixed[:, k - 1]
    step = grown + (slope[:, k] - slope[:, k - 1]) * start
    least = HANDSHAKE * float(np.median(fixed[:, 0]))
    return bool(np.percentile(grown, tail) >= least and np.percentile(step, tail) > 0)


def _threshold(grid: Array, cut: int, drawn: np.ndarray[tuple[int], np.dtype[np.intp]]) -> Estimate:
    """The limit lies above the last size of the segment before, in (almost) every draw."""
    tail = 0.025
    low = int(np.quantile(drawn, tail, method="inverted_cdf"))
    high = int(np.quantile(drawn, 1 - tail, method="inverted_cdf"))
    low, high = min(low, cut), max(high, cut)
    return Estimate(float(grid[cut]), float(grid[low - 1]), float(grid[high]))


def _thin(starts: list[float], lines: Mapping[str, CurveLines], drawn: CurveLines) -> Thin | None:
    """The first reason not to trust the fit; `drawn`: the times of its draws."""
    time = lines["time"]
    sizes = time.series.size
    if len(sizes) < FEWEST_SIZES:
        return Thin(f"{len(sizes)} message sizes were timed", f"at least {FEWEST_SIZES}", _more_sizes(sizes))
    ends = [*starts[1:], float(sizes[-1]) + 1]
    for k, (start, end) in enumerate(zip(starts, ends, strict=True)):
        if time.points[k] < FEWEST_PER_SEGMENT:
            return Thin(
                f"the segment from {start:g} B has {time.points[k]} sizes",
                f"at least {FEWEST_PER_SEGMENT}",
                _between(start, end, sizes),
            )
        for name in DEMANDED:
            if name in lines and lines[name].points[k] < FEWEST_OF_OTHERS[name]:
                return Thin(
                    f"the segment from {start:g} B has {lines[name].points[k]} sizes of {MEASURED_BY[name]}",
                    f"at least {FEWEST_OF_OTHERS[name]}",
                    _between(start, end, lines[name].series.size),
                )
    for threshold in starts[1:]:
        below = float(sizes[np.searchsorted(sizes, threshold) - 1])
        if below > 0 and threshold > WIDEST_THRESHOLD * below:
            return Thin(
                f"a threshold lies somewhere between {below:g} and {threshold:g} B",
                f"sizes at most a factor of {WIDEST_THRESHOLD:g} apart there",
                _between(below, threshold, sizes),
            )
    for k in range(len(starts)):
        a, b = drawn.intercept[:, k], drawn.slope[:, k]
        inside = sizes[(sizes >= starts[k]) & (sizes < ends[k])]
        for size in (inside[0], inside[-1]):
            low, high = np.percentile(a + b * size, [2.5, 97.5])
            middle = float(time.intercept[0, k] + time.slope[0, k] * size)
            if high - low > 2 * WIDEST_TIME * abs(middle):
                width = (high - low) / 2 / abs(middle) if middle else np.inf
                return Thin(
                    f"the time of {size:g} B is known to ±{100 * width:.0f} % only",
                    f"±{100 * WIDEST_TIME:.0f} %: more repeats or sizes",
                    _between(starts[k], ends[k], sizes) or (int(size),),
                )
    return None


def _between(start: float, end: float, measured: Array, count: int = 5) -> tuple[int, ...]:
    """Sizes inside [start, end) that were not measured yet, geometrically spaced."""
    sizes = {round(size) for size in np.geomspace(max(start, 1.0), max(end - 1, 1.0), count + 2)}
    return tuple(sorted(sizes - {int(size) for size in measured}))


def _more_sizes(measured: Array) -> tuple[int, ...]:
    return tuple(sorted(set(default_sizes()) - {int(size) for size in measured}))
