"""From a Machine, a Workload and an Approach to the plain numbers that the kernel works on."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pready.model import arrivals, normal
from pready.model.approach import MANY, Approach, issuing_threads, vci_members
from pready.model.costs import Costs, Sampler, costs
from pready.model.engine.mapping import Mapping, mapped
from pready.model.engine.pattern import KINDS, Pattern
from pready.model.errors import PreadyError
from pready.model.evaluate import setting_of
from pready.model.machine import Machine
from pready.model.timeline import Setting, epochs, marked_by_threads
from pready.model.values import Array
from pready.model.workload import (
    Gaussian,
    Laggard,
    Measured,
    NoArrivals,
    Normal,
    Uniform,
    Workload,
    check_transport_partitions,
)

Numbers = dict[str, NDArray[np.float64] | NDArray[np.int64]]

TABLE, THREADS, GAUSSIAN = range(3)
FIRST, TURN, DRAW = range(3)
UNIFORM, NORMAL, KERNEL = range(3)
RECEIVERS = {"master": 0, "threads": 1, "none": 2}
SYNC = {"none": 0, "active": 1, "passive": 2}


@dataclass(frozen=True)
class Plan:
    """What one run simulates."""

    pattern: Pattern
    workload: Workload
    approach: Approach
    seed: int
    sizes: tuple[float, ...]
    """Bytes of one message by class."""
    costs: tuple[Costs, ...]
    """By class."""
    members: list[list[int]]
    """Transport partitions by VCI; with a thread grid, messages."""
    mapping: Mapping | None
    """Of messages to threads, with a thread grid."""
    transports: int
    """Messages per neighbour."""
    steps: int
    """Exchanges per iteration: 1, or octants × blocks of a sweep."""
    numbers: Numbers
    """The same for the kernel."""


def beyond(
    machine: Machine, workload: Workload, approach: Approach | None = None, *, unlike: bool = False
) -> str | None:
    """What the timeline knows and the engine does not, of an approach or of any; None if there is nothing.

    Where a message's cost depends on when those of the exchange before went (a token bucket), or its
    release on when other threads end, the recurrence would need more state per rank. `unlike`: a rank's
    messages differ in size or in the threads that send them.
    """
    path, setting = machine.path(workload.path), setting_of(machine, workload)
    if path.burst is not None:
        return "shaped links (a token bucket)"
    if machine.cold is not None and unlike:
        return "messages of several kinds that take longer after a pause (cold)"
    interface = approach.interface if approach is not None else MANY
    if interface.one_sided and not interface.windows_per_thread and 0 < setting.unattended < math.inf:
        return "puts that find no room to wait for the link"
    shakes = not (interface.one_sided or interface.active_message or interface.two_sided_rendezvous)
    if (
        setting.sender_progress == "on-call"
        and workload.partitions_per_thread > 1
        and interface.splits
        and shakes
        and not interface.sender_returns
        and any(s.protocol == "rendezvous" for s in path.segments)
    ):
        return "threads that send a rendezvous and go on computing where the sender has to make progress"
    return None


Price = Callable[[float], Costs]
"""The costs of messages of so many bytes."""


def plan(
    machine: Machine,
    workload: Workload,
    approach: Approach,
    pattern: Pattern,
    *,
    seed: int = 0,
    blocks: int = 1,
    sizes: tuple[float, float, float] | None = None,
    thread_grid: tuple[int, int, int] | None = None,
    price: Price | None = None,
) -> Plan:
    """All that the kernel needs.

    Parameters
    ----------
    blocks
        Of a sweep, per octant (KBA).
    sizes
        Bytes per face, edge and corner; absent: the workload's buffer for every neighbour.
    thread_grid
        How a rank's threads are arranged in space; absent: every thread has a part of every buffer.
    price
        Scalar costs of a message by its size; absent: every machine parameter at its value.

    Raises
    ------
    PreadyError
        Transport partitions that do not divide the user partitions, or more threads than the
        machine's curves cover.
    """
    interface = approach.interface
    if interface.splits:
        check_transport_partitions(approach.transport_partitions, workload.n_partitions)
    transports = approach.transport_partitions if interface.splits else 1
    buffers = sizes if sizes is not None and max(pattern.classes) > 0 else (workload.buffer,)
    each = [approach.message_size(b) for b in buffers]
    lacking = beyond(machine, workload, approach, unlike=len(each) > 1 or thread_grid is not None)
    if lacking is not None:
        raise PreadyError(
            f"the engine does not simulate {lacking}", valid="the timeline: pready predict --engine timeline"
        )
    if price is None:
        price = partial(costs, Sampler(machine), workload)
    by_class = [price(s) for s in each]
    contexts = machine.contexts.value
    mapping = None
    if thread_grid is not None:
        # One message for the whole buffer waits for all threads, wherever they are.
        whole_shape = mapped(
            pattern, workload, approach if interface.splits else Approach(interface), thread_grid, contexts
        )
        mapping = whole_shape if interface.splits else None
    members = vci_members(approach, workload.threads, contexts) if mapping is None else [list(v) for v in mapping.vcis]
    first = by_class[0]

    setting = setting_of(machine, workload)
    copies = np.array([float(c.copy_out) if interface.active_message else 0.0 for c in by_class])
    receive = np.array([float(c.receive if interface.matches else c.unmatched) for c in by_class]) + copies
    per_entry = float(first.per_entry) if interface.matches else 0.0
    between = np.zeros((len(pattern.present), len(each)))  # (profiles, classes), as `timeline.received_between`
    if setting.two_way and interface.receivers != "none":
        queued = pattern.degree * transports / len(members)
        between += receive + per_entry * (queued[:, None] - 1) / 2
    hold = _holds(approach, workload, members, by_class, mapping)  # (VCIs, classes)
    counts = np.stack(
        [np.cumsum(pattern.present & (np.array(pattern.classes) == c), axis=1) for c in range(len(each))],
        axis=-1,
    ).astype(np.float64)  # (profiles, directions, classes): messages up to and including a direction
    hold_to = np.einsum("pdc,vc->pvd", counts, hold)
    # What is received before the next turn is as many messages.
    hold_all = hold_to[..., -1] + np.einsum("pc,pc->p", counts[:, -1, :], between)[:, None]

    two_sided = interface.two_sided_rendezvous
    shakes = not (interface.one_sided or interface.active_message or two_sided)
    half = np.array([0.5 * float(c.handshake) if shakes else 0.0 for c in by_class])
    computing = workload.receiver == "computing"
    progress = setting.progress
    service = np.array([float(c.gap + c.link) for c in by_class])
    epoch = epochs(first, approach, setting) if interface.one_sided else np.asarray(0.0)
    burst = mapping is None and len(members) == 1 and len(each) == 1 and not two_sided and not half.any()
    outer_rows = len(pattern.present)

    real: dict[str, object] = {
        "hold": hold_to.ravel(),
        "hold_all": hold_all.ravel(),
        "hold_each": hold.ravel(),
        "between": between.ravel(),
        "pready": first.pready,
        "barrier": first.barrier,
        "burst_hold": hold[0, 0],
        "burst_gap": max(hold[0, 0], service[0]),
        "opened": first.control + epoch,
        "wake": 0.0 if interface.joins else first.wake,
        "waking": first.waking,
        "link": first.link,
        "cold": first.cold,
        "cooling": first.cooling,
        "half": half,
        "service": service,
        "travel": [c.stream + c.wire for c in by_class],
        "stream": [c.stream for c in by_class],
        "wire": [c.wire for c in by_class],
        "receive": receive,
        "per_entry": per_entry,
        "poll": (len(members) - 1) * first.poll,
        "closing": epoch,
        "control": first.control,
        "ack": first.ack,
    }
    whole: dict[str, object] = {
        "ranks": pattern.ranks,
        "pattern": KINDS[pattern.name],
        "dims": pattern.grid,
        "periodic": [int(p) for p in pattern.periodic],
        "directions": pattern.directions,
        "sources": pattern.sources,
        "step": np.array(pattern.steps).ravel(),
        "direction_class": pattern.classes,
        "classes": len(each),
        "out_start": pattern.out_start,
        "out_rank": pattern.out_rank,
        "in_start": pattern.in_start,
        "in_rank": pattern.in_rank,
        "in_slot": pattern.in_slot,
        "blocks": blocks,
        "reach": pattern.reach,
        "profiles": outer_rows,
        "present": pattern.present.ravel(),
        "nth": pattern.nth.ravel(),
        "degree": pattern.degree,
        "seed_low": seed & 0xFFFFFFFF,
        "seed_high": seed >> 32,
        "threads": workload.threads,
        "theta": workload.partitions_per_thread,
        "per_bin": workload.n_partitions // transports,
        "mapped": int(mapping is not None),
        **_parts(mapping, workload.n_partitions),
        "counts": int(interface.counts),
        "joins": int(interface.joins),
        "transports": transports,
        "vcis": len(members),
        "vci_size": [len(m) for m in members],
        "vci_members": [t for m in members for t in m],
        "burst": int(burst),
        "late_puts": int(interface.one_sided and setting.unattended == 0 and not interface.windows_per_thread),
        "opens": int(interface.one_sided or interface.active_message),
        "two_sided": int(two_sided),
        "rendezvous": int(half.any()),
        "sender_waits": int(setting.sender_progress == "on-call" and interface.sender_returns),
        "gate_is_join": int(bool(half.any()) and progress == "on-call" and computing and pattern.name != "sweep3d"),
        "late_done": [int(two_sided or h > 0) for h in half],
        "receivers": RECEIVERS[interface.receivers],
        "waits": int(computing and progress != "thread"),
        "receiver_computes": int(computing),
        "serves": int(bool(receive.any()) or per_entry > 0),
        "sync": SYNC[interface.sync],
        "window_per_thread": int(interface.windows_per_thread),
    }
    ready_real, ready_whole = _ready(workload, interface.counts, float(first.pready), transports, mapping, seed)
    numbers: Numbers = {k: np.array(v, dtype=np.float64, ndmin=1, order="C") for k, v in (real | ready_real).items()}
    numbers |= {k: np.array(v, dtype=np.int64, ndmin=1, order="C") for k, v in (whole | ready_whole).items()}
    steps = pattern.exchanges(blocks)
    return Plan(
        pattern, workload, approach, seed, tuple(each), tuple(by_class), members, mapping, transports, steps, numbers
    )


def _holds(
    approach: Approach, workload: Workload, members: list[list[int]], by_class: list[Costs], mapping: Mapping | None
) -> Array:
    """Seconds that a message holds its VCI's lock, shape (VCIs, classes), as in `timeline._issue`."""
    interface = approach.interface
    transports = approach.transport_partitions if interface.splits else 1
    out = np.empty((len(members), len(by_class)))
    for v, ts in enumerate(members):
        if mapping is None:
            k = issuing_threads(ts, transports, workload.threads, workload.partitions_per_thread)
        else:
            k = mapping.issuers[v]
        for c, cost in enumerate(by_class):
            overhead = cost.put if interface.one_sided else cost.hold
            hold = overhead * cost.stretch[k] + (0.0 if interface.one_sided else cost.copy_in)
            if interface.active_message:
                hold = hold + cost.copy_out + cost.active
            out[v, c] = hold
    return out


