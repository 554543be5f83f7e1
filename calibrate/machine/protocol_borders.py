"""The size from which messages are a rendezvous, as a fit of one message's times shows it, or as libraries have it.

Libraries put the border where copying takes as long as asking, so a rendezvous may show as no step in time: t(0) grows
by about a round trip, RTS and CTS, and the slope falls, as nothing is copied any more. A line that only bends, because
large messages move faster, does the same; so a bend counts only between the sizes where this library over this fabric
switches by default. Where nothing shows, its default holds: a message is never taken for eager for want of a step.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from pready.calibrate.fit import Estimate, Fit
from pready.calibrate.fit.loggp import SMALLEST_RENDEZVOUS
from pready.calibrate.fit.results import Segment as Fitted
from pready.calibrate.machine.estimates import PER_BYTE, exact, with_fields
from pready.model.common import units
from pready.model.common.units import SI, format_size, format_time
from pready.model.machine.machine import Machine
from pready.model.machine.path import Segment
from pready.model.machine.transports import Transport
from pready.model.toml.provenance import Value

LARGEST_SHORT = 64 << 10
"""Bytes; a larger message that is sent eagerly goes in copied pieces (ofi_rxm's segments, UCX's bounce buffers)."""
GROWS = 0.5
"""The least that RTS and CTS add to t(0), as a share of that of the smallest messages."""
FAR_CLEARER = 2.0
"""A step outside of the default's sizes beats a bend inside of them if t(0) grows so many times as much."""
PLATEAU = 1.25
"""Bandwidth that grows by less than this factor where the size doubles has a plateau."""
FULL = 0.6
"""A share of the largest bandwidth above which every curve is flat."""
LEAVES = 1.25
"""Factor by which a time exceeds the line of smaller messages where it has left it."""
JUMPS = 2.0
"""Factor by which a measured o_s grows where a rendezvous begins."""


@dataclass(frozen=True)
class Border:
    at: float
    """Bytes of the smallest message that is one."""
    low: float
    high: float
    """The sizes between which it lies."""
    seen: bool
    why: str

    @property
    def words(self) -> str:
        if self.seen:
            return f"rendezvous from {format_size(self.at)} (seen: {self.why})"
        span = f"{format_size(self.low)} to {format_size(self.high)}"
        return f"rendezvous from {format_size(self.at)} ({self.why}, not seen; {span})"


@dataclass(frozen=True)
class _Sign:
    """Something in the data that a rendezvous would cause."""

    segment: int
    at: float
    before: float
    grows: float
    """Seconds."""
    kind: str
    why: str


def with_rendezvous(fit: Fit, transport: Transport) -> tuple[Fit, Border]:
    """The fit with its segments' protocols by what shows and by what the transport does, and where that begins.

    Parameters
    ----------
    fit
        Of one message's times, and of streams if there are any.
    transport
        The library over the fabric.
    """
    low, high = transport.rendezvous.interval or (transport.rendezvous.value, transport.rendezvous.value)
    found = _chosen(_signs(fit), low, high)
    if found is not None:
        border = Border(found.at, found.before + 1, found.at, True, found.why)
    elif (flat := _plateau(fit, low, high)) is not None:
        border = Border(flat[1], flat[0] + 1, flat[1], True, "bandwidth has a plateau there")
    else:
        border = Border(transport.rendezvous.value, low, high, False, f"default of {transport.name}")
    split = _split(fit, border.at)
    segments = tuple(replace(s, protocol="rendezvous" if s.from_bytes >= border.at else None) for s in split.segments)
    return replace(split, segments=segments), border


def with_border(machine: Machine, border: Border) -> Machine:
    """A copy of the machine with `begins` in its first rendezvous segment: the size, its interval, and how it is known.
    Eager segments that reach above `LARGEST_SHORT` become copied ones, whose copies are in G."""
    source: Literal["measured", "assumed"] = "measured" if border.seen else "assumed"
    begins = Value[units.Size](
        value=SI(border.at), interval=(SI(border.low), SI(border.high)), source=source, why=border.words
    )
    ends = [*(s.from_ for s in machine.inter.segments[1:]), np.inf]
    segments = tuple(_bordered(s, end, border, begins) for s, end in zip(machine.inter.segments, ends, strict=True))
    return with_fields(machine, inter=with_fields(machine.inter, segments=segments))


