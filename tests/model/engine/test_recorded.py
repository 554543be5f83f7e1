"""What the engine records of each message is what the message-by-message oracle says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from engine_oracle import Oracle, Sent
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_engine_oracle import cases

from pready.model.engine import prepared
from pready.model.engine.recorded import downstream, record


class Listening(Oracle):
    """Keeps what every rank sent, by exchange (of a sweep: by step) and rank."""

    def __init__(self, *arguments: Any) -> None:
        self.heard: dict[tuple[int, int], Sent] = {}
        super().__init__(*arguments)

    def send(self, rank: int, k: int, *arguments: Any) -> Sent:
        self.heard[k, rank] = out = super().send(rank, k, *arguments)
        return out


@pytest.mark.thorough
@settings(max_examples=300, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(cases(), st.integers(1, 3), st.integers(0, 2), st.integers(1, 2))
def test_messages_leave_when_the_oracle_says(case: dict[str, Any], iterations: int, first: int, cores: int) -> None:
    first = min(first, iterations - 1)
    plan = prepared(**case)
    oracle = Listening(case["machine"], plan)
    ended = oracle.run(iterations)
    of = plan.pattern
    out = [*record([plan], first, iterations - first, cores)]
    assert [(r.iteration, r.step) for r in out] == [
        (k, s) for k in range(iterations - first) for s in range(plan.steps)
    ]
    for n, r in enumerate(out):
        to = of.receivers if plan.steps == 1 else downstream(of, r.step, plan.steps)
        for rank in range(of.ranks):
            sent = oracle.heard[first * plan.steps + n, rank]
            mine = r.sender == rank
            for d, there in enumerate(to[rank]):
                leaves = np.sort([left for e, _, left in sent.leaves if e == d])
                if there >= 0:
                    found = np.sort(r.left[mine & (r.receiver == there)])
                    # Along an axis of two ranks both directions lead to the same one.
                    assert all(np.isclose(leaves[:, None], found, rtol=1e-12, atol=0).any(axis=1))
            np.testing.assert_allclose(np.sort(r.left[mine]), sorted(x for *_, x in sent.leaves), rtol=1e-12)
            np.testing.assert_allclose([r.join[rank]], [sent.join], rtol=1e-12)
        assert (r.arrived >= r.left).all()
        assert (r.finish <= r.join[:, None] * (1 + 1e-15)).all()
        assert (r.end >= r.join * (1 - 1e-15)).all()
    for k in range(iterations - first):
        last = out[(k + 1) * plan.steps - 1]
        np.testing.assert_allclose(last.end, [e.end for e in ended[first + k]], rtol=1e-12)
