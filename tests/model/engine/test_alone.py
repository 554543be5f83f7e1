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
from on_ranks import each
from plain_ranks import as_many_are_early, run_from_rest
from test_plain import cases

from pready.model.approach.interfaces import Approach
from pready.model.engine.layout import Step
from pready.model.engine.runs import Rows, Runs

FEW = 5
"""Exchanges with the machine's values; as many as no vector has lanes."""


@st.composite
def evaluations(draw: st.DrawFn) -> tuple[Runs, Approach]:
    case = draw(cases())
    workload = case["workload"]
    update: dict[str, Any] = {}
    if workload.pattern in ("halo3d", "halo3d26") and draw(EITHER):
        n = workload.n_partitions
        update["faces"] = tuple(float(n * draw(any_of(8, 700, 9000, 50000))) for _ in range(3))
    if workload.pattern == "pt2pt":
        update["both_ways"] = draw(EITHER)
    workload = workload.model_copy(update=update)
    made = Runs(case["machine"], Step.from_rest(workload), Rows(0, draw(between(0, 3)), FEW))
    return made, case["approach"]


@pytest.mark.slow
@generated(280)
@given(evaluations())
def test_exchanges_from_rest_equal_the_plain_recurrence(of: tuple[Runs, Approach]) -> None:
    runs, approach = of
    plain, last = run_from_rest(runs, approach)
    ends = np.array([e.end for e in plain])
    equal = partial(close, rtol=1e-12, atol=1e-12 * float(ends.max()))
    found = runs.at_values((approach,))
    times, (messages,) = found.exchange(), found.counts
    equal(times.communication, [np.mean(ends - last)])
    as_many_are_early(times.arrived_early * messages * len(plain), [plain])
    # Message by message, what is shown is what was summed up; an exchange without spread is one of its own.
    (calm,), some = each(runs.calm, approach), each(runs, approach)
    equal(runs.calm.at_values((approach,)).exchange().communication, [calm.end])
    equal([e.end for e in some], ends - last)
    equal(times.to_join, [np.mean([e.join for e in some])])
    equal(times.spread, [np.mean([-e.first_ready for e in some])])
    assert messages == np.mean([len(e.messages) for e in some])
    for e in (calm, *some):
        for m in e.messages:
            passed = (m.ready, m.issued, m.goes, m.left, m.arrived, m.received)
            assert all(a <= b + 1e-12 * ends.max() for a, b in pairwise(passed))
        assert max(m.received for m in e.messages) == pytest.approx(e.received, abs=1e-12 * ends.max())
