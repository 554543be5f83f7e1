"""The engine equals the timeline where both apply, and the closed forms in their limits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from machines import ideal
from pready.model.timeline import Timeline
from test_engine_oracle import cases

from pready.model import arrivals
from pready.model.arrays import Array
from pready.model.arrival_models import Laggard, NoArrivals
from pready.model.costs import costs
from pready.model.engine import simulate
from pready.model.engine.many_ranks import Evaluation
from pready.model.engine.simulate import prepared, run
from pready.model.engine.simulate import run as performed
from pready.model.exchange import ComputeTime
from pready.model.interfaces import BY_KEY, PART, SINGLE, Approach
from pready.model.machine import Machine, load
from pready.model.rules import joined, setting_of
from pready.model.sampling import Sampler
from pready.model.workload import Workload


def timeline(machine: Machine, workload: Workload, approach: Approach, seed: int, rank: int) -> tuple[Array, Timeline]:
    """When `rank` had its last partition ready, and the timeline of what it sent to its pair."""
    cost = costs(Sampler(machine), workload, approach.message_size(workload.buffer))
    ready = arrivals.draw(workload, 1, seed, rank=rank)
    setting = setting_of(machine, workload)
    joins = None
    if workload.receiver == "computing":
        other = run(arrivals.draw(workload, 1, seed, rank=rank ^ 1), cost, approach, setting)
        joins = other.join + arrivals.draw(workload, 1, seed, rank=rank ^ 1).max(axis=1)
    return ready.max(axis=1), run(ready, cost, approach, setting, joins)


@pytest.mark.thorough
@settings(max_examples=500, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(cases(patterns=("pt2pt",)))
def test_two_ranks_equal_the_timeline(case: dict[str, Any]) -> None:
    # The timeline's pair is on two nodes.
    case |= {"grid": (2,), "ranks_per_node": None, "node_grid": None}
    out = simulate(**case, iterations=1, record=True)
    assert out.received_s is not None
    for rank in (0, 1):
        last, line = timeline(case["machine"], case["workload"], case["approach"], case["seed"], rank)
        # The exchange is over when it is received there and the threads have met here.
        ends = max(out.received_s[0, rank ^ 1], (last + line.join)[0])
        np.testing.assert_allclose(ends, (last + line.end)[0], rtol=1e-12)


@pytest.mark.parametrize("interface", BY_KEY.values(), ids=lambda i: i.key)
@pytest.mark.parametrize("pattern", ["halo3d", "halo3d26"])
@pytest.mark.parametrize("buffer", ["8 KiB", "4 MiB"])
@pytest.mark.parametrize("handshake", [None, 3e-6])
def test_ranks_in_step_equal_the_timeline_of_many_peers(
    interface: Any, pattern: Any, buffer: str, handshake: float | None
) -> None:
    # Without spread all ranks do the same at the same time, so a rank receives what it sends: the
    # timeline's assumption for several peers.
    machine = ideal(
        L=1e-6, o_s=2e-7, o_r=3e-7, g=5e-8, pready=4e-8, barrier=[0.0, 1e-7, 5e-7], poll=1e-7, put=3e-7,
        epoch=4e-7, match=5e-8, per_entry=2e-9, handshake=handshake,
    )  # fmt: skip
    workload = Workload(
        threads=4,
        partitions_per_thread=2,
        buffer=buffer,  # type: ignore[arg-type]
        pattern=pattern,
        receiver="computing",
        compute=ComputeTime(time="10 us"),  # type: ignore[arg-type]
    )
    approach = Approach(interface, 4 if interface.splits else 1, 2)
    out = simulate(machine, workload, approach, grid=(3, 3, 3), iterations=1, record=True)
    last, line = timeline(machine, workload, approach, 0, 0)
    assert out.received_s is not None
    np.testing.assert_allclose(out.received_s[0], (last + line.end)[0], rtol=1e-12)


@st.composite
def in_step(draw: st.DrawFn) -> dict[str, Any]:
    """Ranks that all do the same: halos without ends, or a list of rings, nobody later than others."""
    case = draw(cases(patterns=("halo3d", "halo3d26", "neighbours")))
    workload, machine = case["workload"], case["machine"]
    arrivals_ = draw(st.sampled_from([NoArrivals(), Laggard(model="laggard", late_by=0.05)]))
    alone: dict[str, Any] = {"ranks_per_node": None, "node_grid": None, "thread_grid": None, "periodic": True}
    update: dict[str, Any] = {"arrivals": arrivals_, "grid": case["grid"]}
    if workload.pattern == "neighbours":
        ranks = draw(st.integers(2, 9))
        shifts = draw(st.lists(st.integers(1, ranks - 1), min_size=1, max_size=4, unique=True))
        some = st.sampled_from([8, 700, 50000]).map(lambda b: float(workload.n_partitions * b))
        sizes = draw(st.none() | st.lists(some, min_size=len(shifts), max_size=len(shifts)))
        alone |= {"grid": (ranks,), "neighbours": [[(r + s) % ranks for s in shifts] for r in range(ranks)]}
        alone |= {"neighbour_sizes": None if sizes is None else [sizes] * ranks}
        update |= {"grid": (ranks,), "neighbours": len(shifts)}
    return {**case, **alone, "machine": machine, "workload": workload.model_copy(update=update)}


@pytest.mark.thorough
@settings(max_examples=1500, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(in_step())
def test_ranks_in_step_equal_the_timeline_whatever_they_send(case: dict[str, Any]) -> None:
    machine, workload, approach = case["machine"], case["workload"], case["approach"]
    plan = prepared(**case)
    kinds = plan.pattern.classes[0 if plan.pattern.rank_profile is None else plan.pattern.rank_profile[0]]
    present = plan.pattern.present[-1]
    by_peer = [plan.costs[k] for k, there in zip(kinds, present, strict=True) if there]
    ready = arrivals.draw(workload, 1, case["seed"])
    setting = setting_of(machine, workload)
    assert setting.peers == len(by_peer)
    joins = joined(ready, by_peer[0], approach, setting) if workload.receiver == "computing" else None
    line = run(ready, by_peer, approach, setting, joins)
    out = performed(plan, 1, record=True)
    assert out.ends_s is not None
    np.testing.assert_allclose(out.ends_s[0], ready.max() + line.end[0], rtol=1e-12)
    np.testing.assert_allclose(out.arrived_early, line.arrived_early)


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
    workload = Workload(
        threads=threads,
        partitions_per_thread=theta,
        buffer=f"{buffer} B",  # type: ignore[arg-type]
        compute=ComputeTime(time="1 ms"),  # type: ignore[arg-type]
        arrivals=Laggard(model="laggard", delay=f"{delay:.17g} s"),  # type: ignore[arg-type]
    )
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
    workload = Workload(threads=8, buffer="8 B", compute=ComputeTime(time="1 us"))  # type: ignore[arg-type]
    machine = ideal(o_s=1e-6, G=1e-30, link=1e30)
    part = simulate(machine, workload, Approach(PART, 8, 1), grid=(2,), iterations=1)
    bulk = simulate(machine, workload, Approach(SINGLE), grid=(2,), iterations=1)
    np.testing.assert_allclose(bulk.communication_s / part.communication_s, 1 / 8, rtol=1e-12)


@pytest.mark.parametrize("interface", BY_KEY.values(), ids=lambda i: i.key)
@pytest.mark.parametrize("receiver", ["waiting", "computing"])
@pytest.mark.parametrize("progress", ["hardware", "thread", "on-call"])
@pytest.mark.parametrize("size", ["256 B", "1 MiB"])
def test_an_exchange_has_one_end(interface: Any, receiver: Any, progress: Any, size: str) -> None:
    # Two ranks, nobody late: the engine's communication is the timeline's. `many` with one message of 256 B gained 2.53
    # in one and 1.65 in the other.
    on = load("meluxina")
    on = on.model_copy(update={"progress": on.progress.model_copy(update={"value": progress})})
    workload = Workload(
        threads=32,
        buffer=size,  # type: ignore[arg-type]
        receiver=receiver,
        compute=ComputeTime(time="1 ms"),  # type: ignore[arg-type]
    )
    evaluation = Evaluation(on, workload, draws=0)
    for transports in (1, 4, 32):
        approach = interface.into(transports, 2 if interface.splits else 1)
        engine = simulate(on, workload, approach, grid=(2,), iterations=1).communication_s
        np.testing.assert_allclose(engine, evaluation.mean_time(approach), rtol=1e-12)
