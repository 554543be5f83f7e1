"""Flows that share ports unevenly: known answers with their derivation."""

from __future__ import annotations

import pytest
from machines import ideal

from pready.model.arrival_models import NoArrivals
from pready.model.engine import simulate
from pready.model.exchange import ComputeTime
from pready.model.interfaces import SINGLE, Approach
from pready.model.machine import Machine
from pready.model.values import Value
from pready.model.workload import Workload

BYTES, LINK, WIRE, COMPUTE = 1000, 1e-6, 2e-6, 1e-5


def shaped(burst: float) -> Machine:
    """A link of 100 MB/s that lets a burst through at 1 GB/s: the lines of one message alone cross there."""
    plain = ideal(G=1e-9, link=1e9, L=WIRE)
    quick = plain.inter.segments[0]

    def value(x: float) -> Value[float]:
        return quick.G.model_copy(update={"value": x, "interval": None})

    late = {"from_": burst + 1, "G": value(1e-8), "L": value(WIRE - 9e-9 * burst)}
    segments = (quick, quick.model_copy(update=late))
    return plain.model_copy(
        update={"inter": plain.inter.model_copy(update={"burst": value(burst), "segments": segments})}
    )


def received(to: list[list[int]], uneven: float | None, on: Machine | None = None) -> list[float]:
    """When each rank has received everything, in seconds after all partitions were ready."""
    on = on or ideal(G=1e-9, link=1e9, L=WIRE)
    share = None if uneven is None else on.inter.link_bandwidth.model_copy(update={"value": uneven, "interval": None})
    on = on.model_copy(update={"inter": on.inter.model_copy(update={"uneven": share})})
    workload = Workload(
        threads=1,
        buffer=f"{BYTES} B",  # type: ignore[arg-type]
        pattern="neighbours",
        neighbours=3,
        compute=ComputeTime(time=f"{COMPUTE} s"),  # type: ignore[arg-type]
        arrivals=NoArrivals(),
    )
    out = simulate(on, workload, Approach(SINGLE), grid=(len(to),), neighbours=to, iterations=1, record=True)
    assert out.received_s is not None
    return [float(t) - COMPUTE for t in out.received_s[0]]


RING = [[1], [2], [3], [0]]
BOTH_WAYS = [[1, 3], [2, 0], [3, 1], [0, 2]]
ALL = [[1, 2, 3], [2, 3, 0], [3, 0, 1], [0, 1, 2]]
FAN_IN: list[list[int]] = [[], [0], [0], [0]]
FAN_OUT: list[list[int]] = [[1, 2, 3], [], [], []]


@pytest.mark.parametrize(
    ("to", "messages"),
    [
        (BOTH_WAYS, 2),  # each rank's two windows of 2 LINK overlap wholly
        (ALL, 3),  # three windows of 3 LINK: covered 9, wide 3, over k - 1 = 2
        (RING, 0),
        (FAN_IN, 0),  # nobody sends elsewhere
        (FAN_OUT, 0),  # one flow per port
    ],
)
@pytest.mark.parametrize("u", [0.25, 1.5])
def test_ports_that_several_flows_share_at_both_ends(to: list[list[int]], messages: int, u: float) -> None:
    even, uneven = received(to, None), received(to, u)
    assert received(to, 0.0) == even
    expected = [t + u * messages * LINK for t in even]
    assert uneven == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("burst", "longer"), [(1000, 11), (2000, 11), (3000, 2)])
def test_sharing_slows_the_bucket_of_a_shaped_link(burst: int, longer: float) -> None:
    # Each rank's two messages take LINK each at once, and fill the bucket's room of (burst - 1000 B) by 10 LINK each at
    # its rate, so that the second leaves (10 LINK - 9 ns times the room) after the first, at least LINK. Shared, both
    # take u longer: the second comes 10 u later by its bucket where that is what it waits for, else u, and takes u.
    u = 0.25
    even, uneven = (received(BOTH_WAYS, share, shaped(burst)) for share in (None, u))
    assert uneven == pytest.approx([t + u * longer * LINK for t in even], rel=1e-9)


def test_ranks_that_send_one_after_the_other_do_not_meet() -> None:
    # Ranks 1 and 2 send to 0 and to 3; rank 1 has nothing to send to 3, and so shares nothing.
    even, uneven = (received([[], [0], [0, 3], []], u) for u in (None, 1.0))
    assert even == uneven
