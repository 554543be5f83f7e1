"""Ranks and threads that share cores: said, not judged."""

from __future__ import annotations

from typing import Any

import numpy as np

from pready.validate.prove.performed import Performed, of_records
from pready.validate.prove.placement import shared_before, shared_cores


def performed(communication_s: float, wait_s: float, ranks: int, steps: int = 1) -> Performed:
    times = np.zeros((3, 5, ranks, 3))
    times[..., 1], times[..., 2] = 1e-3, 1e-3 + communication_s * steps
    return Performed(times, 0, steps, ranks_here=ranks, cores=2, core_wait_s=wait_s * steps)


def test_ranks_that_share_cores_are_not_judged() -> None:
    some = [performed(200e-6, 50e-6, 4), performed(400e-6, 100e-6, 4, steps=8), performed(50e-3, 20e-3, 4)]
    said = shared_cores(some)
    assert said is not None
    assert said.startswith("4 ranks share 2 cores, and of an exchange each waits 100 us (25 %) for a core")
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
    assert "waits 50 us (10 %)" in said
