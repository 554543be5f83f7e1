"""The exchanges of a rank whose calls are written down, known to the nanosecond."""

from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made import Row, capture_file
from tables import table_of

from pready.calibrate.capture.call_sites import Frame
from pready.calibrate.capture.exchanges import groups, near
from pready.calibrate.capture.files import parse_process
from pready.calibrate.capture.regions import Stretch
from pready.calibrate.capture.timeline import Timeline, most_common

TABLE = table_of("calibrate/exchanges")


def timeline_of(calls: str, rank: int = 0) -> Timeline:
    """Of 4 ranks: a line for each call, with thread, begin and end in us, kind, place, peer, and bytes or number.

    "1+20" of a share: the second thread's, of which 20 us are in MPI.
    """
    rows: dict[int, list[Row]] = defaultdict(list)
    for line in calls.strip().splitlines():
        thread, begin, end, kind, site, who, what = line.split()
        number, _, in_mpi = what.partition("+")
        begin_ns, end_ns = (round(1000 * float(us)) for us in (begin, end))
        row = begin_ns, end_ns, kind, int(site), int(who), int(number) | round(10 * float(in_mpi or 0)) << 32
        rows[int(thread)].append(row)
    return Timeline(parse_process(capture_file(list(rows.items()), rank=rank, ranks=4), Path(f"rank-{rank}")))


def plain(value: Any) -> Any:
    """Seconds as microseconds, and what is counted by peer as rows."""
    if value is None:
        return "none"
    if isinstance(value, float | np.ndarray):
        return np.round(1e6 * np.asarray(value), 3).tolist()
    if isinstance(value, dict):
        return [[*(key if isinstance(key, tuple) else (key,)), count] for key, count in sorted(value.items())]
    if isinstance(value, tuple) and value and isinstance(value[0], Stretch):
        return [[*value[0].key], value[1]]
    return [list(v) if isinstance(v, tuple) else v for v in value] if isinstance(value, list | tuple) else value


@pytest.mark.parametrize("case", TABLE["cases"], ids=lambda case: case["says"])
def test_exchanges_of_a_rank(case: dict[str, Any]) -> None:
    expected = case["groups"]
    found = zip(groups(timeline_of(case["calls"], case.get("rank", 0))), expected, strict=True)
    assert [{name: plain(getattr(g, name)) for name in of} for g, of in found] == expected


@pytest.mark.parametrize("case", TABLE["timelines"], ids=lambda case: case["says"])
def test_calls_and_their_teams(case: dict[str, Any]) -> None:
    timeline = timeline_of(case["calls"])
    assert [plain(c.done) for c in timeline.calls] == case["done"]
    assert [begin for begin, *_ in timeline.computing] == sorted(b for s in timeline.stretches for b in s.begin)
    assert [[c.number, *c.of] if c.of else [] for c in timeline.calls] == case["of"]
    for thread, begin, end, seconds in case["outside"]:
        assert plain(timeline.outside(thread, begin * 1e-6, end * 1e-6)) == seconds, (thread, begin, end)


def test_the_most_frequent_value_or_the_largest_of_them() -> None:
    assert [most_common(values) for values in ([1, 1, 2], [3, 1, 2, 1, 3], [7])] == [1, 3, 7]


@pytest.mark.parametrize(("first", "second", "are"), TABLE["near"])
def test_messages_of_one_routine(first: str, second: str, are: bool) -> None:
    """A letter for each call, the innermost first."""
    one, other = (tuple(Frame(letter, "", 0, "", True) for letter in chain) for chain in (first, second))
    assert near(one, other) == near(other, one) == are
