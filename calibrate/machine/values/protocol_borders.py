"""The size from which messages are a rendezvous: the library's default over the fabric, moved by what a fit shows.

Libraries put the border where copying takes as long as asking, so a rendezvous may show as no step in time: t(0) grows
by about a round trip, RTS and CTS, and the slope falls, as nothing is copied any more. Other borders look alike: copies
that begin, copies that end, large messages that move faster. So each size is a candidate. Its prior is what this
library does over this fabric by default; what shows at it multiplies that; what is left is a mixture, of which the most
probable size is taken, and which the machine file keeps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil, log2
from statistics import NormalDist
from typing import Any, Literal

import numpy as np

from pready.calibrate.fit import Estimate, Fit
from pready.calibrate.fit.loggp import FEWEST_OF_OTHERS, HANDSHAKE, SMALLEST_RENDEZVOUS
from pready.calibrate.fit.results import Segment as Fitted
from pready.calibrate.machine.values.estimates import PER_BYTE, SHORTEST_S, exact, with_fields
from pready.model.common.arrays import Array
from pready.model.common.units import SI, format_size, format_time
from pready.model.machine.machine import Machine
from pready.model.machine.path import Begins, Candidate, Segment
from pready.model.machine.transports import Transport

SMALLEST_OF_GPUS = 512.0
"""Bytes; libraries send an RTS for less than a packet only where a GPU's memory would have to be copied (UCX)."""
LARGEST_SHORT = 64 << 10
"""Bytes; a larger message that is sent eagerly goes in copied pieces (ofi_rxm's segments, UCX's bounce buffers)."""
FAR_APART = 2.0
"""Factor between two measured sizes above which a border between them is bridged."""
LEAVES = 1.25
"""Factor by which a time exceeds the line of smaller messages where it has left it."""
JUMPS = 2.0
"""Factor by which a measured o_s grows where a rendezvous begins."""
TELLS = {
    "overhead": (0.0, 400.0, 1.0),
    "step": (1.0, 40.0, 20.0),
    "bend": (1.0, 8.0, 3.0),
}
"""How many times as probable as without it a sign makes its size: a constant, and as much for each t(0) by which it
grows, up to so many."""
ELSEWHERE = 0.02
"""Probability that a library was set to a border other than its default's."""
LEAST_WEIGHT = ELSEWHERE
"""Candidates below it are left out of the mixture."""
NARROWEST_OCTAVES = 0.3  # octaves in which no border is known better


@dataclass(frozen=True)
class Border:
    at: float  # bytes of the smallest message that is one, by the most probable candidate
    low: float
    high: float  # the sizes between which it lies
    seen: bool
    why: str
    candidates: tuple[tuple[float, float], ...] = ()  # sizes from which it may begin, each with its probability

    @property
    def words(self) -> str:
        others = [f"{format_size(at)} {100 * p:.0f} %" for at, p in self.candidates if at != self.at]
        rest = f"; or {', '.join(others)}" if others else ""
        if self.seen:
            return f"rendezvous from {format_size(self.at)} (seen: {self.why}{rest})"
        span = f"{format_size(self.low)} to {format_size(self.high)}"
        return f"rendezvous from {format_size(self.at)} ({self.why}, not seen; {span}{rest})"


@dataclass(frozen=True)
class _Sign:
    """Something in the data that a rendezvous would cause."""

    at: float
    grows: float  # seconds
    kind: str
    why: str
    before: float = 0.0  # the size before it


def from_any_size(transport: Transport) -> Transport:
    """The transport for buffers in the memory of GPUs, whose rendezvous may begin at much smaller messages."""
    default = transport.rendezvous
    span = SI(SMALLEST_OF_GPUS), SI((default.interval or (0.0, default.value))[1])
    return replace(transport, rendezvous=default.model_copy(update={"interval": span}))


