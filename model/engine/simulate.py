"""Every rank of a pattern, iteration after iteration (``pready simulate``), and what came of each; exchanges from rest
message by message."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pready.model.approach.interfaces import BULK, Approach, whole
from pready.model.common.arrays import Array, mean
from pready.model.engine import _kernel
from pready.model.engine.layout import Layout, Step, check_memory_of
from pready.model.engine.pattern import check_memory
from pready.model.engine.plan import Plan, table_of
from pready.model.engine.runs import Rows, Runs, check, refuse_overflow, warm_up
from pready.model.equations import metrics
from pready.model.machine.machine import Machine
from pready.model.result.prediction import ApproachPrediction
from pready.model.result.row import Averages, Terms, row
from pready.model.workload import supported_by
from pready.model.workload.workload import Workload

if TYPE_CHECKING:  # a name of the stub alone
    from pready.model.engine._kernel import Outcome

LATE = "late_neighbour"
CAUSES = ("compute", LATE, "issue", "nic", "wire", "receive")
"""Where a rank's time goes; they add up to the iteration's time. To receive includes waiting at the rank's port."""
CONSUME = "consume"
"""One more of a receiver that is consuming: what its threads work when everything is there."""
STEPS = ("ready", "issued", "goes", "left", "arrived", "received")
MESSAGE = np.dtype([*((name, "f8") for name in STEPS), ("job", "i2"), ("vci", "i2"), ("waited_for", "i1", 4)])
"""One message in the kernel's records: when it has passed each step, which of the sender's jobs it is of and through
which VCI it goes, and what it waited for in issue, NIC and receive: `WAITED_FOR`."""
WAITED_FOR = ("the step before", "a lock, port or thread", "its receiver", "the node's adapter")


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
    iterations: int
    """Completed; fewer than asked for if `interrupted`."""
    interrupted: bool
    time_s: float
    """When the last rank has ended the last completed iteration."""
    mean_s: Array
    """Iteration time: from a rank's start to its end."""
    shortest_s: Array
    longest_s: Array
    first_end_s: Array
    """When the first and the last rank end an iteration: their distance is how far idle waves have
    pulled the ranks apart."""
    last_end_s: Array
    causes_s: dict[str, Array]
    """Mean over ranks of the time spent in each of `CAUSES`, and of a receiver that is consuming in `CONSUME`."""
    spread_s: Array
    """From a rank's first ready partition to its last."""
    to_join_s: Array
    """From a rank's last ready partition until its threads have met."""
    arrived_early: Array
    """Share of the messages that have arrived when their sender's threads have met."""
    exchanges: int
    """Per iteration: 1, or octants × blocks of a sweep."""
    messages: int
    step_s: Array | None = None
    """Mean time of the whole step, whose exchange this is; `shortest_s` to `last_end_s` are then the step's, too."""
    wall_s: float = 0.0
    """This and what follows: 0 where many simulations shared one call."""
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
        return np.asarray(self.mean_s - self.causes_s["compute"])

    def averages(self, iterations: int | None = None) -> Averages:
        """Means over the first iterations, or all."""

        def one(values: Array) -> float:
            return mean(values[:iterations]) / self.exchanges

        return Averages(
            communication_s=one(self.communication_s),
            iteration_s=mean(self.iteration_s[:iterations]),
            spread_s=one(self.spread_s),
            to_join_s=one(self.to_join_s),
            arrived_early=mean(self.arrived_early[:iterations]),
            work_s=one(self.causes_s[CONSUME]) if CONSUME in self.causes_s else 0.0,
            messages=round(self.messages / self.iterations / self.exchanges / self.ranks),
            late_s=one(self.causes_s[LATE]),
        )

    def after(self, first: int) -> Simulation:
        """Without the first iterations, in which ranks that started together are pulled apart."""
        kept: dict[str, Any] = {
            name: value[first:] for name, value in vars(self).items() if isinstance(value, np.ndarray)
        }
        left = self.iterations - first
        return replace(
            self,
            iterations=left,
            messages=self.messages // self.iterations * left,
            causes_s={cause: times[first:] for cause, times in self.causes_s.items()},
            **kept,
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
        The workload's pattern decides who talks. Its own fields on ranks are not looked at: see `layout`.
    layout
        The ranks.
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
    made = plan(machine, workload, approach, layout, seed)
    return run_step([made], iterations, cores=cores, record=record, on_progress=on_progress)[0]


def plan(machine: Machine, workload: Workload, approach: Approach, layout: Layout, seed: int = 0) -> Plan:
    """The plan of one exchange on given ranks; arguments as of `simulate`."""
    return Runs(machine, Step(workload, (workload,), (layout,)), Rows(0, seed)).plans((approach,))[0]


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
    done, of_ranks = out["iterations"] * len(step), step[0].pattern.alone or ranks
    records = _records(step, out)
    return [
        replace(
            of,
            wall_s=wall,
            cores=1 if step[0].steps > 1 else cores,
            memory_bytes=need,
            ends_s=None if ends is None else ends[e : done : len(step), :of_ranks],
            received_s=None if received is None else received[e : done : len(step), :of_ranks],
            records=tuple(records[e :: len(step)]),
        )
        for e, of in enumerate(_simulations(step, out))
    ]


def _records(step: Sequence[Plan], out: Outcome) -> list[tuple[Array, Any]]:
    made = list[tuple[Array, Any]]()
    for number, (ranks, sent) in enumerate(zip(out["ranks"], out["traces"], strict=True)):
        plan = step[number % len(step)]
        shape = (plan.pattern.ranks, plan.pattern.directions, plan.transports)
        made.append((ranks, sent.view(MESSAGE).reshape(shape)))
    return made


def _simulations(step: Sequence[Plan], out: Outcome) -> list[Simulation]:
    """What the kernel says of the plans of a step.

    Raises
    ------
    PreadyError
        Its time no longer fits.
    """
    refuse_overflow(out)
    each = out["sums"].reshape(out["iterations"], len(step), out["sums"].shape[1])
    step_s = None if len(step) == 1 else each[:, :, 0].sum(axis=1) / step[0].pattern.counted
    return [_simulation(p, each[:, e], out, step_s) for e, p in enumerate(step)]


def _simulation(made: Plan, totals: Array, out: Outcome, step_s: Array | None) -> Simulation:
    done, extremes = len(totals), out["extremes"]
    of = dict(zip(_kernel.SUM_FIELDS, (totals / made.pattern.counted).T, strict=True))
    causes = dict(zip(CAUSES, _kernel.SUM_FIELDS[1:], strict=False))
    if made.workload.consume is not None:
        causes[CONSUME] = "consuming"
    return Simulation(
        pattern=made.pattern.name,
        grid=made.pattern.grid,
        ranks=made.pattern.counted,
        approach=made.approach,
        seed=made.seed,
        iterations=done,
        interrupted=out["interrupted"],
        time_s=float(extremes[-1, 3]) if done else 0.0,
        mean_s=of["lasts"],
        shortest_s=extremes[:, 0],
        longest_s=extremes[:, 1],
        first_end_s=extremes[:, 2],
        last_end_s=extremes[:, 3],
        causes_s={cause: of[name] for cause, name in causes.items()},
        spread_s=of["spread"],
        to_join_s=of["to_join"],
        arrived_early=totals[:, _kernel.SUM_FIELDS.index("early")] / max(made.count, 1),
        exchanges=made.steps,
        messages=made.count * done,
        step_s=step_s,
    )


def together(each: Sequence[Simulation], approach: Approach) -> Simulation:
    """A step as a whole, from its exchanges: times add up; `approach` stands for all of theirs."""
    last, messages = each[-1], sum(s.messages for s in each)
    causes = dict.fromkeys(c for s in each for c in s.causes_s)
    added = ("mean_s", "spread_s", "to_join_s")
    totals: dict[str, Any] = {name: np.asarray(sum(getattr(s, name) for s in each)) for name in added}
    return replace(
        each[0],
        **totals,
        pattern=" + ".join(dict.fromkeys(s.pattern for s in each)),
        approach=approach,
        causes_s={c: np.asarray(sum(s.causes_s[c] for s in each if c in s.causes_s)) for c in causes},
        arrived_early=np.asarray(sum(s.messages * s.arrived_early for s in each) / max(messages, 1)),
        exchanges=1,
        messages=messages,
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

    def counted(of: Runs, way: Sequence[Approach], count: int, **how: Any) -> list[Simulation]:
        each = run_step(of.plans(way), first + count, cores=cores, **how)
        return [s.after(first) for s in each] if each[0].iterations > first else []

    rows, by_exchange = Compared(), [Compared() for _ in step.parts]
    today, alone = list[Simulation](), counted(runs.calm, bulk, 1)
    for some in dict.fromkeys((step.today, way)):
        told = None if on_progress is None else partial(on_progress, whole(some))
        calm = alone if some == bulk else counted(runs.calm, some, 1)
        made = counted(runs, some, iterations, record=record and some == way, on_progress=told)
        if not (alone and calm and made):
            break
        today = today or made
        begins, begins_today = ([float(x) for x in runs.set_up(of)] for of in (some, step.today))
        for n, one in enumerate(step.parts):
            mine = made[n], calm[n], begins[n], today[n], alone[n], begins_today[n]
            by_exchange[n].append((_row(machine, one, *mine), made[n]))
        if workload.exchanges is not None:
            names = whole(some), whole(some), whole(step.today), BULK
            added, quiet, before, by_bulk = map(together, (made, calm, today, alone), names)
            mine = added, quiet, sum(begins), before, by_bulk, sum(begins_today)
            rows.append((_row(machine, workload, *mine), added))
        if made[0].interrupted:
            break
    return (by_exchange[0], []) if workload.exchanges is None else (rows, by_exchange)


def _row(
    machine: Machine,
    workload: Workload,
    run: Simulation,
    calm: Simulation,
    begin_s: float,
    today: Simulation,
    bulk_alone: Simulation,
    today_begin_s: float,
) -> ApproachPrediction:
    """The row of one way, with the intervals of its iterations."""
    done = min(run.iterations, today.iterations)
    terms = Terms(
        buffer=workload.buffer,
        iterations=workload.iterations,
        barrier_s=machine.threads.barrier.at(workload.threads),
        bulk_alone_s=bulk_alone.averages().communication_s,
        today=today.averages(done),
        today_begin_s=today_begin_s,
    )
    made = row(run.approach, run.averages(done), calm.averages().communication_s, begin_s, terms)
    time, time_today = (s.communication_s[:done] / s.exchanges for s in (run, today))
    whole_s, whole_today = (
        s.iteration_s[:done] + b / workload.iterations for s, b in ((run, begin_s), (today, today_begin_s))
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
    waited_for: tuple[str, ...]
    """In issue, NIC and receive: of `WAITED_FOR`."""


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
            Message(
                d,
                int(m["job"]),
                int(m["vci"]),
                **{step: float(m[step]) - last for step in STEPS},
                waited_for=tuple(WAITED_FOR[w] for w in m["waited_for"].tolist()),
            )
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
