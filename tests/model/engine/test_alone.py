"""Exchanges from rest equal the timeline, which knows no others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_once import EITHER, any_of, between
from pready.model.timeline import Timeline
from test_engine_oracle import cases

from pready.model.arrays import Array
from pready.model.costs import Costs
from pready.model.engine.alone import alone
from pready.model.engine.many_ranks import Evaluation
from pready.model.engine.plan import Plan, without_spread
from pready.model.engine.simulate import means_s, run, run_all
from pready.model.interfaces import BULK
from pready.model.machine import load
from pready.model.workload import Workload

FEW = 5
"""Exchanges with the machine's values; as many as no vector has lanes."""
DRAWS, PER_DRAW = 2, 3


@st.composite
def evaluations(draw: st.DrawFn) -> tuple[Evaluation, Any]:
    case = draw(cases())
    workload = case["workload"]
    update: dict[str, Any] = {}
    if workload.pattern in ("halo3d", "halo3d26") and draw(EITHER):
        n = workload.n_partitions
        update["faces"] = tuple(float(n * draw(any_of(8, 700, 9000, 50000))) for _ in range(3))
    if workload.pattern == "pt2pt":
        update["both_ways"] = draw(EITHER)
    workload = workload.model_copy(update=update)
    seed = draw(between(0, 3))
    return Evaluation(case["machine"], workload, seed, FEW, DRAWS, PER_DRAW), case["approach"]


def equal(made: Plan, ready: Array, line: Timeline, rows: slice) -> None:
    """The plan's exchanges are these rows of a timeline."""
    out = run(made, 1, record=True)
    assert out.ends_s is not None
    last = ready[rows].max(axis=1)
    whole = last + line.end[rows]
    np.testing.assert_allclose(out.ends_s[0], whole, rtol=1e-12)
    tight = {"rtol": 1e-12, "atol": 1e-12 * float(whole.max())}
    np.testing.assert_allclose(out.communication_s, line.end[rows].mean(), **tight)
    np.testing.assert_allclose(out.iteration_s, whole.mean(), rtol=1e-12)
    np.testing.assert_allclose(out.to_join_s, line.join[rows].mean(), **tight)
    np.testing.assert_allclose(out.spread_s, -line.first_ready[rows].mean(), **tight)
    assert out.messages == line.messages * len(last)
    assert abs(out.arrived_early[0] - line.arrived_early[rows].mean()) < 1e-9


@pytest.mark.slow
@settings(max_examples=1500, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(evaluations())
def test_exchanges_from_rest_equal_the_timeline(of: tuple[Evaluation, Any]) -> None:
    evaluation, approach = of
    machine, workload = evaluation.machine, evaluation.workload
    line, by_peer = evaluation.timeline(approach), evaluation.costs_by_peer(approach)
    few = evaluation.nominal
    values = [c.row(0) for c in by_peer]
    made = alone(machine, workload, approach, values, few, seed=evaluation.seed).plan
    equal(made, evaluation.ready, line, slice(1, 1 + few))
    one = alone(machine, workload, approach, values, 1, seed=evaluation.seed).plan
    equal(without_spread(one, machine), evaluation.ready, line, slice(0, 1))

    # Draws of the machine, each with exchanges of its own, in one call.
    each = evaluation.per_draw
    drawn: list[Costs] = [c.rows(slice(1 + few, None, each)) for c in by_peer]
    firsts = [few + i * each for i in range(DRAWS)]
    priced = alone(machine, workload, approach, drawn, each, seed=evaluation.seed, firsts=firsts)
    for row in range(DRAWS):
        begin = 1 + few + row * each
        equal(priced.rows(range(row, row + 1)).plan, evaluation.ready, line, slice(begin, begin + each))
    (means,) = means_s([([priced], 1)], [0], 1)
    whole = evaluation.ready.max(axis=1) + line.end
    np.testing.assert_allclose(means[:, 1], whole[1 + few :].reshape(DRAWS, each).mean(axis=1), rtol=1e-12)


def test_exchanges_from_rest_have_one_iteration() -> None:
    evaluation = Evaluation(load("meluxina"), Workload(threads=4, buffer="64 KiB", pattern="pt2pt"))  # type: ignore[arg-type]
    made = alone(evaluation.machine, evaluation.workload, BULK, [c.row(0) for c in evaluation.costs_by_peer(BULK)], FEW)
    with pytest.raises(ValueError, match="one iteration"):
        run_all([([made], 2)], 1)
