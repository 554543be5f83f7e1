"""Run the kernel: many ranks, iteration after iteration, and what came of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pready.model.approach.interfaces import Approach
from pready.model.common.arrays import Array, Wholes
from pready.model.common.errors import PreadyError
from pready.model.engine import _kernel
from pready.model.engine.layout import Layout
from pready.model.engine.pattern import check_memory
from pready.model.engine.plan import Compiler, Plan
from pready.model.machine.machine import Machine
from pready.model.timeline.sampling import Sampler
from pready.model.workload import draws
from pready.model.workload.edges import HALOS
from pready.model.workload.sizes import Sizes
from pready.model.workload.workload import Workload

if TYPE_CHECKING:  # a name of the stub alone
    from pready.model.engine._kernel import Outcome

LARGEST_SEED = 2**64 - 1  # a 64-bit word
LARGEST_ITERATION = 2**32 - 1
"""Iterations (times steps of a sweep) are a 32-bit word of the counter that draws arrivals."""
LARGEST_COUNT = 2**63 - 1  # messages of a simulation
LATE = "late_neighbour"
CAUSES = ("compute", LATE, "issue", "nic", "wire", "receive")
"""Where a rank's time goes; they add up to the iteration's time. To receive includes waiting at the rank's port."""
CONSUME = "consume"
"""One more of a receiver that is consuming: what its threads work when everything is there."""
CONSUMING = 10
"""Its column of a run's sums."""
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
    """Of one of several exchanges: mean time of the whole step; `shortest_s` to `last_end_s` are the step's, too."""
    wall_s: float = 0.0
    """This and what follows: 0 where many simulations shared one call."""
    cores: int = 0
    memory_bytes: int = 0
    ends_s: Array | None = None
    """When each rank ended each iteration, shape (iterations, ranks), if recorded."""
    received_s: Array | None = None
    """When each rank had received everything, and the threads had met that each received their own; likewise."""
    records: tuple[tuple[Array, Any], ...] = ()
    """Of the last iterations, if kept, and of a sweep of each step: ranks, shape (ranks, RANK_FIELDS), and messages of
    `MESSAGE`, shape (ranks, directions, messages per neighbour), as they left."""

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
    *,
    grid: Sequence[int],
    iterations: int,
    seed: int = 0,
    cores: int = 1,
    periodic: bool | Sequence[bool] = True,
    blocks: int = 1,
    sizes: Sizes | None = None,
    neighbours: Sequence[Iterable[int]] | None = None,
    neighbour_sizes: Sequence[Sequence[float]] | None = None,
    ranks_per_node: int | None = None,
    node_grid: Sequence[int] | None = None,
    thread_grid: tuple[int, int, int] | None = None,
    radix: int | None = None,
    record: bool = False,
    on_progress: Callable[[float], None] | None = None,
) -> Simulation:
    """Simulate every rank of a pattern.

    Parameters
    ----------
    machine, workload, approach
        The workload's pattern decides who talks. Its own fields on ranks are not looked at: see `layout`.
    grid
        Ranks along x, y, z. A sweep takes x, y; pairs and neighbour lists take the product.
    iterations
        Exchanges of a halo, or whole sweeps of all eight octants.
    seed
        Of the arrivals: rank r's iteration k has the times `arrivals.draw(..., rank=r, first=k)`
        (of a sweep: k counts steps). Same seed, same result, on any number of cores.
    cores
        Worker threads.
    periodic
        Do halos wrap around, for all axes or for each?
    blocks
        Of a sweep, per octant (KBA): a rank computes and sends on this often.
    sizes
        Of halos: bytes by direction. Absent: the workload's buffer for all.
    neighbours
        Of pattern "neighbours": for each rank the ranks that it sends to.
    neighbour_sizes
        Bytes for each of them. Absent: the workload's buffer for all.
    ranks_per_node
        Ranks that share an adapter, and reach each other by the machine's intra-node path. Absent: one.
    node_grid
        Ranks of a node along x, y, z. Absent: so many in a row, x first.
    thread_grid
        Of halos: how a rank's threads are arranged along x, y, z, so that a face consists of the
        partitions of the threads that touch it (temucin2022 3.2). Absent: every thread has a part
        of every buffer.
    radix
        Of a broadcast: of its k-nomial tree. Absent: 2.
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
    made = prepared(
        machine,
        workload,
        approach,
        seed=seed,
        grid=grid,
        periodic=periodic,
        blocks=blocks,
        sizes=sizes,
        neighbours=neighbours,
        neighbour_sizes=neighbour_sizes,
        ranks_per_node=ranks_per_node,
        node_grid=node_grid,
        thread_grid=thread_grid,
        radix=radix,
    )
    return run_step([made], iterations, cores=cores, record=record, on_progress=on_progress)[0]


def prepared(machine: Machine, workload: Workload, approach: Approach, *, seed: int = 0, **ranks: Any) -> Plan:
    """The checked plan of one run; arguments as of `simulate`, `ranks` those of `Layout`."""
    of = Layout(**ranks)
    if not 0 <= seed <= LARGEST_SEED:
        raise PreadyError(f"seed = {seed}", valid="0 to 2^64 - 1")
    if of.blocks < 1:
        raise PreadyError(f"blocks = {of.blocks}", valid="at least 1")
    if of.sizes is not None:
        if workload.pattern not in HALOS:
            raise PreadyError(
                f"sizes by direction with pattern = {workload.pattern!r}", valid=" or ".join(map(repr, HALOS))
            )
        for size in (*of.sizes.faces, *of.sizes.edges, of.sizes.corner):
            if not size > 0:
                raise PreadyError(f"a size of {size:g} B for a neighbour", valid="greater than 0")
    return Compiler(machine, workload, of).sampled(approach, Sampler(machine), seed)


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
    _check(step, iterations, cores)
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


Job = tuple[Sequence[Plan], int]
"""The exchanges of a step, each on as many machines, and for how many iterations."""


def run_all(jobs: Sequence[Job], cores: int, only: int | None = None) -> list[list[list[Simulation]]]:
    """Simulate steps, each on its machines for so many iterations, in one call of the kernel.

    Parameters
    ----------
    only
        The exchange of each step to report; absent, all.

    Returns
    -------
    By job, row and exchange, what `run_step` gives of it alone, to the last bit, on any number of cores; how long
    each took, and on how many cores, is not known.

    Raises
    ------
    PreadyError
        As `run_step`.
    KeyboardInterrupt
        Ctrl-C.
    """
    return [
        [_simulations(step, out, only) for out in rows]
        for (step, _), rows in zip(jobs, _outcomes(jobs, cores), strict=True)
    ]


def means_s(jobs: Sequence[Job], firsts: Sequence[int], cores: int, number: int | None = None) -> list[Array]:
    """Mean times after each job's first iterations: of the communication of exchange `number` (of a sweep, of one of
    its exchanges) or, absent, of the whole step; of an iteration; and of each exchange's communication without waiting
    for late neighbours and a receiver's work.

    Returns
    -------
    By job, an array of shape (rows, 2 + exchanges).
    """
    columns = [0, 1, 1 + CAUSES.index(LATE), CONSUMING]

    def means(step: Sequence[Plan], first: int, rows: Sequence[Outcome]) -> Array:
        for out in rows:
            _refuse_overflow(out)
        # Iterating, computing, late and consuming, by row, iteration and exchange.
        sums = np.stack([out["sums"][:, columns] for out in rows]).reshape(len(rows), -1, len(step), len(columns))
        each = sums[:, first:] / step[0].pattern.counted
        whole = each.sum(axis=2)
        of, steps = (whole, 1) if number is None else (each[:, :, number], step[number].steps)
        communication = of[:, :, 0] - of[:, :, 1]
        transfers = each @ [1.0, -1.0, -1.0, -1.0]
        times = communication.mean(axis=1) / steps, whole[:, :, 0].mean(axis=1), *transfers.mean(axis=1).T
        return np.stack(times, axis=1)

    return [
        means(step, first, rows) for (step, _), first, rows in zip(jobs, firsts, _outcomes(jobs, cores), strict=True)
    ]


def _outcomes(jobs: Sequence[Job], cores: int) -> list[list[Outcome]]:
    for step, iterations in jobs:
        _check(step, iterations, cores)
    return _kernel.simulate_all([([p.exchange for p in step], step[0].firsts, n) for step, n in jobs], cores)


def _check(step: Sequence[Plan], iterations: int, cores: int) -> None:
    steps, messages = max(p.steps for p in step), sum(p.count for p in step)
    if iterations < 1:
        raise PreadyError(f"iterations = {iterations}", valid="at least 1")
    if iterations * steps > LARGEST_ITERATION:
        raise PreadyError(
            f"iterations = {iterations}" + (f" of {steps} steps" if steps > 1 else ""),
            valid=f"at most {LARGEST_ITERATION // steps}: a 32-bit counter draws the arrivals",
        )
    if not 1 <= cores <= 4096:
        raise PreadyError(f"cores = {cores}", valid="1 to 4096")
    if messages * iterations > LARGEST_COUNT:
        raise PreadyError(f"{messages} messages × {iterations} iterations", valid="at most 2^63 - 1")


def _refuse_overflow(out: Outcome) -> None:
    if out["overflowed"]:
        raise PreadyError(
            f"after iteration {out['iterations']} the time is {out['extremes'][-1, 3]:g} s",
            valid="292 years: 63 bits of nanoseconds",
        )


def _simulations(step: Sequence[Plan], out: Outcome, only: int | None = None) -> list[Simulation]:
    """What the kernel says of the plans of a step, or of one of them.

    Raises
    ------
    PreadyError
        Its time no longer fits.
    """
    _refuse_overflow(out)
    each = out["sums"].reshape(out["iterations"], len(step), out["sums"].shape[1])
    step_s = None if len(step) == 1 else each[:, :, 0].sum(axis=1) / step[0].pattern.counted
    return [_simulation(p, each[:, e], out, step_s) for e, p in enumerate(step) if only is None or e == only]


def _simulation(made: Plan, totals: Array, out: Outcome, step_s: Array | None) -> Simulation:
    sums, done, extremes = totals / made.pattern.counted, len(totals), out["extremes"]
    columns = {name: 1 + i for i, name in enumerate(CAUSES)}
    if made.workload.consume is not None:
        columns[CONSUME] = CONSUMING
    return Simulation(
        pattern=made.pattern.name,
        grid=made.pattern.grid,
        ranks=made.pattern.counted,
        approach=made.approach,
        seed=made.seed,
        iterations=done,
        interrupted=out["interrupted"],
        time_s=float(extremes[-1, 3]) if done else 0.0,
        mean_s=sums[:, 0],
        shortest_s=extremes[:, 0],
        longest_s=extremes[:, 1],
        first_end_s=extremes[:, 2],
        last_end_s=extremes[:, 3],
        causes_s={name: sums[:, column] for name, column in columns.items()},
        spread_s=sums[:, 7],
        to_join_s=sums[:, 8],
        arrived_early=totals[:, 9] / max(made.count, 1),
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


def alone(plan: Plan) -> list[Alone]:
    """Exchanges from rest one by one, message by message."""
    ((ranks, sent),) = run_step([plan], 1, keep_from=0)[0].records
    stream, out = plan.kinds[0, :, _kernel.KIND_FIELDS.index("stream")], []
    streams = [float(stream[c]) for c in plan.pattern.classes[0]]
    for rank, messages in zip(ranks[: plan.pattern.alone], sent, strict=False):
        r = dict(zip(_kernel.RANK_FIELDS, rank.tolist(), strict=True))
        last = r["ready"]
        made = [
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
                sorted(made, key=lambda m: m.left),
                streams,
            )
        )
    return out


@dataclass(frozen=True)
class Recorded:
    """One exchange of all ranks; times in seconds after the run's begin.

    Attributes
    ----------
    number
        Of the exchange within the step.
    iteration
        Of those that are recorded; of a sweep with its octants and blocks: `step`.
    before, start
        When a rank was done with what came before, and begins to compute: they differ in sweeps, which first wait for
        what comes from upstream. Shape (ranks,).
    finish
        When each thread has done its share, shape (ranks, threads).
    join, end
        When the threads have met, and when the exchange is over; shape (ranks,).
    sender, receiver, size
        Of each message, in the order of senders; bytes.
    left, arrived, takes
        When each message begins to leave its sender's adapter and is there at its receiver's port, and how long it
        keeps an adapter.
    """

    number: int
    iteration: int
    step: int
    before: Array
    start: Array
    finish: Array
    join: Array
    end: Array
    sender: Wholes
    receiver: Wholes
    size: Array
    left: Array
    arrived: Array
    takes: Array


def record(step: Sequence[Plan], first: int, iterations: int, cores: int) -> Iterator[Recorded]:
    """A step's exchanges in all iterations after the first ones, in the order in which they are done.

    Raises
    ------
    PreadyError
        As `run_step`.
    KeyboardInterrupt
        Ctrl-C.
    """
    runs = run_step(step, first + iterations, cores=cores, record=True, keep_from=first)
    if runs[0].iterations < first + iterations:
        raise KeyboardInterrupt
    last = runs[-1].ends_s
    assert last is not None
    before, each = last[first - 1] if first else np.zeros(last.shape[1]), step[0].steps
    threads = [_threads(plan, first, iterations) for plan in step]
    for k in range(iterations):
        for number, (plan, run) in enumerate(zip(step, runs, strict=True)):
            for s in range(each):
                made = _recorded(plan, run.records[k * each + s], threads[number][k * each + s], before, number, k, s)
                before = made.end
                yield made


def _threads(plan: Plan, first: int, iterations: int) -> Array:
    """When threads finish, after their rank's start: shape (iterations × steps, ranks, threads)."""
    w, n = plan.workload, iterations * plan.steps
    each = [draws.draw(w, n, plan.seed, rank=r, first=first * plan.steps) for r in range(plan.pattern.ranks)]
    return np.stack([times.reshape(n, w.threads, -1).max(axis=2) for times in each], axis=1)


def _recorded(
    plan: Plan, kept: tuple[Array, Any], threads: Array, before: Array, number: int, iteration: int, step: int
) -> Recorded:
    ranks, sent = kept
    of, fields = plan.pattern, _kernel.RANK_FIELDS
    start, join, end = (ranks[:, fields.index(name)] for name in ("start", "join", "end"))
    to = of.tables[step * len(of.tables) // plan.steps].receivers
    sender, direction, transport = np.nonzero(np.broadcast_to((to >= 0)[:, :, None], sent.shape))
    kind, left = of.classes[of.profile[sender], direction], sent["left"][sender, direction, transport]
    costs = dict(zip(_kernel.KIND_FIELDS, plan.kinds[0].T, strict=True))
    return Recorded(
        number=number,
        iteration=iteration,
        step=step,
        before=before,
        start=start,
        finish=start[:, None] + threads,
        join=join,
        end=end,
        sender=sender,
        receiver=to[sender, direction],
        size=np.array(plan.sizes)[kind],
        left=left,
        arrived=left + (costs["stream"] + costs["wire"])[kind],
        takes=costs["busy"][kind],
    )
