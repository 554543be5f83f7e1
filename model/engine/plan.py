"""From a Machine, a Workload and an Approach to the plain numbers that the kernel works on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from operator import attrgetter
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pready.model import arrivals, normal
from pready.model.approach import Approach, Interface, issuing_threads, vci_members
from pready.model.arrays import Array
from pready.model.arrival_models import Gaussian, Laggard, Measured, NoArrivals, Normal, Uniform
from pready.model.costs import Completes, Costs, Sampler, costs
from pready.model.engine._kernel import FIELDS
from pready.model.engine.mapping import Mapping, mapped
from pready.model.engine.pattern import KINDS, Pattern
from pready.model.errors import PreadyError
from pready.model.evaluate import setting_of
from pready.model.machine import Machine
from pready.model.timeline import (
    Setting,
    acknowledgement,
    answers_inside,
    confirmed,
    contending,
    counted,
    delivered,
    epochs,
    holding,
    late_puts,
    latest_by_thread,
    marked_by_threads,
    receivers,
    taken_in,
)
from pready.model.workload import Workload, check_transport_partitions

Row = NDArray[np.float64 | np.int64 | np.uint64]
Numbers = dict[str, Row]

TABLE, THREADS, GAUSSIAN = range(3)
FIRST, TURN, DRAW = range(3)
UNIFORM, NORMAL, KERNEL = range(3)
_SAME = [f.name for f in fields(Costs) if FIELDS.get(f.name) in (("float64", ""), ("float64", "classes"))]
"""Costs that the kernel takes as they are, by the same name: of the rank, or of each class of messages."""
AT_ONCE, IN_MPI, JOINED = range(3)
"""When a sender sees a clear-to-send: the kernel's `Sees`."""
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
    """The same for the kernel: what `kernel/recurrence/fields.def` lists."""


Price = Callable[[float, bool], Costs]
"""The costs of messages of so many bytes, within a node or not."""


def listed_price(sampler: Sampler, workload: Workload) -> Price:
    """Of a sampler's machine, on the workload's path or, within a node, on that of its ranks."""
    within = workload.model_copy(update={"path": "intra"})
    return lambda size, inside: costs(sampler, within if inside else workload, size)


@dataclass(frozen=True)
class Priced:
    """One plan at several prices, each with a seed of its own: a row each."""

    plan: Plan
    """Of the first row."""
    prices: dict[str, NDArray[np.float64 | np.uint64]]
    """What differs between rows, shape (rows, numbers of the field); empty of a single row."""
    seeds: tuple[int, ...]

    def rows(self, some: range) -> Priced:
        """Some rows, one after the other, as if no others had been made."""
        if len(self.seeds) == 1:
            return self
        prices = {name: value[some.start : some.stop] for name, value in self.prices.items()}
        seeds, of = self.seeds[some.start : some.stop], self.plan
        own = {name: value[0] for name, value in prices.items()} | {"seed": _row("seed", np.uint64(seeds[0]))}
        at = slice(some.start, some.stop)
        costs = [c.row(some.start) if len(seeds) == 1 else c.rows(at) for c in of.costs]
        first = replace(of, seed=seeds[0], costs=tuple(costs), numbers=of.numbers | own)
        return Priced(first, prices if len(seeds) > 1 else {}, seeds)


