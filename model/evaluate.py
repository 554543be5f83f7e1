"""Timelines of one workload under many approaches, on the same draws of machine and arrivals.

Rows of one evaluation: first one row without arrival spread, then `nominal` rows of the parameters
as they stand, then `draws` × `per_draw` rows of drawn parameters.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from pready.model import abilities, arrivals, metrics, normal
from pready.model.arrays import Array, Replaced, latest, mean
from pready.model.arrival_models import Laggard, NoArrivals
from pready.model.arrivals import exchange_seed
from pready.model.begin import begin
from pready.model.costs import Costs, costs
from pready.model.errors import PreadyError
from pready.model.interfaces import BULK, Approach
from pready.model.machine import Machine
from pready.model.prediction import ApproachPrediction
from pready.model.rules import Setting, joined
from pready.model.sampling import Sampler
from pready.model.timeline import Timeline, run
from pready.model.verdict import Stands
from pready.model.workload import Workload

NOMINAL, DRAWS, PER_DRAW = 128, 40, 8
"""Default numbers of rows; intervals of η move by about 1 % of their width between seeds."""
SAMPLES = 16
"""Arrivals per size, where many sizes are looked at."""

SENDER, RECEIVER = 0, 1


def deterministic(workload: Workload) -> bool:
    """Do all iterations look the same?"""
    model = workload.arrivals
    return isinstance(model, NoArrivals) or (isinstance(model, Laggard) and model.late == "partition")


@dataclass(frozen=True)
class Times:
    """Results of the timelines of an exchange, or of a step's exchanges together: shape (rows,)."""

    end: Array
    """Seconds after the last partition is ready."""
    iteration: Array
    """Seconds of a whole one."""
    first_ready: Array
    joined: Array
    """When the threads have met, at most the end."""
    arrived_early: Array
    messages: int

    @staticmethod
    def together(each: Sequence[Times]) -> Times:
        """Of a step: its exchanges one after the other."""

        def total(name: str) -> Array:
            return np.asarray(sum(getattr(t, name) for t in each), dtype=np.float64)

        messages = sum(t.messages for t in each)
        early = np.asarray(sum(t.messages * t.arrived_early for t in each) / messages)
        return Times(
            total("end"),
            total("iteration"),
            total("first_ready"),
            total("joined"),
            arrived_early=early,
            messages=messages,
        )


