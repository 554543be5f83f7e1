"""A ring both ways tells how unevenly ports are shared."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pready.calibrate.records import Content
from pready.model import machine as machines
from pready.model.machine_file import dumps
from pready.validate.prove import design, ports
from pready.validate.prove.expected import Expected

MPICH = machines.load("meluxina").model_copy(
    update={
        "library": machines.load("meluxina").library.model_copy(update={"name": "mpich-release", "early_send": None})
    }
)


def measured(on: machines.Machine, shares: dict[str, float], ranks: int = 4, seed: int = 3) -> Content:
    """Records of a ring whose communication takes so much longer."""
    points: dict[str, Any] = {}
    for workload, plan in ports.plans(on, ranks, seed):
        together = 2 * on.inter.segment(workload.buffer).G.value * workload.buffer
        for name, way in ports.ways(on).items():
            even = Expected(on, workload, seed, ports.FIRST, ports.ITERATIONS).of(way.approach).time_s
            one = np.zeros((ports.FIRST + ports.ITERATIONS, ranks, 3))
            one[..., 1], one[..., 2] = 1e-3, 1e-3 + even + shares[name] * together
            for r in range(design.ROUNDS):
                key = way.point(plan.name, r, design.MOST).key("e")
                points[key] = {"record": {"lists": {"ranks_s": one.ravel().tolist()}}}
    for content_points in points.values():
        record = content_points["record"]
        record["lists"]["ranks_s"] = np.reshape(
            record["lists"]["ranks_s"], (ports.FIRST + ports.ITERATIONS, -1)
        ).tolist()
    return replace(Content({}, {}, {}), points=points)


@pytest.mark.parametrize("share", [0.16, 1.02])
def test_what_the_ring_took_longer_comes_back(share: float, tmp_path: Path) -> None:
    shares = {"uneven": share, "uneven_active": 0.6}
    found = ports.known(MPICH, 4, 3, measured(MPICH, shares), "e")
    assert found.inter.uneven is not None
    assert found.inter.uneven_active is not None
    assert found.inter.uneven.value == pytest.approx(share, rel=1e-5)
    assert found.inter.uneven_active.value == pytest.approx(0.6, rel=1e-5)
    file = tmp_path / "m.toml"
    file.write_text(dumps(found), encoding="utf-8")
    assert machines.load(str(file)).inter == found.inter


def test_a_library_whose_partitions_are_messages_has_one_share() -> None:
    other = MPICH.model_copy(update={"library": MPICH.library.model_copy(update={"name": "openmpi-persist"})})
    assert list(ports.ways(other)) == ["uneven"]
    assert list(ports.ways(MPICH)) == ["uneven", "uneven_active"]


def test_two_ranks_cannot_tell() -> None:
    assert list(ports.plans(MPICH, 2, 0)) == []
    assert ports.known(MPICH, 2, 0, measured(MPICH, {"uneven": 1.0, "uneven_active": 1.0}), "e") == MPICH


def test_no_shorter_than_shared_evenly() -> None:
    found = ports.known(MPICH, 4, 3, measured(MPICH, {"uneven": -0.2, "uneven_active": 0.0}), "e")
    assert found.inter.uneven is not None
    assert found.inter.uneven.value == 0
    assert found.inter.uneven.interval is None