def plan(
    machine: Machine,
    workload: Workload,
    approach: Approach,
    pattern: Pattern,
    *,
    seed: int = 0,
    blocks: int = 1,
    buffers: Sequence[float] | None = None,
    thread_grid: tuple[int, int, int] | None = None,
    price: Price | None = None,
) -> Plan:
    """All that the kernel needs.

    Parameters
    ----------
    blocks
        Of a sweep, per octant (KBA).
    buffers
        Bytes for a neighbour by class of the pattern; absent: the workload's buffer for every one.
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
    if price is None:
        price = listed_price(Sampler(machine), workload)
    each = [approach.message_size(b) for b in buffers or (workload.buffer,) * len(pattern.kinds)]
    by_class = [price(s, kind.inside) for s, kind in zip(each, pattern.kinds, strict=True)]
    return priced(
        machine, workload, approach, pattern, each, by_class, seeds=(seed,), blocks=blocks, thread_grid=thread_grid
    ).plan


def priced(
    machine: Machine,
    workload: Workload,
    approach: Approach,
    pattern: Pattern,
    each: Sequence[float],
    by_class: list[Costs],
    *,
    seeds: Sequence[int],
    blocks: int = 1,
    thread_grid: tuple[int, int, int] | None = None,
    firsts: Sequence[int] | None = None,
) -> Priced:
    """The same ranks and messages at several prices; arguments and errors as of `plan`, and

    Parameters
    ----------
    each
        Bytes of a message by class, in the first row.
    by_class
        Costs by class, scalars or of shape (rows,); of one protocol in all rows.
    seeds
        One per row.
    firsts
        Of exchanges from rest: the iteration whose arrivals the first of each row has.
    """
    interface = approach.interface
    if interface.splits:
        check_transport_partitions(approach.transport_partitions, workload.n_partitions)
    if pattern.node is not None and interface.one_by_one:
        raise PreadyError("blocking sends of ranks that share a node", valid="another approach, or a rank per node")
    contexts = machine.contexts.value
    mapping = None
    if thread_grid is not None:
        # One message for the whole buffer waits for all threads, wherever they are.
        whole_shape = mapped(
            pattern, workload, approach if interface.splits else Approach(interface), thread_grid, contexts
        )
        mapping = whole_shape if interface.splits else None
    members = vci_members(approach, workload.threads, contexts) if mapping is None else [list(v) for v in mapping.vcis]
    if interface.one_sided and len(by_class) > 1:  # one epoch, whatever is put in it
        by_class = [replace(c, completes=by_class[0].completes) for c in by_class]
    x = _Exchange(workload, approach, pattern, setting_of(machine, workload), by_class, members, mapping, len(seeds))
    fixed = {
        **_message_numbers(x),
        **_ready_numbers(x, seeds[0]),
        **_steps(x),
    }
    by_row: dict[str, NDArray[np.float64 | np.uint64]] = {
        name: np.ascontiguousarray(value.reshape(len(seeds), -1)) for name, value in _prices(x, fixed).items()
    }
    if firsts is not None:
        by_row["first"] = np.array(firsts, np.uint64)[:, None]
    own = {name: _row(name, value) for name, value in fixed.items()} | {n: v[0] for n, v in by_row.items()}
    made = Plan(
        pattern,
        workload,
        approach,
        seeds[0],
        tuple(each),
        tuple(by_class),
        members,
        mapping,
        x.transports,
        pattern.exchanges(blocks),
        _pattern_numbers(pattern, blocks) | own,
    )
    return Priced(made, by_row if len(seeds) > 1 else {}, tuple(seeds))


def without_spread(made: Plan, machine: Machine) -> Plan:
    """A plan with all partitions ready at the same time, on the machine that it was made for."""
    workload = made.workload.model_copy(update={"arrivals": NoArrivals()})
    setting = setting_of(machine, workload)
    x = _Exchange(workload, made.approach, made.pattern, setting, list(made.costs), made.members, made.mapping, 1)
    ready = _ready_numbers(x, made.seed)
    ready["table"] = _tables(x, ready)
    return replace(made, workload=workload, numbers=made.numbers | {n: _row(n, value) for n, value in ready.items()})


def _row(name: str, value: object) -> Row:
    """As the kernel takes a field; what is no whole number where it takes whole ones is an error."""
    dtype, _ = FIELDS[name]
    return _number(dtype, value) if isinstance(value, (int, float, np.generic)) else _array(dtype, value)


def _array(dtype: str, value: object) -> Row:
    return np.array(value, ndmin=1).ravel().astype(dtype, casting="same_kind", copy=False)


@lru_cache(maxsize=1024, typed=True)
def _number(dtype: str, value: float | np.generic) -> Row:
    """The same of one number: most of a plan's fields are of few values, and not for the kernel to change."""
    row = _array(dtype, value)
    row.flags.writeable = False
    return row


