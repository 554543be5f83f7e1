"""What several ranks send to one shares its port, and waits for it: known answers with their derivation."""

from typing import Any

import numpy as np
import pytest
from machines import ideal
from on_ranks import simulate
from workloads import workload_of

from pready.model.approach.interfaces import MANY, SINGLE, Approach

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


def periods(senders: int, compute: str, **machine: Any) -> np.ndarray:
    """Seconds from one iteration's end to the next, of the ranks that send to rank 0, and of rank 0: 100 us each on its
    port."""
    workload = workload_of(threads=1, buffer="100 kB", pattern="neighbours", neighbours=1, compute={"time": compute})
    workload = workload.model_copy(update={"receiver": "computing"})
    to: list[list[int]] = [[], *([[0]] * senders)]
    on = ideal(G=1e-9, link=1e9, **machine)
    out = simulate(on, workload, Approach(SINGLE), grid=(senders + 1,), neighbours=to, iterations=8, record=True)
    assert out.ends_s is not None
    made: np.ndarray = np.diff(out.ends_s, axis=0)
    return made


@pytest.mark.parametrize("progress", ["hardware", "on-call"])
@pytest.mark.parametrize("senders", [1, 2, 3, 5])
def test_a_rendezvous_is_complete_when_its_receiver_s_port_has_taken_it(senders: int, progress: str) -> None:
    # All compute 1 ms, ask and are answered; all messages share the port, and are through together. Then all go on.
    every = periods(senders, "1 ms", handshake=1e-12, progress=progress)
    assert every == pytest.approx(1e-3 + senders * 1e-4, rel=1e-6)


@pytest.mark.parametrize("senders", [1, 2, 3, 5])
def test_a_port_takes_an_exchange_after_the_one_before(senders: int) -> None:
    # An eager send is complete when it is copied: senders go on after 200 us. What three or more of them send takes the
    # port longer; it is never idle, and its rank falls back.
    every = periods(senders, "200 us")
    assert every[:, 1:] == pytest.approx(2e-4, rel=1e-9)
    assert every[:, 0] == pytest.approx(max(2e-4, senders * 1e-4), rel=1e-9)
