"""LogGP segments of a machine from fitted ones: latency, overheads, gap and time per byte by message size."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pready.calibrate.fit import Estimate, Fit
from pready.calibrate.machine.values.estimates import (
    NARROWEST,
    PER_BYTE,
    SHORTEST_S,
    SIGNED_TIME,
    TIME,
    positive,
    value,
)
from pready.model.common.arrays import Array
from pready.model.common.units import SI
from pready.model.machine.machine import Machine
from pready.model.machine.path import Segment
from pready.model.toml.provenance import Value

UNSURE = 2.0
"""Factor within which an overhead of larger messages is assumed to be that of smaller ones."""
UNSEEN = 0.1
"""A slope that changes the time by less than this fraction across a segment cannot be told from zero."""
A_CALL = 0.5
"""An overhead above this fraction of a segment's smallest message contains waiting for the link."""


def segment(fit: Fit, k: int, notes: list[str], where: str) -> Segment:
    """One segment.

    A ping-pong sees only the sum of latency and handshake. The excess over the latency of the smallest messages is
    the handshake; where there is none, RTS, CTS and data are taken to cross once each, a third of the latency each.
    `where`: launcher and library, for the reasons.
    """
    s = fit.segments[k]
    at, by = f"from {s.from_bytes:g} B", f"{_timed(fit)}, {where}"
    o_s, o_r, total = _overheads(fit, k, notes)
    latency = _latency(total, o_s, o_r)
    per_byte = _per_byte(fit, k, notes)
    in_row = s.G_stream if 0 < s.G_stream.value < per_byte.value else per_byte
    high = min(max(in_row.high, in_row.value), per_byte.high)
    link = Estimate(in_row.value, min(in_row.low, in_row.value), high, s.G_stream.assumed or in_row.assumed)
    why, shake = f"{by}: the line's intercept less o_s and o_r", None
    if s.protocol == "rendezvous":
        wire, rest = fit.segments[0].L.value, latency.value
        share = 1 - wire / rest if 0 < wire < rest else 2 / 3
        shaken = max(share * rest, SHORTEST_S)
        spread = Estimate(shaken, max(share * latency.low, NARROWEST * shaken), max(share * latency.high, shaken))
        excess = f"{by}: excess over the latency of the smallest messages"
        shake = positive(TIME, spread, excess, notes, f"handshake {at}")
        latency = latency.times(1 - share) if rest > 0 else latency.plus(-shaken)
        why = f"{by}: {100 * (1 - share):.0f} % of the latency seen" if rest > 0 else f"{why} and the handshake"
    elif k == 0:
        latency = replace(latency, low=max(latency.low, 0.0))
    return Segment(
        from_=SI(s.from_bytes if k else 0.0),
        protocol="rendezvous" if s.protocol == "rendezvous" else "short",
        L=_signed(latency, why),
        o_s=positive(TIME, o_s, by, notes, f"o_s {at}"),
        o_r=positive(TIME, o_r, by, notes, f"o_r {at}"),
        g=positive(TIME, s.g, by, notes, f"g {at}"),
        G=positive(PER_BYTE, per_byte, by, notes, f"G {at}"),
        G_link=positive(PER_BYTE, link, f"trains of messages, {where}", notes, f"G_link {at}"),
        handshake=shake,
    )


def _timed(fit: Fit) -> str:
    """The measurements behind the segments."""
    if "send" in fit.curves:
        return "ping-pong and PRTT(n, d, s)"
    return "ping-pong and streams of messages" if "gap" in fit.curves else "ping-pong"


def _latency(total: Estimate, o_s: Estimate, o_r: Estimate) -> Estimate:
    """The network's share of an intercept; where o_s or o_r is assumed, L has their whole range, too."""
    rest = total.value - o_s.value - o_r.value
    low, high = rest - (total.value - total.low), rest + (total.high - total.value)
    guessed = [o for o in (o_s, o_r) if o.assumed]
    low -= sum(o.high - o.value for o in guessed)
    high += sum(o.value - o.low for o in guessed)
    return Estimate(rest, low, high, assumed=bool(guessed))


