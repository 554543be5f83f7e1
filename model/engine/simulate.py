"""Every rank of a pattern, iteration after iteration (``pready simulate``), and what came of each; exchanges from rest
message by message."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from pready.model.approach.interfaces import BULK, Approach, whole
from pready.model.common.arrays import Array, mean
from pready.model.engine import _kernel
from pready.model.engine.layout import Layout, Step, check_memory_of
from pready.model.engine.pattern import check_memory
from pready.model.engine.plan import Plan, table_of
from pready.model.engine.runs import Rows, Runs, Way, check, refuse_overflow, warm_up
from pready.model.equations import metrics
from pready.model.machine.machine import Machine
from pready.model.result.prediction import ApproachPrediction
from pready.model.result.row import Averages, Terms, row
from pready.model.workload import supported_by
from pready.model.workload.workload import Workload

LATE = "late_neighbour"
CAUSES = ("compute", LATE, "issue", "nic", "wire", "receive")
"""Where a rank's time goes; they add up to the iteration's time. To receive includes waiting at the rank's port."""
CONSUME = "consume"
"""One more of a receiver that is consuming: what its threads work when everything is there."""
STEPS = ("ready", "issued", "goes", "left", "arrived", "received")
MESSAGE = np.dtype([*((name, "f8") for name in STEPS), ("job", "i2"), ("vci", "i2"), ("waited_for", "i1", 4)])
"""One message in the kernel's records: when it has passed each step, which of the sender's jobs it is of and through
which VCI it goes, and what it waited for."""


@dataclass(frozen=True)
class Simulation:
    """What came of a run. Arrays have one entry per completed iteration; times in seconds.

    Means, shortest and longest are over ranks. All ranks start at 0.
    """

    pattern: str
    grid: tuple[int, int, int]
    ranks: int
    """Whose times count: all, or of exchanges from rest those who send."""
    approach: Approach
    seed: int
    exchanges: int
    """Per iteration: 1, or octants × blocks of a sweep."""
    each: int
    """Messages of an iteration."""
    consuming: bool
    """Do receivers' threads work on what comes?"""
    means: dict[str, Array]
    """Over ranks, by `_kernel.SUM_FIELDS`; `early` as a share of the messages."""
    extremes: Array
    """Over ranks, of a step's exchanges the step's: the shortest and the longest iteration, the first and the last end,
    shape (iterations, 4)."""
    interrupted: bool
    """Are there fewer iterations than were asked for?"""
    step_s: Array | None = None
    """Mean time of the whole step, whose exchange this is."""
    wall_s: float = 0.0
    cores: int = 0
    memory_bytes: int = 0
    ends_s: Array | None = None
    """When each rank ended each iteration, shape (iterations, ranks), if recorded."""
    received_s: Array | None = None
    """When each rank had received everything, and the threads had met that each received their own; likewise."""
    records: tuple[tuple[Array, Any], ...] = ()
    """Records of the last iterations, if kept, of a sweep of each step: of ranks, shape (ranks, RANK_FIELDS), and of
    messages (`MESSAGE`) as they left, shape (ranks, directions, messages per neighbour)."""

    @property
    def iterations(self) -> int:
        """Completed ones."""
        return len(self.extremes)

    @property
    def messages(self) -> int:
        """Of all iterations."""
        return self.each * self.iterations

    @property
    def time_s(self) -> float:
        """When the last rank has ended the last completed iteration."""
        return float(self.last_end_s[-1]) if self.iterations else 0.0

    @property
    def mean_s(self) -> Array:
        """Iteration time: from a rank's start to its end."""
        return self.means["lasts"]

    @property
    def shortest_s(self) -> Array:
        """The shortest iteration of any rank."""
        return self.extremes[:, 0]

    @property
    def longest_s(self) -> Array:
        """The longest."""
        return self.extremes[:, 1]

    @property
    def first_end_s(self) -> Array:
        """When the first rank ends an iteration: how far before the last one tells how far idle waves have pulled the
        ranks apart."""
        return self.extremes[:, 2]

    @property
    def last_end_s(self) -> Array:
        """When the last rank does."""
        return self.extremes[:, 3]

    @property
    def causes_s(self) -> dict[str, Array]:
        """Mean over ranks of the time spent in each of `CAUSES`, and of a receiver that is consuming in `CONSUME`."""
        names = dict(zip(CAUSES, _kernel.SUM_FIELDS[1:], strict=False))
        if self.consuming:
            names[CONSUME] = "consuming"
        return {cause: self.means[name] for cause, name in names.items()}

    @property
    def messages_per_s(self) -> float:
        """Simulated messages per second of wall time."""
        return self.messages / self.wall_s if self.wall_s > 0 else 0.0

    @property
    def iteration_s(self) -> Array:
        """Mean time of an iteration, all its exchanges included."""
        return self.mean_s if self.step_s is None else self.step_s

    @property
    def communication_s(self) -> Array:
        """Mean over ranks of the time from a rank's last ready partition to its end: T of Eq. 1."""
        return np.asarray(self.mean_s - self.means["computing"])

    def averages(self, iterations: int | None = None) -> Averages:
        """Means over the first iterations, or all."""

        def one(values: Array) -> float:
            return mean(values[:iterations]) / self.exchanges

        return Averages(
            communication_s=one(self.communication_s),
            iteration_s=mean(self.iteration_s[:iterations]),
            spread_s=one(self.means["spread"]),
            to_join_s=one(self.means["to_join"]),
            arrived_early=mean(self.means["early"][:iterations]),
            work_s=one(self.means["consuming"]),
            messages=round(self.each / self.exchanges / self.ranks),
            late_s=one(self.means["late"]),
        )

    def after(self, first: int) -> Simulation:
        """Without the first iterations, in which ranks that started together are pulled apart."""
        return replace(
            self,
            means={name: values[first:] for name, values in self.means.items()},
            extremes=self.extremes[first:],
            step_s=None if self.step_s is None else self.step_s[first:],
            ends_s=None if self.ends_s is None else self.ends_s[first:],
            received_s=None if self.received_s is None else self.received_s[first:],
        )


