"""Ranks and threads that share cores: said, not judged."""

from types import SimpleNamespace
from typing import Any

from pready.model.approach.interfaces import BULK
from pready.model.workload.workload import Workload
from pready.validate.prove.design import MOST, way_of
from pready.validate.prove.performed import of_records, performed_in
from pready.validate.prove.placement import shared_before, shared_cores


def test_records_tell_who_shares_cores() -> None:
    def record(**derived: float) -> dict[str, Any]:
        return {"lists": {"ranks_s": [[0.0, 1e-3, 2e-3] * 4] * 5}, "derived": derived}

    own, shared = (of_records([record(cores=cores, ranks_here=4)] * 3, 0, 2) for cores in (4, 2))
    said = shared_cores([own, shared])
    assert said is not None
    assert said.startswith("4 ranks share 2 cores, and wait for one")
    assert shared_cores([own]) is None


def test_a_way_counts_with_all_its_rounds() -> None:
    way = way_of([BULK], Workload.model_validate({"threads": 2, "buffer": "64 KiB"}))
    records = [{"record": {"lists": {"ranks_s": [[0.0, 1.0, 3.0 + r]]}}} for r in range(4)]
    points = {way.point("p", r, MOST).key("here"): record for r, record in enumerate(records)}
    content: Any = SimpleNamespace(points=points)
    found = performed_in(content, way, "here", "p", 0, 1, 4)
    assert found is not None
    assert found.communication_s.tolist() == [2, 3, 4, 5]
    assert performed_in(content, way, "here", "p", 0, 1, 5) is None


def test_shared_cores_are_known_before_measuring() -> None:
    assert shared_before({"hosts": ["a", "b", "a"], "cores_online": 2}) is None
    assert shared_before({"hosts": ["a", "b"]}) is None  # not known
    said = shared_before({"hosts": ["a", "b", "a", "a"], "cores_online": 2})
    assert said is not None
    assert said.startswith("3 ranks share 2 cores: the result will be undecided")
