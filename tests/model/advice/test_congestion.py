"""The most loaded link: counted by hand, by a plain walk, and never longer than what SST simulated."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pready.model.advice.congestion import Flows, bound, share_taken, torus_loads
from pready.model.advice.predict import predict
from pready.model.common.errors import PreadyError
from pready.model.machine.machine import Machine, Network, load
from pready.model.workload.workload import Workload

SECONDS = 192 * 1024 / 25e9
"""Of one buffer on MeluXina's cable."""


def machine(**network: Any) -> Machine:
    found = Network.model_validate({"source": "assumed", "why": "a test", **network})
    return load("meluxina").model_copy(update={"network": found})


def torus(*extents: int) -> Machine:
    return machine(topology="torus", extents=list(extents))


def fattree(taper: float, nodes: int = 8) -> Machine:
    return machine(topology="fattree", nodes_per_switch=nodes, taper=taper)


def workload(**fields: Any) -> Workload:
    base: dict[str, Any] = {
        "name": "h",
        "threads": 8,
        "buffer": "192 KiB",
        "pattern": "halo3d",
        "grid": [4, 4, 4],
        "receiver": "computing",
        "compute": {"time": "500 us"},
        "arrivals": {"model": "normal by thread", "spread": 0.04},
    }
    return Workload.model_validate(base | fields)


# Buffers on the most loaded link. On the halo's own torus, each link carries one. Of 8 nodes (4 along x, 2
# along y) on a switch, each has both neighbours along x there, one of two along y, none along z: 8 × 3 leave,
# over 8 / taper cables, at least one.
@pytest.mark.parametrize(
    ("on", "buffers"),
    [(torus(4, 4, 4), 1), (fattree(1), 3), (fattree(2), 6), (fattree(4), 12), (fattree(8), 24), (fattree(16), 24)],
)
def test_buffers_on_the_most_loaded_link(on: Machine, buffers: float) -> None:
    found = bound(on, workload())
    assert found is not None
    assert found.link == pytest.approx(buffers * SECONDS)
    assert found.cable == pytest.approx(6 * SECONDS)


def walked(extents: list[int], flows: list[tuple[int, int, int]]) -> dict[tuple[int, int, int], int]:
    """Bytes by (node, axis, direction), each message moved node by node."""
    loads: dict[tuple[int, int, int], int] = {}

    def place(rank: int) -> list[int]:
        out = []
        for n in extents:
            out.append(rank % n)
            rank //= n
        return out

    def node(at: list[int]) -> int:
        rank = 0
        for n, x in zip(reversed(extents), reversed(at), strict=True):
            rank = rank * n + x
        return rank

    for source, destination, size in flows:
        at, goal = place(source), place(destination)
        for axis, n in enumerate(extents):
            while at[axis] != goal[axis]:
                down = (at[axis] - goal[axis]) % n < (goal[axis] - at[axis]) % n
                key = (node(at), axis, int(down))
                loads[key] = loads.get(key, 0) + size
                at[axis] = (at[axis] + (-1 if down else 1)) % n
    return loads


@given(st.data())
def test_a_torus_is_walked_link_by_link(data: st.DataObject) -> None:
    extents = data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=3))
    nodes = int(np.prod(extents))
    rank = st.integers(0, nodes - 1)
    flows = data.draw(st.lists(st.tuples(rank, rank, st.integers(1, 100)), min_size=1, max_size=20))
    source, destination, size = (np.array(c) for c in zip(*flows, strict=True))
    found = torus_loads(tuple(extents), Flows(source, destination, size.astype(float)))
    expected = np.zeros_like(found)
    for (at, axis, way), load_ in walked(extents, flows).items():
        expected[axis, way, at] = load_
    assert (found == expected).all()


# The longest exchange of any rank in SST (snapshots of 2026-07 and 2026-08, MeluXina calibrated), in us: 64
# ranks, bulk, all ready at once. Taken with `pready.sst`; tests/sst runs one of them again.
SIMULATED = [
    (torus(4, 4, 4), "halo3d", "192 KiB", 51.8),
    (torus(8, 8), "halo3d", "192 KiB", 87.5),
    (torus(16, 4), "halo3d", "192 KiB", 60.6),
    (fattree(1), "halo3d", "192 KiB", 52.5),
    (fattree(2), "halo3d", "192 KiB", 53.2),
    (fattree(4), "halo3d", "192 KiB", 98.1),
    (fattree(8), "halo3d", "192 KiB", 192.9),
    (torus(8, 8), "halo3d", "768 KiB", 342.4),
    (fattree(4), "halo3d", "768 KiB", 381.6),
    (torus(4, 4, 4), "halo3d26", "96 KiB", 146.3),
    (torus(16, 4), "halo3d26", "96 KiB", 240.0),
    (fattree(1), "halo3d26", "96 KiB", 111.7),
    (fattree(2), "halo3d26", "96 KiB", 169.7),
    (fattree(4), "halo3d26", "96 KiB", 358.2),
    (fattree(8), "halo3d26", "96 KiB", 665.6),
]