def _bordered(s: Segment, end: float, border: Border, begins: Value[float]) -> Segment:
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
    first = fit.segments[0].line[0]
    out = []
    for k in range(1, len(fit.segments)):
        segment, before = fit.segments[k], fit.segments[k - 1]
        if segment.from_bytes < SMALLEST_RENDEZVOUS:
            continue
        (was, steep), (now, slope) = before.line, segment.line
        last = float(max(s for s in [0.0, *fit.sizes] if s < segment.from_bytes))
        step = now - was + (slope - steep) * segment.from_bytes
        grows, asks = now - was, segment.o_s.value - before.o_s.value
        told = f"t(0) grows from {format_time(max(was, 0.0))} to {format_time(max(now, 0.0))}"
        if not segment.o_s.assumed and asks > GROWS * first and segment.o_s.value > JUMPS * max(before.o_s.value, 0.0):
            why = f"o_s grows from {format_time(max(before.o_s.value, 0.0))} to {format_time(segment.o_s.value)}"
            out.append(_Sign(k, segment.from_bytes, last, asks, "overhead", why))
        elif grows > GROWS * first and (step > GROWS * first or _named(segment, before, step)):
            out.append(_Sign(k, segment.from_bytes, last, grows, "step", f"a step, {told}"))
        elif grows > GROWS * first and slope < steep:
            out.append(_Sign(k, segment.from_bytes, last, grows, "bend", f"{told}, the slope falls"))
    return out


def _named(segment: Fitted, before: Fitted, step: float) -> bool:
    """Whether the fit has found a rendezvous there in almost all of its draws."""
    return segment.protocol == "rendezvous" and before.protocol != "rendezvous" and step > 0


def _chosen(signs: list[_Sign], low: float, high: float) -> _Sign | None:
    """The sign that counts; a border is known to a size only, so one size more belongs to the default's."""
    inside = [s for s in signs if s.at >= low and s.before < 2 * high]
    clear = [s for s in inside if s.kind != "bend"]
    if clear:
        return max(clear, key=lambda s: s.grows)
    bend = max(inside, key=lambda s: s.grows, default=None)
    step = max((s for s in signs if s.kind != "bend"), key=lambda s: s.grows, default=None)
    if step is not None and (bend is None or step.grows > FAR_CLEARER * bend.grows):
        return step
    return bend


def _plateau(fit: Fit, low: float, high: float) -> tuple[float, float] | None:
    """Two sizes between which bandwidth does not grow, though it is far from full."""
    if "gap" not in fit.curves:
        return None
    gap = fit.curves["gap"].series
    keep = gap.value > 0
    sizes, rates = gap.size[keep], gap.size[keep] / gap.value[keep]
    found = [
        (float(rates[i] / rates[i - 1]), float(sizes[i - 1]), float(sizes[i]))
        for i in range(1, len(sizes))
        if low <= sizes[i]
        and sizes[i - 1] < high
        and rates[i - 1] < FULL * rates.max()
        and rates[i] < rates[i - 1] * (1 + (PLATEAU - 1) * np.log2(sizes[i] / max(sizes[i - 1], 1.0)))
    ]
    return min(found)[1:] if found else None


def _split(fit: Fit, at: float) -> Fit:
    """The fit with a segment that begins there; a line stays what it is on both sides."""
    starts = [s.from_bytes for s in fit.segments]
    if at in starts or at <= 0:
        return fit
    k = int(np.searchsorted(starts, at)) - 1
    segments = (*fit.segments[: k + 1], replace(fit.segments[k], from_bytes=at), *fit.segments[k + 1 :])
    draws = {
        name: drawn if name == "threshold" else np.insert(drawn, k + 1, drawn[:, k], axis=1)
        for name, drawn in fit.draws.items()
    }
    return replace(fit, segments=segments, draws=draws)
