"""What the ranks of a node share: its adapter, from pairs of processes that send at once."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pready.calibrate.fit import Curve, Estimate
from pready.calibrate.importers.benchmarks import DEFAULT_WINDOW, Beside
from pready.calibrate.machine.estimates import BANDWIDTH, TIME, size_curve, value, with_fields
from pready.calibrate.machine.round_trip import between
from pready.calibrate.machine.segments import one_way
from pready.calibrate.machine.shared_adapter import FULL, RAILS, unknown_gap
from pready.model.common.units import SI
from pready.model.machine.adapter import Adapter
from pready.model.machine.machine import Machine
from pready.model.machine.path import Segment, SizeCurve
from pready.model.toml.provenance import Value

SMALL = 64
"""Bytes up to which a message's rate is the adapter's or the processors', not the link's."""
UNSURE = 0.2
"""Relative half-width of a gap by size."""
FEWEST, DIFFER, LEAST_SHARE, LARGEST = 3, 1.5, 0.1, 4096
"""Sizes with a gap, the factor by which they differ, the share of a message's time below which it is none, and the
size above which bytes hide it."""
LARGE = 3
"""Of the largest sizes: their bandwidth is the adapter's."""


def adapter_of(machine: Machine, beside: Beside, stream: Curve | None) -> Adapter:
    """The adapter of a node, as pairs of processes show it; without them, one rank's bandwidth and a gap of its kind.

    Parameters
    ----------
    machine
        Known from one pair of ranks.
    beside, stream
        Pairs' message rates; time per message of one pair.
    """
    pairs = {k: curve.medians for k, curve in beside.pair_rates.items()}
    if not pairs:
        link = machine.inter.link_bandwidth.value
        why = "what one rank reaches; several may reach more"
        rate = value(BANDWIDTH, Estimate(link, 0.9 * link, 2 * link), why, "assumed")
        return Adapter(rate=rate, gap=unknown_gap(np.inf), rails=RAILS)
    rate = _rate(pairs)
    by_size = _by_size(machine, pairs, stream, rate.value)
    return Adapter(rate=rate, gap=_gap(machine, pairs, stream), gap_by_size=by_size, rails=RAILS)


def _rate(pairs: Mapping[int, Mapping[float, float]]) -> Value[float]:
    each = {k: float(np.median([s * r[s] for s in sorted(r)[-LARGE:]])) for k, r in pairs.items()}
    most = max(each.values())
    why = f"osu_mbw_mr: {', '.join(map(str, sorted(each)))} pairs of processes together"
    return value(BANDWIDTH, Estimate(most, min(each.values()), most), why)


def _gap(machine: Machine, pairs: Mapping[int, Mapping[float, float]], stream: Curve | None) -> Value[float]:
    some = {k: [rate for size, rate in rates.items() if size <= SMALL] for k, rates in pairs.items()}
    small = {k: float(np.median(rates)) for k, rates in some.items() if rates}
    if not small:
        return unknown_gap(np.inf)
    fewest, most = min(small), max(small, key=lambda k: small[k])
    alone = small[fewest] / fewest
    if stream is not None:
        times = [time for size, time in stream.medians.items() if size <= SMALL]
        alone = 1 / float(np.median(times)) if times else alone
    between = _apart(machine, most, small[most])
    if small[most] < FULL * most * alone:
        why = f"osu_mbw_mr: {most} pairs of processes send {small[most] / alone:.2g}x as many messages as one"
        return value(TIME, Estimate(between, 0.8 * between, 1.25 * between), why)
    return unknown_gap(between)


def _by_size(
    machine: Machine, pairs: Mapping[int, Mapping[float, float]], stream: Curve | None, rate: float
) -> SizeCurve | None:
    """The gap by size, of the most pairs, with an interval that holds faster ones of fewer; None: it shows no size."""
    most, alone = max(pairs), {} if stream is None else stream.medians
    gaps, least = dict[float, float](), list[float]()
    for size, together in pairs[most].items():
        limited = together * alone.get(size, between(machine, size)) < FULL * most
        each = [_apart(machine, k, rates[size], size) - size / rate for k, rates in pairs.items() if size in rates]
        apart = _apart(machine, most, together, size) - size / rate
        if 0 < size <= LARGEST and limited and apart > LEAST_SHARE * size / rate:
            gaps[size] = apart
            least.append(max(min(each), 0.0) / apart)
    if len(gaps) < FEWEST or max(gaps.values()) < DIFFER * min(gaps.values()):
        return None
    why = f"osu_mbw_mr: {most} pairs of processes, less bytes over the rate"
    return size_curve(gaps, why, max(UNSURE, 1 - min(least)))


def _apart(machine: Machine, pairs: int, rate: float, size: float = 0.0) -> float:
    """Seconds between messages of some pairs, without the answers for which their windows wait."""
    waited = one_way(machine, size) + one_way(machine, 0.0)
    messages = pairs * DEFAULT_WINDOW
    together = messages / rate
    return (together - waited) / (messages - 1) if waited < together else 1 / rate


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
    return with_fields(
        s,
        from_=SI(s.from_),
        o_s=value(TIME, Estimate(o_s, o_s / 2, o_s), sender, "assumed"),
        o_r=value(TIME, Estimate(o_r, o_r / 4, o_r), receiver, "assumed"),
        L=with_fields(s.L, value=SI(latency), interval=(SI(min(low, latency)), SI(max(high, latency)))),
    )
