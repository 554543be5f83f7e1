"""Go-aheads that leave behind data: known answers with their derivation."""

from __future__ import annotations

import heapq
import math
from typing import Any

import numpy as np
import pytest
from machines import ideal, waiting_behind

from pready.model.arrival_models import NoArrivals
from pready.model.engine import simulate
from pready.model.exchange import ComputeTime
from pready.model.interfaces import BULK, SINGLE, Approach
from pready.model.machine import Machine
from pready.model.random_draws import uniforms
from pready.model.workload import Workload

HOLD, HANDSHAKE, WIRE, COMPUTE = 10e-6, 2e-6, 3e-6, 1e-3
BYTES, G = 100_000, 1e-9


def on(queue: float | None, jitter: float | None = None, *, backlog: float | None = None, **others: Any) -> Machine:
    """A machine whose go-aheads wait behind as many bytes at most, or, as what asks, for at most `backlog` seconds."""
    machine = ideal(G=G, link=1 / G, L=WIRE, o_s=HOLD, handshake=HANDSHAKE, **others)
    update: dict[str, Any] = {}
    if queue is not None:
        update["queue"] = waiting_behind(BYTES, queue * G)
    if backlog is not None:
        update["backlog"] = waiting_behind(BYTES, backlog)
    if jitter is not None:
        update["jitter"] = machine.inter.link_bandwidth.model_copy(update={"value": jitter, "interval": None})
    return machine.model_copy(update={"inter": machine.inter.model_copy(update=update)})


def run(machine: Machine, to: list[list[int]], sizes: list[list[float]] | None = None, iterations: int = 1) -> Any:
    workload = Workload(
        threads=1,
        buffer=f"{BYTES} B",  # type: ignore[arg-type]
        pattern="neighbours",
        neighbours=2,
        compute=ComputeTime(time=f"{COMPUTE} s"),  # type: ignore[arg-type]
        arrivals=NoArrivals(),
    )
    return simulate(
        machine, workload, Approach(SINGLE), grid=(len(to),), neighbours=to, neighbour_sizes=sizes,
        iterations=iterations, record=True, seed=5,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("queue", "waits"),
    [
        (None, 0.0),
        (30_000.0, 30e-6),  # so much lies there at most
        (1e6, 91e-6),  # all that is left of the message
    ],
)
def test_a_go_ahead_leaves_behind_what_its_rank_sends(queue: float | None, waits: float) -> None:
    # Rank 1 sends to 2: issued at 10 us, answered 2 us later, in its port from 12 to 112 us. Rank 0 sends 100 B to 3,
    # and then to 1: issued at 20 us, so that its request is there at 21, with 91 us of rank 1's message yet to go. Its
    # own message goes 1 us after the go-ahead does, takes 100 us, and arrives 3 us later.
    out = run(on(queue), [[3, 1], [2], [], []], [[100.0, BYTES], [BYTES], [], []])
    received = out.received_s[0] - COMPUTE
    np.testing.assert_allclose(received[1], 21e-6 + waits + 1e-6 + BYTES * G + WIRE, rtol=1e-9)
    np.testing.assert_allclose(received[2], 12e-6 + BYTES * G + WIRE, rtol=1e-9)  # rank 2 sends nothing


@pytest.mark.parametrize(
    ("backlog", "there", "back"),
    [
        (None, 0.0, 0.0),
        (5e-6, 5e-6, 5e-6),  # so much lies there at most
        (1e-3, 8e-6, 9e-6),  # what came since 12 us at twice the rate at which it goes
    ],
)
def test_what_asks_and_a_go_ahead_wait_behind_what_comes_to_the_same_rank(
    backlog: float | None, there: float, back: float
) -> None:
    # Ranks 1 and 2 send to 0: issued at 10 us, answered 2 us later, so that 100 us of data each come to its port from
    # 12 on, and at 12 + x lie there x. Rank 3 sends 100 B to 4, and then to 0: it asks at 20, when 8 us lie there.
    # Rank 0 sends 100 B to 4, and then to 5: the go-ahead, given at 21, finds 9 us.
    to = [[4, 5], [0], [0], [4, 0], [], []]
    sizes: list[list[float]] = [[100.0, BYTES], [BYTES], [BYTES], [100.0, BYTES], [], []]
    out = run(on(None, backlog=backlog), to, sizes)
    ends = out.ends_s[0] - COMPUTE
    np.testing.assert_allclose(ends[3], 20e-6 + there + 2e-6 + BYTES * G, rtol=1e-9)
    np.testing.assert_allclose(out.received_s[0][5] - COMPUTE, 21e-6 + back + 1e-6 + BYTES * G + WIRE, rtol=1e-9)
    np.testing.assert_allclose(ends[1], 12e-6 + BYTES * G, rtol=1e-9)  # nothing lay there when it asked