def _parts(mapping: Mapping | None, partitions: int) -> dict[str, object]:
    """For each user partition the messages that wait for it."""
    if mapping is None:
        return {"part_start": [0], "part_job": [0]}
    waiting: list[list[int]] = [[] for _ in range(partitions)]
    for number, needed in enumerate(mapping.partitions):
        for p in needed:
            waiting[p].append(number)
    starts = np.concatenate([[0], np.cumsum([len(w) for w in waiting])])
    return {"part_start": starts, "part_job": [m for w in waiting for m in w] or [0]}


def _ready(
    workload: Workload, counts: bool, pready: float, transports: int, mapping: Mapping | None, seed: int
) -> tuple[dict[str, object], dict[str, object]]:
    """When partitions are ready: a table of rows where there are few, else a distribution."""
    model = workload.arrivals
    base, theta = workload.thread_time, workload.partitions_per_thread
    real: dict[str, object] = {
        "table": [0.0],
        "base": base,
        "noise": 0.0,
        "sd": 0.0,
        "cut": 0.0,
        "share": np.ones(theta),
        "centre": np.zeros(0),
        "centre_cut": np.zeros(0),
        "width": 0.0,
    }
    whole: dict[str, object] = {"arrivals": TABLE, "select": FIRST, "table_rows": 1, "density": UNIFORM}
    if getattr(model, "partitions", "together") == "in turn":
        real["share"] = np.arange(1, theta + 1) / theta

    def table(rows: Array, select: int) -> None:
        whole.update(select=select, table_rows=len(rows))
        real["table"] = _table(rows, workload, counts, pready, transports, mapping).ravel()

    match model:
        case NoArrivals():
            table(arrivals.draw(workload, 1, seed), FIRST)
        case Laggard() if model.late == "partition":
            table(arrivals.draw(workload, 1, seed), FIRST)
        case Laggard():
            late = float(arrivals.draw(workload, 1, seed).max())
            rows = np.full((workload.threads, workload.threads, theta), base)
            rows[np.arange(workload.threads), np.arange(workload.threads)] = late
            table(rows.reshape(workload.threads, -1), DRAW)
        case Uniform():
            whole.update(arrivals=THREADS)
            real.update(noise=model.noise)
        case Normal():
            sd = model.sd if model.sd is not None else (model.noise or 0.0) * base
            whole.update(arrivals=THREADS, density=NORMAL)
            real.update(sd=sd, cut=normal.below(-base / sd) if sd else 0.0)
        case Gaussian():
            mean = base / theta
            sd = model.sigma * mean
            whole.update(arrivals=GAUSSIAN)
            real.update(base=mean, sd=sd, cut=normal.below(-mean / sd) if sd else 0.0)
        case Measured():
            times = arrivals.read_times(str(Path(workload.folder) / model.file), model.unit)
            if model.model == "trace":
                table(arrivals.draw(workload, len(times), seed), TURN)
            else:
                whole.update(arrivals=THREADS, density=KERNEL)
                real.update(_density(times.ravel()))
    return real, whole