@dataclass(frozen=True)
class _Exchange:
    """What the numbers of one exchange follow from."""

    workload: Workload
    approach: Approach
    pattern: Pattern
    setting: Setting
    by_class: list[Costs]
    members: list[list[int]]
    mapping: Mapping | None
    rows: int

    @property
    def interface(self) -> Interface:
        return self.approach.interface

    @property
    def first(self) -> Costs:
        """Costs that are the same for all classes."""
        return self.by_class[0]

    @property
    def transports(self) -> int:
        """Messages per neighbour."""
        return self.approach.messages

    @property
    def jobs(self) -> int:
        """What queues for a VCI."""
        return self.transports if self.mapping is None else len(self.mapping.partitions)

    @property
    def computing(self) -> bool:
        """Does the receiver compute, rather than wait in MPI?"""
        return self.workload.receiver == "computing"

    def wide(self, cost: Array) -> Array:
        """A cost by row, shape (rows,)."""
        if cost.shape == (self.rows,):  # of hundreds of plans; np.broadcast_to and np.full take their time
            return cost
        return cost.reshape(1) if self.rows == 1 else cost.repeat(self.rows)

    def each(self, cost: Callable[[Costs], Array]) -> Array:
        """A cost by row and class, shape (rows, classes)."""
        if len(self.by_class) == 1:  # as above
            return self.wide(cost(self.first))[:, None]
        return np.array([self.wide(cost(c)) for c in self.by_class]).T  # np.stack takes twice as long

    @property
    def sweeps(self) -> bool:
        """Does a rank receive before it computes? All that it sent before has left its hands when it answers."""
        return self.pattern.name == "sweep3d"

    @cached_property
    def receive(self) -> Array:
        """CPU time of one message, less what grows with the queue, shape (rows, classes)."""
        interface = self.interface
        own = self.each(lambda c: c.receive if interface.matches else c.unmatched)
        return own + self.each(lambda c: c.copy_out) if interface.active_message else own

    @cached_property
    def per_entry(self) -> Array:
        """CPU time for each message that is queued before, shape (rows,)."""
        return self.wide(self.first.per_entry if self.interface.matches else np.asarray(0.0))

    @cached_property
    def asks(self) -> NDArray[np.bool_]:
        """Does a message ask before it goes, by class? As its protocol says, however short the handshake."""
        return np.array([bool(c.asks(self.interface).any()) for c in self.by_class])

    @cached_property
    def delivered(self) -> NDArray[np.bool_]:
        """Does a send end with its receiver's word, by class? One way, an exchange ends with its receiver."""
        waits = self.setting.two_way or self.sweeps or self.pattern.alone > 0
        return np.array([waits and bool(delivered(c, self.interface, self.setting).any()) for c in self.by_class])

    @property
    def answers_at_join(self) -> bool:
        """Is a request answered only when its receiver's threads have met?"""
        return answers_inside(self.interface, self.setting.progress) and self.computing and not self.sweeps

    @property
    def sees(self) -> int:
        """When does a sender see the clear-to-send for a rendezvous?"""
        interface = self.interface
        if self.setting.sender_progress != "on-call":
            return AT_ONCE
        if interface.sender_returns:
            return JOINED
        # A thread with further partitions goes on computing; one that is through waits in MPI.
        return IN_MPI if interface.splits and self.workload.partitions_per_thread > 1 else AT_ONCE

    @cached_property
    def completes(self) -> Array:
        """From when a message leaves until its send is complete, shape (rows, classes); -inf: once it may go."""
        interface = self.interface

        def each(c: Costs) -> Array:
            asked = c.asks(interface) | interface.two_sided_rendezvous
            left = np.where(
                c.completes == Completes.BY_PROTOCOL, asked, (c.completes == Completes.LEFT) & (not interface.one_sided)
            )
            return np.where(left, c.stream, -np.inf)

        by_last_byte = self.each(each)
        return np.where(self.delivered, self.travel + self.returned, by_last_byte)

    @cached_property
    def travel(self) -> Array:
        """From when a message leaves until it arrives, shape (rows, classes)."""
        return self.each(lambda c: c.stream + c.wire)

    @cached_property
    def acknowledgement(self) -> Array:
        """From a message's arrival until its sender knows, shape (rows, classes)."""
        return self.each(lambda c: acknowledgement(c, self.interface, self.setting))

    @cached_property
    def returned(self) -> Array:
        """From a message's arrival to when its sender knows that it was received, shape (rows, classes)."""
        return self.each(lambda c: taken_in(c, self.interface, self.setting)) + self.acknowledgement

    @cached_property
    def service(self) -> Array:
        """Time of a message at the NIC, shape (rows, classes)."""
        return self.each(lambda c: c.gap + c.link)

    @cached_property
    def hold(self) -> Array:
        """Seconds that a message holds its VCI's lock, shape (rows, classes)."""
        return self.each(lambda c: holding(c, self.approach))

    @cached_property
    def counter(self) -> Array:
        """What a job pays, after its last partition, for the counter by which several threads know the last of
        them, shape (rows, jobs)."""
        if self.mapping is None:
            shared = counted(self.approach, self.workload.threads, self.workload.partitions_per_thread)
        elif self.interface.counts or self.interface.joins:
            shared = [False] * len(self.mapping.partitions)
        else:
            theta = self.workload.partitions_per_thread
            shared = [len({p // theta for p in needed}) > 1 for needed in self.mapping.partitions]
        return np.where(shared, self.wide(self.first.pready)[:, None], 0.0)

    @cached_property
    def epoch(self) -> Array:
        """Time to open or close an epoch, shape (rows,)."""
        one_sided = self.interface.one_sided
        return self.wide(epochs(self.first, self.approach, self.setting) if one_sided else np.asarray(0.0))


@lru_cache(maxsize=4)  # as many as a step has exchanges, most often; lists of a million ranks are large
def _pattern_numbers(pattern: Pattern, blocks: int) -> Numbers:
    """Who talks to whom, the same for hundreds of plans."""
    numbers: dict[str, object] = {
        "ranks": pattern.ranks,
        "pattern": KINDS[pattern.name],
        "dims": pattern.grid,
        "periodic": pattern.periodic,
        "directions": pattern.directions,
        "sources": pattern.sources,
        "reach": pattern.reach,
        "step": pattern.steps,
        "placed": pattern.rank_profile is not None,
        "rank_profile": [0] if pattern.rank_profile is None else pattern.rank_profile,
        "direction_class": pattern.classes,
        **_nodes(pattern),
        "out_start": pattern.out_start,
        "out_rank": pattern.out_rank,
        "in_start": pattern.in_start,
        "in_rank": pattern.in_rank,
        "in_slot": pattern.in_slot,
        "blocks": blocks,
        "alone": pattern.alone,
        "profiles": len(pattern.present),
        "present": pattern.present,
        "degree": pattern.degree,
    }
    return {name: _row(name, value) for name, value in numbers.items()}


def _nodes(pattern: Pattern) -> dict[str, object]:
    """The ranks of each node."""
    inside = [kind.inside for kind in pattern.kinds]
    if pattern.node is None:
        return {"nodes": 0, "node_start": [0], "node_rank": np.zeros(0, np.int64), "inside": inside}
    order = np.argsort(pattern.node, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(pattern.node))])
    return {"nodes": len(starts) - 1, "node_start": starts, "node_rank": order, "inside": inside}


def _message_numbers(x: _Exchange) -> dict[str, object]:
    """How a rank's buffers are split into messages, and which VCI each goes through."""
    return {
        "classes": len(x.by_class),
        "transports": x.transports,
        "threads": x.workload.threads,
        "theta": x.workload.partitions_per_thread,
        "per_bin": x.workload.n_partitions // x.transports,
        "mapped": x.mapping is not None,
        **_parts(x.mapping, x.workload.n_partitions),
        "vcis": len(x.members),
        "vci_size": [len(m) for m in x.members],
        "vci_members": [t for m in x.members for t in m],
    }


def _steps(x: _Exchange) -> dict[str, object]:
    """Which of the timeline's steps there are, and how they go."""
    interface, asks = x.interface, bool(x.asks.any())
    return {
        "counts": interface.counts,
        "joins": interface.joins,
        "opens": interface.one_sided,
        "granted": interface.active_message,
        "deferred": late_puts(interface, x.setting),
        "rounds": x.pattern.directions > 1
        and not x.sweeps
        and len(x.members) == 1
        and (interface.two_sided_rendezvous or asks),
        "two_sided": interface.two_sided_rendezvous,
        "one_by_one": interface.one_by_one,
        "asks": x.asks,
        "gate_is_join": asks and x.answers_at_join,
        "sees": x.sees,
        "delivered": x.delivered,
        "delivered_at_join": bool(x.delivered.any())
        and x.setting.progress != "thread"
        and x.computing
        and not x.sweeps,
        "receivers": RECEIVERS[receivers(interface, x.setting)],
        "waits": x.computing and x.setting.progress != "thread",
        "receiver_computes": x.computing,
        "waits_for_sends": x.setting.two_way or not x.pattern.alone,
        "sync": SYNC[interface.sync],
        "confirmed": confirmed(x.first, interface, x.setting),
        "window_per_thread": interface.windows_per_thread,
    }


def _prices(x: _Exchange, fixed: dict[str, object]) -> dict[str, Array]:
    """What the steps cost, each of shape (rows, ...)."""
    first, interface = x.first, x.interface
    by_row = {
        **_namesakes(x),
        **_locks(x),
        # From a partition's mark to its message's issue.
        "counter": x.counter,
        "opened": first.control,
        # From a message's issue to its arrival: handshakes, the NIC and the wire.
        "half_shake": x.each(lambda c: c.half_shake(interface)),
        "service": x.service,
        "travel": x.travel,
        "completes": x.completes,
        "returned": x.returned,
        # From arrivals to the end of the exchange.
        "receive": x.receive,
        "per_entry": x.per_entry,
        "poll": (len(x.members) - 1) * first.poll,
        "ack": x.acknowledgement,
        "closing": x.epoch,
        "told": first.control + x.epoch if interface.sync == "passive" else first.control,
    }
    if fixed["arrivals"] == TABLE:
        by_row["table"] = _tables(x, fixed)
    return {name: value if value.ndim > 1 else x.wide(value) for name, value in by_row.items()}


def _namesakes(x: _Exchange) -> dict[str, Array]:
    """`_SAME` of an exchange."""
    return {name: x.each(attrgetter(name)) if FIELDS[name][1] else getattr(x.first, name) for name in _SAME}


def _locks(x: _Exchange) -> dict[str, Array]:
    """How long a VCI's lock is held, message by message."""
    pattern, classes = x.pattern, range(len(x.by_class))
    # (rows, profiles, classes), as `timeline.received_between`
    between = np.zeros((x.rows, len(pattern.present), len(classes)))
    if x.setting.two_way and receivers(x.interface, x.setting) != "none":
        queued = pattern.degree * x.transports / len(x.members)
        between += x.receive[:, None, :] + x.per_entry[:, None, None] * (queued[:, None] - 1) / 2
    # (classes, profiles, directions): messages up to and including a direction
    counts = [np.cumsum(pattern.present & (pattern.classes == c), axis=1) for c in classes]
    hold_to = np.asarray(sum(counts[c] * x.hold[:, c, None, None] for c in classes))
    # As many messages are received before the next partition.
    received = np.asarray(sum(counts[c][:, -1] * between[:, :, c] for c in classes))
    taken = _contentions(x)
    behind = received[:, :, None] + pattern.degree[:, None] * taken[:, None, :]
    return {
        "hold": hold_to,
        "hold_behind": hold_to[:, :, -1:] + behind,
        "hold_each": x.hold,
        "between": between,
        "taken": taken,
    }


def _contentions(x: _Exchange) -> Array:
    """What a message pays that waits for its VCI's lock, shape (rows, VCIs)."""
    w = x.workload
    if x.mapping is not None:
        sharing = list(x.mapping.issuers)
    else:
        sharing = [issuing_threads(ts, x.transports, w.threads, w.partitions_per_thread) for ts in x.members]
    curve = contending(x.first, x.approach)[..., sharing]
    return np.broadcast_to(curve, (x.rows, len(sharing)))


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


def _ready_numbers(x: _Exchange, seed: int) -> dict[str, object]:
    """When partitions are ready: a table of rows where there are few, else a distribution."""
    workload, model = x.workload, x.workload.arrivals
    base, theta = workload.thread_time, workload.partitions_per_thread
    share = np.arange(1, theta + 1) / theta if getattr(model, "partitions", "together") == "in turn" else np.ones(theta)
    numbers: dict[str, object] = {
        "seed": np.uint64(seed),
        "first": np.uint64(0),
        "arrivals": TABLE,
        "select": FIRST,
        "table_rows": 1,
        "table": np.zeros((1, 1)),
        "density": UNIFORM,
        "base": base,
        "noise": 0.0,
        "sd": 0.0,
        "cut": 0.0,
        "share": share,
        "kernels": 0,
        "centre": np.zeros(0),
        "centre_cut": np.zeros(0),
        "width": 0.0,
    }

    def table(rows: Array, select: int) -> None:
        numbers.update(select=select, table_rows=len(rows), table=rows)

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
            low, length = model.interval(base)
            numbers.update(arrivals=THREADS, base=low, noise=length)
        case Normal():
            sd = model.seconds(base)
            numbers.update(arrivals=THREADS, density=NORMAL, sd=sd, cut=normal.below(-base / sd) if sd else 0.0)
        case Gaussian():
            mean = base / theta
            sd = model.sigma(theta) * mean
            numbers.update(arrivals=GAUSSIAN, base=mean, sd=sd, cut=normal.below(-mean / sd) if sd else 0.0)
        case Measured():
            times = arrivals.read_times(str(Path(workload.folder) / model.file), model.unit)
            if model.model == "trace":
                table(arrivals.draw(workload, len(times), seed), TURN)
            else:
                numbers.update(arrivals=THREADS, density=KERNEL, **_density(times.ravel()))
    return numbers


def _tables(x: _Exchange, fixed: dict[str, object]) -> Array:
    """`_table` by row, shape (rows, ...); marking partitions takes time, which differs between rows."""
    times = np.asarray(fixed["table"])
    if not x.interface.counts:
        return np.broadcast_to(_table(times, x, 0.0), (x.rows, len(times), 4 + x.jobs))
    return np.stack([_table(times, x, float(pready)) for pready in x.wide(x.first.pready)])


def _table(times: Array, x: _Exchange, pready: float) -> Array:
    """Per row of ready times: first, last, marked, the first thread's last mark, when each transport
    partition is ready."""
    setting = Setting(x.workload.threads, x.workload.partitions_per_thread, 1, 1, "hardware")
    last = times.max(axis=1, keepdims=True)
    marked = times
    if x.interface.counts:  # relative to the last, as in the timeline
        marked = marked_by_threads(times - last, setting, np.full(len(times), pready)) + last
    if x.mapping is None:
        starts = marked.reshape(len(times), x.transports, -1).max(axis=2)
    else:
        starts = np.stack([marked[:, list(p)].max(axis=1) for p in x.mapping.partitions], axis=1)
    in_mpi = latest_by_thread(marked, setting).min(axis=1)
    head = [times.min(axis=1), times.max(axis=1), marked.max(axis=1), in_mpi]
    return np.concatenate([np.stack(head, axis=1), starts], axis=1)


def _density(times: Array) -> dict[str, object]:
    """As `arrivals._kde`, the cut of each kernel computed once."""
    if len(times) < 2:
        raise PreadyError(f"a density needs at least 2 thread times, the file has {len(times)}")
    width = float(np.std(times, ddof=1)) * len(times) ** (-1 / 5)
    from scipy.special import ndtr

    cut = ndtr(-times / width) if width else np.zeros(len(times))
    return {"kernels": len(times), "centre": times, "centre_cut": cut, "width": width}