def simulate(
    machine: Machine,
    workload: Workload,
    approach: Approach,
    layout: Layout,
    *,
    iterations: int,
    seed: int = 0,
    cores: int = 1,
    record: bool = False,
    on_progress: Callable[[float], None] | None = None,
) -> Simulation:
    """Simulate every rank of a pattern.

    Parameters
    ----------
    machine, workload, approach
        The workload's pattern decides who talks.
    layout
        The ranks, in place of what the workload says of their grid and nodes.
    iterations
        Exchanges of a halo, or whole sweeps of all eight octants.
    seed
        Of the arrivals: rank r's iteration k has the times `arrivals.draw(..., rank=r, first=k)`
        (of a sweep: k counts steps). Same seed, same result, on any number of cores.
    cores
        Worker threads.
    record
        Keep the end of every rank and iteration (`ends_s`, `received_s`).
    on_progress
        Called about 20 times a second with the share done; raising KeyboardInterrupt stops.

    Returns
    -------
    What was simulated until the end, or until Ctrl-C.

    Raises
    ------
    PreadyError
        A grid that does not match the pattern; counters, times or memory that would overflow.
    """
    runs = Runs(machine, Step(workload, (workload,), (layout,)), Rows(0, seed))
    return run_step(runs.plans((approach,)), iterations, cores=cores, record=record, on_progress=on_progress)[0]


def run_step(
    step: Sequence[Plan],
    iterations: int,
    *,
    cores: int = 1,
    record: bool = False,
    on_progress: Callable[[float], None] | None = None,
    keep_from: int | None = None,
) -> list[Simulation]:
    """Simulate the exchanges of a step, one after the other in each iteration: a rank begins one when it has ended
    the one before.

    Parameters
    ----------
    keep_from
        Keep the records of all ranks from this iteration on.

    Returns
    -------
    One simulation per exchange; `together` adds them up.
    """
    ranks = step[0].pattern.ranks
    check(step, iterations, cores)
    exchanges, rows = [p.exchange for p in step], iterations * len(step)
    kept = 0 if keep_from is None else (iterations - keep_from) * step[0].steps
    need = _kernel.memory(exchanges) + (16 * ranks * rows if record else 0)
    need += kept * sum(p.pattern.directions * p.transports for p in step) * ranks * MESSAGE.itemsize
    check_memory(need, ranks)
    ends = np.empty((rows, ranks)) if record else None
    of_each = record and step[0].steps == 1 and not step[0].pattern.root
    received = np.empty((rows, ranks)) if of_each else None
    began = time.perf_counter()
    out = _kernel.run_step(exchanges, iterations, cores, ends, received, keep_from, on_progress)
    wall = time.perf_counter() - began
    refuse_overflow(out)
    done, of_ranks = out["iterations"] * len(step), step[0].pattern.alone or ranks
    sums = out["sums"].reshape(out["iterations"], len(step), len(_kernel.SUM_FIELDS))
    step_s = None if len(step) == 1 else sums[:, :, 0].sum(axis=1) / step[0].pattern.counted
    return [
        Simulation(
            pattern=of.pattern.name,
            grid=of.pattern.grid,
            ranks=of.pattern.counted,
            approach=of.approach,
            seed=of.seed,
            exchanges=of.steps,
            each=of.count,
            consuming=of.workload.consume is not None,
            means=_means(of, sums[:, e]),
            extremes=out["extremes"],
            interrupted=out["interrupted"],
            step_s=step_s,
            wall_s=wall,
            cores=1 if of.steps > 1 else cores,
            memory_bytes=need,
            ends_s=None if ends is None else ends[e : done : len(step), :of_ranks],
            received_s=None if received is None else received[e : done : len(step), :of_ranks],
            records=tuple(
                (ranks_, sent.view(MESSAGE).reshape(of.pattern.ranks, of.pattern.directions, of.transports))
                for ranks_, sent in zip(out["ranks"][e :: len(step)], out["traces"][e :: len(step)], strict=True)
            ),
        )
        for e, of in enumerate(step)
    ]


