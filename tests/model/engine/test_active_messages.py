"""Active messages that their receivers fetch: known answers with their derivation."""

from typing import Any

import numpy as np
import pytest
from machines import ideal
from on_ranks import simulate
from workloads import workload_of

from pready.model.approach.interfaces import PART_AM, SINGLE, Approach

G, WIRE, COMPUTE = 1e-9, 2e-6, 1e-3
FETCHED = int(PART_AM.fetched_from)


def run(
    to: list[list[int]],
    sizes: list[list[float]],
    interface: Any,
    receiver: str = "computing",
    progress: str = "hardware",
) -> Any:
    """Two iterations of a list."""
    buffer = f"{max(max(s, default=1.0) for s in sizes):.0f} B"
    workload = workload_of(threads=1, buffer=buffer, pattern="neighbours", neighbours=2, receiver=receiver)
    machine = ideal(G=G, link=1 / G, L=WIRE, progress=progress)
    return simulate(
        machine, workload, Approach(interface), grid=(len(to),), neighbours=to, neighbour_sizes=sizes, iterations=2,
        record=True,
    )  # fmt: skip


LONG = 400_000.0
"""Bytes that keep rank 1 longer in the first iteration, by 0.4 ms."""


@pytest.mark.parametrize("progress", ["hardware", "on-call", "thread"])
@pytest.mark.parametrize("size", [FETCHED - 1, FETCHED])
def test_from_16_kib_on_the_data_wait_for_a_receiver_inside_mpi(size: int, progress: str) -> None:
    # Rank 1 gets 400 kB from 2 in each iteration, and so begins the second one later than 0. What it has not asked for
    # by then goes when it is back from computing, beside these; with a thread that makes progress, when it has posted
    # its receive.
    out = run([[1], [], [1]], [[float(size)], [], [LONG]], PART_AM, progress=progress)
    ends = out.ends_s
    issued, joins = ends[0][0] + COMPUTE, ends[0][1] + COMPUTE
    assert issued > ends[0][1]  # rank 1 has posted, and computes
    waits = size >= FETCHED and progress != "thread"
    done = ends[1][0]  # a fetched one is complete when it has left, another when it is issued
    expected = (joins + 2 * size * G) if waits else issued + (size * G if size >= FETCHED else 0.0)
    np.testing.assert_allclose(done, expected, rtol=1e-9)


def test_an_active_message_goes_when_its_own_receiver_has_let_it() -> None:
    # Rank 0 sends to 1 and to 2; rank 2 begins its second iteration late, for what it gets from 3. Rank 1 has its
    # message as if that were not so.
    sizes = [[1000.0, 1000.0], [], [], [LONG]]
    late = run([[1, 2], [], [], [2]], sizes, PART_AM, "waiting")
    free = run([[1, 2], [], [], [2]], [[1000.0, 1000.0], [], [], [1000.0]], PART_AM, "waiting")
    assert late.ends_s[0][2] > free.ends_s[0][2] + 0.9 * LONG * G
    assert late.received_s[1][1] == free.received_s[1][1]


def test_messages_without_a_handshake_wait_for_nobody() -> None:
    out = run([[1], [], [1]], [[float(FETCHED)], [], [LONG]], SINGLE)
    np.testing.assert_allclose(out.ends_s[1][0], out.ends_s[0][0] + COMPUTE, rtol=1e-9)