def _per_byte(fit: Fit, k: int, notes: list[str]) -> Estimate:
    """G; of a segment whose messages are too small to show one, the smallest G of the others, up to a slope that these
    messages could hide."""
    own = fit.segments[k].G
    if own.value > 0:
        return own
    known = [s.G for s in fit.segments if s.G.value > 0]
    sizes = _own_sizes(fit, k) if known else fit.curves["time"].series.size
    fixed, falls = fit.segments[k].line
    middle, span = float(sizes.mean()), float(sizes.max() - sizes.min())
    hidden = UNSEEN * max(fixed + falls * middle, SHORTEST_S) / span if span else np.inf
    least = min(known, key=lambda e: e.value, default=None)
    at = f"from {fit.segments[k].from_bytes:g} B"
    if least is not None and least.value <= hidden:
        notes.append(f"G {at} is too small to be seen; that of larger messages is taken")
        return least
    notes.append(f"G {at} is too small to be seen; assumed as large as the measured messages could hide")
    return Estimate(hidden, 0.0, 2 * hidden, assumed=True)


def _own_sizes(fit: Fit, k: int) -> Array:
    """The measured sizes of a segment; its first size if there is none."""
    sizes, begins = fit.curves["time"].series.size, fit.segments[k].from_bytes
    ends = fit.segments[k + 1].from_bytes if k + 1 < len(fit.segments) else np.inf
    own = sizes[(sizes >= begins) & (sizes < ends)]
    return own if len(own) else np.array([begins])


def _overheads(fit: Fit, k: int, notes: list[str]) -> tuple[Estimate, Estimate, Estimate]:
    """o_s, o_r, and the intercept of the segment's line: their sum with L.

    The intercept is known best and is kept. An overhead above half of the time of the segment's smallest message
    contains waiting for the link, which holds no lock: the previous segment's overhead is taken instead.
    """
    s = fit.segments[k]
    drawn = fit.draws["L"][:, k] + fit.draws["o_s"][:, k] + fit.draws["o_r"][:, k]
    total = Estimate.of(s.line[0], drawn).around()
    # No message gets faster by being larger. The rising line has the same height amid the segment's messages.
    total = total.plus((s.G.value - _per_byte(fit, k, []).value) * float(_own_sizes(fit, k).mean()))
    least = SHORTEST_S - max(s.G.value, 0.0) * s.from_bytes
    if total.value < least:
        notes.append(f"the line from {s.from_bytes:g} B begins below 0: thin data; it is raised to 0")
        total = total.plus(least - total.value)
    smallest = total.value + max(s.G.value, 0.0) * s.from_bytes
    o_s, o_r = s.o_s, s.o_r
    if k:
        before = _overheads(fit, k - 1, [])
        limit = A_CALL * smallest
        # A guess is a share of the intercept, which a handshake raises and a CPU does not see.
        o_s, o_r = (_as_of_smaller(b) if o.assumed else o for o, b in zip((o_s, o_r), before, strict=False))
        if o_s.value > limit or o_s.value <= 0:
            notes.append(
                f"o_s from {s.from_bytes:g} B contains waiting for the link; that of smaller messages is taken"
            )
            o_s = before[0]
        if o_r.value > limit or o_r.value <= 0:
            o_r = before[1]
    elif o_s.value + o_r.value > total.value:
        notes.append("o_s and o_r of the smallest messages exceed their one-way time: sending overlaps the wire")
        scale = 0.9 * total.value / (o_s.value + o_r.value)
        o_s, o_r = o_s.times(scale), o_r.times(scale)
    return o_s, o_r, total


def _as_of_smaller(e: Estimate) -> Estimate:
    """The overhead assumed for larger messages, given the measured one of smaller ones."""
    return e if e.assumed else Estimate(e.value, e.value / UNSURE, e.value * UNSURE, assumed=True)


def _signed(e: Estimate, why: str) -> Value[float]:
    if e.assumed:
        return value(SIGNED_TIME, e, f"no measurement tells it from o_s and o_r; {why}", "assumed")
    return value(SIGNED_TIME, e, why)


def one_way(machine: Machine, size: float) -> float:
    """Seconds of one message that meets an idle network."""
    s = machine.inter.segment(size)
    handshake = 0.0 if s.handshake is None else s.handshake.value
    return float(s.o_s.value + handshake + s.L.value + s.G.value * size + s.o_r.value)
