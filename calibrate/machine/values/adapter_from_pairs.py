"""What the ranks of a node share: its adapter, from pairs of processes that send at once."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pready.calibrate.fit import Curve, Estimate
from pready.calibrate.fit.observations import DEFAULT_WINDOW
from pready.calibrate.machine.values.estimates import BANDWIDTH, TIME, value, with_fields
from pready.calibrate.machine.values.segments import one_way
from pready.calibrate.machine.values.shared_adapter import FULL, RAILS, unknown_gap
from pready.calibrate.machine.values.team_costs import contexts_of
from pready.model.machine.adapter import TOGETHER, Adapter
from pready.model.machine.machine import Machine
from pready.model.toml.provenance import Value

SMALL = 64
"""Bytes up to which a message's rate is the adapter's or the processors', not the link's."""
LARGE = 3
"""How many of the largest sizes have the adapter's bandwidth."""


def with_pairs(machine: Machine, pair_rates: Mapping[int, Curve], stream: Curve | None, notes: list[str]) -> Machine:
    """`machine`, known from one pair of ranks, with what processes of a node share of its adapter, and its contexts.

    Processes have a context each: if together they are faster than one, the adapter has several.

    Parameters
    ----------
    pair_rates
        Messages per second of so many pairs at once; none: one rank's bandwidth and a gap of its kind.
    stream
        The time per message of one pair, where it was measured.
    """
    pairs = {k: curve.medians for k, curve in pair_rates.items()}
    if not pairs:
        link = machine.inter.link_bandwidth.value
        low, high = (link * by for by in TOGETHER.interval or (1, 1))
        rate = value(BANDWIDTH, Estimate(link, low, high), TOGETHER.why, "assumed")
        return with_fields(machine, adapter=Adapter(rate=rate, gap=unknown_gap(np.inf), rails=RAILS))
    alone, most = {} if stream is None else stream.medians, max(pairs)
    each = [{s: s * r[s] for s in sorted(r)[-LARGE:]} for r in pairs.values()]
    why = f"osu_mbw_mr: {', '.join(map(str, sorted(pairs)))} pairs of processes together"
    middle = [float(np.median([*moved.values()])) for moved in each]
    spread = middle + [by for moved in each for s, by in moved.items() if s >= max(moved) / 16]
    rate = value(BANDWIDTH, Estimate(max(middle), min(spread), max(spread)), why)
    machine = with_fields(machine, adapter=Adapter(rate=rate, gap=_gap(machine, pairs, alone), rails=RAILS))
    common = [size for size in pairs[most] if size in alone and size > 0]
    if not common:
        notes.append(f"osu_mbw_mr of {most} pairs says nothing of contexts without one pair's (osu_bw, or 1 pair)")
        return machine
    faster = pairs[most][min(common)] * alone[min(common)]
    why = "osu_mbw_mr: {most} processes of a node send {faster:.3g}x as fast as one"
    return with_fields(machine, contexts=contexts_of(most, faster, why))


def _small(times: Mapping[float, float]) -> float | None:
    """The median over sizes that do not count; None: it has none."""
    found = [time for size, time in times.items() if size <= SMALL]
    return float(np.median(found)) if found else None


def _gap(machine: Machine, pairs: Mapping[int, Mapping[float, float]], stream: Mapping[float, float]) -> Value[float]:
    small = {k: rate for k, rates in pairs.items() if (rate := _small(rates)) is not None}
    if not small:
        return unknown_gap(np.inf)
    fewest, most = min(small), max(small, key=lambda k: small[k])
    time = _small(stream)
    alone = small[fewest] / fewest if time is None else 1 / time
    between = _apart(machine, most, small[most])
    if small[most] < FULL * most * alone:
        why = f"osu_mbw_mr: {most} pairs of processes send {small[most] / alone:.3g}x as many messages as one"
        return value(TIME, Estimate(between, 0.8 * between, 1.25 * between), why)
    return unknown_gap(between)


def _apart(machine: Machine, pairs: int, rate: float) -> float:
    """Seconds between messages of some pairs, without the answers for which their windows wait."""
    waited = 2 * one_way(machine, 0.0)
    messages = pairs * DEFAULT_WINDOW
    together = messages / rate
    return (together - waited) / (messages - 1) if waited < together else 1 / rate
