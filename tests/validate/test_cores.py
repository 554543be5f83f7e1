"""Ranks and threads that share cores: said, not judged."""

from typing import Any

from pready.validate.prove.performed import of_records
from pready.validate.prove.placement import shared_before, shared_cores


def test_records_tell_who_shares_cores() -> None:
    def record(**derived: float) -> dict[str, Any]:
        return {"lists": {"ranks_s": [[0.0, 1e-3, 2e-3] * 4] * 5}, "derived": derived}

    own, shared = (of_records([record(cores=cores, ranks_here=4)] * 3, 0, 2) for cores in (4, 2))
    said = shared_cores([own, shared])
    assert said is not None
    assert said.startswith("4 ranks share 2 cores, and wait for one")
    assert shared_cores([own]) is None


def test_shared_cores_are_known_before_measuring() -> None:
    assert shared_before({"hosts": ["a", "b", "a"], "cores_online": 2}) is None
    assert shared_before({"hosts": ["a", "b"]}) is None  # not known
    said = shared_before({"hosts": ["a", "b", "a", "a"], "cores_online": 2})
    assert said is not None
    assert said.startswith("3 ranks share 2 cores: the result will be undecided")
