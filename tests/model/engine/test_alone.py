"""Exchanges from rest equal the plain recurrence, which looks at one after the other."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from close import close
from hypothesis import given
from hypothesis import strategies as st
from made_once import EITHER, any_of, between, generated
from plain_ranks import run_from_rest
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
@generated(700)
@given(evaluations())
def test_exchanges_from_rest_equal_the_plain_recurrence(of: tuple[Evaluation, Approach]) -> None:
    evaluation, approach = of
    plain, atol = run_from_rest(evaluation, approach)
    equal = partial(close, rtol=1e-12, atol=atol)
    quiet, run = evaluation.quiet(approach), evaluation.nominal(approach)
    equal(quiet.communication_s, [evaluation.exchange(approach, 0).end])
    equal(run.communication_s, [np.mean([e.end for e in plain])])
    equal(run.to_join_s, [np.mean([e.join for e in plain])])
    equal(run.spread_s, [np.mean([-e.first_ready for e in plain])])
    assert run.messages == sum(len(e.messages) for e in plain)
    tied = [sum(abs(m.arrived - e.join) <= atol for m in e.messages) for e in plain]
    assert abs(run.arrived_early[0] * run.messages - sum(e.early for e in plain)) <= sum(tied) + 1e-6
    # Draws of the machine share the first exchanges, and are scaled to all of them.
    here, *each = evaluation.each_drawn(approach).mean(axis=1)
    if here > 0:
        equal(evaluation.drawn(approach).communication, np.array(each) / here * run.communication_s[0])


def test_exchanges_from_rest_have_one_iteration() -> None:
    e = Evaluation(load("meluxina"), Workload(threads=4, buffer="64 KiB"), draws=0)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="one iteration"):
        run_all([([e._at_values(BULK, FEW)], 2)], 1)
