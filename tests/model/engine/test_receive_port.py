"""What several ranks send to one shares its port: known answers with their derivation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from machines import ideal
from workloads import workload_of

from pready.model.approach.interfaces import MANY, SINGLE, Approach
from pready.model.engine import simulate

BYTES = 1000
LINK, GAP, WIRE = 1e-6, 1e-7, 2e-6
"""Of one message of that size, in s."""
PORT = LINK + GAP


def received(to: list[list[int]], approach: Approach, threads: int = 1, **machine: Any) -> list[float]:
    """Seconds after everyone's partitions were ready at which each rank has received everything."""
    on = ideal(G=1e-9, link=1e9, L=WIRE, g=GAP, **machine)
    buffer = f"{BYTES * approach.messages} B"
    workload = workload_of(threads=threads, buffer=buffer, pattern="neighbours", neighbours=4)
    out = simulate(on, workload, approach, grid=(len(to),), neighbours=to, iterations=1, record=True)
    assert out.received_s is not None
    return [float(t) - 1e-3 for t in out.received_s[0]]


@pytest.mark.parametrize("senders", [1, 2, 3])
def test_several_ranks_share_the_port_of_one(senders: int) -> None:
    # All leave at 0; the first is there at G m + L, each of the others g + G m after the one before.
    to = [[], *([[0]] * senders)]
    expected = LINK + WIRE + (senders - 1) * PORT
    assert received(to, Approach(SINGLE))[0] == pytest.approx(expected, rel=1e-9)


def test_what_one_rank_sends_has_waited_at_its_own_port() -> None:
    # Three messages of rank 0 leave g + G m apart, and come to three ranks, or to one, without waiting once more.
    apart = received([[1, 2, 3], [], [], []], Approach(SINGLE))
    expected = LINK + WIRE + np.arange(3) * PORT
    assert apart[1:] == pytest.approx(expected.tolist(), rel=1e-9)
    together = received([[1], []], Approach(MANY, 3), threads=3)
    assert together[1] == pytest.approx(expected[-1], rel=1e-9)


@pytest.mark.parametrize("receive", [0.0, 5e-7, PORT, 3e-6])
def test_port_then_cpu(receive: float) -> None:
    # One CPU behind the port: a message every max(g + G m, o_r).
    to = [[], [0], [0], [0]]
    expected = LINK + WIRE + 2 * max(PORT, receive) + receive
    assert received(to, Approach(SINGLE), o_r=receive)[0] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("receive", "expected"),
    [
        # Two ranks send on VCIs 0 and 1: left at 0, 0, P, P, through the port at 0, P, 2P, 3P. VCI 1 has the last two.
        (5e-7, 3 * PORT + 5e-7),  # both CPUs are faster than the port
        (3e-6, 2 * PORT + 2 * 3e-6),  # slower: VCI 1 begins with its first at 2P; VCI 0 ends at 2 o_r
    ],
)
def test_one_port_for_all_vcis(receive: float, expected: float) -> None:
    got = received([[], [0], [0]], Approach(MANY, 2, 2), threads=2, o_r=receive)
    assert got[0] == pytest.approx(LINK + WIRE + expected, rel=1e-9)
