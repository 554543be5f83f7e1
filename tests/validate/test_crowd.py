"""A ring of small messages tells what ranks that share cores take longer; who shares them is said."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "model"))
from machines import ideal

from pready.calibrate.records import Content
from pready.model import machine as machines
from pready.model.files import validated
from pready.model.interfaces import BULK, MANY, PART
from pready.model.machine import Machine, Wake
from pready.model.machine_file import dumps
from pready.model.machine_threads import Barrier
from pready.model.workload import Workload
from pready.validate.prove import crowd, design, rings
from pready.validate.prove.expected import Expected, left_alone
from pready.validate.prove.performed import Performed, of_records

ALONE = machines.load("meluxina")
RANKS, SEED, TEAMS = 4, 3, (1, 2, 4)


def truth(later_s: float, barrier: list[str], wake: list[str]) -> Machine:
    """`ALONE` where each message is noticed so much later, and teams meet and wake in these times."""
    segments = tuple(
        s.model_copy(update={"L": s.L.model_copy(update={"value": s.L.value + later_s, "interval": None})})
        for s in ALONE.inter.segments
    )
    about = {"threads": list(TEAMS), "source": "measured", "why": "given"}
    threads = ALONE.threads.model_copy(
        update={
            "barrier": validated(Barrier, {**about, "time": barrier}, "barrier"),
            "wake": validated(Wake, {**about, "time": wake}, "wake"),
        }
    )
    inter = ALONE.inter.model_copy(update={"segments": segments})
    return ALONE.model_copy(update={"inter": inter, "threads": threads})


def measured(on: Machine, shorter_s: float = 0.0, leave_out: int = 0) -> Content:
    """Records of rings on that machine; without teams of `leave_out`."""
    points: dict[str, Any] = {}
    for ring in crowd.rings(RANKS, TEAMS, SEED):
        if ring.threads == leave_out:
            continue
        of = Expected(on, ring.workload, SEED, rings.FIRST, crowd.ITERATIONS)
        one = np.zeros((rings.FIRST + crowd.ITERATIONS, RANKS, 3))
        one[..., 1] = crowd.COMPUTE_S
        one[..., 2] = crowd.COMPUTE_S + of.median_time(ring.way.approach) - shorter_s
        rows = one.reshape(len(one), -1).tolist()
        for r in range(design.ROUNDS):
            key = ring.way.point(ring.plan.name, r, design.MOST).key("e")
            points[key] = {"record": {"lists": {"ranks_s": rows}}}
    return replace(Content({}, {}, {}), points=points)


def test_what_was_put_in_comes_back(tmp_path: Path) -> None:
    given = truth(80e-6, ["0 us", "20 us", "70 us"], ["0 us", "5 us", "30 us"])
    found = crowd.known(ALONE, RANKS, TEAMS, SEED, measured(given), "e")
    for one, true, alone in zip(found.inter.segments, given.inter.segments, ALONE.inter.segments, strict=True):
        assert one.L.value == pytest.approx(true.L.value, rel=1e-6)
        if alone.L.interval is not None:
            assert one.L.interval == pytest.approx(tuple(x + 80e-6 for x in alone.L.interval), rel=1e-6)
    assert found.threads.barrier.time == pytest.approx((0, 20e-6, 70e-6), rel=1e-6)
    assert found.threads.wake is not None
    assert found.threads.wake.time == pytest.approx((0, 5e-6, 30e-6), rel=1e-5)
    file = tmp_path / "m.toml"
    file.write_text(dumps(found), encoding="utf-8")
    again = machines.load(str(file))
    assert again.threads.barrier.time == pytest.approx(found.threads.barrier.time, rel=1e-6)
    assert again.inter.segments[0].L.value == pytest.approx(found.inter.segments[0].L.value, rel=1e-6)


def test_nothing_gets_shorter() -> None:
    found = crowd.known(ALONE, RANKS, TEAMS, SEED, measured(ALONE, shorter_s=1e-6), "e")
    assert [s.L.value for s in found.inter.segments] == [s.L.value for s in ALONE.inter.segments]
    assert all(t >= 0 for t in found.threads.barrier.time)
    assert found.threads.wake is not None
    assert all(t >= 0 for t in found.threads.wake.time)


def test_more_threads_never_meet_sooner() -> None:
    given = truth(0.0, ["0 us", "50 us", "50 us"], ["0 us", "0 us", "0 us"])
    content = measured(given)
    sooner = measured(truth(0.0, ["0 us", "20 us", "20 us"], ["0 us", "0 us", "0 us"]))
    fours = [
        ring.way.point(ring.plan.name, r, design.MOST).key("e")
        for ring in crowd.rings(RANKS, TEAMS, SEED)
        if ring.threads == 4
        for r in range(design.ROUNDS)
    ]
    content.points.update({key: sooner.points[key] for key in fours})
    found = crowd.known(ALONE, RANKS, TEAMS, SEED, content, "e")
    assert found.threads.barrier.time == pytest.approx((0, 50e-6, 50e-6), rel=1e-5)


def test_what_was_not_measured_stays() -> None:
    assert crowd.known(ALONE, RANKS, TEAMS, SEED, Content({}, {}, {}), "e") == ALONE
    given = truth(0.0, ["0 us", "20 us", "70 us"], ["0 us", "0 us", "0 us"])
    found = crowd.known(ALONE, RANKS, TEAMS, SEED, measured(given, leave_out=4), "e")
    assert found.threads.barrier.threads == (1, 2, 4)  # as the largest team that was measured
    assert found.threads.barrier.time == pytest.approx((0, 20e-6, 20e-6), rel=1e-5)


def performed(communication_s: float, wait_s: float, ranks: int, steps: int = 1) -> Performed:
    times = np.zeros((3, 5, ranks, 3))
    times[..., 1], times[..., 2] = 1e-3, 1e-3 + communication_s * steps
    return Performed(times, 0, steps, ranks_here=ranks, cores=2, core_wait_s=wait_s * steps)


def test_who_shares_cores_is_said() -> None:
    some = [performed(200e-6, 50e-6, 4), performed(400e-6, 100e-6, 4, steps=8), performed(50e-3, 20e-3, 4)]
    (line,) = crowd.shared_cores(some)
    assert line.startswith("4 ranks share 2 cores: of exchanges under 1 ms each rank waits 75 us (25%) for a core")
    assert crowd.shared_cores(some[2:]) == ["4 ranks share 2 cores"]
    assert crowd.shared_cores([performed(200e-6, 0.0, 2)]) == []


def test_records_say_it() -> None:
    def record(**derived: float) -> dict[str, Any]:
        return {"lists": {"ranks_s": [[0.0, 1e-3, 2e-3] * 4] * 5}, "derived": derived}

    (line,) = crowd.shared_cores([of_records([record(cores=2, ranks_here=4, core_wait_s=1e-4)] * 3, 0, 2)])
    assert "waits 50 us (10%)" in line
    assert crowd.shared_cores([of_records([record(cores=2, ranks_here=4)] * 3, 0, 1)]) == []  # an older benchmark's


def test_nobody_progresses_what_no_thread_waits_for() -> None:
    # A rendezvous whose sender must be inside MPI: the early thread's message goes with the late one's, or long before.
    cable_s = 1e-3
    on = ideal(G=1e-9, handshake=1e-6, progress="on-call")
    on = on.model_copy(update={"sender_progress": on.progress})
    size = round(cable_s / 1e-9)
    what = validated(
        Workload,
        {
            "threads": 2,
            "buffer": f"{2 * size} B",
            "receiver": "waiting",
            "compute": {"time": "20 ms"},
            "arrivals": {"model": "laggard", "delay": "20 ms"},
            "pattern": "pt2pt",
        },
        "test",
    )
    early, late = (Expected(on, what, 0, 1, 4, threads_wait=w) for w in (True, False))
    many = MANY.into(2)
    assert early.median_time(many) == pytest.approx(cable_s, rel=0.01)
    assert late.median_time(many) == pytest.approx(2 * cable_s, rel=0.01)
    assert left_alone(many).interface.key == "many"
    # Whoever completes messages by one thread anyway is left as it is.
    for other in (BULK, PART.into(2)):
        assert left_alone(other) == other
        assert early.median_time(other) == late.median_time(other)


def test_records_say_who_waits() -> None:
    record = {"lists": {"ranks_s": [[0.0, 1e-3, 2e-3] * 4] * 5}}
    assert of_records([record] * 3, 0, 1).threads_wait
    assert of_records([{**record, "derived": {"threads_wait": 1}}] * 3, 0, 1).threads_wait
    assert not of_records([{**record, "derived": {"threads_wait": 0}}] * 3, 0, 1).threads_wait
