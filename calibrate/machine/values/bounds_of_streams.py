"""What streams bound that nobody measured: overheads of messages, and messages of one way by those of both.

Where no stream of one way was measured, one of both ways (osu_bibw) is an upper bound: a rank receives while it sends.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pready.calibrate.fit import Estimate, Fit
from pready.calibrate.fit.observations import Curve, Observations
from pready.calibrate.machine.values.estimates import BANDWIDTH, PER_BYTE, TIME, value, with_fields
from pready.model.common.units import SI
from pready.model.machine.machine import Machine
from pready.model.machine.path import Segment

AT_LEAST = 0.5
"""The least share of a message's time in osu_bibw that the message takes where its rank only sends: half of it, where
sending and receiving share the whole link."""


def with_both_ways(observed: Observations, both_ways: Curve | None, assumed: Fit) -> Observations | None:
    """The observations with a stream whose messages take no longer than those of both ways, nor than assumed.

    `both_ways` is the time per pair of messages, one each way; `assumed` the fit without a stream. None where there is
    a stream of one way, or those of both ways are nowhere shorter than assumed.
    """
    known = observed.ping_pong is None or observed.stream is not None or observed.prtt_n is not None
    if both_ways is None or known:
        return None
    pairs = list(zip(both_ways.repeats, assumed.gap(np.array(both_ways.at)), strict=True))
    if all(times.min() >= gap for times, gap in pairs):
        return None
    return replace(observed, stream=Curve(both_ways.at, tuple(np.minimum(times, gap) for times, gap in pairs)))


def as_bounds(machine: Machine) -> Machine:
    """The machine with g and G_link of messages of both ways as upper bounds of those of one."""
    why = "at most as where ranks receive as they send (osu_bibw)"
    segments = []
    for s in machine.inter.segments:
        gap, per_byte = (Estimate(v.value, AT_LEAST * v.value, v.value) for v in (s.g, s.G_link or s.G))
        g, G_link = value(TIME, gap, why, "assumed"), value(PER_BYTE, per_byte, why, "assumed")
        segments.append(with_fields(s, from_=SI(s.from_), g=g, G_link=G_link))
    rate = machine.inter.link_bandwidth.value
    link = value(BANDWIDTH, Estimate(rate, rate, rate / AT_LEAST), why, "assumed")
    return with_fields(machine, inter=with_fields(machine.inter, segments=tuple(segments), link_bandwidth=link))


def with_overheads_of_streams(machine: Machine) -> Machine:
    """The machine with unmeasured overheads as streams of small messages bound them.

    A small message of a stream waits for its sender's processor, since several processes of a node send several times
    as many: o_s is the gap. Its receiver keeps up: o_r is at most the gap. L changes by as much, since the sum was
    measured.
    """
    first = machine.inter.segments[0]
    gap = first.g.value
    if first.o_s.source != "assumed" or first.o_r.source != "assumed" or first.g.source == "assumed" or gap <= 0:
        return machine
    segments = tuple(_with_overheads(s, gap) for s in machine.inter.segments)
    return with_fields(machine, inter=with_fields(machine.inter, segments=segments))


def _with_overheads(s: Segment, gap: float) -> Segment:
    o_r = min(s.o_r.value, gap)
    free = s.o_s.value + s.L.value + s.o_r.value - o_r
    o_s = min(gap, 0.9 * free) if s.L.value > 0 else s.o_s.value
    latency = free - o_s
    low, high = s.L.interval or (s.L.value, s.L.value)
    low, high = (end + latency - s.L.value for end in (low, high))
    if s.from_ == 0:
        low, high = max(low, 0.0), max(high, latency)
    sender = "as a small message of a stream, which waits for its sender's processor"
    receiver = "at most as a small message of a stream, with which its receiver keeps up"
    sent = value(TIME, Estimate(o_s, o_s / 2, o_s), sender, "assumed")
    received = value(TIME, Estimate(o_r, o_r / 4, o_r), receiver, "assumed")
    L = with_fields(s.L, value=SI(latency), interval=(SI(min(low, latency)), SI(max(high, latency))))
    return with_fields(s, from_=SI(s.from_), o_s=sent, o_r=received, L=L)
