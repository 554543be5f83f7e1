"""A wavefront's first steps: known answers with their derivation.

Ranks 0 to 3 in a square, rank 0 at the corner where it begins: 0 sends to 1 (along x) and to 2, these send to 3.
"""

from typing import NamedTuple

import numpy as np
import pytest
from machines import ideal
from on_ranks import prepared
from workloads import workload_of

from pready.model.approach.interfaces import BULK
from pready.model.common.arrays import Array
from pready.model.engine._kernel import RANK_FIELDS
from pready.model.engine.simulate import run_step
from pready.model.machine.machine import Machine

HOLD, HANDSHAKE, WIRE, COMPUTE = 10e-6, 2e-6, 3e-6, 1e-3
G = 1e-9
LARGE, SMALL = 100_000, 5_000
"""Bytes that take longer than it takes to issue the next message, and such that do not."""


def on(handshake: float | None = HANDSHAKE, wire: float = WIRE) -> Machine:
    """A machine whose adapter keeps up with its link."""
    return ideal(G=G, link=1 / G, L=wire, o_s=HOLD, handshake=handshake)


class Step(NamedTuple):
    """All ranks in one octant: when each was done with what came before and began, and messages began to leave."""

    before: Array
    start: Array
    left: dict[tuple[int, int], float]
    """By sender and receiver."""


def steps(machine: Machine, size: int, iterations: int = 1) -> list[Step]:
    """What every rank does in every octant."""
    workload = workload_of(threads=1, buffer=f"{size} B", pattern="sweep3d", grid=[2, 2])
    plan, before, out = prepared(machine, workload, BULK, grid=(2, 2)), np.zeros(4), list[Step]()
    (run,) = run_step([plan], iterations, record=True, keep_from=0)
    for n, (ranks, sent) in enumerate(run.records):
        to = plan.pattern.tables[n % plan.steps * len(plan.pattern.tables) // plan.steps].receivers
        each = zip(*np.nonzero(to >= 0), strict=True)
        left = {(int(r), int(to[r, d])): float(sent["left"][r, d, 0]) for r, d in each}
        out.append(Step(before, ranks[:, RANK_FIELDS.index("start")], left))
        before = ranks[:, RANK_FIELDS.index("end")]
    return out


@pytest.mark.parametrize("handshake", [None, HANDSHAKE], ids=["eager", "rendezvous"])
def test_messages_to_both_peers_share_the_cable(handshake: float | None) -> None:
    # Issued at C + h and C + 2 h: the first has the cable alone for h, then half of it until it is through at 2 m - h.
    first = steps(on(handshake), LARGE)[0]
    m, goes = LARGE * G, COMPUTE + HOLD + (handshake or 0.0)
    np.testing.assert_allclose(first.start[1], goes + 2 * m - HOLD + WIRE, rtol=1e-9)
    np.testing.assert_allclose(first.start[2], goes + 2 * m + WIRE, rtol=1e-9)
    # Both send to rank 3, one HOLD apart, and share its port: two messages after the first of them begins.
    np.testing.assert_allclose(first.start[3], first.start[1] + goes + 2 * m + WIRE, rtol=1e-9)


def test_a_message_that_has_left_delays_none() -> None:
    first = steps(on(None), SMALL)[0]
    np.testing.assert_allclose(first.start[1], COMPUTE + HOLD + SMALL * G + WIRE, rtol=1e-9)
    np.testing.assert_allclose(first.start[2], COMPUTE + 2 * HOLD + SMALL * G + WIRE, rtol=1e-9)


def test_a_message_does_not_wait_for_one_whose_receiver_is_late() -> None:
    # In the second iteration rank 2 waits for rank 0; rank 1, where the last octant ended, is late by one L: asked at
    # C + h + H/2, it answers 39 us later, and rank 2, issued second, is sent to first.
    wire = 50e-6
    begin = steps(on(wire=wire), LARGE, iterations=2)[8]
    now, m = begin.start[0] + COMPUTE, LARGE * G
    np.testing.assert_allclose(begin.before[1], now + wire, rtol=1e-9)
    assert begin.before[2] < now
    # Rank 1's goes meanwhile and shares the cable with it: two messages in all.
    assert begin.left[0, 2] < begin.left[0, 1]
    np.testing.assert_allclose(begin.left[0, 1], now + 2 * HOLD + HANDSHAKE + m, rtol=1e-9)
