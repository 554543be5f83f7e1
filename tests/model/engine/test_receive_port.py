"""What several ranks send to one shares its port: known answers with their derivation."""

from typing import Any

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
    on = ideal(G=1e-9, link=1e9, L=WIRE, **{"g": GAP} | machine)
    buffer = f"{BYTES * approach.messages} B"
    workload = workload_of(threads=threads, buffer=buffer, pattern="neighbours", neighbours=4)
    out = simulate(on, workload, approach, grid=(len(to),), neighbours=to, iterations=1, record=True)
    assert out.received_s is not None
    return [float(t) - 1e-3 for t in out.received_s[0]]


THROUGH = [3 * PORT - apart * GAP for apart in (2.5, 0.5, 0.0)]
"""Three flows come to a port g apart: the second when the first has had g of it, the third 1/2 g more of each. So the
first is through 2 g before the second, of the two that are left, and this g/2 before the last."""


def test_what_one_rank_sends_has_waited_at_its_own_port() -> None:
    # Three messages of rank 0 to three ranks share its port, to one leave g + G m apart; none waits once more.
    apart = received([[1, 2, 3], [], [], []], Approach(SINGLE))
    assert apart[1:] == pytest.approx([end - GAP + WIRE for end in THROUGH], rel=1e-9)
    together = received([[1], []], Approach(MANY, 3), threads=3)
    assert together[1] == pytest.approx(LINK + WIRE + 2 * PORT, rel=1e-9)


@pytest.mark.parametrize("k", [1, 2, 6, 26])
def test_equal_messages_to_as_many_destinations_all_arrive_when_the_port_has_taken_all(k: int) -> None:
    apart = received([[*range(1, k + 1)], *([[]] * k)], Approach(SINGLE), g=0.0)
    assert apart[1:] == pytest.approx([k * LINK + WIRE] * k, rel=1e-9)
    # As many to each: those to one destination in order, the last of all together.
    some = received([[*range(1, k + 1)], *([[]] * k)], Approach(MANY, 3), threads=3, g=0.0)
    assert some[1:] == pytest.approx([3 * k * LINK + WIRE] * k, rel=1e-9)


@pytest.mark.parametrize("receive", [0.0, 5e-7, PORT, 3e-6])
def test_port_then_cpu(receive: float) -> None:
    # One CPU behind the port.
    to, end = [[], [0], [0], [0]], 0.0
    for through in THROUGH:
        end = max(end, through - GAP + WIRE) + receive
    assert received(to, Approach(SINGLE), o_r=receive)[0] == pytest.approx(end, rel=1e-9)


@pytest.mark.parametrize(
    ("receive", "expected"),
    [
        # Two ranks send on VCIs 0 and 1. The first come g apart and are through at 2 P - g and g later; then the second
        # ones, of VCI 1, one after the first of them, the other after that: 4 P - g and 4 P, and P earlier less g.
        (5e-8, 3 * PORT + 5e-8),
        (3e-6, 3 * PORT - GAP + 2 * 3e-6),
    ],
)
def test_one_port_for_all_vcis(receive: float, expected: float) -> None:
    got = received([[], [0], [0]], Approach(MANY, 2, 2), threads=2, o_r=receive)
    assert got[0] == pytest.approx(LINK + WIRE + expected, rel=1e-9)