@pytest.mark.parametrize(("on", "pattern", "size", "simulated_us"), SIMULATED)
def test_the_bound_is_below_sst_and_near(on: Machine, pattern: str, size: str, simulated_us: float) -> None:
    found = bound(on, workload(pattern=pattern, buffer=size))
    assert found is not None
    least = 1e6 * max(found.link, found.cable)
    assert least <= simulated_us <= 1.5 * least


# The same with 4 % noise, and in two messages: means over ranks on one router and on the network, in us.
ALONE = (71.5, 62.0)
NOISY = [
    (torus(8, 8), 83.9, 75.4),
    (torus(16, 4), 71.7, 61.8),
    (fattree(2), 70.9, 60.1),
    (fattree(4), 96.9, 88.3),
    (fattree(8), 173.3, 177.1),
]


@pytest.mark.parametrize(("on", "bulk", "many"), NOISY)
def test_what_the_link_takes_of_the_gain_is_what_sst_loses(on: Machine, bulk: float, many: float) -> None:
    found = bound(on, workload())
    assert found is not None
    # Both wait for the same traffic.
    assert many - ALONE[1] == pytest.approx(bulk - ALONE[0], rel=0.15, abs=1.5)
    said = share_taken(ALONE[0] * 1e-6, ALONE[1] * 1e-6, found.link)
    lost = 1 - (bulk / many - 1) / (ALONE[0] / ALONE[1] - 1)
    if said == 0:
        assert lost < 0.05
    else:
        assert said == pytest.approx(np.clip(lost, 0, 1), abs=0.35)


def test_the_share_by_hand() -> None:
    # 60 against 50 us is 1.2; a link that needs 80 us makes it 80 against 70: 0.143 of 0.2 is left.
    assert share_taken(60, 50, 80) == pytest.approx(1 - (80 / 70 - 1) / 0.2)
    assert share_taken(60, 50, 60) == 0
    assert share_taken(50, 60, 80) == 0


@pytest.mark.thorough
def test_predict_warns_only_where_the_network_is_the_limit() -> None:
    # MeluXina's ranks progress only in calls and gain nothing in a halo: here they progress by themselves.
    def warned(on: Machine) -> list[str]:
        eager = on.model_copy(update={"progress": on.progress.model_copy(update={"value": "thread"})})
        return [w for w in predict(eager, workload(), draws=0).advice.warnings if "congestion" in w]

    assert warned(load("meluxina")) == []
    assert warned(fattree(1)) == []
    (said,) = warned(fattree(8))
    assert "on a fat tree tapered 8:1, each exchange keeps the links out of a switch busy for at least 189 us" in said
    assert "`pready sst run --topology fattree:8:8`" in said
    (small,) = warned(torus(2, 2))
    assert "is not estimated: network = a 2 x 2 torus is too small for 64 nodes" in small


def test_nothing_is_said_of_what_meets_no_one() -> None:
    on = fattree(8)
    assert bound(load("meluxina"), workload()) is None
    assert bound(on, workload(pattern="sweep3d", grid=[8, 8])) is None
    assert bound(on, workload(pattern="neighbours", neighbours=3, grid=None)) is None


def test_pairs_and_lists() -> None:
    on = fattree(2, nodes=2)
    pairs = bound(on, workload(pattern="pt2pt", grid=[8]))
    assert pairs is not None
    assert pairs.link == 0  # both on one switch
    # Ranks 0 and 1 both send to 2 and 3, over one cable.
    listed = bound(on, workload(pattern="neighbours", grid=None, neighbour_list=[[2, 3], [2, 3], [0], [1]]))
    assert listed is not None
    assert listed.link == pytest.approx(4 * SECONDS)
    assert listed.cable == pytest.approx(2 * SECONDS)


@pytest.mark.parametrize(
    "fields",
    [
        {"topology": "torus"},
        {"topology": "torus", "extents": [4], "nodes_per_switch": 2},
        {"topology": "torus", "extents": [4], "taper": 2.0},
        {"topology": "fattree", "extents": [4]},
        {"topology": "fattree", "nodes_per_switch": 4, "taper": 0.5},
        {"topology": "ring", "extents": [4]},
        {"topology": "torus", "extents": []},
    ],
)
def test_networks_that_make_no_sense(fields: dict[str, Any]) -> None:
    with pytest.raises((PreadyError, ValueError)):
        machine(**fields)
