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
    assert said == "4 ranks share 2 cores, and wait for one, which the model leaves out"
    assert shared_cores([own]) is None


def test_a_way_counts_with_all_its_rounds() -> None:
    way = way_of([BULK], Workload.model_validate({"threads": 2, "buffer": "64 KiB"}))
    records = [{"record": {"lists": {"ranks_s": [[0.0, 1.0, 3.0 + r]]}}} for r in range(4)]
    points = {way.point("p", r, MOST).key("here"): record for r, record in enumerate(records)}
    content: Any = SimpleNamespace(points=points)
    found = performed_in(content, way, "here", "p", 0, 1, 4)
    assert found is not None
    assert found.communication_s.tolist() == [2, 3, 4, 5]
    assert performed_in(content, way, "here", "p", 0, 1, 1) is not None
    assert performed_in(content, way, "here", "p", 0, 1, 5) is None
    records[2]["record"] = {"unsupported": {}}
    assert performed_in(content, way, "here", "p", 0, 1, 4) is None


def test_shared_cores_are_known_before_measuring() -> None:
    assert shared_before({"hosts": ["a", "b", "a"], "cores_online": 2}) is None
    assert shared_before({"hosts": ["a", "b"]}) is None  # not known
    assert shared_before({"hosts": ["a", "a"]}) is None
    for cores, shared in ((1, "1 core"), (2, "2 cores")):
        said = f"3 ranks share {shared}: the result will be undecided; give each rank a core (fewer ranks, more nodes)"
        assert shared_before({"hosts": ["a", "b", "a", "a"], "cores_online": cores}) == said


def test_times_of_each_exchange_of_a_step() -> None:
    """Two ranks, two exchanges: an iteration's begin, computing and end; then computing and end of each exchange."""
    row = [0.0, 3.0, 9.0, 0.0, 5.0, 9.0, 1.0, 4.0, 2.0, 9.0, 2.0, 6.0, 3.0, 9.0]
    later = [value + 1 if value in (4.0, 6.0) else value for value in row]
    found = of_records([{"lists": {"ranks_s": [row]}}, {"lists": {"ranks_s": [later]}}], 0, 2, 2)
    assert found.times[:, 0].tolist() == [[[0, 3, 9], [0, 5, 9]]] * 2
    assert (found.computing_s, found.communication_s.tolist(), found.spread) == (2, [2.5, 2.5], 0)
    first, second = found.exchanges
    assert first.times[:, 0].tolist() == [[[0, 1, 4], [0, 2, 6]], [[0, 1, 5], [0, 2, 7]]]
    assert second.times[:, 0].tolist() == [[[4, 2, 9], [6, 3, 9]], [[5, 2, 9], [7, 3, 9]]]
    # 3 and 4 s, then 4 and 5: 3.5 and 4.5, half a second around 4
    assert (first.steps, first.communication_s.tolist(), first.spread) == (1, [3.5, 4.5], 0.125)
    assert [(of.ranks_here, of.cores, of.first) for of in (found, first)] == [(1, 1, 0)] * 2
