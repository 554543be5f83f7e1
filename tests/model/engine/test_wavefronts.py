"""A wavefront's first steps: known answers with their derivation.

Ranks 0 to 3 in a square, rank 0 at the corner where it begins: 0 sends to 1 (along x) and to 2, these send to 3.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from machines import ideal, waiting_behind

from pready.model.arrival_models import NoArrivals
from pready.model.engine.recorded import Recorded, record
from pready.model.engine.simulate import prepared
from pready.model.exchange import ComputeTime
from pready.model.interfaces import BULK
from pready.model.machine import Machine
from pready.model.workload import Workload

HOLD, HANDSHAKE, WIRE, COMPUTE = 10e-6, 2e-6, 3e-6, 1e-3
G = 1e-9
LARGE, SMALL = 100_000, 5_000
"""Bytes that take longer than it takes to issue the next message, and such that do not."""


def on(queue: float | None = None, send_buffer: float | None = None, handshake: float | None = HANDSHAKE) -> Machine:
    """A machine whose go-aheads wait behind so many bytes at most, and whose sockets take so many."""
    machine = ideal(G=G, link=1 / G, L=WIRE, o_s=HOLD, handshake=handshake)
    update: dict[str, Any] = {}
    if queue is not None:
        update["queue"] = waiting_behind(LARGE, queue * G)
    if send_buffer is not None:
        update["send_buffer"] = machine.inter.link_bandwidth.model_copy(update={"value": send_buffer, "interval": None})
    return machine.model_copy(update={"inter": machine.inter.model_copy(update=update)})


def steps(machine: Machine, size: int, iterations: int = 1) -> list[Recorded]:
    """What every rank does in every octant."""
    workload = Workload(
        threads=1,
        buffer=f"{size} B",  # type: ignore[arg-type]
        pattern="sweep3d",
        grid=(2, 2),
        compute=ComputeTime(time=f"{COMPUTE} s"),  # type: ignore[arg-type]
        arrivals=NoArrivals(),
    )
    plan = prepared(machine, workload, BULK, grid=(2, 2))
    return list(record([plan], 0, iterations, 1))


@pytest.mark.parametrize("handshake", [None, HANDSHAKE], ids=["eager", "asks"])
def test_flows_to_both_peers_share_the_cable(handshake: float | None) -> None:
    # Issued at C + h and C + 2 h. Until the second may go the first has the cable for itself; what is left of it then,
    # m - h, takes twice as long. The second is through when both are.
    asks, m = handshake or 0.0, LARGE * G
    first = steps(on(handshake=handshake), LARGE)[0]
    begin = COMPUTE + HOLD + asks
    np.testing.assert_allclose(first.start[1], begin + m + (m - HOLD) + WIRE, rtol=1e-9)
    np.testing.assert_allclose(first.start[2], begin + 2 * m + WIRE, rtol=1e-9)
    # Both send to rank 3, the second of them h later than the first: its port takes in one after the other.
    np.testing.assert_allclose(first.start[3], first.start[1] + begin + 2 * m + WIRE, rtol=1e-9)


def test_a_message_that_has_left_when_the_next_is_issued_shares_nothing() -> None:
    first = steps(on(handshake=None), SMALL)[0]
    np.testing.assert_allclose(first.start[1], COMPUTE + HOLD + SMALL * G + WIRE, rtol=1e-9)
    np.testing.assert_allclose(first.start[2], COMPUTE + 2 * HOLD + SMALL * G + WIRE, rtol=1e-9)


def test_of_a_bucket_only_what_is_left_of_it_is_shared() -> None:
    # After a pause 60 kB are through at once: a message is there after 40 us, though it drains 100 us of the bucket.
    machine = on(handshake=None)
    segment = machine.inter.segments[0]
    small = segment.model_copy(update={"L": segment.L.model_copy(update={"value": WIRE})})
    saved = 60_000 * G
    large = segment.model_copy(
        update={"from_": float(LARGE), "L": segment.L.model_copy(update={"value": WIRE - saved, "interval": None})}
    )
    machine = machine.model_copy(update={"inter": machine.inter.model_copy(update={"segments": (small, large)})})
    first = steps(machine, LARGE)[0]
    alone = LARGE * G - saved
    np.testing.assert_allclose(first.start[1], COMPUTE + HOLD + alone + (alone - HOLD) + WIRE, rtol=1e-9)


@pytest.mark.parametrize(
    ("queue", "waits"),
    [
        (None, 0.0),
        (30_000.0, 30e-6),  # so much lies there at most
        (1e6, LARGE * G),  # all of its own message to rank 3
    ],
)
def test_a_go_ahead_leaves_behind_what_its_rank_has_sent(queue: float | None, waits: float) -> None:
    # Sockets take everything, so that ranks go on as soon as their data may go. In the second octant rank 0 asks for 1
    # at 2 C + 3 h + 1.5 H; rank 1, which has begun at C + H + 2 m + w, is back from its own send at C + h + H after
    # that, answers, and all of its message to 3 lies in its port.
    m = LARGE * G
    first, second = steps(on(queue, send_buffer=1e6), LARGE)[:2]
    np.testing.assert_allclose(first.start[1], COMPUTE + HANDSHAKE + 2 * m + WIRE, rtol=1e-9)
    back = first.start[1] + COMPUTE + HOLD + HANDSHAKE
    np.testing.assert_allclose(second.before[1], back, rtol=1e-9)
    # Rank 2 is back h later and waits as long, so that both share the cable but for that h.
    goes = back + waits + HANDSHAKE / 2
    np.testing.assert_allclose(second.start[1], goes + m + (m - HOLD) + WIRE, rtol=1e-9)


def test_who_may_go_does_not_wait_for_who_may_not() -> None:
    # In the second iteration rank 2 waits for rank 0 since long; rank 1, where the last octant ended, is late by 85 us.
    begin = steps(on(1e6, send_buffer=1e6), LARGE, iterations=2)[8]
    (sent,) = np.nonzero(begin.sender == 0)
    left = dict(zip(begin.receiver[sent].tolist(), begin.left[sent].tolist(), strict=True))
    assert begin.before[2] < begin.start[0] + COMPUTE < begin.before[1]
    np.testing.assert_allclose(left[2], begin.start[0] + COMPUTE + 2 * HOLD + HANDSHAKE, rtol=1e-9)
    assert left[1] >= begin.before[1] + HANDSHAKE / 2
