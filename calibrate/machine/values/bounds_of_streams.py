"""Overheads of messages that nobody measured, as streams bound them."""

from __future__ import annotations

from pready.calibrate.fit import Estimate
from pready.calibrate.machine.values.estimates import TIME, value, with_fields
from pready.model.common.units import SI
from pready.model.machine.machine import Machine
from pready.model.machine.path import Segment


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
