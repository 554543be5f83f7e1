"""Ports to which more comes than their ranks send: known answers with their derivation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from machines import ideal

from pready.model.arrival_models import NoArrivals
from pready.model.engine import simulate
from pready.model.exchange import ComputeTime
from pready.model.interfaces import MANY, SINGLE, Approach
from pready.model.machine import Machine
from pready.model.workload import Workload

BYTES = 1000
LINK, WIRE, RECEIVE = 1e-6, 2e-6, 3e-7
"""Of one message of that size, in s."""
WORD = RECEIVE + WIRE
"""From a message's arrival to the receiver's word."""
FAN_IN: list[list[int]] = [[], [0], [0], [0]]
"""Three send to rank 0, which sends nothing."""


def machine(acknowledged_from: float | None = None) -> Machine:
    on = ideal(G=1e-9, link=1e9, L=WIRE, o_r=RECEIVE)
    said = None
    if acknowledged_from is not None:
        assert on.inter.link_bandwidth is not None
        said = on.inter.link_bandwidth.model_copy(update={"value": acknowledged_from, "interval": None})
    return on.model_copy(update={"inter": on.inter.model_copy(update={"acknowledged_from": said})})


def ends(
    on: Machine, to: list[list[int]], compute: float, iterations: int, approach: Approach | None = None, **options: Any
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """When each rank ends each iteration, in seconds."""
    approach = approach or Approach(SINGLE)
    workload = Workload(
        threads=approach.transport_partitions,
        buffer=f"{BYTES * approach.transport_partitions} B",  # type: ignore[arg-type]
        pattern="neighbours",
        neighbours=2,
        receiver="waiting",
        compute=ComputeTime(time=f"{compute} s"),  # type: ignore[arg-type]
        arrivals=NoArrivals(),
    )
    out = simulate(
        on, workload, approach, grid=(len(to),), neighbours=to, iterations=iterations, record=True, **options
    )
    assert out.ends_s is not None
    return out.ends_s


@pytest.mark.parametrize("compute", [LINK / 2, LINK, 2 * LINK, 3 * LINK])
def test_a_port_takes_no_more_than_its_cable_carries(compute: float) -> None:
    # Senders go on as soon as they have computed and their cable is free: every max(compute, LINK). Three messages come
    # to rank 0 each time, which its cable carries in 3 LINK, so that of iteration n the last is through 3 n LINK after
    # the first has left.
    got = ends(machine(), FAN_IN, compute, 8)
    through = compute + 3 * LINK * np.arange(1, 9)
    assert got[:, 0] == pytest.approx(through + WIRE + RECEIVE, rel=1e-9)


def test_senders_wait_for_their_receivers_word_in_turn() -> None:
    # All send at once; the port lets them through one after the other, and each hears of its own. From then on each
    # sends when it has computed: COMPUTE + LINK + WIRE + WORD after it sent before, or, where that is less than the
    # three take, 3 LINK after.
    compute = 1e-5
    got = ends(machine(acknowledged_from=1), FAN_IN, compute, 6)
    turn = LINK * np.arange(1, 4)
    assert got[0, 1:] == pytest.approx(compute + turn + WIRE + WORD, rel=1e-9)
    again = compute + LINK + WIRE + WORD
    assert again > 3 * LINK
    assert np.diff(got[:, 1:], axis=0) == pytest.approx(np.full((5, 3), again), rel=1e-9)


def test_in_the_steady_state_senders_are_as_fast_as_the_port() -> None:
    # As before, with so many senders that the port is busy throughout: everybody's iteration is as long as it takes.
    ranks, compute = 12, 1e-6
    got = ends(machine(acknowledged_from=1), [[]] + [[0]] * (ranks - 1), compute, 30)
    port = (ranks - 1) * LINK
    assert port > compute + LINK + WIRE + WORD
    assert np.diff(got[10:], axis=0) == pytest.approx(np.full((19, ranks), port), rel=1e-9)


@pytest.mark.parametrize("parts", [2, 4])
def test_partitions_do_not_widen_a_port(parts: int) -> None:
    got = ends(machine(acknowledged_from=1), [[]] + [[0]] * 6, LINK, 20, Approach(MANY, parts))
    assert np.diff(got[8:, 0]) == pytest.approx(np.full(11, 6 * parts * LINK), rel=1e-9)


def test_a_list_in_which_all_receive_what_they_send_is_a_grid() -> None:
    # Such ports are never behind their ranks' own cables for longer than an exchange.
    ring: list[list[int]] = [[(r + 1) % 4, (r - 1) % 4] for r in range(4)]
    workload = Workload(
        threads=1,
        buffer=f"{BYTES} B",  # type: ignore[arg-type]
        pattern="halo3d",
        compute=ComputeTime(time="1 us"),  # type: ignore[arg-type]
        arrivals=NoArrivals(),
        receiver="waiting",
    )
    for on in (machine(), machine(acknowledged_from=1)):
        grid = simulate(on, workload, Approach(SINGLE), grid=(4, 1, 1), iterations=5, record=True).ends_s
        assert grid is not None
        assert ends(on, ring, 1e-6, 5) == pytest.approx(grid, rel=1e-12)


@pytest.mark.parametrize("cores", [1, 2])
def test_the_same_bytes_on_any_number_of_cores(cores: int) -> None:
    to: list[list[int]] = [[]] + [[0, (r % 130) + 1] for r in range(1, 131)]
    one = ends(machine(acknowledged_from=1), to, 1e-6, 4, cores=1)
    assert np.array_equal(one, ends(machine(acknowledged_from=1), to, 1e-6, 4, cores=cores))
