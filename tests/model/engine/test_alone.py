"""Exchanges from rest equal the plain recurrence, which looks at one after the other."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_once import EITHER, any_of, between
from test_plain import cases

from pready.model.approach.interfaces import BULK, Approach
from pready.model.engine.evaluate import Evaluation
from pready.model.engine.simulate import run_all
from pready.model.machine.machine import load
from pready.model.workload.workload import Workload

FEW = 5
"""Exchanges with the machine's values; as many as no vector has lanes."""


@st.composite
def evaluations(draw: st.DrawFn) -> tuple[Evaluation, Approach]:
    case = draw(cases())
    workload = case["workload"]
    update: dict[str, Any] = {}
    if workload.pattern in ("halo3d", "halo3d26") and draw(EITHER):
        n = workload.n_partitions
        update["faces"] = tuple(float(n * draw(any_of(8, 700, 9000, 50000))) for _ in range(3))
    if workload.pattern == "pt2pt":
        update["both_ways"] = draw(EITHER)
    workload = workload.model_copy(update=update)
    made = Evaluation(case["machine"], workload, draw(between(0, 3)), draws=2, alone=True, samples=FEW)
    return made, case["approach"]


@pytest.mark.slow
@settings(max_examples=1000, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(evaluations())
def test_exchanges_from_rest_equal_the_plain_recurrence(of: tuple[Evaluation, Approach]) -> None:
    evaluation, approach = of
    plain = [evaluation.exchange(approach, row) for row in range(1 + evaluation.iterations)]
    last = evaluation.ready.max(axis=1)
    atol = 1e-12 * float((last + [e.end for e in plain]).max())
    equal = partial(np.testing.assert_allclose, rtol=1e-12, atol=atol)
    equal(evaluation.each(approach), [e.end for e in plain[1:]])
    quiet, run = evaluation.quiet(approach), evaluation.nominal(approach)
    equal(quiet.communication_s, plain[0].end)
    equal(run.communication_s, np.mean([e.end for e in plain[1:]]))
    equal(run.to_join_s, np.mean([e.join for e in plain[1:]]))
    equal(run.spread_s, np.mean([-e.first_ready for e in plain[1:]]))
    assert run.messages == sum(len(e.messages) for e in plain[1:])
    tied = [sum(abs(m.arrived - e.join) <= atol for m in e.messages) for e in plain[1:]]
    assert abs(run.arrived_early[0] * run.messages - sum(e.early for e in plain[1:])) <= sum(tied) + 1e-6
    # Draws of the machine share the first exchanges, and are scaled to all of them.
    here, *each = evaluation.each_drawn(approach).mean(axis=1)
    if here > 0:
        equal(evaluation.drawn(approach).communication, np.array(each) / here * run.communication_s[0])


def test_exchanges_from_rest_have_one_iteration() -> None:
    e = Evaluation(load("meluxina"), Workload(threads=4, buffer="64 KiB"), draws=0)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="one iteration"):
        run_all([([e._at_values(BULK, FEW)], 2)], 1)
