"""What rings through all ranks tell of ports: what go-aheads leave behind, and how unevenly flows share them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from pready.calibrate.build import Built
from pready.calibrate.launch import Launcher
from pready.calibrate.measure import Progress
from pready.calibrate.records import Content
from pready.calibrate.terms_from_exchanges import curve
from pready.model import units
from pready.model.arrays import Array
from pready.model.files import validated
from pready.model.interfaces import BULK, BY_KEY, RMA_SINGLE_ACTIVE, RMA_SINGLE_PASSIVE, Approach, Interface
from pready.model.machine import Machine
from pready.model.machine_path import SizeCurve
from pready.model.predict import effective_library, with_library
from pready.model.units import Unit, format_exact
from pready.model.values import Value
from pready.validate.live.session import nice
from pready.validate.prove.performed import Performed
from pready.validate.prove.rings import Ring, measure_rings, ring

FEWEST_RANKS = 3
BOTH_WAYS_S = (0.01, 0.04)
"""Of what a rank sends to both of its neighbours, on its cable."""
ONE_WAY = (1 << 17, 1 << 19, 1 << 21)
"""Bytes that it sends to one, and lets another go before or behind: sockets hold more of large messages."""
LONGEST_S = 0.25
"""On its cable; of a slow one not all of them are measured."""
SMALL_PUT = 1 << 10
COMPUTE_S = 4e-3
"""At least."""
ITERATIONS = 12
BUDGET_S = 60.0
TRIED = np.linspace(0, 0.5, 17)
"""Of what a message takes, how much a go-ahead might wait. In a ring that goes round, none waits for more than half."""
LEAST = 0.01
"""Of what a message takes: what waits for less is not seen."""

UNEVEN = ("uneven", "uneven_active", "uneven_puts")

Values = dict[str, Value[Any] | SizeCurve | None]


def one_way(machine: Machine, ranks: int, seed: int) -> list[Ring]:
    """What asks before it goes, each rank to the next one; none for fewer ranks than three.

    Bulk, or where that never asks, partitions whose data their receivers fetch.
    """
    asks, part = _asks_from(machine), effective_library(machine).part
    approach = BULK
    if asks is None and part is not None and part.active_message:
        asks, approach = int(part.fetched_from), part.into(1)
    if ranks < FEWEST_RANKS or asks is None:
        return []
    sizes = sorted({max(size, 2 * asks) for size in ONE_WAY})
    some = [size for size in sizes if size / nice(machine.bandwidth) <= LONGEST_S] or sizes[:1]
    return [_ring(machine, ranks, approach, size, seed) for size in some]


def both_ways(machine: Machine, ranks: int, seed: int) -> dict[str, list[Ring]]:
    """By the value that each tells: messages that do not ask, one that is put, and where the library's partitions are
    active messages one of these."""
    part = effective_library(machine).part
    told: dict[str, Interface | None] = {"uneven": None, "uneven_puts": RMA_SINGLE_ACTIVE}
    if part is not None and part.active_message:
        told["uneven_active"] = part
    found: dict[str, list[Ring]] = {name: [] for name in told}
    for time in BOTH_WAYS_S if ranks >= FEWEST_RANKS else ():
        for name, interface in told.items():
            size = round(time * nice(machine.bandwidth) / 2)
            messages = _not_asking(machine, size) if interface is None else 1
            approach = (interface or BY_KEY["many"]).into(messages) if interface or messages > 1 else BULK
            found[name].append(_ring(machine, ranks, approach, -(-size // messages) * messages, seed, messages, True))
    return found


def epochs(machine: Machine, ranks: int, seed: int) -> dict[str, Ring]:
    """By the value that each tells: next to nothing put to both neighbours, which takes what synchronising does."""
    if ranks < FEWEST_RANKS:
        return {}
    ways = {"epoch": RMA_SINGLE_ACTIVE, "flush": RMA_SINGLE_PASSIVE}
    return {name: _ring(machine, ranks, way.into(1), SMALL_PUT, seed, 1, True) for name, way in ways.items()}


def _ring(
    machine: Machine, ranks: int, approach: Approach, size: int, seed: int, messages: int = 1, both: bool = False
) -> Ring:
    # Ranks that hardly compute pull each other out of step.
    time = max(size * (1 + both) / nice(machine.bandwidth), COMPUTE_S)
    return ring(
        ranks, approach, size,
        compute_s=time, iterations=ITERATIONS, seed=seed, partitions_per_thread=messages, both_ways=both,
    )  # fmt: skip


def _asks_from(machine: Machine) -> int | None:
    return next((int(s.from_) for s in machine.inter.segments if s.protocol == "rendezvous"), None)


def _not_asking(machine: Machine, size: int) -> int:
    """In how many messages so many bytes go at once; in one where none asks, or all do."""
    asks = _asks_from(machine)
    return -(-size // (asks - 1)) if asks is not None and asks > 1 else 1


def measure_ring(
    machine: Machine,
    ranks: int,
    launcher: Launcher,
    built: Built,
    raw: Path,
    folder: Path,
    seed: int,
    on_point: Callable[[Progress], None],
) -> None:
    """Measure what `raw` does not hold yet; plans go to `folder`."""
    both = chain.from_iterable(both_ways(machine, ranks, seed).values())
    rings = [*one_way(machine, ranks, seed), *epochs(machine, ranks, seed).values(), *both]
    measure_rings(rings, launcher, built, raw, folder, budget_s=BUDGET_S, seed=seed, on_point=on_point)


def known(machine: Machine, ranks: int, seed: int, content: Content, environment: str) -> Machine:
    """The machine with what was measured: first what go-aheads leave behind, then what epochs among all ranks take,
    then by how much flows both ways took longer than with ports shared evenly."""
    one = [(r, r.performed(content, environment)) for r in one_way(machine, ranks, seed)]
    seen = [(r, done) for r, done in one if done is not None]
    on = _with(machine, _queue(machine, ranks, seen)) if seen else machine
    took = {
        name: epoch
        for name, of in epochs(machine, ranks, seed).items()
        if (performed := of.performed(content, environment)) is not None
        if (epoch := _epoch(on, name, of, performed)) is not None
    }
    on = on.model_copy(update={"one_sided": on.one_sided.model_copy(update=took)})
    even = with_library(_with(on, dict.fromkeys(UNEVEN)))[0]
    found: Values = {}
    for name, rings in both_ways(machine, ranks, seed).items():
        shares = [s for r in rings if (done := r.performed(content, environment)) for s in _shares(even, r, done)]
        if shares:
            approach = rings[0].way.approach.name
            about = f"{approach} in a ring of {ranks} ranks that send both ways, {len(shares)} rounds"
            found[name] = _measured(Value[units.Share], Unit.SHARE, shares, f"{about}, against ports shared evenly")
    return _with(on, found)


def _epoch(machine: Machine, name: str, of: Ring, done: Performed) -> Value[Any] | None:
    """What the ranks wait in an epoch until all have had a core is part of it; None if it takes as long as between two.

    Its bytes take next to nothing.
    """
    known: Value[float] = getattr(machine.one_sided, name) or machine.one_sided.epoch
    expected = of.expected(with_library(machine)[0], threads_wait=done.threads_wait).of(of.way.approach).time_s
    longer = [max(float(t) - expected, 0.0) for t in done.communication_s]
    if not np.median(longer):
        return None
    ranks = len(of.workload.neighbour_list or ())
    why = f"{of.way.approach.name} in a ring of {ranks} ranks that send both ways, {len(longer)} rounds"
    return _measured(Value[units.Time], Unit.TIME, [known.value + by for by in longer], why)


def _shares(even: Machine, of: Ring, done: Performed) -> list[float]:
    """By how much each round took longer, as a share of what a rank's bytes take."""
    workload = of.workload
    expected = of.expected(even, threads_wait=done.threads_wait).of(of.way.approach).time_s
    together = 2 * float(even.inter.segment(workload.buffer).G.value) * workload.buffer
    return [max(float(t) - expected, 0.0) / together for t in done.communication_s]