def _table(
    rows: Array, workload: Workload, counts: bool, pready: float, transports: int, mapping: Mapping | None
) -> Array:
    """Per row: first, last, marked, (unused), and when each transport partition is ready."""
    setting = Setting(workload.threads, workload.partitions_per_thread, 1, 1, "hardware")
    last = rows.max(axis=1, keepdims=True)
    marked = rows
    if counts:  # relative to the last, as in the timeline
        marked = marked_by_threads(rows - last, setting, np.full(len(rows), pready)) + last
    if mapping is None:
        starts = marked.reshape(len(rows), transports, -1).max(axis=2)
    else:
        starts = np.stack([marked[:, list(p)].max(axis=1) for p in mapping.partitions], axis=1)
    head = [rows.min(axis=1), rows.max(axis=1), marked.max(axis=1), np.zeros(len(rows))]
    return np.concatenate([np.stack(head, axis=1), starts], axis=1)


def _density(times: Array) -> dict[str, object]:
    """As `arrivals._kde`, the cut of each kernel computed once."""
    if len(times) < 2:
        raise PreadyError(f"a density needs at least 2 thread times, the file has {len(times)}")
    width = float(np.std(times, ddof=1)) * len(times) ** (-1 / 5)
    from scipy.special import ndtr

    cut = ndtr(-times / width) if width else np.zeros(len(times))
    return {"centre": times, "centre_cut": cut, "width": width}
