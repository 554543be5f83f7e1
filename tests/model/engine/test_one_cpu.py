"""Ranks of one CPU, which answers between its own sends who asks: known answers, and the oracle's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from machines import ideal
from made_once import EITHER, any_of
from test_engine_oracle import CURVE, cases, compare

from pready.model.arrival_models import NoArrivals
from pready.model.engine import simulate
from pready.model.engine.simulate import prepared
from pready.model.exchange import ComputeTime
from pready.model.interfaces import BULK, BY_KEY, MANY, SINGLE, Approach
from pready.model.machine import Answers, Machine
from pready.model.values import Value
from pready.model.workload import Workload

HOLD, ANSWER, WIRE, HANDSHAKE, COMPUTE = 10e-6, 1e-6, 3e-6, 8e-6, 1e-3
BYTES, G = 1000, 1e-10
SENT = BYTES * G + WIRE


def answering(machine: Machine, how: Answers) -> Machine:
    between = Value[Answers](value=how, source="assumed", why="test")
    return machine.model_copy(
        update={"answers": between, "progress": machine.progress.model_copy(update={"value": "on-call"})}
    )


def run(how: Answers, to: list[list[int]], approach: Approach = BULK, threads: int = 1) -> Any:
    """When ranks have received everything, after the time for which they compute."""
    machine = ideal(G=G, link=1 / G, L=WIRE, o_s=HOLD, o_r=ANSWER, handshake=HANDSHAKE)
    workload = Workload(
        threads=threads,
        buffer=f"{BYTES * approach.messages} B",  # type: ignore[arg-type]
        pattern="neighbours",
        neighbours=2,
        receiver="computing",
        compute=ComputeTime(time=f"{COMPUTE} s"),  # type: ignore[arg-type]
        arrivals=NoArrivals(),
    )
    out = simulate(
        answering(machine, how), workload, approach, grid=(len(to),), neighbours=to, record=True, iterations=1
    )
    assert out.received_s is not None
    return out.received_s[0] - COMPUTE


@pytest.mark.parametrize(
    ("how", "first", "last"),
    [
        # Rank 1 asks rank 0 at 10 us, which hears of it 4 us later and answers; 4 us later the payload goes.
        ("at once", 10e-6 + HANDSHAKE + SENT + ANSWER, 30e-6 + HANDSHAKE + SENT + ANSWER),
        # It hears of it 3 us later (L), in its second send, answers from 20 to 21, and sends once more from 21 to 31.
        # The go-ahead takes the rest of the handshake, and what has asked costs nothing more when it is there.
        ("between sends", 20e-6 + ANSWER + HANDSHAKE - WIRE + SENT, 31e-6 + ANSWER + HANDSHAKE + SENT),
    ],
)
def test_a_cpu_answers_between_its_sends_who_has_asked(how: Answers, first: float, last: float) -> None:
    received = run(how, [[2, 3, 4], [0], [], [], []])
    np.testing.assert_allclose(received[0], first, rtol=1e-9)
    np.testing.assert_allclose(received[4], last, rtol=1e-9)


def test_who_asks_a_cpu_at_once_is_answered_one_after_the_other() -> None:
    # Ranks 1 to 3 ask at 10 us, and rank 0, which sends nothing, hears of it at 13; the last is answered at 16.
    received = run("between sends", [[], [0], [0], [0]])
    np.testing.assert_allclose(received[0], 16e-6 + HANDSHAKE - WIRE + SENT, rtol=1e-9)


def test_an_early_partition_is_a_call_that_answers() -> None:
    # Two threads' partitions: each is sent to rank 2 by itself, and what asked by then is answered between them.
    received = run("between sends", [[2], [0], []], Approach(MANY, 2), threads=2)
    # 0 sends from 0 to 10, takes 10 to 20 for the second; 1's first request came at 13, the second comes at 23.
    np.testing.assert_allclose(received[0], 23e-6 + ANSWER + HANDSHAKE - WIRE + SENT, rtol=1e-9)


@st.composite
def with_one_cpu(draw: st.DrawFn) -> dict[str, Any]:
    """A case in which a rank's CPU answers: inside MPI alone, through one VCI, with messages that ask."""
    case = draw(cases(("halo3d", "halo3d26", "neighbours")))
    machine = answering(case["machine"], "between sends")
    path = machine.inter.model_copy(update={"backlog": CURVE if draw(EITHER) else None})
    asking = tuple(s for s in path.segments if s.protocol == "rendezvous")
    if draw(EITHER) and asking:  # else only large messages ask
        path = path.model_copy(update={"segments": (asking[0].model_copy(update={"from_": 0.0}), *asking[1:])})
    interface = BY_KEY[draw(any_of("single", "many", "part", "persistent"))]
    messages = case["approach"].transport_partitions
    return {
        **case,
        "machine": machine.model_copy(update={"inter": path}),
        "workload": case["workload"].model_copy(update={"receiver": "computing"}),
        "approach": Approach(interface, messages if interface.splits else 1, 1),
        "thread_grid": None,
        "ranks_per_node": None,
        "node_grid": None,
    }


@pytest.mark.slow
@settings(max_examples=600, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(with_one_cpu(), st.integers(1, 3))
def test_the_engine_equals_the_oracle(case: dict[str, Any], iterations: int) -> None:
    compare(case, iterations)


def test_where_nothing_asks_nothing_changes() -> None:
    ring = [[1, 2], [2, 0], [0, 1]]
    machine = ideal(G=G, link=1 / G, L=WIRE, o_s=HOLD, o_r=ANSWER)
    workload = Workload(
        threads=2,
        buffer="1000 B",  # type: ignore[arg-type]
        pattern="neighbours",
        neighbours=2,
        receiver="computing",
        compute=ComputeTime(time="1 ms"),  # type: ignore[arg-type]
    )
    runs = [
        simulate(
            answering(machine, how), workload, Approach(SINGLE), grid=(3,), neighbours=ring, iterations=2, record=True
        )
        for how in ("at once", "between sends")
    ]
    np.testing.assert_array_equal(runs[0].ends_s, runs[1].ends_s)
    assert not prepared(
        answering(machine, "between sends"), workload, Approach(SINGLE), grid=(3,), neighbours=ring
    ).numbers["one_cpu"]
