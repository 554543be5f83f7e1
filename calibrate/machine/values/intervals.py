"""Intervals of several runs, and of sizes that nobody measured, whose values are assumed as such a link may have."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pready.calibrate.fit import Curve, Estimate
from pready.calibrate.machine.values.estimates import BANDWIDTH, PER_BYTE, SIGNED_TIME, TIME, value, with_fields
from pready.model.common.units import SI, format_size
from pready.model.machine.machine import Fabric, Machine
from pready.model.machine.path import Segment
from pready.model.toml.provenance import Value

LINKS: Mapping[Fabric, tuple[float, float, float]] = {
    "infiniband": (25e9, 6e9, 100e9),
    "roce": (12.5e9, 2.5e9, 100e9),
    "slingshot": (25e9, 20e9, 50e9),
    "slingshot-10": (12.5e9, 8e9, 12.5e9),
    "omni-path": (12.5e9, 8e9, 50e9),
    "efa": (12.5e9, 3e9, 50e9),
    "tofu": (6.8e9, 6e9, 6.8e9),
    "aries": (10e9, 8e9, 16e9),
    "tcp": (3e9, 0.1e9, 25e9),
}
"""B/s of one link by its makers: usual, least and most."""
ANY_LINK = (10e9, 1e9, 100e9)
"""B/s of one link of an unknown fabric: usual, least and most."""
LARGE = 256 << 10
"""Bytes of a message whose time is its bytes'."""
SMALL = 1024
"""Bytes: where none as small was measured, a small message's time is no measurement."""
SHOWS = 4096
"""Bytes of a message from which its time shows a time per byte."""
WIDE = 3.0
"""Factor of the interval of a cost at sizes that nobody measured."""
WIDE_BYTE = 4.0  # the same of a cost per byte
TAIL = 0.025
"""Share of the runs beyond each end of an interval."""


def with_unmeasured(
    machine: Machine, sizes: tuple[float, float], streamed: float, fabric: Fabric | None, notes: list[str]
) -> Machine:
    """The machine with assumed values of messages below and above the sizes that were measured.

    Parameters
    ----------
    sizes, streamed
        Smallest and largest of a message alone; the largest of a stream, 0 without.
    """
    smallest, largest = sizes
    inter = machine.inter
    if smallest <= SMALL and largest >= LARGE:
        return machine
    usual, least, most = ANY_LINK if fabric is None else LINKS[fabric]
    ends = [*(s.from_ for s in inter.segments[1:]), float("inf")]
    segments: list[Segment] = []
    for s, end in zip(inter.segments, ends, strict=True):
        if s.from_ == 0 and smallest > SMALL:
            why = f"no message below {format_size(smallest)} was measured"
            segments.append(_assumed(s, 0.0, why, s.G.value, (s.G.value / WIDE_BYTE, s.G.value * WIDE_BYTE), 0.0))
        measured = with_fields(s, from_=SI(min(smallest, end - 1))) if s.from_ == 0 and smallest > SMALL else s
        if largest >= LARGE or s.from_ <= largest:
            segments.append(measured)
        if largest < LARGE and end > largest + 1:
            why = f"no message above {format_size(largest)} was measured"
            known = inter.segment(largest).G.value
            per_byte = known if largest >= SHOWS else 1 / usual
            span = min(1 / most, per_byte / WIDE_BYTE), max(1 / least, per_byte * WIDE_BYTE)
            # The line goes through the largest message's time.
            shift = (known - per_byte) * largest
            segments.append(_assumed(s, max(s.from_, largest + 1), why, per_byte, span, shift))
    notes += dict.fromkeys(f"{s.G.why}: such are assumed" for s in segments if s.G.why.startswith("no message "))
    fields: dict[str, object] = {"segments": tuple(segments)}
    if max(largest, streamed) < LARGE:
        why = f"no message above {format_size(max(largest, streamed))} was measured: a link of its kind"
        fields["link_bandwidth"] = value(BANDWIDTH, Estimate(usual, least, most), why, "assumed")
    return with_fields(machine, inter=with_fields(inter, **fields))


def _assumed(s: Segment, start: float, why: str, per_byte: float, span: tuple[float, float], shift: float) -> Segment:
    fixed = s.o_s.value + s.L.value + s.o_r.value + (0.0 if s.handshake is None else s.handshake.value)
    latency = s.L.value + shift
    low = latency - (1 - 1 / WIDE) * fixed
    wide = Estimate(latency, max(low, 0.0) if start == 0 else low, latency + (WIDE - 1) * abs(fixed))
    times = {
        name: value(TIME, Estimate(v.value, v.value / WIDE, v.value * WIDE), why, "assumed")
        for name in ("o_s", "o_r", "g", "handshake")
        if (v := getattr(s, name)) is not None
    }
    bytes_ = value(PER_BYTE, Estimate(per_byte, *span), why, "assumed")
    begins = s.begins if s.from_ == start else None
    own = {"L": value(SIGNED_TIME, wide, why, "assumed"), "G": bytes_, "G_link": bytes_, "begins": begins, **times}
    return with_fields(s, from_=SI(start), **own)


def widened(machine: Machine, ping_pong: Curve | None) -> Machine:
    """The machine with intervals of L and G as wide as the runs lie apart.

    A fit's interval is that of the median of all runs; a job runs on nodes like one of them.
    """
    curve = () if ping_pong is None else zip(ping_pong.at, ping_pong.repeats, strict=True)
    several = [(size, *np.quantile(times, [TAIL, 0.5, 1 - TAIL])) for size, times in curve if len(times) > 1]
    if not several:
        return machine
    sizes, low, middle, high = np.array(several).T
    ends = [*(s.from_ for s in machine.inter.segments[1:]), np.inf]
    segments = list(machine.inter.segments)
    for k, (segment, end) in enumerate(zip(machine.inter.segments, ends, strict=True)):
        own = (segment.from_ <= sizes) & (sizes < end)
        if own.any():
            segments[k] = _wide(segment, *(float(np.median((of / middle)[own])) for of in (low, high)))
    return with_fields(machine, inter=with_fields(machine.inter, segments=tuple(segments)))


def _wide(segment: Segment, less: float, more: float) -> Segment:
    """With intervals for runs that take `less` to `more` times as long as the median."""
    shake = 0.0 if segment.handshake is None else segment.handshake.value
    fixed = segment.o_s.value + segment.L.value + segment.o_r.value + shake
    L = _with(segment.L, fixed * (less - 1), fixed * (more - 1), 0.0 if segment.from_ == 0 else -np.inf)
    G = _with(segment.G, segment.G.value * (less - 1), segment.G.value * (more - 1))
    return with_fields(segment, from_=SI(segment.from_), L=L, G=G)


def _with(v: Value[float], below: float, above: float, least: float = -np.inf) -> Value[float]:
    low, high = v.interval or (v.value, v.value)
    ends = SI(max(min(low, v.value + below), least)), SI(max(high, v.value + above))
    return with_fields(v, value=SI(v.value), interval=ends)
