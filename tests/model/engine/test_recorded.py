"""What the engine records of each message is what the plain recurrence says."""

from typing import Any

import numpy as np
import pytest
from close import close
from hypothesis import given
from hypothesis import strategies as st
from made_once import generated
from on_ranks import prepared
from plain_ranks import Plain
from recorded import record
from test_plain import cases
from workloads import workload_of

from pready.model.approach.interfaces import BY_KEY
from pready.model.machine import machine as machines
from pready.model.workload.sizes import Sizes


@pytest.mark.slow
@generated(80)
@given(cases(), st.integers(1, 3), st.integers(0, 2), st.integers(1, 2))
def test_messages_leave_when_they_should(case: dict[str, Any], iterations: int, first: int, cores: int) -> None:
    first = min(first, iterations - 1)
    plan = prepared(**case)
    plain = Plain(case["machine"], plan)
    ended = plain.run(iterations)
    of = plan.pattern
    out = record(plan, first, iterations - first, cores)
    assert [(r.iteration, r.step) for r in out] == [
        (k, s) for k in range(iterations - first) for s in range(plan.steps)
    ]
    for n, r in enumerate(out):
        to = of.tables[r.step * len(of.tables) // plan.steps].receivers
        for rank in range(of.ranks):
            sent = plain.heard[first * plan.steps + n][rank]
            mine = r.sender == rank
            for d, there in enumerate(to[rank]):
                leaves = np.sort([m.left for m in sent.messages if m.direction == d])
                if there >= 0:
                    found = np.sort(r.left[mine & (r.receiver == there)])
                    # Along an axis of two ranks both directions lead to the same one.
                    assert (np.abs(leaves[:, None] - found) <= 1e-12 * np.abs(found)).any(axis=1).all()
            close(np.sort(r.left[mine]), sorted(m.left for m in sent.messages), rtol=1e-12)
            close(r.join[rank], sent.join, rtol=1e-12)
        assert (r.end >= r.join * (1 - 1e-15)).all()
    for k in range(iterations - first):
        last = out[(k + 1) * plan.steps - 1]
        np.testing.assert_allclose(last.end, [e.end for e in ended[first + k]], rtol=1e-12)


@pytest.mark.parametrize("periodic", [(False, False, False), (True, True, False)])
@pytest.mark.parametrize("vcis", [2, 3])
def test_what_goes_nowhere_keeps_nothing_from_its_turn(periodic: tuple[bool, bool, bool], vcis: int) -> None:
    """At an open border a thread's messages to nobody stand between others in a VCI's list; the lists are merged by
    time and then by number, and messages of two VCIs are often ready at the same time: threads that have no
    neighbours on one side issue as many before them."""
    uniform = {"model": "uniform", "up_to": 0.04}
    w = workload_of(threads=8, partitions_per_thread=3, buffer="24000 B", pattern="halo3d26", arrivals=uniform)
    machine = machines.load("manzano")
    approach, sizes = BY_KEY["rma-single-active"].into(3, vcis), Sizes((24e3,) * 3, (1.2e6,) * 3, 1.2e6)
    where: dict[str, Any] = {"grid": (2, 4, 4), "periodic": periodic, "thread_grid": (2, 2, 2)}
    plan = prepared(machine, w, approach, sizes=sizes, **where)
    plain = Plain(machine, plan)
    plain.run(1)
    (one,) = record(plan, 0, 1, 1)
    for rank in range(plan.pattern.ranks):
        left = sorted(m.left for m in plain.heard[0][rank].messages)
        np.testing.assert_allclose(np.sort(one.left[one.sender == rank]), left, rtol=1e-12)