def _means(of: Plan, sums: Array) -> dict[str, Array]:
    """Means over ranks of an exchange's sums over them, shape (iterations, SUM_FIELDS)."""
    early = sums[:, _kernel.SUM_FIELDS.index("early")] / max(of.count, 1)
    return dict(zip(_kernel.SUM_FIELDS, (sums / of.pattern.counted).T, strict=True)) | {"early": early}


def together(each: Sequence[Simulation], approach: Approach) -> Simulation:
    """A step as a whole, from its exchanges: times add up; `approach` stands for all of theirs."""
    last = each[-1]
    early = sum(s.messages * s.means["early"] for s in each) / max(sum(s.messages for s in each), 1)
    return replace(
        each[0],
        pattern=" + ".join(dict.fromkeys(s.pattern for s in each)),
        approach=approach,
        exchanges=1,
        each=sum(s.each for s in each),
        consuming=any(s.consuming for s in each),
        means={n: np.asarray(sum(s.means[n] for s in each)) for n in last.means} | {"early": np.asarray(early)},
        step_s=None,
        ends_s=last.ends_s,
        received_s=last.received_s,
    )


Compared = list[tuple[ApproachPrediction, Simulation]]


def compare(
    machine: Machine,
    workload: Workload,
    way: Sequence[Approach],
    *,
    iterations: int,
    seed: int = 0,
    cores: int = 1,
    record: bool = False,
    on_progress: Callable[[Approach, float], None] | None = None,
) -> tuple[Compared, list[Compared]]:
    """Simulate a workload as it is today, and with an approach for each exchange, on all ranks and the same arrivals.

    Parameters
    ----------
    iterations
        Counted ones; as in a prediction, some go before them.
    record
        Keep the end of every rank and iteration with `way`.
    on_progress
        Called with the approach and the share that is done.

    Returns
    -------
    Rows of the step, the baseline first, and of each of several exchanges. `low` and `high` bound 95 % of the
    iterations' means. An interrupted run is the last of each; without a completed iteration it is left out.
    """
    supported_by.check(workload, "engine")
    first, step = warm_up(workload, iterations), Step.on_all_ranks(workload)
    for of, one in zip(step.layouts, step.parts, strict=True):
        assert of is not None
        check_memory_of(one, of.pattern(one), 2, 0)  # `run_step` asks the kernel
    runs, bulk, way = Runs(machine, step, Rows(0, seed)), (BULK,) * len(step.parts), tuple(way)
    several = workload.exchanges is not None
    workloads = (*step.parts, workload) if several else step.parts

    def counted(of: Runs, some: Way, count: int, **how: Any) -> list[Simulation]:
        """Each exchange, and of several the step."""
        made = run_step(of.plans(some), first + count, cores=cores, **how)
        if made[0].iterations <= first:
            return []
        made = [s.after(first) for s in made]
        return [*made, together(made, whole(some))] if several else made

    def begins(some: Way) -> list[float]:
        each = [float(x) for x in runs.set_up(some)]
        return [*each, sum(each)]

    tables = [Compared() for _ in workloads]
    today, alone = list[Simulation](), counted(runs.calm, bulk, 1)
    for some in dict.fromkeys((step.today, way)):
        told = None if on_progress is None else partial(on_progress, whole(some))
        calm = alone if some == bulk else counted(runs.calm, some, 1)
        made = counted(runs, some, iterations, record=record and some == way, on_progress=told)
        if not (alone and calm and made):
            break
        today = today or made
        once, once_today = begins(some), begins(step.today)
        for n, (table, w) in enumerate(zip(tables, workloads, strict=True)):
            terms = Terms(
                buffer=w.buffer,
                iterations=w.iterations,
                barrier_s=machine.threads.barrier.at(w.threads),
                bulk_alone_s=alone[n].averages().communication_s,
                today=today[n].averages(made[n].iterations),
                today_begin_s=once_today[n],
            )
            table.append((_row(made[n], today[n], calm[n], once[n], terms), made[n]))
        if made[0].interrupted:
            break
    return tables[-1], tables[:-1]


