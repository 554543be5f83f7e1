"""The plain recurrence on a plan of the engine: its oracle."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from close import close

from pready.model.approach.interfaces import Approach
from pready.model.common.arrays import Array
from pready.model.engine.evaluate import Evaluation
from pready.model.engine.plan import Plan
from pready.model.engine.ranks.nodes import adapters_of
from pready.model.engine.simulate import prepared, run
from pready.model.engine.simulation import CAUSES, Simulation
from pready.model.machine.machine import Machine
from pready.model.timeline.broadcast import Relays, broadcast
from pready.model.timeline.costs import Costs
from pready.model.timeline.messages import Sent, State
from pready.model.timeline.plain_run import Alone, Ended, exchange, sweep
from pready.model.timeline.recurrence import Ranks
from pready.model.timeline.rules import setting_of
from pready.model.workload import draws


def plain(costs: Costs) -> Costs:
    """The same in Python's numbers: one by one, NumPy's take several times as long."""
    return Costs(**{f.name: getattr(costs, f.name).tolist() for f in fields(Costs)})


def ranks_of(machine: Machine, plan: Plan) -> Ranks:
    """The ranks of a plan, and what its messages cost."""
    pattern, mapping = plan.pattern, plan.mapping
    classes, profile = pattern.classes.tolist(), pattern.rank_profile
    kinds = [classes[0 if profile is None else profile[r]] for r in range(pattern.ranks)]
    wavefront = pattern.name == "sweep3d"
    to = [[None, None]] * pattern.ranks if wavefront else pattern.neighbours
    rails = 1 if machine.adapter is None else machine.adapter.rails.value
    made = Ranks(
        plan.sent,
        setting_of(machine, plan.workload),
        [*plan.costs],
        to,
        kinds,
        computing=plan.workload.receiver_computes,
        needs=None if mapping is None else mapping.partitions,
        members=plan.members,
        issuers=None if mapping is None else mapping.issuers,
        node=None if pattern.node is None else adapters_of(pattern.node, rails).tolist(),
        waiting=None if mapping is None else mapping.waiting,
        inside=[kind.inside for kind in pattern.kinds],
        wavefront=wavefront,
    )
    if pattern.name in ("halo3d", "halo3d26"):  # by direction: who sends to r in direction d?
        made.from_ = [sorted(those, key=lambda qd: (qd[1], qd[0])) for those in made.from_]
    return made


class Outcome(list[Ended]):
    """One iteration of all ranks."""

    def __init__(self, ranks: Sequence[Ended], sent: Sequence[Sent]) -> None:
        super().__init__(ranks)
        self.early = sum(s.early for s in sent)
        # Messages that arrive just as the threads meet: rounding decides whether they are early.
        self.tied = sum(abs(m.arrived - s.join) <= 1e-12 * s.join for s in sent for m in s.messages)


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
            [draws.draw(p.workload, iterations * p.steps, p.seed, rank=r).tolist() for r in range(p.pattern.ranks)]
            for p in self.plans
        ]
        out = []
        for k in range(iterations):
            for plan, ranks, times in zip(self.plans, self.ranks, drawn, strict=True):
                if plan.pattern.name == "sweep3d":
                    out.append(self._sweep(plan, ranks, times, k))
                    continue
                if plan.pattern.root:
                    ended, by_rank = broadcast(
                        ranks, Relays.of(ranks, plan.costs, ranks.setting), times[0][k], self.state
                    )
                    out.append(Outcome(ended, list(by_rank.values())))
                    continue
                ended, sent = exchange(ranks, [times[r][k] for r in range(plan.pattern.ranks)], self.state)
                self.heard.append(dict(enumerate(sent)))
                out.append(Outcome(ended, sent))
        return out

    def _sweep(self, plan: Plan, ranks: Ranks, times: Sequence[Sequence[Sequence[float]]], k: int) -> Outcome:
        x, y, _ = plan.pattern.grid
        waited, steps = sweep(
            ranks, lambda r, step: times[r][k * plan.steps + step], self.state, (x, y), plan.steps // 8
        )
        ended = [Ended(end, end, causes) for end, causes in zip(self.state.start, waited, strict=True)]
        self.heard += steps
        return Outcome(ended, [s for step in steps for s in step.values()])


def run_as_plain(
    case: dict[str, Any], iterations: int, causes: Iterable[str] = CAUSES, **options: Any
) -> tuple[Simulation, list[Outcome]]:
    """A case run by the engine, and by the plain recurrence: the ends of all ranks agree to 1e-12, the causes, means
    over ranks that are differences of times, to the times' last digit."""
    plan = prepared(**case)
    expected = Plain(case["machine"], plan).run(iterations)
    out = run(plan, iterations, record=True, **options)
    ends = ends_of(expected)
    assert out.ends_s is not None
    close(out.ends_s, ends, rtol=1e-12, atol=0)
    for cause in causes:
        parts = np.array([np.mean([e.causes[cause] for e in row]) for row in expected])
        close(out.causes_s[cause], parts, rtol=0, atol=1e-12 * ends.max())
    return out, expected


def run_from_rest(of: Evaluation, approach: Approach) -> tuple[list[Alone], float]:
    """Exchanges from rest by the plain recurrence, which end as the engine says, and what their times round to."""
    plain = [of.exchange(approach, row) for row in range(1, 1 + of.iterations)]
    atol = 1e-12 * float((of.ready.max(axis=1)[1:] + [e.end for e in plain]).max())
    close(of.each(approach), [e.end for e in plain], rtol=1e-12, atol=atol)
    return plain, atol


def ends_of(expected: Sequence[Outcome]) -> Array:
    """When each rank ends each iteration, shape (iterations, ranks)."""
    return np.array([[e.end for e in row] for row in expected])


def as_many_are_early(found: Array, expected: Sequence[Outcome]) -> None:
    """Messages that arrive before their sender's threads meet, by iteration, but for those that rounding decides."""
    early, tied = (np.array([getattr(row, name) for row in expected]) for name in ("early", "tied"))
    assert (found > early - tied - 1e-6).all()
    assert (found < early + tied + 1e-6).all()
