"""From a Machine, a Workload and an Approach to a plan, which the kernel simulates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from pready.model.approach.interfaces import Approach, Interface
from pready.model.common import normal
from pready.model.common.arrays import Array
from pready.model.common.errors import PreadyError
from pready.model.engine import _kernel
from pready.model.engine.layout import Layout
from pready.model.engine.messages import Messages, messages
from pready.model.engine.pattern import Pattern, from_rest
from pready.model.machine.machine import Machine
from pready.model.timeline import rules
from pready.model.timeline.costs import BoolArray, Costs
from pready.model.timeline.rules import Setting, setting_of
from pready.model.workload import draws
from pready.model.workload.arrivals import Gaussian, Laggard, Measured, NoArrivals, Normal, Uniform
from pready.model.workload.workload import Workload

TABLE, THREADS, GAUSSIAN = range(3)
TURN, DRAW = 1, 2
NORMAL, KERNEL = 1, 2
RECEIVERS = {"master": 0, "threads": 1, "none": 2}
SYNC = {"none": 0, "active": 1, "passive": 2}


@dataclass(frozen=True)
class Plan:
    """One exchange on its ranks, on one or several machines: a row each."""

    workload: Workload
    seed: int
    messages: Messages
    costs: tuple[Costs, ...]
    """By class, of one machine or of shape (rows,)."""
    steps: int
    """Exchanges per iteration: 1, or octants × blocks of a sweep."""
    setting: Setting
    kernel: _kernel.Plan
    kinds: Array
    """What messages cost, shape (rows, classes, KIND_FIELDS)."""
    team: Array
    """What ranks pay besides, shape (rows, TEAM_FIELDS)."""
    contention: Array
    """What a message pays that waits for a VCI's lock, shape (rows, VCIs)."""
    arrivals: _kernel.Arrivals
    firsts: tuple[int, ...] = ()
    """By row, of exchanges from rest: the iteration whose arrivals the first of them has; absent, 0."""

    @property
    def pattern(self) -> Pattern:
        """Who sends to whom."""
        return self.messages.pattern

    @property
    def approach(self) -> Approach:
        """How it is sent."""
        return self.messages.approach

    @property
    def transports(self) -> int:
        """Messages in each direction."""
        return self.messages.transports

    @property
    def count(self) -> int:
        """Messages of one iteration, all ranks. Each corner's sweep crosses every edge of the grid once per block."""
        return self.pattern.edges * self.transports * self.steps

    @property
    def exchange(self) -> _kernel.Exchange:
        """The plan as the kernel takes it."""
        return self.kernel, self.kinds, self.team, self.contention, self.arrivals