def _row(run: Simulation, today: Simulation, calm: Simulation, begin_s: float, terms: Terms) -> ApproachPrediction:
    """The row of one way, with the intervals of its iterations."""
    done = min(run.iterations, today.iterations)
    made = row(run.approach, run.averages(done), calm.averages().communication_s, begin_s, terms)
    time, time_today = (s.communication_s[:done] / s.exchanges for s in (run, today))
    whole_s, whole_today = (
        s.iteration_s[:done] + b / terms.iterations for s, b in ((run, begin_s), (today, terms.today_begin_s))
    )
    return made.with_draws(time, metrics.eta(time_today, time), metrics.speedup_percent(whole_today, whole_s))


@dataclass(frozen=True)
class Message:
    """One message of an exchange from rest; seconds after the last partition is ready."""

    direction: int
    transport: int
    """Its transport partition, or its number where the parts of threads differ."""
    vci: int
    ready: float
    issued: float
    goes: float
    """The protocol lets the payload go."""
    left: float
    arrived: float
    received: float


@dataclass(frozen=True)
class Alone:
    """One exchange from rest of one rank with peers in step; seconds after its last partition is ready."""

    end: float
    """Everything is received; the communication time T of Eq. 1."""
    join: float
    """The sender's threads have met."""
    first_ready: float
    received: float
    """The last message is received; what follows is the finish."""
    told: float
    """And the finish; what follows is what the receiver's threads still have to work on."""
    early: int
    """Messages that have arrived when the sender's threads have met."""
    messages: list[Message]
    streams: list[float]
    """By direction: G m."""


def alone(made: Plan) -> list[Alone]:
    """Exchanges from rest one by one, message by message."""
    ((ranks, sent),) = run_step([made], 1, keep_from=0)[0].records
    stream, out = made.kinds[0, :, _kernel.KIND_FIELDS.index("stream")], []
    streams = [float(stream[c]) for c in made.pattern.classes[0]]
    for rank, messages in zip(ranks[: made.pattern.alone], sent, strict=False):
        r = dict(zip(_kernel.RANK_FIELDS, rank.tolist(), strict=True))
        last = r["ready"]
        each = [
            Message(d, int(m["job"]), int(m["vci"]), *(float(m[step]) - last for step in STEPS))
            for d, row in enumerate(messages)
            for m in row
        ]
        out.append(
            Alone(
                r["end"] - last,
                r["join"] - last,
                r["first"] - last,
                r["received"] - last,
                r["told"] - last,
                round(r["early"]),
                sorted(each, key=lambda m: m.left),
                streams,
            )
        )
    return out


def exchanges_from_rest(
    machine: Machine,
    workload: Workload,
    approach: Approach,
    times: Sequence[Sequence[float]],
    receiver_join: float | None = None,
) -> list[Alone]:
    """Exchanges from rest with given ready times, message by message, the machine at its values.

    Parameters
    ----------
    times
        Of each, when the sender's partitions are ready, seconds after the start of the iteration.
    receiver_join
        When the receiver enters MPI, likewise. Absent: it waits there.
    """
    here = "waiting" if receiver_join is None else "computing"
    there = workload.model_copy(update={"receiver": here})
    (made,) = Runs(machine, Step.from_rest(there), Rows(0)).plans((approach,), exchanges=len(times))
    barrier = float(made.team[0, _kernel.TEAM_FIELDS.index("barrier")])
    theirs = [0.0 if receiver_join is None else receiver_join - barrier] * workload.n_partitions
    return alone(replace(made, arrivals=table_of(workload, [*times, theirs])))