def test_a_cable_is_never_idle_while_something_may_go() -> None:
    # Ranks 1 and 2 send to 0, as above. Rank 3 sends 100 B to 5 and to 6, and then asks 0, at 30 us, when 18 us lie
    # there: that message may go at 50. The next, to 4, is issued at 40 and may go at 42: it does not wait for that one.
    to = [[], [0], [0], [5, 6, 0, 4], [], [], []]
    sizes: list[list[float]] = [[], [BYTES], [BYTES], [100.0, 100.0, BYTES, BYTES], [], [], []]
    out = run(on(None, backlog=1e-3), to, sizes)
    np.testing.assert_allclose(out.received_s[0][4] - COMPUTE, 42e-6 + BYTES * G + WIRE, rtol=1e-9)
    np.testing.assert_allclose(out.ends_s[0][3] - COMPUTE, 42e-6 + 2 * BYTES * G, rtol=1e-9)


def test_what_one_rank_alone_sends_does_not_pile_up() -> None:
    ring = [[1], [2], [3], [0]]
    np.testing.assert_array_equal(
        run(on(None, 3e-6, backlog=1e-3), ring, iterations=8).ends_s,
        run(on(None, 3e-6, backlog=1e-12), ring, iterations=8).ends_s,
    )


def test_without_jitter_a_ring_in_step_never_waits() -> None:
    ring = [[1], [2], [3], [0]]
    np.testing.assert_array_equal(run(on(1e6), ring, iterations=8).ends_s, run(on(None), ring, iterations=8).ends_s)


def in_causal_order(ranks: int, queue: float, jitter: float, iterations: int) -> list[list[float]]:
    """Ends of a ring, event by event: what a go-ahead waits for is what was handed to the port before it."""
    starts, busy = [0.0] * ranks, [-math.inf] * ranks
    late = [2 * jitter * uniforms(5, r, range(iterations), 1, 2)[:, 0] for r in range(ranks)]
    ends = []
    for k in range(iterations):
        ready = [starts[r] + COMPUTE + late[r][k] for r in range(ranks)]
        received, done = [-math.inf] * ranks, [-math.inf] * ranks
        events = [(ready[r] + HOLD + HANDSHAKE / 2, "asked", r) for r in range(ranks)]
        heapq.heapify(events)
        while events:
            time, what, r = heapq.heappop(events)
            to = (r + 1) % ranks
            if what == "asked":
                waits = min(max(busy[to] - time, 0.0), queue * G)
                heapq.heappush(events, (time + waits + HANDSHAKE / 2, "may go", r))
            else:
                busy[r] = done[r] = max(time, busy[r]) + BYTES * G
                received[to] = done[r] + WIRE
        starts = [max(received[r], done[r], ready[r]) for r in range(ranks)]
        ends.append(starts)
    return ends


@pytest.mark.parametrize("jitter", [2e-6, 40e-6])
@pytest.mark.parametrize("queue", [30_000.0, 1e6])
@pytest.mark.parametrize("ranks", [3, 4, 7])
def test_a_ring_equals_its_events_in_causal_order(ranks: int, queue: float, jitter: float) -> None:
    ring = [[(r + 1) % ranks] for r in range(ranks)]
    out = run(on(queue, jitter), ring, iterations=30)
    np.testing.assert_allclose(out.ends_s, in_causal_order(ranks, queue, jitter, 30), rtol=1e-9)
    step = run(on(None), ring, iterations=30)
    # Not in step once, they are never again: whoever is ahead has data in its port.
    assert (out.communication_s[10:] > step.communication_s[10:] + 0.1 * BYTES * G).all()


def test_who_posts_late_answers_at_once_what_has_asked_before() -> None:
    """Rank 0 sends to 1, and 1 and 2 to each other 4 ms longer, so that 1 begins its second iteration late.

    Rank 0 begins it when its first message has left, computes for 1 ms, asks 11 us later, and then waits until 1 is
    inside MPI again: not until its threads have met, for MPI_Irecv finds what has asked and answers it.
    """
    long = 4_000_000.0
    out = run(on(None), [[1], [2], [1]], [[BYTES], [long], [long]], iterations=2)
    assert out.ends_s[0][1] > out.ends_s[0][0] + COMPUTE + HOLD + HANDSHAKE
    # Rank 1 posts, answers 0 there and computes; what 0 sends comes as long as 0 is not back from MPI.
    goes = out.ends_s[0][1] + HANDSHAKE / 2
    np.testing.assert_allclose(out.ends_s[1][0], goes + BYTES * G, rtol=1e-9)
    assert goes + BYTES * G < out.ends_s[0][1] + COMPUTE  # while rank 1 computes


@pytest.mark.parametrize(
    ("pattern", "grid"), [({"pattern": "pt2pt", "both_ways": True}, (2,)), ({"pattern": "halo3d"}, (2, 2, 2))]
)
def test_two_ranks_and_halos_do_not_wait_for_go_aheads(pattern: dict[str, Any], grid: tuple[int, ...]) -> None:
    workload = Workload(
        threads=1,
        buffer=f"{BYTES} B",  # type: ignore[arg-type]
        **pattern,
        compute=ComputeTime(time=f"{COMPUTE} s"),  # type: ignore[arg-type]
        arrivals=NoArrivals(),
    )
    runs = [simulate(m, workload, BULK, grid=grid, iterations=5, record=True) for m in (on(None), on(1e6, 5e-6))]
    np.testing.assert_array_equal(runs[0].ends_s, runs[1].ends_s)