def with_rendezvous(fit: Fit, transport: Transport) -> tuple[Fit, Border]:
    """The fit with its segments' protocols by what shows and by what the transport does, and where that begins."""
    default = transport.rendezvous
    low, high = default.interval or (default.value, default.value)
    least = min(low, SMALLEST_RENDEZVOUS)
    signs = {sign.at: sign for sign in _signs(fit) if sign.at >= least}
    sizes = sorted({0.0, *map(float, fit.sizes), max(float(fit.sizes[-1]), 2.0 ** ceil(log2(high)))})
    weights: dict[tuple[float, float], float] = {}
    places = [(before, at) for before, at in pairwise(sizes) if at >= least]
    seen = {place: signs.get(whole[1]) for whole in places for place in _octaves(*whole, least)}
    for (before, at), sign in seen.items():
        prior = ELSEWHERE / len(seen) + (1 - ELSEWHERE) * _prior(before, at, default.value, low, high)
        weights[before, at] = prior * (1.0 if sign is None else _tells(sign, fit))
    total = sum(weights.values())
    kept = {place: w for place, w in weights.items() if w > LEAST_WEIGHT * total}
    best = max(kept, key=lambda place: kept[place])
    exact = {place: _nearest(default.value, place, seen[place]) for place in kept}
    whole = sum(kept.values())
    mixture = tuple((exact[place], w / whole) for place, w in kept.items())
    sign = seen[best]
    why = f"default of {transport.name}" if sign is None else sign.why
    border = Border(
        exact[best], min(kept)[0] + 1, max(kept)[1], sign is not None, why, mixture if len(kept) > 1 else ()
    )
    split = _split(with_bridges(fit if sign is None else _begun(fit, sign.at, border.at), border.at), border.at)
    segments = tuple(replace(s, protocol="rendezvous" if s.from_bytes >= border.at else None) for s in split.segments)
    return replace(split, segments=segments), border


def _nearest(default: float, place: tuple[float, float], sign: _Sign | None) -> float:
    """The size of a place that is next to the default, where none shows, or sizes far apart do not say which; else the
    smallest that was measured."""
    before, at = place
    if sign is None:
        return min(default, at) if before < default else at
    return min(max(default, before + 1), at) if sign.at > FAR_APART * sign.before > 0 else at


def _octaves(before: float, at: float, least: float) -> list[tuple[float, float]]:
    """Between two sizes that were measured: what shows there may begin at any power of two between them."""
    cuts = (2.0**k for k in range(ceil(log2(least)), int(log2(at))))
    return list(pairwise([before, *(cut for cut in cuts if cut > before), at]))


def _prior(before: float, at: float, default: float, low: float, high: float) -> float:
    """The probability that the smallest rendezvous is above `before` and up to `at`, by the default and its interval.

    Normal in the logarithm, with a width of its own on each side; libraries' borders are powers of two, or just above.
    """
    centre = ceil(log2(default))

    def below(size: float) -> float:
        away = log2(max(size, 1.0)) + 0.5 - centre
        end = log2(default / low) if away < 0 else log2(high / default)
        return NormalDist(0.0, max(end / 2, NARROWEST_OCTAVES)).cdf(away)

    return below(at) - below(before)


def _tells(sign: _Sign, fit: Fit) -> float:
    """How many times as probable a sign makes a rendezvous there."""
    constant, each, most = TELLS[sign.kind]
    first = max(fit.segments[0].line[0], SHORTEST_S)
    return constant + each * min(sign.grows / first, most)


def _begun(fit: Fit, found: float, at: float) -> Fit:
    """The fit with its segment that begins at a size from another one on: a step is no line between two sizes."""
    if at in (s.from_bytes for s in fit.segments):
        return fit
    return replace(fit, segments=tuple(replace(s, from_bytes=at) if s.from_bytes == found else s for s in fit.segments))


def with_bridges(fit: Fit, rendezvous: float = np.inf) -> Fit:
    """The fit with a line between the last size of a segment and the first of the next, where these lie far apart.

    The border is anywhere between, so that a size there takes a mean of both lines' times; likewise for gaps, whose
    sizes may be others. A segment with too few gaps has those of its neighbours. Where a rendezvous begins the line has
    a step: RTS and CTS, a round trip of the smallest messages.
    """
    lines = [(s.from_bytes, *s.line) for s in fit.segments]
    times = _bridged(fit.curves["time"].series.size, lines, rendezvous)
    gaps = [(s.from_bytes, s.g.value, s.G_stream.value) for s in fit.segments]
    if "gap" in fit.curves:
        gap = fit.curves["gap"]
        known = [line for line, points in zip(gaps, gap.points, strict=True) if points >= FEWEST_OF_OTHERS["gap"]]
        gaps = _bridged(gap.series.size, known) if known else gaps
    starts = sorted({0.0, *(s.from_bytes for s in fit.segments), *(t[0] for t in times), *(g[0] for g in gaps)})
    segments: list[Fitted] = []
    draws: dict[str, list[Array]] = {name: [] for name in fit.draws}
    for start in starts:
        k = max(i for i, s in enumerate(fit.segments) if s.from_bytes <= start)
        base = fit.segments[k]
        (_, fixed, slope), (_, g, streams) = (_at(lines, start) for lines in (times, gaps))
        moved = {
            "L": fixed - base.line[0],
            "G": slope - base.G.value,
            "g": g - base.g.value,
            "G_stream": streams - base.G_stream.value,
        }
        streamed = "gap" in fit.curves and start <= fit.curves["gap"].series.size[-1]
        measured = {"g", "G_stream"} if streamed else set[str]()
        if not streamed:
            moved |= {"g": 0.0, "G_stream": 0.0}
        made: dict[str, Any] = {name: getattr(base, name).plus(by) for name, by in moved.items()}
        made |= {name: replace(made[name], assumed=False) for name in measured}
        segments.append(replace(base, from_bytes=start, **made))
        for name, drawn in fit.draws.items():
            if name != "threshold":
                draws[name].append(drawn[:, k] + moved.get(name, 0.0))
    columns = {name: np.stack(each, axis=1) if each else fit.draws[name] for name, each in draws.items()}
    return replace(fit, segments=tuple(segments), draws=columns)