@dataclass
class Evaluation:
    """What approaches share for one machine and workload; timelines are made on request."""

    abreast: ClassVar[bool] = False
    machine: Machine
    workload: Workload
    seed: int = 0
    nominal: int = NOMINAL
    draws: int = DRAWS
    per_draw: int = PER_DRAW
    step: Workload | None = None
    """A step of several exchanges of which `workload` is one; the others are sent as their baseline. Times of an
    iteration are the step's."""
    number: int = 0
    """Of `workload` among them."""

    def __post_init__(self) -> None:
        abilities.check(self.workload, "timeline")
        if all(map(deterministic, (self.step or self.workload).parts)):
            self.nominal = self.per_draw = 1
        self.sampler = Sampler(self.machine, self.draws, self.per_draw, self.seed, lead=1 + self.nominal)
        self._costs: dict[float, Costs] = {}
        self._timelines: dict[Approach, Timeline] = {}
        self._times: dict[Approach, Times] = {}
        self._begins: dict[Approach, Array] = {}

    @property
    def _own_seed(self) -> int:
        return exchange_seed(self.seed, self.number)

    @cached_property
    def ready(self) -> Array:
        """Sender's ready times, shape (rows, N_part); row 0 has no spread."""
        n = self.nominal + self.draws * self.per_draw
        drawn = arrivals.draw(self.workload, n, self._own_seed, rank=SENDER)
        return np.concatenate([np.full((1, drawn.shape[1]), self.workload.thread_time), drawn])

    @cached_property
    def _last_ready(self) -> Array:
        return latest(self.ready)

    @cached_property
    def _receiver_ready(self) -> Array | None:
        """The receiver's own ready times, shape (rows, N_part); None if it waits in MPI."""
        if self.workload.receiver == "waiting":
            return None
        drawn = arrivals.draw(self.workload, len(self.ready) - 1, self._own_seed, rank=RECEIVER)
        return np.concatenate([np.full((1, drawn.shape[1]), self.workload.thread_time), drawn])

    def receiver_joins(self, approach: Approach) -> Array | None:
        """When the receiver enters MPI, shape (rows,): None if it waits there, else when its threads have joined."""
        if self._receiver_ready is None:
            return None
        return joined(self._receiver_ready, self.costs(approach), approach, self.setting)

    @cached_property
    def setting(self) -> Setting:
        """What an exchange depends on besides times and costs."""
        return setting_of(self.machine, self.workload)

    @property
    def bandwidth(self) -> float:
        """β of the closed forms: one message of the largest segment, alone."""
        return 1 / self.machine.path(self.workload.path).segments[-1].G.value

    def costs(self, approach: Approach) -> Costs:
        """Costs of the approach's messages; where sizes differ, of the buffer's, the largest face."""
        return self._costs_of(approach.message_size(self.workload.buffer))

    def costs_by_peer(self, approach: Approach) -> tuple[Costs, ...]:
        """Costs of the approach's messages, to each peer where sizes differ."""
        return tuple(map(self._costs_of, self.message_sizes(approach)))

    def _costs_of(self, size: float) -> Costs:
        """Made once per size."""
        if size not in self._costs:
            self._costs[size] = costs(self.sampler, self.workload, size)
        return self._costs[size]

    def timeline(self, approach: Approach) -> Timeline:
        """The approach's timeline over all rows, made once."""
        if approach not in self._timelines:
            joins = self.receiver_joins(approach)
            self._timelines[approach] = run(self.ready, self.costs_by_peer(approach), approach, self.setting, joins)
        return self._timelines[approach]

    def steps(self, approach: Approach, ready: Array, receiver_joins: Array | None = None) -> Timeline:
        """An exchange with given ready times, every message at every step; without draws of the machine.

        Parameters
        ----------
        ready
            Shape (rows, N_part), seconds after the start of the iteration.
        receiver_joins
            Shape (rows,), seconds after the start: when the receiver enters MPI. Absent: it waits there.
        """
        if self.draws:
            raise PreadyError(f"draws = {self.draws} of an exchange with given ready times", valid="draws = 0")
        return run(ready, self.costs_by_peer(approach), approach, self.setting, receiver_joins, keep_steps=True)

    @property
    def delay(self) -> float:
        """Mean time from the sender's first ready partition to its last."""
        return float(np.ptp(self.ready[self._nominal_rows], axis=1).mean())

    def on(self, machine: Machine) -> Evaluation:
        """The same on another machine."""
        return replace(self, machine=machine)

    def at_buffer(self, size: float, *, drawn: bool = True) -> Evaluation:
        """The same with another buffer, in bytes per peer; `drawn`: with draws of the machine, if this has any."""
        return replace(self, workload=self.workload.at_buffer(size), draws=self.draws if drawn else 0)

    def late(self, approach: Approach) -> float:
        """Seconds that a rank waits for late neighbours: none in a single exchange."""
        return 0.0

    def gain_over_sizes(self, approach: Approach, sizes: Sequence[float]) -> Array:
        """η of one approach for several buffer sizes, shape (len(sizes),), parameters at their values."""
        return gain_over_sizes(self.machine, self.workload, approach, sizes, self._own_seed)

    def saved_over_sizes(self, approach: Approach, sizes: Sequence[float]) -> Array:
        """Share of an iteration that one approach saves for several buffer sizes, shape (len(sizes),)."""
        today, fine = over_sizes(self.machine, self.workload, approach, sizes, self._own_seed)
        beside = float(np.mean(self._beside))
        return metrics.speedup_percent(beside + today.iteration, beside + fine.iteration) / 100

    def times(self, approach: Approach) -> Times:
        """Results of the approach's timeline, of all rows."""
        if approach not in self._times:
            line = self.timeline(approach)
            joined_ = np.minimum(line.join, line.end)
            whole = self._last_ready + line.end
            self._times[approach] = Times(line.end, whole, line.first_ready, joined_, line.arrived_early, line.messages)
        return self._times[approach]

    @cached_property
    def _beside(self) -> Array:
        """Seconds of the step's other exchanges, shape (rows,), or 0 without any."""
        parts = () if self.step is None else self.step.parts
        others = [replace(self, workload=w, number=i) for i, w in enumerate(parts) if i != self.number]
        return np.asarray(sum((o.times(o.workload.baseline).iteration for o in others), start=np.zeros(())))

    @property
    def _nominal_rows(self) -> slice:
        return slice(1, 1 + self.nominal)

    def mean_time(self, approach: Approach, **replaced: Replaced) -> float:
        """Mean time over the nominal rows, optionally with some costs replaced."""
        rows = self._nominal_rows
        if not replaced:
            return mean(self.timeline(approach).end[rows])
        changed = [replace(c, **replaced).rows(rows) for c in self.costs_by_peer(approach)]
        joins = self.receiver_joins(approach)
        line = run(self.ready[rows], changed, approach, self.setting, None if joins is None else joins[rows])
        return mean(line.end)

    def _drawn_means(self, times: Array) -> Array:
        """One mean per parameter draw; the nominal mean alone if nothing is drawn."""
        if self.draws == 0:
            return np.asarray(times[self._nominal_rows].mean(keepdims=True), dtype=np.float64)
        return np.asarray(times[1 + self.nominal :].reshape(self.draws, self.per_draw).mean(axis=1), dtype=np.float64)

    def predict_all(self, approaches: Sequence[Approach]) -> list[ApproachPrediction]:
        """`predict` of each."""
        return [self.predict(a) for a in approaches]

    def saved(self, approach: Approach) -> tuple[float, float]:
        """The share of an iteration that one approach saves, and its lower bound, as in its prediction."""
        row = self.predict(approach)
        return row.speedup_percent / 100, row.speedup_low_percent / 100

    def prepare(self, approaches: Iterable[Approach]) -> None:
        """Nothing: timelines are made on request."""

    def means(self, approach: Approach) -> Array:
        """Mean times of the exchange after the last ready partition, and of an iteration, shape (2,)."""
        end, rows = self.timeline(approach).end, self._nominal_rows
        return np.array([mean(end[rows]), mean((self._last_ready + end)[rows])])

    def message_sizes(self, approach: Approach) -> list[float]:
        """Bytes of the approach's messages: of one if all are alike, else of that to each peer."""
        return [approach.message_size(b) for b in self._buffers]

    @cached_property
    def _buffers(self) -> tuple[float, ...]:
        return _by_peer([self.workload])[0]

    def moved(self, approaches: Sequence[Approach], sampler: Sampler) -> list[Array]:
        """`means` of each approach with each of a sampler's machines, by approach an array of shape (rows, 2)."""
        rows, n = max(sampler.lead + sampler.draws, 1), self.nominal
        ready = np.tile(self.ready[self._nominal_rows], (rows, 1))
        theirs = self._receiver_ready
        if theirs is not None:
            theirs = np.tile(theirs[self._nominal_rows], (rows, 1))
        out = []
        for approach in approaches:
            at = [costs(sampler, self.workload, size) for size in self.message_sizes(approach)]
            each = [c.each_repeated(rows, n) for c in at]
            joins = None if theirs is None else joined(theirs, each[0], approach, self.setting)
            end = run(ready, each, approach, self.setting, joins).end
            out.append(np.stack([x.reshape(rows, n).mean(axis=1) for x in (end, latest(ready) + end)], axis=1))
        return out

    def elsewhere(self, cases: Sequence[tuple[Machine, Workload, Approach]]) -> list[Array]:
        """`means` on other machines and of other workloads, with the same seed."""
        out, there = [], self
        for machine, workload, approach in cases:
            # Baseline and approach are consecutive, and share arrivals and costs.
            if there is self or there.machine is not machine or there.workload is not workload:
                there = replace(self, machine=machine, workload=workload, draws=0)
            out.append(there.means(approach))
        return out

    def gains(self, approaches: Sequence[Approach]) -> list[Stands]:
        """Each against the baseline, as in `predict`."""
        today, rows = self.mean_time(self.workload.baseline), self._nominal_rows
        out = []
        for a in approaches:
            time, whole = self.mean_time(a), mean((self.times(a).iteration + self._beside)[rows])
            once = float(self._begin(a).flat[0])
            eta = float(metrics.eta(today, time))
            out.append(Stands(a, eta, eta * time / (time + once / self.workload.iterations), whole, once))
        return out

    def predict(self, approach: Approach) -> ApproachPrediction:
        """Time, η and metrics of one approach, with 95 % intervals."""
        mine, today = (
            replace(t, iteration=t.iteration + self._beside)
            for t in map(self.times, (approach, self.workload.baseline))
        )
        begins = tuple(map(self._begin, (approach, self.workload.baseline)))
        return self.row(approach, self.workload, mine, today, self.times(BULK), begins)

    def _begin(self, approach: Approach) -> Array:
        """Set-up cost, by row."""
        if approach not in self._begins:
            self._begins[approach] = begin(self.sampler, self.workload, approach)
        return self._begins[approach]

    def row(
        self, approach: Approach, workload: Workload, line: Times, today: Times, bulk: Times, begins: Sequence[Array]
    ) -> ApproachPrediction:
        """A prediction's row, of the exchange or of the step that it is part of.

        Parameters
        ----------
        line, today, bulk
            Of the approach, the baseline, and bulk.
        begins
            Set-up cost of the approach and of the baseline, by row.
        """
        rows, barrier = self._nominal_rows, self.machine.threads.barrier.at(workload.threads)
        t, t_today = line.end[rows], today.end[rows]
        drawn, drawn_today = self._drawn_means(line.end), self._drawn_means(today.end)
        time = mean(t)
        eta = float(metrics.eta(mean(t_today), time))
        time_low, time_high = interval(drawn, time)
        eta_low, eta_high = interval(metrics.eta(drawn_today, drawn), eta)
        (once, once_today), starts = begins, workload.iterations
        whole, whole_today = line.iteration + once / starts, today.iteration + once_today / starts
        saved = metrics.speedup_percent(self._drawn_means(whole_today), self._drawn_means(whole))
        speedup = float(metrics.speedup_percent(mean(whole_today[rows]), mean(whole[rows])))
        speedup_low, speedup_high = interval(saved, speedup)
        # temucin2022 3.1: one send from the join on, without the threads' barrier.
        t_pt2pt = float(bulk.end[0]) - barrier
        first = line.first_ready[rows] if approach.interface.splits else np.full_like(t, barrier)
        t_part = t - first
        before_join = line.joined[rows] - first if approach.interface.splits else np.zeros_like(t)
        no_spread = float(line.end[0]) - (0.0 if approach.interface.splits else barrier)
        return ApproachPrediction(
            approach=approach,
            messages=line.messages,
            time_s=time,
            time_low_s=time_low,
            time_high_s=time_high,
            eta=eta,
            eta_low=eta_low,
            eta_high=eta_high,
            iteration_s=mean(line.iteration[rows]),
            speedup_percent=speedup,
            speedup_low_percent=speedup_low,
            speedup_high_percent=speedup_high,
            overhead=float(metrics.overhead(no_spread, t_pt2pt)),
            perceived_bandwidth_bytes_per_s=float(metrics.perceived_bandwidth(workload.buffer, time)),
            availability=float(metrics.application_availability(mean(np.maximum(t - barrier, 0)), t_pt2pt)),
            early_bird_percent=float(metrics.early_bird_percent(mean(before_join), mean(t_part))),
            arrived_early_percent=100 * mean(line.arrived_early[rows]),
            begin_s=float(once.flat[0]),
            begin_per_iteration_s=float(once.flat[0]) / starts,
            needs=approach.interface.needs,
        )


