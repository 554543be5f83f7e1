"""Costs of a team of threads: barriers, waiting for locks, contexts."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pready.calibrate.machine.values.estimates import WIDEST
from pready.calibrate.machine.values.observations_of import Probes
from pready.model.common.units import SI, format_time
from pready.model.machine.machine import load
from pready.model.machine.threads import Barrier, Contention, Threads
from pready.model.toml.provenance import Value

PARALLEL_ABOVE = 1.5
"""Rate of separate communicators over that of a shared one, from which threads reach contexts of their own."""
REFERENCE = "meluxina"
"""The profile whose curves over threads stand in for unmeasured ones."""


def threads(probes: Probes, cores: int | None, notes: list[str]) -> Threads:
    """The machine's table of threads, of a rank with so many cores (None: not known); `notes` is for a reader."""
    return Threads(barrier=_barrier(), contention=_contention(probes, cores, notes))


def contexts(probes: Probes) -> Value[int]:
    """VCIs that threads use, one each, as their rate over separate communicators shows."""
    shared, own = (probes.rates.get(mechanism, {}) for mechanism in ("one", "communicators"))
    both = set(shared) & set(own)
    if not both > {1}:
        why = "communicator per thread was not compared with one communicator"
        return Value[int](value=1, source="assumed", why=why)
    most = max(both)
    return contexts_of(
        most,
        own[most] / own[1] / (shared[most] / shared[1]),
        "{most} threads with a communicator each send {faster:.3g}x as fast as on one",
    )


def contexts_of(most: int, faster: float, why: str) -> Value[int]:
    """At least `most` contexts if so many send enough faster than one; `why` is formatted with both."""
    several = faster > PARALLEL_ABOVE
    reason = why.format(most=most, faster=faster) + (" (at least as many contexts)" if several else "")
    return Value[int](value=most if several else 1, source="measured", why=reason)


def contention_curve(times: Mapping[int, float], most: int, why: str, *, half: float) -> Contention:
    """c(k) from times by number of threads, never falling, carried on to `most` threads."""
    if most > max(times):
        times = {**times, most: 0.0}
    return Contention(
        threads=(1, *times),
        time=tuple(map(SI, np.maximum.accumulate([0.0, *times.values()]))),
        interval=min(half, WIDEST),
        source="measured",
        why=why,
    )


def barrier_curve(times: Mapping[int, float], why: str, *, half: float = 0.0) -> Barrier:
    """A barrier's time by number of threads, never falling."""
    each = tuple(map(SI, np.maximum.accumulate([0.0, *times.values()])))
    return Barrier(threads=(1, *times), time=each, interval=min(half, WIDEST), source="measured", why=why)


def _contention(probes: Probes, cores: int | None, notes: list[str]) -> Contention | None:
    """c(k) of sends, of teams that send to a sleeping receiver; None: not measured."""
    taken, most = probes.taken_lock, _most_threads(probes)
    if cores == 1:
        why = "a rank has one core here: no two of its threads want a lock at once"
        if taken:
            two = next(iter(taken.values())).value
            why += f"; two that ran at once, the receiver asleep, paid {format_time(two)}"
        return contention_curve({most: 0.0}, most, why, half=0.0)
    if not taken:
        notes.append("threads that contend for a lock were not measured: contention by the library, in units of o_s")
        return None
    half = max((each.half_width / each.value for each in taken.values() if each.value > 0), default=0.0)
    if most > (last := max(taken)):
        notes.append(f"contention of more than {last} threads taken as of these: more were not measured")
    why = "threads that issue at once while the receiver sleeps, beside one alone"
    return contention_curve({threads: each.value for threads, each in taken.items()}, most, why, half=half)


def _most_threads(probes: Probes) -> int:
    """The largest team of the barrier's curve and of exchanges: a team needs both curves."""
    return max([load(REFERENCE).threads.barrier.threads[-1], *(e.threads for e in probes.exchanges)])


def _barrier() -> Barrier:
    """The reference's barrier, until exchanges of teams show it in place (`rma_and_teams`)."""
    known = load(REFERENCE).threads.barrier
    return Barrier(
        threads=known.threads,
        time=tuple(map(SI, known.time)),
        source="assumed",
        why=f"not measured: as on {REFERENCE} ({known.why})",
    )