_Line = tuple[float, float, float]
"""From how many bytes, seconds of an empty message, seconds per byte."""


def _bridged(sizes: Array, lines: Sequence[_Line], rendezvous: float = np.inf) -> list[_Line]:
    """The lines with a bridge over each border that lies between measured sizes far apart."""
    out, there_and_back = [(0.0, *lines[0][1:])], 2 * max(lines[0][1], 0.0)
    for k in range(1, len(lines)):
        start, above, steeper = lines[k]
        last, first = (float(s) for s in (sizes[sizes < start][-1:].sum(), sizes[sizes >= start][:1].sum()))
        until = lines[k + 1][0] if k + 1 < len(lines) else np.inf
        if not (last >= max(out[-1][0], 1) and FAR_APART * last < first < until):
            out.append(lines[k])
            continue
        # A handshake shows only as far as the next size takes longer than one more that is copied.
        step = min(there_and_back, above + steeper * first - out[-1][1] - out[-1][2] * first) * (start == rendezvous)
        begins, step = (start, step) if step > 0 else (last + 1, 0.0)
        before, from_ = out[-1][1] + out[-1][2] * (begins - 1) + step, begins - 1
        slope = (above + steeper * first - before) / (first - from_) if first > from_ else 0.0
        out += [(begins, before - slope * from_, slope), (first, above, steeper)] if slope > 0 else [lines[k]]
    return out


def _at(lines: Sequence[_Line], size: float) -> _Line:
    return max(line for line in lines if line[0] <= size)


def with_border(machine: Machine, border: Border) -> Machine:
    """A copy of the machine with `begins` in its first rendezvous segment: the size, its interval, and how it is known.
    Eager segments that reach above `LARGEST_SHORT` become copied ones, whose copies are in G."""
    source: Literal["measured", "assumed"] = "measured" if border.seen else "assumed"
    begins = Begins(
        value=SI(border.at),
        interval=(SI(border.low), SI(border.high)),
        source=source,
        why=border.words,
        candidates=tuple(Candidate(at=SI(at), weight=round(w, 3)) for at, w in border.candidates),
    )
    ends = [*(s.from_ for s in machine.inter.segments[1:]), np.inf]
    segments = tuple(_bordered(s, end, border, begins) for s, end in zip(machine.inter.segments, ends, strict=True))
    return with_fields(machine, inter=with_fields(machine.inter, segments=segments))


def _bordered(s: Segment, end: float, border: Border, begins: Begins) -> Segment:
    if s.from_ == border.at and s.protocol == "rendezvous":
        return with_fields(s, from_=SI(s.from_), begins=begins)
    if s.handshake is not None or end <= LARGEST_SHORT + 1:
        return s
    free = exact(PER_BYTE, 0.0, "contained in G")
    return with_fields(s, from_=SI(s.from_), protocol="bcopy", O_s=free, O_r=free)


