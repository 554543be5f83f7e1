"""What every rank did in an iteration, message by message: the kernel's records, read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pready.model.common.arrays import Array, Wholes
from pready.model.engine._kernel import HEAD
from pready.model.engine.plan import Plan
from pready.model.engine.ranks.pattern import Pattern
from pready.model.engine.simulate import run_step
from pready.model.workload import draws

CORNERS = ((1, 1), (-1, 1), (-1, -1), (1, -1))
"""Where to a sweep goes along x and y; from each corner in both directions of z."""


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


def messages(step: Sequence[Plan]) -> int:
    """Of one iteration."""
    return sum(p.pattern.edges * p.transports * p.steps for p in step)


def record(step: Sequence[Plan], first: int, iterations: int, cores: int) -> Iterator[Recorded]:
    """A step's exchanges in all iterations after the first ones, in the order in which they are done.

    Raises
    ------
    PreadyError
        As `simulate.run_step`.
    KeyboardInterrupt
        Ctrl-C.
    """
    runs = run_step(step, first + iterations, cores=cores, record=True, keep_from=first)
    if runs[0].iterations < first + iterations:
        raise KeyboardInterrupt
    last = runs[-1].ends_s
    assert last is not None
    before = last[first - 1] if first else np.zeros(last.shape[1])
    readers = [_Reader(plan, first, iterations) for plan in step]
    for k in range(iterations):
        for number, (reader, run) in enumerate(zip(readers, runs, strict=True)):
            assert run.ends_s is not None
            assert run.records is not None
            for s in range(reader.plan.steps):
                end = run.ends_s[first + k] if reader.plan.steps == 1 else None
                made = reader.read(run.records[k * reader.plan.steps + s], number, k, s, before, end)
                before = made.end
                yield made


class _Reader:
    """Reads the records of one exchange."""

    def __init__(self, plan: Plan, first: int, iterations: int) -> None:
        self.plan = plan
        w, n = plan.workload, iterations * plan.steps
        self.threads = np.stack(
            [
                draws.draw(w, n, plan.seed, rank=r, first=first * plan.steps).reshape(n, w.threads, -1).max(axis=2)
                for r in range(plan.pattern.ranks)
            ],
            axis=1,
        )
        """When threads finish, after their rank's start: shape (iterations × steps, ranks, threads)."""

    def read(self, rows: Array, number: int, iteration: int, step: int, before: Array, end: Array | None) -> Recorded:
        plan, numbers = self.plan, self.plan.numbers
        start, join, done = (rows[:, HEAD[name]] for name in ("start", "join", "done"))
        if end is None:  # of a sweep's step
            met = float(plan.costs[0].barrier) if plan.approach.interface.completes == "threads" else 0.0
            end = np.maximum(join, done + met)
        to = plan.pattern.receivers if plan.steps == 1 else downstream(plan.pattern, step, plan.steps)
        there = to >= 0
        kinds = self._kinds(there)
        travel, service = (np.asarray(numbers[name], np.float64) for name in ("travel", "service"))
        arrived = self._arrivals(rows, there)
        # The kernel leaves unsaid what goes nowhere.
        sender, direction, transport = np.nonzero(np.broadcast_to(there[:, :, None], arrived.shape))
        kind = kinds[sender, direction]
        leaving = arrived[sender, direction, transport] - travel[kind]
        return Recorded(
            number=number,
            iteration=iteration,
            step=step,
            before=before,
            start=start,
            finish=start[:, None] + self.threads[iteration * plan.steps + step],
            join=join,
            end=end,
            sender=sender,
            receiver=to[sender, direction],
            size=np.array(plan.sizes)[kind],
            left=leaving,
            arrived=leaving + travel[kind],
            takes=service[kind],
        )

    def _kinds(self, there: NDArray[np.bool_]) -> Wholes:
        """The class of what each rank sends in each direction."""
        of = self.plan.pattern
        if of.rank_profile is None:  # the same whichever neighbours there are
            return np.broadcast_to(of.classes[0], there.shape)
        return np.asarray(of.classes[of.rank_profile])

    def _arrivals(self, rows: Array, there: NDArray[np.bool_]) -> Array:
        """When each message is at its receiver's port, shape (ranks, directions, messages per neighbour)."""
        transports, head = self.plan.transports, HEAD["messages"]
        each = rows[:, head : head + there.shape[1] * transports]
        return each.reshape(len(rows), there.shape[1], transports)


def downstream(pattern: Pattern, step: int, steps: int) -> Wholes:
    """The receivers of a sweep's step along x and y, shape (ranks, 2), -1 beyond the border."""
    x, y, _ = pattern.grid
    along = CORNERS[step // (steps // 4)]
    at = np.arange(pattern.ranks)
    i, j = at % x + along[0], at // x + along[1]
    return np.stack(
        [np.where((i >= 0) & (i < x), at + along[0], -1), np.where((j >= 0) & (j < y), at + along[1] * x, -1)], axis=1
    )
