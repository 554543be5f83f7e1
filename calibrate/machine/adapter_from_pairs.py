"""What the ranks of a node share: its adapter, from pairs of processes that send at once."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pready.calibrate.fit import Curve, Estimate
from pready.calibrate.fit.observations import DEFAULT_WINDOW
from pready.calibrate.machine.estimates import BANDWIDTH, TIME, size_curve, value
from pready.calibrate.machine.round_trip import between
from pready.calibrate.machine.segments import one_way
from pready.calibrate.machine.shared_adapter import FULL, RAILS, unknown_gap
from pready.model.machine.adapter import Adapter
from pready.model.machine.machine import Machine
from pready.model.machine.path import SizeCurve
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


def adapter_of(machine: Machine, pair_rates: Mapping[int, Curve], alone: Mapping[float, float]) -> Adapter:
    """The adapter of a node, as pairs of processes show it; without them, one rank's bandwidth and a gap of its kind.

    `machine` is known from one pair of ranks, `alone` the times per message of one pair's stream by size.
    """
    pairs = {k: curve.medians for k, curve in pair_rates.items()}
    if not pairs:
        link = machine.inter.link_bandwidth.value
        why = "what one rank reaches; several may reach more"
        rate = value(BANDWIDTH, Estimate(link, 0.9 * link, 2 * link), why, "assumed")
        return Adapter(rate=rate, gap=unknown_gap(np.inf), rails=RAILS)
    each = [float(np.median([s * r[s] for s in sorted(r)[-LARGE:]])) for r in pairs.values()]
    why = f"osu_mbw_mr: {', '.join(map(str, sorted(pairs)))} pairs of processes together"
    rate = value(BANDWIDTH, Estimate(max(each), min(each), max(each)), why)
    by_size = _by_size(machine, pairs, alone, rate.value)
    return Adapter(rate=rate, gap=_gap(machine, pairs, alone), gap_by_size=by_size, rails=RAILS)


def small_of(times: Mapping[float, float]) -> float | None:
    """The median over sizes that do not count; None: it has none."""
    found = [time for size, time in times.items() if size <= SMALL]
    return float(np.median(found)) if found else None


def _gap(machine: Machine, pairs: Mapping[int, Mapping[float, float]], stream: Mapping[float, float]) -> Value[float]:
    small = {k: rate for k, rates in pairs.items() if (rate := small_of(rates)) is not None}
    if not small:
        return unknown_gap(np.inf)
    fewest, most = min(small), max(small, key=lambda k: small[k])
    time = small_of(stream)
    alone = small[fewest] / fewest if time is None else 1 / time
    between = _apart(machine, most, small[most])
    if small[most] < FULL * most * alone:
        why = f"osu_mbw_mr: {most} pairs of processes send {small[most] / alone:.2g}x as many messages as one"
        return value(TIME, Estimate(between, 0.8 * between, 1.25 * between), why)
    return unknown_gap(between)


def _by_size(
    machine: Machine, pairs: Mapping[int, Mapping[float, float]], alone: Mapping[float, float], rate: float
) -> SizeCurve | None:
    """The gap by size, of the most pairs, with an interval that holds faster ones of fewer; None: it shows no size."""
    most = max(pairs)
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
