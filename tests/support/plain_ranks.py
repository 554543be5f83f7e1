"""The engine's plans, run by the oracle as well."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from close import close
from on_ranks import each, prepared
from oracle import Ended, Ranks, Sent, State, broadcast, exchange, sweep

from pready.model.approach.interfaces import Approach
from pready.model.common.arrays import Array
from pready.model.engine.plan import Plan, drawn_times
from pready.model.engine.runs import Runs
from pready.model.engine.simulate import CAUSES, Simulation, run_step
from pready.model.machine.machine import Machine


def ranks_of(machine: Machine, plan: Plan) -> Ranks:
    """The ranks of a plan."""
    return Ranks(plan, 1 if machine.adapter is None else machine.adapter.rails.value)


class Outcome(list[Ended]):
    """One iteration of all ranks."""

    def __init__(self, ranks: Sequence[Ended], sent: Sequence[Sent]) -> None:
        super().__init__(ranks)
        self.early = sum(s.early for s in sent)
        # Messages that arrive just as the threads meet: rounding decides whether they are early.
        self.tied = sum(abs(at - s.join) <= 1e-12 * s.join for s in sent for at in s.arrived)


def _from(times: Sequence[Sequence[Sequence[float]]], first: int) -> Callable[[int, int], Sequence[float]]:
    return lambda rank, step: times[rank][first + step]


class Plain:
    """All ranks of a plan, or of a step's plans in order."""

    def __init__(self, machine: Machine, *plans: Plan) -> None:
        self.plans, self.ranks = plans, [ranks_of(machine, p) for p in plans]
        self.state = State.at_rest(plans[0].pattern.ranks)
        self.heard: list[dict[int, Sent]] = []
        """What each rank sent, by exchange, of a sweep by step."""

    def run(self, iterations: int) -> list[Outcome]:
        """Of every iteration, or exchange of a step's."""
        drawn = [
            [drawn_times(p.workload, iterations * p.steps, p.seed, rank=r).tolist() for r in range(p.pattern.ranks)]
            for p in self.plans
        ]
        out = []
        for k in range(iterations):
            for plan, ranks, times in zip(self.plans, self.ranks, drawn, strict=True):
                if ranks.wavefront:
                    ended, steps = sweep(ranks, _from(times, k * plan.steps), self.state)
                    self.heard += steps
                    out.append(Outcome(ended, [s for step in steps for s in step.values()]))
                    continue
                if plan.pattern.root:
                    ended, by_rank = broadcast(ranks, times[0][k], self.state)
                else:
                    ended, sent = exchange(ranks, [times[r][k] for r in range(plan.pattern.ranks)], self.state)
                    by_rank = dict(enumerate(sent))
                self.heard.append(by_rank)
                out.append(Outcome(ended, [*by_rank.values()]))
        return out


def run_as_plain(
    case: dict[str, Any], iterations: int, causes: Iterable[str] = CAUSES, **options: Any
) -> tuple[Simulation, list[Outcome]]:
    """A case run by the engine, and by the oracle: the ends of all ranks agree to 1e-12, the causes, means over ranks
    that are differences of times, to the times' last digit."""
    plan = prepared(**case)
    expected = Plain(case["machine"], plan).run(iterations)
    out = run_step([plan], iterations, record=True, **options)[0]
    ends = ends_of(expected)
    assert out.ends_s is not None
    close(out.ends_s, ends, rtol=1e-12, atol=0)
    for cause in causes:
        parts = np.array([np.mean([e.causes[cause] for e in row]) for row in expected])
        close(out.causes_s[cause], parts, rtol=0, atol=1e-12 * ends.max())
    return out, expected


def run_from_rest(of: Runs, approach: Approach) -> tuple[Outcome, Array]:
    """Exchanges from rest by the oracle, which end as the engine says; and when their last partitions are ready."""
    (plan,), n = of.plans((approach,)), of.iterations
    times = [drawn_times(plan.workload, n, plan.seed, rank=rank).tolist() for rank in (0, 1)]
    state = State.at_rest(2 * n)
    ranks = ranks_of(of.machine, plan)
    ended, sent = exchange(ranks, [*times[0], *times[1]], state)
    last = ranks.setting.slower * np.array([max(t) for t in times[0]])
    ends = np.array([e.end for e in ended])
    close([e.end for e in each(of, approach)] + last, ends, rtol=1e-12)
    return Outcome(ended, sent[:n]), last


def ends_of(expected: Sequence[Outcome]) -> Array:
    """When each rank ends each iteration, shape (iterations, ranks)."""
    return np.array([[e.end for e in row] for row in expected])


def as_many_are_early(found: Array, expected: Sequence[Outcome]) -> None:
    """Messages that arrive before their sender's threads meet, by iteration, but for those that rounding decides."""
    early, tied = (np.array([getattr(row, name) for row in expected]) for name in ("early", "tied"))
    assert (found > early - tied - 1e-6).all()
    assert (found < early + tied + 1e-6).all()
