"""Requests for a rendezvous are answered between a rank's sends: SST beside what CPU and cable allow."""

from pathlib import Path

import pytest

from pready.model.approach.interfaces import MANY, Approach
from pready.model.machine.contention_by_library import contention
from pready.model.machine.machine import Machine, load
from pready.model.workload.workload import Workload
from pready.sst import library
from pready.sst.firefly import Firefly
from pready.sst.results import times
from pready.sst.simulate import setup, simulate_approach

REASON = "SST is not installed (no sst-config on PATH): its rendezvous are not measured"
THREADS = 8
pytestmark = [pytest.mark.usefixtures("sst") if library.available() else pytest.mark.skip(reason=REASON)]


def work_conserving(machine: Machine, size: float, messages: int, peers: int) -> float:
    """Seconds from the last ready partition until a rank has everything, where requests pass data.

    All ranks are in step. A rank's CPU sends, one partition after the other to all peers; from the second on it has
    found the lock taken. After each of these it answers what has been requested by then; an answer's data leave once
    those before them have.
    """
    segment = machine.inter.segment(size)
    assert segment.handshake is not None
    taken = peers * contention(machine).at(messages)
    answer = segment.o_r.value + machine.matching.base.value
    now, left = 0.0, 0.0
    requested: list[float] = []
    answered: list[float] = []

    def answer_all() -> None:
        nonlocal now
        while len(answered) < len(requested) and requested[len(answered)] <= now:
            now += answer
            answered.append(now)

    for i in range(messages * peers):
        now += taken if i and i % peers == 0 else 0.0
        answer_all()
        now += segment.o_s.value
        requested.append(now + segment.L.value)
        answer_all()
    while len(answered) < len(requested):
        now = max(now, requested[len(answered)])
        answer_all()
    for at in answered:
        left = max(left, at + segment.handshake.value - segment.L.value) + segment.G.value * size
    return left + segment.L.value + machine.threads.barrier.at(THREADS)  # who received meets at the end


def simulated(
    folder: Path, firefly: Firefly, machine: Machine, grid: tuple[int, int, int], size: int, messages: int
) -> float:
    """SST's time of the same, in seconds."""
    fields = {"threads": THREADS, "buffer": f"{messages * size} B", "compute": {"time": "500 us"}}
    workload = Workload.model_validate(fields | {"pattern": "halo3d", "receiver": "computing"})
    made = setup(machine, workload, "single", grid, iterations=1, firefly=firefly)
    record = simulate_approach(made, Approach(MANY, messages), folder).record
    return float(times("halo3d", record).after_ready[1:].mean())


# With one call to progress between two sends, completed receives keep the requests waiting: 11 to 18 % longer.
@pytest.mark.parametrize("kib", [24, 48])
def test_completed_receives_do_not_starve_requests(tmp_path: Path, firefly: Firefly, kib: int) -> None:
    machine = load("meluxina")
    found = simulated(tmp_path, firefly, machine, (2, 2, 2), kib * 1024, messages=4)
    assert found == pytest.approx(work_conserving(machine, kib * 1024, messages=4, peers=6), rel=0.08)


# The last request leaves while the first message's data do. Eight packets before it cost 4 to 10 %.
@pytest.mark.parametrize("kib", [20, 24, 32])
def test_a_request_waits_for_no_more_than_packets_on_their_way(tmp_path: Path, firefly: Firefly, kib: int) -> None:
    machine = load("meluxina")
    found = simulated(tmp_path, firefly, machine, (3, 1, 1), kib * 1024, messages=2)
    assert found == pytest.approx(work_conserving(machine, kib * 1024, messages=2, peers=2), rel=0.03)