def _queue(machine: Machine, ranks: int, seen: Sequence[tuple[Ring, Performed]]) -> Values:
    """How long go-aheads wait at most by size, from how much longer each round took than if they left at once."""
    jitter = float(np.median([_jitter(done) for _, done in seen]))
    why = f"ranks' times of computing in a ring of {ranks}, {len(seen)} sizes"
    late = _measured(Value[units.Time], Unit.TIME, [jitter], why) if jitter > 0 else None
    found: dict[int, Array] = {}
    for of, done in seen:
        size = int(of.workload.buffer)
        takes = float(machine.inter.segment(size).G.value) * size
        tried = [_with(machine, _assumed(size, float(share) * takes, late)) for share in TRIED]
        # What makes no difference to the time is as short as that.
        times, first = np.unique(
            np.maximum.accumulate([of.expected(m).median_time(of.way.approach) for m in tried]), return_index=True
        )
        waits = takes * np.interp(done.communication_s, times, TRIED[first])
        found[size] = np.where(waits < LEAST * takes, 0.0, waits)
    centres = np.maximum.accumulate([np.median(found[size]) for size in sorted(found)])
    if not centres.any():
        return {"queue": None, "jitter": None}
    halves = [float(np.ptp(w) / 2 / np.median(w)) for w in found.values() if np.median(w) > 0]
    rounds = sum(len(w) for w in found.values())
    about = f"{seen[0][0].way.approach.name} in a ring of {ranks} ranks, {rounds} rounds, against go-aheads at once"
    return {"queue": _curve(dict(zip(sorted(found), centres, strict=True)), about, max(halves)), "jitter": late}


def _assumed(size: int, time: float, jitter: Value[Any] | None) -> Values:
    if time <= 0:
        return {"queue": None, "jitter": None}
    return {"queue": _curve({size: time}, "tried"), "jitter": jitter}


def _curve(times: Mapping[int, float], why: str, half: float = 0.0) -> SizeCurve:
    return validated(SizeCurve, curve(times, why, half), why)


def _jitter(done: Performed) -> float:
    """By how much ranks are late in the mean: draws between nothing and twice that have it as the range of their inner
    half."""
    computing: Array = done.times[:, done.first :, :, 1]
    return float(np.median([np.ptp(np.quantile(round_, [0.25, 0.75])) for round_ in computing]))


def _measured(kind: type[Value[Any]], unit: Unit, values: Sequence[float], why: str) -> Value[Any]:
    centre, low, high = (format_exact(float(x), unit) for x in (np.median(values), min(values), max(values)))
    data: dict[str, object] = {"value": centre, "source": "measured", "why": why}
    if max(values) > min(values) > 0:
        data |= {"interval": (low, high)}
    return validated(kind, data, why)


def _with(machine: Machine, values: Mapping[str, Value[Any] | SizeCurve | None]) -> Machine:
    return machine.model_copy(update={"inter": machine.inter.model_copy(update=dict(values))})
