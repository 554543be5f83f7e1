"""Values of a machine, beyond its messages, that benchmarks of pairs, threads and puts show.

Each is a measured time less the machine's time of its messages. The benchmarks time whole calls, so a value that may
contain more than its own cost is marked as assumed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pready.calibrate.fit import Curve, Estimate
from pready.calibrate.importers.benchmarks import Beside
from pready.calibrate.importers.shared_node import adapter_of
from pready.calibrate.machine.estimates import SHORTEST_S, TIME, size_curve, value, with_fields
from pready.calibrate.machine.segments import one_way
from pready.calibrate.machine.team_costs import REFERENCE, contention_curve, contexts_of
from pready.model.machine.machine import Machine, load
from pready.model.machine.path import SizeCurve
from pready.model.toml.provenance import Value

SMALL = 64
"""Bytes up to which a call's time does not depend on the size."""
WINDOW = 64
"""Puts that osu_put_bw issues before it waits."""
SYNCHRONISATIONS = (
    "MPI_Win_post/start/complete/wait",
    "MPI_Win_flush",
    "MPI_Win_lock/unlock",
    "MPI_Win_lock_all/unlock_all",
)
"""That wait until the put has arrived; `epoch` is read off the first of them."""
UNSURE = 0.5
"""Relative half-width of a value read off a time that contains more than it."""


@dataclass(frozen=True)
class Terms:
    """A machine with the values from the files, their dotted names, and notes of files that were not used."""

    machine: Machine
    parts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def joined(self, machine: Machine, *parts: str, notes: tuple[str, ...] = ()) -> Terms:
        """With these parts, too."""
        return Terms(machine, (*self.parts, *parts), (*self.notes, *notes))


def terms(beside: Beside, machine: Machine, stream: Curve | None = None) -> Terms:
    """`machine` with the values, beyond its messages, that the files show.

    Parameters
    ----------
    beside
        From the importers.
    machine
        Known from the same files, or from an earlier calibration.
    stream
        Time per message of one pair, where it was measured.
    """
    found = _pairs(Terms(machine), beside, stream)
    return _puts(_threads(found, beside), beside)


def _pairs(found: Terms, beside: Beside, stream: Curve | None) -> Terms:
    """What processes of a node share of its adapter. They have a context each: if together they are faster than one,
    the adapter has several."""
    if not beside.pair_rates:
        return found
    machine, most = found.machine, max(beside.pair_rates)
    rates = beside.pair_rates[most].medians
    machine = with_fields(machine, adapter=adapter_of(machine, beside, stream))
    found = found.joined(machine, "adapter")
    alone = {} if stream is None else stream.medians
    common = [size for size in rates if size in alone and size > 0]
    if not common:
        note = f"osu_mbw_mr of {most} pairs says nothing of contexts without one pair's (osu_bw, or 1 pair)"
        return found.joined(machine, notes=(note,))
    faster = rates[min(common)] * alone[min(common)]
    contexts = contexts_of(most, faster, "osu_mbw_mr: {most} processes of a node send {faster:.2g}x as fast as one")
    return found.joined(with_fields(machine, contexts=contexts), "contexts")


def _threads(found: Terms, beside: Beside) -> Terms:
    """Of k threads that wait for messages one answers and waits for the lock: twice the growth of half a round trip.

    Where all k send and receive, each in a ping-pong of its own, a message holds the lock for a k-th of that growth.
    Polling by the others is in both, too, so it is a guess, if one of this machine.
    """
    one_each = beside.threaded.get((1, 1))
    times, notes = dict[int, float](), list[str]()
    for (sending, receiving), curve in sorted(beside.threaded.items()):
        if sending not in (1, receiving):
            notes.append(f"{sending} sending and {receiving} receiving threads were not used; 1 or {receiving} are")
        elif receiving > 1:
            base = {} if one_each is None else one_each.medians
            grown = [
                t - (base[size] if size in base else one_way(found.machine, size))
                for size, t in curve.medians.items()
                if size <= SMALL
            ]
            if grown:
                times[receiving] = (2 if sending == 1 else 1 / receiving) * float(np.median(grown))
    if not times:
        return found.joined(found.machine, notes=tuple(notes))
    reach = load(REFERENCE).threads.barrier.threads[-1]
    if reach > max(times):
        notes.append(f"contention of more than {max(times)} threads taken as of these")
    why = "what threads that wait in MPI add to half a round trip; polling is in it, too"
    contention = contention_curve(times, reach, why, half=UNSURE, assumed=True)
    machine = with_fields(found.machine, threads=with_fields(found.machine.threads, contention=contention))
    return found.joined(machine, "threads.contention", notes=tuple(notes))


def _puts(found: Terms, beside: Beside) -> Terms:
    """One of a window of puts; and the synchronisation of one."""
    machine = found.machine
    known = machine.one_sided.put
    put = float(machine.inter.segments[0].o_s.value) if known is None else known.at(SMALL)
    out, notes, used = dict[str, Value[float] | SizeCurve](), list[str](), list[str]()
    streams = [(t, sync) for sync, curve in beside.put_streams.items() if (t := _small(curve)) is not None]
    if streams:
        each, sync = min(streams)
        waited = _small(beside.puts[sync]) if sync in beside.puts else None
        put = max(each - (0.0 if waited is None else waited / WINDOW), SHORTEST_S)
        why = f"osu_put_bw, {sync}: one of {WINDOW} puts of up to {SMALL} B, less its share of waiting"
        out["put"] = size_curve({SMALL: put}, why, each / put - 1)
    for sync in [sync for sync in SYNCHRONISATIONS if sync in beside.puts][:1]:
        whole = _small(beside.puts[sync])
        if whole is not None:
            used.append(sync)
            out["epoch"] = _synchronisation(whole, put, machine, sync)
    if left := sorted(sync or "no synchronisation named" for sync in set(beside.puts) - set(used)):
        notes.append(f"osu_put_latency was not used for {', '.join(left)}")
    machine = with_fields(machine, one_sided=with_fields(machine.one_sided, **out))
    return found.joined(machine, *(f"one_sided.{name}" for name in out), notes=tuple(notes))


def _synchronisation(whole: float, put: float, machine: Machine, sync: str) -> Value[float]:
    latency: Value[float] = machine.inter.segments[0].L
    low, high = latency.interval or (latency.value, latency.value)
    peer = machine.one_sided.epoch_peer.value
    time, least, most = (max(whole - put - L - peer, SHORTEST_S) for L in (latency.value, high, low))
    why = f"osu_put_latency, {sync}: puts of up to {SMALL} B, less put, L and epoch_peer"
    return value(TIME, Estimate(time, least, most), why, latency.source)


def _small(curve: Curve) -> float | None:
    """The median over sizes that do not count."""
    found = [t for size, t in curve.medians.items() if size <= SMALL]
    return float(np.median(found)) if found else None
