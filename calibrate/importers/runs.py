"""Several runs of one benchmark, such as one for each pair of nodes: intervals that hold all but a few of them."""

from __future__ import annotations

import numpy as np

from pready.calibrate.fit import Curve
from pready.calibrate.machine.estimates import with_fields
from pready.model.common.units import SI
from pready.model.machine.machine import Machine
from pready.model.machine.path import Segment
from pready.model.toml.provenance import Value

TAIL = 0.025
"""Share of the runs beyond each end of an interval."""


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