def setting_of(machine: Machine, workload: Workload) -> Setting:
    """What an exchange depends on besides times and costs, of a machine and a workload."""
    puts = machine.one_sided.puts
    return Setting(
        workload.threads,
        workload.partitions_per_thread,
        len(workload.sends),
        machine.contexts.value,
        machine.progress.value,
        "hardware" if machine.sender_progress is None else machine.sender_progress.value,
        workload.two_way,
        "adapter" if puts is None else puts.value,
    )


def _by_peer(workloads: Sequence[Workload]) -> list[tuple[float, ...]]:
    """Bytes for each peer, by workload; for one peer if every workload sends as many bytes to all of its peers."""
    sends = [w.sends for w in workloads]
    return [s[:1] for s in sends] if all(len(set(s)) == 1 for s in sends) else sends


def interval(drawn: Array, value: float) -> tuple[float, float]:
    """The 95 % interval of one more such draw, widened to contain `value`.

    By Student's t, in the logarithm if all are positive: percentiles of some ten draws contained the truth in 85 % of
    synthetic cases only.
    """
    n = len(drawn)
    least = np.minimum.reduce(drawn)
    if n == 1 or not np.maximum.reduce(drawn) - least > 0:
        return min(float(drawn[0]), value), max(float(drawn[0]), value)
    x = np.log(drawn) if least > 0 else drawn
    middle = mean(x)
    off = x - middle
    deviation = math.sqrt(np.add.reduce(off * off) / (n - 1))
    half = normal.student95(n - 1) * deviation * math.sqrt(1 + 1 / n)
    ends = np.array([middle - half, middle + half])
    low, high = np.exp(ends) if x is not drawn else ends
    return min(float(low), value), max(float(high), value)