@dataclass(frozen=True)
class Compiler:
    """One exchange of a step on its ranks: compiles approaches to plans; without a layout, exchanges from rest."""

    machine: Machine
    workload: Workload
    layout: Layout | None
    seed: int = 0
    """Of the exchange's arrivals."""
    of_a_node: int = 1
    """Exchanges from rest whose senders share a node, and whose receivers do."""

    @cached_property
    def setting(self) -> Setting:
        """What it depends on besides times and costs."""
        return setting_of(self.machine, self.workload)

    @cached_property
    def arrivals(self) -> _kernel.Arrivals:
        """When partitions are ready."""
        return arrivals(self.workload, self.seed)

    def pattern(self, exchanges: int = 1) -> Pattern:
        """Who sends to whom; so many exchanges from rest."""
        if self.layout is not None:
            return self.layout.pattern(self.workload)
        return from_rest(self.workload.sends, -(-exchanges // self.of_a_node) * self.of_a_node, self.of_a_node)

    def messages(self, approach: Approach, exchanges: int = 1) -> Messages:
        """What an approach sends; raises as `messages`."""
        return messages(self.workload, approach, self.pattern(exchanges), self.machine.contexts.value)

    def plan(self, sent: Messages, by_class: Sequence[Costs], rows: int = 1) -> Plan:
        """Messages on so many machines, with their costs by class: of one protocol on all.

        Raises
        ------
        PreadyError
            What these ranks cannot send.
        """
        approach, pattern = sent.approach, sent.pattern
        interface = approach.interface
        setting = rules.setting_for(interface, self.setting)
        if pattern.node is not None and interface.one_by_one:
            raise PreadyError("blocking sends of ranks that share a node", valid="another approach, or a rank per node")
        if pattern.root:
            _check_relays(approach)
        received = rules.received_in(approach.messages, len(sent.needs[0]), setting)
        kinds, threads = np.empty((rows, len(by_class), len(_kernel.KIND_FIELDS))), max(sent.issuers)
        through = (setting.sources * approach.messages if sent.waiting is None else len(sent.needs)) / len(sent.vcis)
        for k, c in enumerate(by_class):
            of_message = rules.of_message(c, approach, setting, received, threads, through)
            if interface.least and not pattern.alone:  # a library may serve any neighbour first
                of_message["busy"] = of_message["busy"] / self.pattern().directions
            for field, name in enumerate(_kernel.KIND_FIELDS):
                kinds[:, k, field] = of_message[name]
        team = np.empty((rows, len(_kernel.TEAM_FIELDS)))
        of_rank = rules.of_rank(by_class[0], approach, setting, received, through * len(sent.vcis))
        for field, name in enumerate(_kernel.TEAM_FIELDS):
            team[:, field] = of_rank[name]
        sharing = [min(n + interface.tests, setting.threads) for n in sent.issuers]  # one that tests shares the lock
        curve = rules.contending(by_class[0], approach, setting)[..., sharing]
        return Plan(
            workload=self.workload,
            seed=self.seed,
            messages=sent,
            costs=tuple(by_class),
            steps=pattern.exchanges(self.workload.blocks),
            setting=setting,
            kernel=self._kernel(sent, setting, by_class, received),
            kinds=kinds,
            team=team,
            contention=np.ascontiguousarray(np.broadcast_to(curve, (rows, len(sent.issuers)))),
            arrivals=self.arrivals,
        )

    def _kernel(self, of: Messages, setting: Setting, by_class: Sequence[Costs], received: int) -> _kernel.Plan:
        """The rules that hold, whatever things cost."""
        interface, sweeps = of.approach.interface, of.pattern.exchanges(1) > 1
        computing, protocols = self.workload.receiver_computes, list[tuple[bool, bool, bool, bool, bool]]()
        for c, kind in zip(by_class, of.pattern.kinds, strict=True):
            asks, waits, leaves = (of_class.item(0) for of_class in protocol(c, interface, setting))  # alike on all
            # In a sweep, all that a rank sent before has left its hands when it answers.
            of_receiver, of_sender = waits and computing and not sweeps, waits and interface.boundary_first
            protocols.append((asks, of_receiver, leaves, kind.inside, of_sender))
        adapter, transports = self.machine.adapter, of.transports
        return _kernel.Plan(
            pattern=of.pattern.kernel(
                self.workload.blocks,
                1 if adapter is None else adapter.rails.value,
                self.workload.placement or "in turn",
            ),
            interface=_kernel.Interface(
                joins=interface.joins,
                granted=interface.active_message,
                two_sided=interface.two_sided_rendezvous,
                one_by_one=interface.one_by_one,
                own_threads=interface.completes == "threads",
                deferred=rules.late_puts(interface, setting),
                tells=interface.tells,
                windows_per_thread=interface.windows_per_thread,
                tests=interface.tests,
                sync=SYNC[interface.sync],
                receivers=RECEIVERS[rules.receivers(interface, setting)],
            ),
            setting=_kernel.Setting(
                threads=setting.threads,
                theta=setting.partitions_per_thread,
                two_way=setting.two_way,
                computing=computing,
                progress_thread=setting.progress == "thread",
                consumers=setting.consumers,
                received_in=received,
                boundary=setting.boundary,
                slower=setting.slower,
            ),
            messages=_kernel.Messages(
                transports=transports,
                mapped=of.waiting is not None,
                in_order=(transports if of.waiting is None else len(of.needs) / self.pattern().directions)
                / len(of.vcis)
                / max(of.issuers),
                vcis=of.vcis,
                needs=of.needs,
                serving=rules.serving(of.approach, setting, of.vcis, of.waiting),
                packing=rules.packing(interface, setting, of.job_sizes, of.needs),
            ),
            protocols=protocols,
        )


def protocol(c: Costs, interface: Interface, setting: Setting) -> tuple[BoolArray, BoolArray, BoolArray]:
    """Does a message of a class wait for its receiver; for one in MPI; and is its send complete when it has left?"""
    asks = rules.asks(c, interface, setting)
    return asks, np.logical_and(asks, rules.answers_inside(c, interface, setting)), rules.leaves(c, interface)


def _check_relays(approach: Approach) -> None:
    """Refuse what the ranks of a tree cannot send on."""
    interface = approach.interface
    if interface.one_sided or interface.one_by_one:
        raise PreadyError(f"pattern = 'bcast' with {interface.name}", valid="sends that do not block")
    if interface.completes == "master" and approach.vcis > 1:
        raise PreadyError(
            f"pattern = 'bcast' with {interface.name} over {approach.vcis} VCIs: one thread sends on what it receives",
            valid="1 VCI, or an approach whose threads complete their own messages, such as many",
        )


def arrivals(workload: Workload, seed: int) -> _kernel.Arrivals:
    """When partitions are ready: a table of rows where there are few, else a distribution.

    Partition j belongs to thread j // θ; times count from the start of the iteration. Sources: temucin2022
    3.3 (https://doi.org/10.1145/3545008.3545088), marts2024 III.D, gillis2023 4.3 and Appendix A
    (https://doi.org/10.1145/3605573.3605599).
    """
    model, base = workload.arrivals, workload.thread_time
    theta, n = workload.partitions_per_thread, workload.threads
    numbers: dict[str, object] = {"times": TABLE, "base": base}
    numbers["share"] = draws.shares(theta, getattr(model, "partitions", "together"))
    match model:
        case NoArrivals():
            numbers["table"] = np.full(n * theta, base)
        case Laggard():
            delay = model.seconds(n, base, workload.partition_size)
            if model.late == "partition":  # the last one, as in gillis2023 4.3
                numbers["table"] = base + delay * (np.arange(n * theta) == n * theta - 1)
            else:
                numbers |= {"select": DRAW, "table": base + delay * np.repeat(np.eye(n), theta, axis=1)}
        case Uniform():
            low, length = model.interval(base)
            numbers |= {"times": THREADS, "base": low, "noise": length}
        case Normal():
            numbers |= {"times": THREADS, "density": NORMAL, **_above_zero(base, model.seconds(base))}
        case Gaussian():
            mean = base / theta
            numbers |= {"times": GAUSSIAN, **_above_zero(mean, model.sigma(theta) * mean)}
        case Measured(model="trace"):
            numbers |= {"select": TURN, "table": draws.replayed(workload, model)}
        case Measured():
            times = draws.read_times(str(Path(workload.folder) / model.file), model.unit)
            numbers |= {"times": THREADS, "density": KERNEL, **_kernels(times.ravel())}
    return _arrivals(workload, seed, numbers)


def drawn_times(workload: Workload, samples: int, seed: int, *, rank: int = 0, first: int = 0) -> Array:
    """Ready times of a rank's iterations from `first` on: shape (samples, N_part), seconds, at least 0.

    Raises
    ------
    PreadyError
        A file of thread times that is missing or has the wrong shape.
    """
    return arrivals(workload, seed).draw(rank, first, samples)


def _above_zero(mean: float, sd: float) -> dict[str, object]:
    """A normal distribution that is cut at 0.

    The papers leave the tail below open ("sufficiently infrequent", temucin2022 3.3); a time cannot be
    negative, so the tail is cut off the distribution instead of being folded to zero.
    """
    return {"base": mean, "sd": sd, "cut": normal.below(-mean / sd) if sd else 0.0}


def _arrivals(workload: Workload, seed: int, given: dict[str, object]) -> _kernel.Arrivals:
    arrays = {n: np.asarray(given.get(n, ()), np.float64).tobytes() for n in ("share", "table", "centre", "centre_cut")}
    return _shared(seed, workload.threads, workload.partitions_per_thread, tuple((given | arrays).items()))


@lru_cache(maxsize=12)
def _shared(seed: int, threads: int, theta: int, numbers: tuple[tuple[str, object], ...]) -> _kernel.Arrivals:
    """One object for all that has these times: the rules, ways and buffers of a prediction, for which it draws once."""
    given: Any = {name: np.frombuffer(x) if isinstance(x, bytes) else x for name, x in numbers}
    return _kernel.Arrivals(seed=seed, threads=threads, theta=theta, **given)


def table_of(workload: Workload, rows: Sequence[Sequence[float]]) -> _kernel.Arrivals:
    """Given ready times: row i of rank 0 in iteration i, and of rank 1 the row after it."""
    return _arrivals(workload, 0, {"times": TABLE, "select": TURN, "table": np.asarray(rows, np.float64)})


def _kernels(times: Array) -> dict[str, object]:
    """A Gaussian kernel density estimate (Scott's rule), each kernel cut at 0 by itself: their mixture stays
    within a kernel's width of the data."""
    width = draws.scott(times)
    from scipy.special import ndtr  # noqa: PLC0415 (SciPy takes longer to load than most predictions)

    cut = ndtr(-times / width) if width else np.zeros(len(times))
    return {"centre": times, "centre_cut": cut, "width": width}
