"""Ranks and threads that share cores: said, not judged."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from machines import ideal

from pready.model.approach.interfaces import BULK, MANY, PART
from pready.model.toml.reading import validated
from pready.model.workload.workload import Workload
from pready.validate.prove.cores import shared_before, shared_cores
from pready.validate.prove.expected import Expected, left_alone
from pready.validate.prove.performed import Performed, of_records


def performed(communication_s: float, wait_s: float, ranks: int, steps: int = 1) -> Performed:
    times = np.zeros((3, 5, ranks, 3))
    times[..., 1], times[..., 2] = 1e-3, 1e-3 + communication_s * steps
    return Performed(times, 0, steps, ranks_here=ranks, cores=2, core_wait_s=wait_s * steps)


def test_ranks_that_share_cores_are_not_judged() -> None:
    some = [performed(200e-6, 50e-6, 4), performed(400e-6, 100e-6, 4, steps=8), performed(50e-3, 20e-3, 4)]
    said = shared_cores(some)
    assert said is not None
    assert said.startswith("4 ranks share 2 cores, and of an exchange each waits 100 us (25%) for a core")
    assert shared_cores([performed(200e-6, 0.0, 2)]) is None


def test_shared_cores_are_known_before_measuring() -> None:
    assert shared_before({"hosts": ["a", "b", "a"], "cores_online": 2}) is None
    assert shared_before({"hosts": ["a", "b"]}) is None  # not known
    said = shared_before({"hosts": ["a", "b", "a", "a"], "cores_online": 2})
    assert said is not None
    assert said.startswith("3 ranks share 2 cores: the result will be undecided")


def test_records_tell_who_shares_cores() -> None:
    def record(**derived: float) -> dict[str, Any]:
        return {"lists": {"ranks_s": [[0.0, 1e-3, 2e-3] * 4] * 5}, "derived": derived}

    said = shared_cores([of_records([record(cores=2, ranks_here=4, core_wait_s=1e-4)] * 3, 0, 2)])
    assert said is not None
    assert "waits 50 us (10%)" in said


def test_a_rendezvous_rests_while_no_thread_waits_for_it() -> None:
    # Its sender must be in MPI: the early message goes with the late one, or long before.
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
    # Interfaces whose messages one thread completes are not changed.
    for other in (BULK, PART.into(2)):
        assert left_alone(other) == other
        assert early.median_time(other) == late.median_time(other)


def test_records_tell_whether_threads_wait() -> None:
    record = {"lists": {"ranks_s": [[0.0, 1e-3, 2e-3] * 4] * 5}}
    assert of_records([record] * 3, 0, 1).threads_wait
    assert of_records([{**record, "derived": {"threads_wait": 1}}] * 3, 0, 1).threads_wait
    assert not of_records([{**record, "derived": {"threads_wait": 0}}] * 3, 0, 1).threads_wait
