"""What osu_bibw says of messages of one way, where no osu_bw was imported: an upper bound.

A rank receives while it sends: messages of one way alone take at most as long, which bounds what is assumed of them.
"""

from __future__ import annotations

import numpy as np

from pready.calibrate.fit import Estimate, Fit
from pready.calibrate.fit.observations import Curve, Observations
from pready.calibrate.machine.estimates import BANDWIDTH, PER_BYTE, TIME, Kind, value, with_fields
from pready.model.common.units import SI
from pready.model.machine.machine import Machine
from pready.model.toml.provenance import Value

AT_LEAST = 0.5
"""The least share of a message's time in osu_bibw that the message takes where its rank only sends: half of it, where
sending and receiving share the whole link."""


def with_both_ways(observed: Observations, both_ways: Curve, assumed: Fit) -> Observations | None:
    """The observations with a stream whose messages take no longer than those of both ways, nor than assumed.

    Parameters
    ----------
    both_ways
        Time per pair of messages, one each way.
    assumed
        Fit without a stream, whose gaps are assumed.

    Returns
    -------
    Observations or None
        None where there is a stream of one way, or those of both ways are nowhere shorter than assumed.
    """
    if observed.ping_pong is None or observed.stream is not None or observed.prtt_n is not None:
        return None
    gaps = assumed.gap(np.array(both_ways.at))
    if all(times.min() >= gap for times, gap in zip(both_ways.repeats, gaps, strict=True)):
        return None
    least = tuple(np.minimum(times, gap) for times, gap in zip(both_ways.repeats, gaps, strict=True))
    return Observations(**{**vars(observed), "stream": Curve(both_ways.at, least)})


def as_bounds(machine: Machine) -> Machine:
    """The machine with g and G_link of messages of both ways as upper bounds of those of one."""
    why = "at most as where ranks receive as they send (osu_bibw)"
    segments = []
    for s in machine.inter.segments:
        per_byte = s.G if s.G_link is None else s.G_link
        bounds = {"g": _at_most(TIME, s.g.value, why), "G_link": _at_most(PER_BYTE, per_byte.value, why)}
        segments.append(with_fields(s, from_=SI(s.from_), **bounds))
    rate = machine.inter.link_bandwidth.value
    link = value(BANDWIDTH, Estimate(rate, rate, rate / AT_LEAST), why, "assumed")
    return with_fields(machine, inter=with_fields(machine.inter, segments=tuple(segments), link_bandwidth=link))


def _at_most(kind: Kind, most: float, why: str) -> Value[float]:
    return value(kind, Estimate(most, AT_LEAST * most, most), why, "assumed")