def gain_over_sizes(
    machine: Machine,
    workload: Workload,
    approach: Approach,
    sizes: Sequence[float],
    seed: int = 0,
    samples: int = SAMPLES,
) -> Array:
    """η of one approach for several buffer sizes at once; arguments as of `over_sizes`, shape (len(sizes),)."""
    today, fine = over_sizes(machine, workload, approach, sizes, seed, samples)
    return metrics.eta(today.time, fine.time)


@dataclass(frozen=True)
class OverSizes:
    """Mean times over buffer sizes, shape (sizes,), in seconds."""

    time: Array
    """After the last partition is ready."""
    iteration: Array
    """With its share of the set-up cost."""


def over_sizes(
    machine: Machine,
    workload: Workload,
    approach: Approach,
    sizes: Sequence[float],
    seed: int = 0,
    samples: int = SAMPLES,
) -> tuple[OverSizes, OverSizes]:
    """The baseline and one approach for several buffer sizes at once, parameters as they stand.

    Parameters
    ----------
    sizes
        Bytes per peer; they need not be whole numbers of partitions.
    """
    if deterministic(workload):
        samples = 1
    sampler = Sampler(machine)
    setting = setting_of(machine, workload)
    at_size = [workload.at_buffer(s) for s in sizes]
    ready = np.concatenate([arrivals.draw(w, samples, seed, rank=SENDER) for w in at_size])
    theirs = None
    if workload.receiver == "computing":
        theirs = np.concatenate([arrivals.draw(w, samples, seed, rank=RECEIVER) for w in at_size])

    def over(a: Approach) -> OverSizes:
        each = [
            Costs.stack([costs(sampler, w, a.message_size(b)) for w, b in zip(at_size, to, strict=True)], samples)
            for to in zip(*_by_peer(at_size), strict=True)
        ]
        joins = None if theirs is None else joined(theirs, each[0], a, setting)
        end = run(ready, each, a, setting, joins).end
        times, whole = (x.reshape(len(at_size), samples).mean(axis=1) for x in (end, latest(ready) + end))
        whole = whole + np.array([float(begin(sampler, w, a)) for w in at_size]) / workload.iterations
        return OverSizes(np.asarray(times, dtype=np.float64), np.asarray(whole, dtype=np.float64))

    return over(workload.baseline), over(approach)
