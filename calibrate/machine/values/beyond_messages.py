"""Values of a machine, beyond its messages, that benchmarks of pairs, threads and puts show.

Each is a measured time less the machine's time of its messages. The benchmarks time whole calls, so a value that may
contain more than its own cost is marked as assumed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from pready.calibrate.fit import Curve, Estimate
from pready.calibrate.fit.observations import DEFAULT_WINDOW, Beside
from pready.calibrate.machine.values.adapter_from_pairs import SMALL, adapter_of, small_of
from pready.calibrate.machine.values.estimates import SHORTEST_S, TIME, assumed, size_curve, value, with_fields
from pready.calibrate.machine.values.segments import one_way
from pready.calibrate.machine.values.team_costs import REFERENCE, contention_curve, contexts_of
from pready.model.machine.machine import Machine, load
from pready.model.machine.path import SizeCurve
from pready.model.machine.rma import put_at
from pready.model.toml.provenance import Value

SYNCHRONISATIONS = (
    "MPI_Win_post/start/complete/wait",
    "MPI_Win_flush",
    "MPI_Win_lock/unlock",
    "MPI_Win_lock_all/unlock_all",
)
"""That wait until the put has arrived; `epoch` is read off the first of them."""
UNSURE = 0.5
"""Relative half-width of a value read off a time that contains more than it."""


@dataclass
class Terms:
    """A machine with values beyond its messages, their dotted names, and notes of what was not used."""

    machine: Machine
    parts: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def sets(self, **fields: object) -> None:
        self.machine = with_fields(self.machine, **fields)


def terms(beside: Beside, machine: Machine, stream: Curve | None = None) -> Terms:
    """`machine`, known from the same files or an earlier calibration, with the values beyond its messages.

    `stream` is the time per message of one pair, where it was measured.
    """
    found = Terms(machine)
    _pairs(found, beside, {} if stream is None else stream.medians)
    _threads(found, beside)
    _puts(found, beside)
    return found


def _pairs(found: Terms, beside: Beside, alone: Mapping[float, float]) -> None:
    """What processes of a node share of its adapter. They have a context each: if together they are faster than one,
    the adapter has several."""
    if not beside.pair_rates:
        return
    most = max(beside.pair_rates)
    rates = beside.pair_rates[most].medians
    found.sets(adapter=adapter_of(found.machine, beside.pair_rates, alone))
    found.parts.append("adapter")
    common = [size for size in rates if size in alone and size > 0]
    if not common:
        told = f"osu_mbw_mr of {most} pairs says nothing of contexts without one pair's (osu_bw, or 1 pair)"
        found.notes.append(told)
        return
    faster = rates[min(common)] * alone[min(common)]
    why = "osu_mbw_mr: {most} processes of a node send {faster:.3g}x as fast as one"
    found.sets(contexts=contexts_of(most, faster, why))
    found.parts.append("contexts")


def _threads(found: Terms, beside: Beside) -> None:
    """Contention of threads that wait: of k, one answers and waits for the lock, twice the growth of half a round trip.

    Where all k send and receive, each in a ping-pong of its own, a message holds the lock for a k-th of that growth.
    Polling by the others is in both, too, so it is a guess, if one of this machine.
    """
    base = beside.threaded[1, 1].medians if (1, 1) in beside.threaded else {}
    times: dict[int, float] = {}
    for (sending, receiving), curve in sorted(beside.threaded.items()):
        if sending not in (1, receiving):
            told = f"{sending} sending and {receiving} receiving threads were not used; 1 or {receiving} are"
            found.notes.append(told)
        elif receiving > 1:
            small = [(size, t) for size, t in curve.medians.items() if size <= SMALL]
            grown = [t - (base[size] if size in base else one_way(found.machine, size)) for size, t in small]
            if grown:
                times[receiving] = (2 if sending == 1 else 1 / receiving) * float(np.median(grown))
    if not times:
        return
    reach = load(REFERENCE).threads.barrier.threads[-1]
    if reach > max(times):
        found.notes.append(f"contention of more than {max(times)} threads taken as of these")
    why = "what threads that wait in MPI add to half a round trip; polling is in it, too"
    contention = contention_curve(times, reach, why, half=UNSURE, assumed=True)
    found.sets(threads=with_fields(found.machine.threads, contention=contention))
    found.parts.append("threads.contention")


def _puts(found: Terms, beside: Beside) -> None:
    """One of a window of puts; and the synchronisation of one."""
    machine = found.machine
    known = machine.one_sided.put
    put = machine.inter.segments[0].o_s.value if known is None else put_at(known, SMALL)
    out: dict[str, Value[float] | SizeCurve] = {}
    one = {sync: time for sync, curve in beside.puts.items() if (time := small_of(curve.medians)) is not None}
    streams = [(t, sync) for sync, curve in beside.put_streams.items() if (t := small_of(curve.medians)) is not None]
    if streams:
        each, sync = min(streams)
        put = max(each - one.get(sync, 0.0) / DEFAULT_WINDOW, SHORTEST_S)
        why = f"osu_put_bw, {sync}: one of {DEFAULT_WINDOW} puts of up to {SMALL} B, less its share of waiting"
        out["put"] = size_curve({SMALL: put}, why, each / put - 1)
        if sync in SYNCHRONISATIONS:  # not what a fence takes, which a file may say
            why = f"not measured by itself, {sync} of osu_put_bw: twice a send's o_s per window"
            out["epoch"] = assumed(TIME, max(2 * machine.inter.segments[0].o_s.value, SHORTEST_S), why, 3.0)
    used = [sync for sync in SYNCHRONISATIONS if sync in one][:1]
    for sync in used:
        out["epoch"] = _synchronisation(one[sync], put, machine, sync)
    if left := sorted(sync or "no synchronisation named" for sync in set(beside.puts) - set(used)):
        found.notes.append(f"osu_put_latency was not used for {', '.join(left)}")
    found.sets(one_sided=with_fields(machine.one_sided, **out))
    found.parts += [f"one_sided.{name}" for name in out]


def _synchronisation(whole: float, put: float, machine: Machine, sync: str) -> Value[float]:
    latency: Value[float] = machine.inter.segments[0].L
    low, high = latency.interval or (latency.value, latency.value)
    peer = machine.one_sided.epoch_peer.value
    time, least, most = (max(whole - put - L - peer, SHORTEST_S) for L in (latency.value, high, low))
    why = f"osu_put_latency, {sync}: puts of up to {SMALL} B, less put, L and epoch_peer"
    return value(TIME, Estimate(time, least, most), why, latency.source)
