"""Ranks and threads that share cores: said, not judged."""

from types import SimpleNamespace
from typing import Any

import pytest

from pready.model.approach.interfaces import BULK
from pready.model.workload.workload import Workload
from pready.validate.prove.design import way_of
from pready.validate.prove.performed import of_records, performed_in
from pready.validate.prove.placement import shared_cores


@pytest.mark.parametrize(
    ("hosts", "allowed", "threads", "said"),
    [
        ("aa", ["0", "1"], 1, ""),
        ("aab", ["0-1", "2,5", "0-1"], 2, ""),
        ("aab", ["0-1", "0-1", "0-1"], 1, ""),  # not bound
        ("", [], 8, ""),  # not known
        ("abaa", ["0", "0", "0", "0"], 1, "3 ranks share 1 core"),
        ("aab", ["0-1", "0-1", "0-1"], 2, "2 ranks of 2 threads share 2 cores"),
        ("ab", ["0", "0"], 2, "1 rank of 2 threads share 1 core"),
        ("aa", ["0-2", "3"], 2, "2 threads of a rank share 1 core"),  # four in all
    ],
)
def test_who_shares_cores(hosts: str, allowed: list[str], threads: int, said: str) -> None:
    assert shared_cores({"hosts": [*hosts], "allowed": allowed}, threads) == said


def test_a_way_counts_with_all_its_rounds() -> None:
    way = way_of([BULK], Workload.model_validate({"threads": 2, "buffer": "64 KiB"}))
    records = [{"record": {"lists": {"ranks_s": [[0.0, 1.0, 3.0 + r]]}}} for r in range(4)]
    points = {way.point("p", r).key("here"): record for r, record in enumerate(records)}
    content: Any = SimpleNamespace(points=points)
    found = performed_in(content, way, "here", "p", 0, 1, 4)
    assert found is not None
    assert found.communication_s.tolist() == [2, 3, 4, 5]
    assert performed_in(content, way, "here", "p", 0, 1, 1) is not None
    assert performed_in(content, way, "here", "p", 0, 1, 5) is None
    records[2]["record"] = {"unsupported": {}}
    assert performed_in(content, way, "here", "p", 0, 1, 4) is None


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
