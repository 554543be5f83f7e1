"""Several runs of one benchmark, such as one for each pair of nodes: intervals that hold all but a few of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pready.calibrate.fit import Curve
from pready.calibrate.machine.estimates import with_fields
from pready.model.common.units import SI
from pready.model.machine.machine import Machine
from pready.model.machine.path import Segment
from pready.model.toml.provenance import Value

TAIL = 0.025
"""Share of the runs beyond each end of an interval."""


@dataclass(frozen=True)
class _Spread:
    size: float
    low: float
    high: float
    """Runs' times over their median."""


def widened(machine: Machine, ping_pong: Curve | None) -> Machine:
    """The machine with intervals of L and G as wide as the runs lie apart.

    A fit's interval is that of the median of all runs; a job runs on nodes like one of them.
    """
    spreads = [] if ping_pong is None else _spreads(ping_pong)
    if not spreads:
        return machine
    starts = [s.from_ for s in machine.inter.segments]
    ends = [*starts[1:], np.inf]
    segments = []
    for segment, end in zip(machine.inter.segments, ends, strict=True):
        own = [s for s in spreads if segment.from_ <= s.size < end]
        segments.append(_wide(segment, own) if own else segment)
    return with_fields(machine, inter=with_fields(machine.inter, segments=tuple(segments)))


def _spreads(curve: Curve) -> list[_Spread]:
    out = []
    for size, times in zip(curve.at, curve.repeats, strict=True):
        if len(times) > 1:
            low, middle, high = np.quantile(times, [TAIL, 0.5, 1 - TAIL])
            out.append(_Spread(float(size), float(low / middle), float(high / middle)))
    return out


def _wide(segment: Segment, own: list[_Spread]) -> Segment:
    shake = 0.0 if segment.handshake is None else segment.handshake.value
    fixed = segment.o_s.value + segment.L.value + segment.o_r.value + shake
    less, more = (float(np.median([getattr(s, end) for s in own])) for end in ("low", "high"))
    L, G = segment.L, segment.G
    low, high = L.interval or (L.value, L.value)
    least = min(low, L.value - (1 - less) * fixed)
    if segment.from_ == 0:
        least = max(least, 0.0)
    wide_L = _with(L, least, max(high, L.value + (more - 1) * fixed))
    low, high = G.interval or (G.value, G.value)
    return with_fields(
        segment, from_=SI(segment.from_), L=wide_L, G=_with(G, min(low, G.value * less), max(high, G.value * more))
    )


def _with(v: Value[float], low: float, high: float) -> Value[float]:
    return with_fields(v, value=SI(v.value), interval=(SI(low), SI(high)))
