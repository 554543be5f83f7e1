"""Rings tell behind how much data go-aheads leave, and how unevenly ports are shared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pready.calibrate.records import Content
from pready.model import machine as machines
from pready.model.files import validated
from pready.model.interfaces import BULK, PART_AM
from pready.model.machine_file import dumps
from pready.validate.live.compare import halved_bandwidth
from pready.validate.prove import design, ports
from pready.validate.prove.rings import FIRST, Ring


def of_library(name: str) -> machines.Machine:
    machine = machines.load("meluxina")
    return machine.model_copy(update={"library": machine.library.model_copy(update={"name": name, "early_send": None})})


def leaving_behind(machine: machines.Machine, queue: machines.SizeCurve, jitter: float) -> machines.Machine:
    late = machine.inter.link_bandwidth.model_copy(update={"value": jitter, "interval": None})
    return machine.model_copy(update={"inter": machine.inter.model_copy(update={"queue": queue, "jitter": late})})


def eager(machine: machines.Machine) -> machines.Machine:
    """The same, none of whose messages ask."""
    segments = tuple(s for s in machine.inter.segments if s.protocol != "rendezvous")
    return machine.model_copy(update={"inter": machine.inter.model_copy(update={"segments": segments})})


def slowed(machine: machines.Machine, bytes_per_s: float) -> machines.Machine:
    """Its bandwidth halved until it is no more than that."""
    while machine.bandwidth > bytes_per_s:
        machine = halved_bandwidth(machine)
    return machine


MPICH, OPENMPI = of_library("mpich-release"), of_library("openmpi-persist")
RANKS, SEED = 4, 3
ASKS_FROM = next(s.from_ for s in MPICH.inter.segments if s.protocol == "rendezvous")


def measured(
    on: machines.Machine,
    shares: Mapping[str, float],
    queue: machines.SizeCurve | None = None,
    jitter: float = 0.0,
    epoch: float = 0.0,
) -> Content:
    """Records of rings whose communication takes so much longer, go-aheads in a `queue` and ranks in an `epoch`."""
    points: dict[str, Any] = {}
    rng = np.random.default_rng(SEED)
    true = on if queue is None else leaving_behind(on, queue, jitter)
    waits = true.one_sided.epoch.model_copy(update={"value": true.one_sided.epoch.value + epoch, "interval": None})
    true = true.model_copy(update={"one_sided": true.one_sided.model_copy(update={"epoch": waits, "flush": waits})})

    def keep(of: Ring, time: float) -> None:
        for r in range(design.ROUNDS):
            one = np.zeros((FIRST + of.iterations, RANKS, 3))
            one[..., 1] = 1e-3 + 2 * jitter * rng.uniform(size=one[..., 1].shape)
            one[..., 2] = one[..., 1] + time
            record = {"lists": {"ranks_s": one.reshape(len(one), -1).tolist()}}
            points[of.way.point(of.plan.name, r, design.MOST).key("e")] = {"record": record}

    for of in ports.one_way(on, RANKS, SEED):
        keep(of, of.expected(true).median_time(of.way.approach))
    for of in ports.epochs(on, RANKS, SEED).values():
        keep(of, of.expected(true).of(of.way.approach).time_s)
    for name, rings in ports.both_ways(on, RANKS, SEED).items():
        for of in rings:
            together = 2 * on.inter.segment(of.workload.buffer).G.value * of.workload.buffer
            keep(of, of.expected(true).of(of.way.approach).time_s + shares[name] * together)
    return replace(Content({}, {}, {}), points=points)


@pytest.mark.parametrize("share", [0.16, 1.02])
def test_what_the_ring_took_longer_comes_back(share: float, tmp_path: Path) -> None:
    shares = {"uneven": share, "uneven_active": 0.6, "uneven_puts": 0.3}
    found = ports.known(MPICH, RANKS, SEED, measured(MPICH, shares), "e")
    assert found.inter.uneven is not None
    assert found.inter.uneven_active is not None
    assert found.inter.uneven.value == pytest.approx(share, rel=1e-5)
    assert found.inter.uneven_active.value == pytest.approx(0.6, rel=1e-5)
    assert found.inter.uneven_puts is not None
    assert found.inter.uneven_puts.value == pytest.approx(0.3, rel=1e-5)
    assert found.inter.queue is None  # rings one way took as long as if go-aheads left at once
    file = tmp_path / "m.toml"
    file.write_text(dumps(found), encoding="utf-8")
    assert machines.load(str(file)).inter == found.inter


@pytest.mark.parametrize("longer", [0.0, 3e-3])
def test_what_epochs_among_all_ranks_take_comes_back_and_is_not_their_ports(longer: float) -> None:
    # Without it, what 3 ms add to some 10 would be ports shared unevenly.
    shares = {"uneven": 0.1, "uneven_active": 0.6, "uneven_puts": 0.3}
    found = ports.known(MPICH, RANKS, SEED, measured(MPICH, shares, epoch=longer), "e")
    before = MPICH.one_sided.epoch.value
    assert found.one_sided.epoch.value == pytest.approx(before + longer, rel=1e-3)
    assert (found.one_sided.flush is not None) == (longer > 0)
    if found.one_sided.flush is not None:
        assert found.one_sided.flush.value == pytest.approx(before + longer, rel=1e-3)
    assert found.inter.uneven_puts is not None
    assert found.inter.uneven_puts.value == pytest.approx(0.3, rel=1e-3)


# On a link that decides: active messages are copied twice.
@pytest.mark.parametrize("on", [OPENMPI, eager(slowed(MPICH, 5e8))], ids=["bulk", "partitions that are fetched"])
@pytest.mark.parametrize("shares", [(0.15, 0.15, 0.15), (0.15, 0.1, 0.05), (0.0, 0.05, 0.3)])
def test_what_go_aheads_wait_for_comes_back(on: machines.Machine, shares: tuple[float, ...], tmp_path: Path) -> None:
    """At each size by itself: sockets hold more of large messages, or not."""
    sizes = [int(r.workload.buffer) for r in ports.one_way(on, RANKS, SEED)]
    assert len(sizes) == len(shares)
    waits = [s * n * on.inter.segment(n).G.value for s, n in zip(shares, sizes, strict=True)]
    written = {"sizes": [f"{n} B" for n in sizes], "time": [f"{w:.17g} s" for w in waits]}
    queue = validated(machines.SizeCurve, {**written, "source": "assumed", "why": "t"}, "test")
    told = dict.fromkeys(ports.UNEVEN, 0.2)
    found = ports.known(on, RANKS, SEED, measured(on, told, queue, 2e-7), "e").inter
    assert found.queue is not None
    assert found.jitter is not None
    assert found.uneven is not None
    assert list(found.queue.sizes) == sizes
    np.testing.assert_allclose(found.queue.time, waits, rtol=0.1)
    assert found.jitter.value == pytest.approx(2e-7, rel=0.2)
    assert found.uneven.value == pytest.approx(0.2, abs=0.01)
    file = tmp_path / "m.toml"
    file.write_text(dumps(on.model_copy(update={"inter": found})), encoding="utf-8")
    assert machines.load(str(file)).inter == found


def test_of_a_slow_link_only_what_does_not_take_long_is_measured() -> None:
    (only,) = ports.one_way(slowed(OPENMPI, 1.5e6), RANKS, SEED)
    assert only.workload.buffer == max(ports.ONE_WAY[0], 2 * ASKS_FROM)


def test_rings_one_way_ask_and_those_both_ways_do_not() -> None:
    asking, both = ports.one_way(MPICH, RANKS, SEED), ports.both_ways(MPICH, RANKS, SEED)["uneven"]
    assert all(r.way.approach == BULK and r.workload.buffer >= ASKS_FROM for r in asking)
    for of in both:
        assert of.way.approach.message_size(of.workload.buffer) < ASKS_FROM
        assert of.workload.buffer / (of.way.approach.messages - 1) >= 0.9 * ASKS_FROM


def test_where_nothing_asks_nothing_is_left_behind() -> None:
    assert ports.one_way(eager(OPENMPI), RANKS, SEED) == []
    assert {r.way.approach for r in ports.both_ways(eager(OPENMPI), RANKS, SEED)["uneven"]} == {BULK}


def test_where_only_partitions_are_fetched_these_tell() -> None:
    rings = ports.one_way(eager(MPICH), RANKS, SEED)
    assert {r.way.approach for r in rings} == {PART_AM.into(1)}
    assert all(r.workload.buffer >= PART_AM.fetched_from for r in rings)


def test_a_library_whose_partitions_are_messages_has_one_share() -> None:
    assert list(ports.both_ways(OPENMPI, RANKS, SEED)) == ["uneven", "uneven_puts"]
    assert list(ports.both_ways(MPICH, RANKS, SEED)) == ["uneven", "uneven_puts", "uneven_active"]


def test_two_ranks_cannot_tell() -> None:
    assert ports.one_way(MPICH, 2, 0) == []
    assert ports.both_ways(MPICH, 2, 0) == {"uneven": [], "uneven_puts": [], "uneven_active": []}
    assert ports.known(MPICH, 2, 0, measured(MPICH, dict.fromkeys(ports.UNEVEN, 1.0)), "e") == MPICH


def test_no_shorter_than_shared_evenly() -> None:
    found = ports.known(
        MPICH, RANKS, SEED, measured(MPICH, {"uneven": -0.2, "uneven_active": 0.0, "uneven_puts": 0.1}), "e"
    )
    assert found.inter.uneven is not None
    assert found.inter.uneven.value == 0
    assert found.inter.uneven.interval is None