def without_negative_lines(fit: Fit, notes: list[str]) -> Fit:
    """The fit without lines that begin below 0, as a cache that overflows makes them: the time per byte grows.

    Such messages take the previous segment's t(0), and a time per byte that goes through their times; the segment
    begins where its times leave the previous line.
    """
    time = fit.curves["time"].series
    for k in range(1, len(fit.segments)):
        segment, before = fit.segments[k], fit.segments[k - 1]
        (was, steep), (now, _) = before.line, segment.line
        end = fit.segments[k + 1].from_bytes if k + 1 < len(fit.segments) else np.inf
        own = (time.size >= segment.from_bytes) & (time.size < end)
        above = own & (time.value > LEAVES * (was + steep * time.size))
        if now >= 0 or not above.any():
            continue
        slopes = (time.value[above] - was) / time.size[above]
        slope, begins = float(np.median(slopes)), float(time.size[above][0])
        notes.append(
            f"from {begins:g} B a message takes longer per byte, as where a cache overflows: no line from below 0"
        )
        G = Estimate(slope, float(slopes.min()), float(slopes.max()))
        L = replace(segment.L, value=was - segment.o_s.value - segment.o_r.value)
        moved = replace(segment, from_bytes=begins, L=L.around(), G=G)
        draws = {name: drawn.copy() for name, drawn in fit.draws.items()}
        draws["L"][:, k] += L.value - segment.L.value
        draws["G"][:, k] = slope
        fit = replace(fit, segments=(*fit.segments[:k], moved, *fit.segments[k + 1 :]), draws=draws)
    return fit


def _signs(fit: Fit) -> list[_Sign]:
    """What shows in the times."""
    first = fit.segments[0].line[0]
    out = []
    for k in range(1, len(fit.segments)):
        segment, before = fit.segments[k], fit.segments[k - 1]
        if segment.from_bytes < SMALLEST_OF_GPUS:
            continue
        (was, steep), (now, slope) = before.line, segment.line
        last = float(max(s for s in [0.0, *fit.sizes] if s < segment.from_bytes))
        step = now - was + (slope - steep) * segment.from_bytes
        grows, asks = now - was, segment.o_s.value - before.o_s.value
        told = f"t(0) grows from {format_time(max(was, 0.0))} to {format_time(max(now, 0.0))}"
        jumps = not segment.o_s.assumed and segment.o_s.value > JUMPS * max(before.o_s.value, 0.0)
        if jumps and asks > HANDSHAKE * first:
            why = f"o_s grows from {format_time(max(before.o_s.value, 0.0))} to {format_time(segment.o_s.value)}"
            out.append(_Sign(segment.from_bytes, asks, "overhead", why, last))
        elif grows > HANDSHAKE * first and step > HANDSHAKE * first:
            out.append(_Sign(segment.from_bytes, grows, "step", f"a step, {told}", last))
        elif grows > HANDSHAKE * first:  # by less at its first size
            out.append(_Sign(segment.from_bytes, grows, "bend", f"{told}, the slope falls", last))
    out += _leaps(fit, [sign.at for sign in out])
    return out


def _leaps(fit: Fit, fitted: Sequence[float]) -> Iterator[_Sign]:
    """Steps of the times themselves, where the fit has too few sizes on a side for a line of its own: none of `fitted`.

    From such a size on, times lie above the line through the two sizes before; not in proportion to the distance, as
    where a message takes longer per byte.
    """
    time, first = fit.curves["time"].series, max(fit.segments[0].line[0], SHORTEST_S)
    for k in range(2, len(time.size) - 1):
        (s, last), (t, until) = time.size[k - 2 : k], time.value[k - 2 : k]
        line = until + (until - t) / (last - s) * (time.size[k : k + 2] - last)
        (over, later), (at, beyond) = time.value[k : k + 2] - line, time.size[k : k + 2]
        steady = HANDSHAKE * over < later < HANDSHAKE * over * (beyond - last) / (at - last)
        known = any(last < size <= at for size in fitted)
        if not known and at >= SMALLEST_OF_GPUS and over > max(HANDSHAKE * first, (LEAVES - 1) * line[0]) and steady:
            told = f"a step, {format_time(float(over))} more than smaller messages say"
            for size in fit.sizes[(fit.sizes > last) & (fit.sizes <= at)]:  # those of streams lie between
                yield _Sign(float(size), float(over), "step", told, float(last))


def _split(fit: Fit, at: float) -> Fit:
    """The fit with a segment that begins there; a line stays what it is on both sides."""
    starts = [s.from_bytes for s in fit.segments]
    if at in starts:
        return fit
    k = int(np.searchsorted(starts, at)) - 1
    segments = (*fit.segments[: k + 1], replace(fit.segments[k], from_bytes=at), *fit.segments[k + 1 :])
    draws = {
        name: drawn if name == "threshold" else np.insert(drawn, k, drawn[:, k], axis=1)
        for name, drawn in fit.draws.items()
    }
    return replace(fit, segments=segments, draws=draws)
