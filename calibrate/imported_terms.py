"""What benchmarks of pairs, threads, puts and partitions say of a machine whose messages are known.

Each is a measured time less what the machine says of its messages. They measure whole calls, so what is read off them
is marked as assumed wherever something else may be in it, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pready.calibrate.fit import Curve
from pready.calibrate.importers.benchmarks import Beside
from pready.calibrate.machine_from_fit import PARALLEL_ABOVE, REFERENCE
from pready.model.libraries import library
from pready.model.machine import Machine, load
from pready.model.units import Unit, format_exact
from pready.model.values import Value

SMALL = 64
"""Bytes up to which a call's time is not its size's."""
SHORTEST_S = 1e-9
"""A cost that came out below is taken as this: it stays positive."""
WINDOW = 64
"""Puts that osu_put_bw issues before it waits."""
PASSIVE = ("MPI_Win_flush", "MPI_Win_lock/unlock", "MPI_Win_lock_all/unlock_all")
"""Synchronisations of a passive target that wait until the put has arrived, what `flush` is read off first."""
ACTIVE = "MPI_Win_post/start/complete/wait"
UNSURE = 0.5
"""Relative half width of what is read off a time that holds more than it."""


@dataclass(frozen=True)
class Terms:
    """Fields of a machine file by dotted name, as the file has them, and what was left out."""

    fields: Mapping[str, Any]
    notes: tuple[str, ...]


def terms(beside: Beside, machine: Machine, stream: Curve | None = None) -> Terms:
    """What the files say of `machine` beyond its messages.

    Parameters
    ----------
    beside
        From the importers.
    machine
        What the same messages, or an earlier calibration, say of it.
    stream
        Time per message of one pair, where it was measured.
    """
    out: dict[str, Any] = {}
    notes: list[str] = []
    _pairs(out, notes, beside, machine, stream)
    _threads(out, notes, beside, machine)
    _puts(out, notes, beside, machine)
    _partitions(out, notes, beside, machine)
    return Terms(out, tuple(notes))


def _pairs(out: dict[str, Any], notes: list[str], beside: Beside, machine: Machine, stream: Curve | None) -> None:
    """Processes of one node have a context each: if together they are faster than one, the adapter has several."""
    if not beside.pair_rates:
        return
    most = max(beside.pair_rates)
    rates = _at(beside.pair_rates[most])
    fastest = max(size * rate for size, rate in rates.items())
    if fastest > machine.inter.link_bandwidth.value:
        why = f"osu_mbw_mr: {most} pairs together"
        out["inter.link_bandwidth"] = {"value": format_exact(fastest, Unit.BANDWIDTH), "source": "measured", "why": why}
    alone = {} if stream is None else _at(stream)
    common = [size for size in rates if size in alone and size > 0]
    if not common:
        notes.append(f"osu_mbw_mr of {most} pairs says nothing of contexts without one pair's (osu_bw, or 1 pair)")
        return
    faster = rates[min(common)] * alone[min(common)]
    why = f"osu_mbw_mr: {most} processes of a node send {faster:.2g}x as fast as one"
    value = most if faster > PARALLEL_ABOVE else 1
    why += " (at least as many contexts)" if value > 1 else ""
    out["contexts"] = {"value": value, "source": "measured", "why": why}


def _threads(out: dict[str, Any], notes: list[str], beside: Beside, machine: Machine) -> None:
    """Of k threads that wait for messages one answers, and finds the lock taken: twice what half a round trip grows by.

    Polling by the others is in it too, so it is a guess, if one of this machine.
    """
    one_each = beside.threaded.get((1, 1))
    times: dict[int, float] = {}
    for (sending, receiving), curve in sorted(beside.threaded.items()):
        if sending > 1:
            notes.append(
                f"osu_latency_mt with {sending} sending threads was not used; one is (-t 1:{max(receiving, 2)})"
            )
        elif receiving > 1:
            base = None if one_each is None else _at(one_each)
            grown = [
                t - (base[size] if base and size in base else _one_way(machine, size))
                for size, t in _at(curve).items()
                if size <= SMALL
            ]
            if grown:
                times[receiving] = 2 * max(float(np.median(grown)), 0.0)
    if not times:
        return
    reach = load(REFERENCE).threads.contention.threads[-1]
    threads = [1, *times, *([reach] if reach > max(times) else [])]
    each = np.maximum.accumulate([0.0, *times.values()])  # more threads never queue for less
    each = np.append(each, [each[-1]] * (len(threads) - len(each)))
    out["threads.contention"] = {
        "threads": threads,
        "time": [format_exact(float(t), Unit.TIME) for t in each],
        "interval": UNSURE,
        "source": "assumed",
        "why": "osu_latency_mt: twice what threads that wait in MPI add to half a round trip; polling is in it, too",
    }
    if reach > max(times):
        notes.append(f"contention of more than {max(times)} threads taken as of these")


def _puts(out: dict[str, Any], notes: list[str], beside: Beside, machine: Machine) -> None:
    """One of a window of puts; and what synchronisation adds to one."""
    put = machine.one_sided.put.value
    streams = [(t, sync) for sync, curve in beside.put_streams.items() if (t := _small(curve)) is not None]
    if streams:
        each, sync = min(streams)
        waited = _small(beside.puts[sync]) if sync in beside.puts else None
        put = max(each - (0.0 if waited is None else waited / WINDOW), SHORTEST_S)
        interval = [format_exact(t, Unit.TIME) for t in (min(put, max(each / 2, SHORTEST_S)), each)]
        why = f"osu_put_bw, {sync}: one of {WINDOW} puts of up to {SMALL} B, less its share of waiting"
        out["one_sided.put"] = {
            "value": format_exact(put, Unit.TIME),
            "interval": interval,
            "source": "measured",
            "why": why,
        }
    used = []
    for name, ways in (("flush", PASSIVE), ("epoch", (ACTIVE,))):
        for sync in [sync for sync in ways if sync in beside.puts][:1]:
            whole = _small(beside.puts[sync])
            if whole is None:
                continue
            used.append(sync)
            out[f"one_sided.{name}"] = _synchronisation(whole, put, machine, sync)
    if left := sorted(sync or "no synchronisation named" for sync in set(beside.puts) - set(used)):
        notes.append(f"osu_put_latency was not used for {', '.join(left)}")


def _synchronisation(whole: float, put: float, machine: Machine, sync: str) -> dict[str, Any]:
    latency: Value[float] = machine.inter.segments[0].L
    low, high = latency.interval or (latency.value, latency.value)
    value, least, most = (max(whole - put - L, SHORTEST_S) for L in (latency.value, high, low))
    return {
        "value": format_exact(value, Unit.TIME),
        "interval": [format_exact(t, Unit.TIME) for t in (least, most)],
        "source": latency.source,
        "why": f"osu_put_latency, {sync}: puts of up to {SMALL} B, less put and L",
    }


def _partitions(out: dict[str, Any], notes: list[str], beside: Beside, machine: Machine) -> None:
    """Where MPI_Psend waits for all partitions it is one message, over active messages: what it takes longer."""
    if beside.partitioned is None:
        return
    known = library(machine.library.name)
    early = machine.library.early_send
    if known.part is None or (known.early if early is None else early.value):
        notes.append(
            f"osu_partitioned_latency was not used: library = {machine.library.name} sends no active messages; "
            "see --library"
        )
        return
    extra = {s: max(t - _one_way(machine, s), 0.0) for s, t in _at(beside.partitioned).items() if s > 0}
    if extra:
        out["active_message"] = {
            "sizes": [format_exact(s, Unit.SIZE) for s in extra],
            "time": [format_exact(t, Unit.TIME) for t in extra.values()],
            "interval": UNSURE,
            "source": "measured",
            "why": "osu_partitioned_latency less a message of the same size",
        }


def _at(curve: Curve) -> dict[float, float]:
    return {float(size): float(np.median(times)) for size, times in zip(curve.at, curve.repeats, strict=True)}


def _small(curve: Curve) -> float | None:
    """Of sizes that do not count."""
    found = [t for size, t in _at(curve).items() if size <= SMALL]
    return float(np.median(found)) if found else None


def _one_way(machine: Machine, size: float) -> float:
    """One message that meets an idle network."""
    s = machine.inter.segment(size)
    asked = 0.0 if s.handshake is None else s.handshake.value
    return float(s.o_s.value + s.L.value + s.G.value * size + s.o_r.value + asked)
