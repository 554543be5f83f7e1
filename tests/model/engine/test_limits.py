"""Ranks that go on from iteration to iteration: the closed forms in their limits, and one exchange from rest."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from machines import ideal
from workloads import workload_of

from pready.model.approach.interfaces import BY_KEY, PART, SINGLE, Approach
from pready.model.engine import simulate
from pready.model.engine.evaluate import Evaluation
from pready.model.machine.machine import load


@pytest.mark.thorough
@given(
    st.integers(1, 8),
    st.integers(1, 4),
    st.floats(0, 1e-3),
    st.sampled_from([1e4, 1e6, 1e8]),
    st.sampled_from(["part", "many"]),
)
@settings(max_examples=200, deadline=None, derandomize=True)
def test_bandwidth_alone_is_eq_3(threads: int, theta: int, delay: float, size: float, key: str) -> None:
    # L = o = g = 0 and the last of N_part partitions late by D: Eq. 3 of gillis2023,
    # T = max(S/β − D, S_part/β), T_bulk = S/β. In the iteration's time the compute time comes first.
    n = threads * theta
    buffer = round(size / n) * n
    beta = 25e9
    late = {"model": "laggard", "delay": f"{delay:.17g} s"}
    workload = workload_of(threads=threads, partitions_per_thread=theta, buffer=f"{buffer} B", arrivals=late)
    machine = ideal(G=1 / beta, link=beta)
    part = simulate(machine, workload, Approach(BY_KEY[key], n, 1), grid=(2,), iterations=1)
    bulk = simulate(machine, workload, Approach(SINGLE), grid=(2,), iterations=1)
    compute = 1e-3 + delay
    expected = max(buffer / beta - delay, buffer / n / beta)
    np.testing.assert_allclose(part.mean_s[0], compute + expected, rtol=1e-12)
    np.testing.assert_allclose(bulk.mean_s[0], compute + buffer / beta, rtol=1e-12)
    eta = bulk.communication_s[0] / part.communication_s[0]
    np.testing.assert_allclose(eta, buffer / beta / expected, rtol=1e-6)


def test_overheads_alone_are_eq_5() -> None:
    # S → 0 with only the overhead left: N_part messages one after the other, η = 1 / N_part (Eq. 5).
    workload = workload_of(threads=8, buffer="8 B")
    machine = ideal(o_s=1e-6, G=1e-30, link=1e30)
    part = simulate(machine, workload, Approach(PART, 8, 1), grid=(2,), iterations=1)
    bulk = simulate(machine, workload, Approach(SINGLE), grid=(2,), iterations=1)
    np.testing.assert_allclose(bulk.communication_s / part.communication_s, 1 / 8, rtol=1e-12)


@pytest.mark.parametrize("interface", BY_KEY.values(), ids=lambda i: i.key)
@pytest.mark.parametrize("receiver", ["waiting", "computing"])
@pytest.mark.parametrize("progress", ["hardware", "thread", "on-call"])
@pytest.mark.parametrize("size", ["256 B", "1 MiB"])
def test_an_exchange_has_one_end(interface: Any, receiver: Any, progress: Any, size: str) -> None:
    # Two ranks, nobody late: the exchange from rest is that of ranks which go on.
    on = load("meluxina")
    on = on.model_copy(update={"progress": on.progress.model_copy(update={"value": progress})})
    workload = workload_of(threads=32, buffer=size, receiver=receiver)
    evaluation = Evaluation(on, workload, draws=0)
    for transports in (1, 4, 32):
        approach = interface.into(transports, 2 if interface.splits else 1)
        engine = simulate(on, workload, approach, grid=(2,), iterations=1).communication_s
        np.testing.assert_allclose(engine, evaluation.mean_time(approach), rtol=1e-12)
