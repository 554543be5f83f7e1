"""What came of a run of the kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pready.model.approach.interfaces import Approach
from pready.model.common.arrays import Array
from pready.model.common.errors import PreadyError
from pready.model.engine.plan import Plan

if TYPE_CHECKING:  # a name of the stub alone
    from pready.model.engine._kernel import Outcome

LATE = "late_neighbour"
CAUSES = ("compute", LATE, "issue", "nic", "wire", "receive")
"""Where a rank's time goes; they add up to the iteration's time. To receive includes waiting at the rank's port."""
CONSUME = "consume"
"""One more of a receiver that is consuming: what its threads work when everything is there."""


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
    """This and what follows: 0 and "" where many simulations shared one call."""
    cores: int = 0
    memory_bytes: int = 0
    level: str = ""
    """The instruction set that the kernel used."""
    ends_s: Array | None = None
    """When each rank ended each iteration, shape (iterations, ranks), if recorded."""
    received_s: Array | None = None
    """When each rank had received everything, and the threads had met that each received their own; likewise."""
    records: Array | None = None
    """The kernel's own records of the last iterations, if kept: shape (iterations × steps, ranks, numbers)."""

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


def simulations(step: Sequence[Plan], out: Outcome, only: int | None = None) -> list[Simulation]:
    """What the kernel says of the plans of a step, or of one of them.

    Raises
    ------
    PreadyError
        Its time no longer fits.
    """
    done, extremes = out["iterations"], out["extremes"]
    if out["overflowed"]:
        raise PreadyError(
            f"after iteration {done} the time is {extremes[-1, 3]:g} s",
            valid="292 years: 63 bits of nanoseconds",
        )
    ranks = step[0].pattern.counted
    each = out["sums"].reshape(done, len(step), out["sums"].shape[1])
    return [
        _simulation(plan, each[:, e], out, None if len(step) == 1 else each[:, :, 0].sum(axis=1) / ranks)
        for e, plan in enumerate(step)
        if only is None or e == only
    ]


def _simulation(made: Plan, totals: Array, out: Outcome, step_s: Array | None) -> Simulation:
    messages, sums, done, extremes = messages_of(made), totals / made.pattern.counted, len(totals), out["extremes"]
    columns = {name: 1 + i for i, name in enumerate(CAUSES)}
    if made.workload.consume is not None:
        columns[CONSUME] = 10
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
        arrived_early=totals[:, 9] / max(messages, 1),
        exchanges=made.steps,
        messages=messages * done,
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


def messages_of(made: Plan) -> int:
    """Of one iteration, all ranks. Each corner's sweep crosses every edge of the grid once per block."""
    return made.pattern.edges * made.transports * made.steps
