"""Exchanges from rest equal the plain recurrence, which looks at one after the other."""

from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from close import close
from hypothesis import given
from hypothesis import strategies as st
from made_once import EITHER, any_of, between, generated
from plain_ranks import as_many_are_early, run_from_rest
from test_plain import cases

from pready.model.approach.interfaces import Approach
from pready.model.engine.evaluate import Evaluation

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
@generated(280)
@given(evaluations())
def test_exchanges_from_rest_equal_the_plain_recurrence(of: tuple[Evaluation, Approach]) -> None:
    evaluation, approach = of
    plain, last = run_from_rest(evaluation, approach)
    ends = np.array([e.end for e in plain])
    equal = partial(close, rtol=1e-12, atol=1e-12 * float(ends.max()))
    run = evaluation.nominal(approach)
    equal(run.communication_s, [np.mean(ends - last)])
    as_many_are_early(run.arrived_early * run.messages, [plain])
    # Message by message, what is shown is what was summed up; an exchange without spread is one of its own.
    quiet, *each = (evaluation.exchange(approach, row) for row in range(1 + evaluation.iterations))
    equal(evaluation.quiet(approach).communication_s, [quiet.end])
    equal([e.end for e in each], ends - last)
    equal(run.to_join_s, [np.mean([e.join for e in each])])
    equal(run.spread_s, [np.mean([-e.first_ready for e in each])])
    assert run.messages == sum(len(e.messages) for e in each)
    for e in (quiet, *each):
        for m in e.messages:
            times = (m.ready, m.issued, m.goes, m.left, m.arrived, m.received)
            assert all(a <= b + 1e-12 * ends.max() for a, b in pairwise(times))
        assert max(m.received for m in e.messages) == pytest.approx(e.received, abs=1e-12 * ends.max())
