"""The exchanges of a rank whose calls are written down, known to the nanosecond."""

from dataclasses import astuple
from pathlib import Path
from typing import Any

import pytest
from made import plain, written
from tables import table_of

from pready.calibrate.capture.dependence import Chain, Dependence, chain
from pready.calibrate.capture.exchanges import groups
from pready.calibrate.capture.files import Run
from pready.calibrate.capture.run_summary import messages_of, summarise
from pready.calibrate.capture.timeline import Timeline, most_common

TABLE = table_of("calibrate/exchanges")


def timeline_of(calls: str, rank: int = 0) -> Timeline:
    return Timeline(written([calls], rank, 4))


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


@pytest.mark.parametrize("case", TABLE["chains"], ids=lambda case: case["says"])
def test_ranks_that_wait_for_what_they_send_on(case: dict[str, Any]) -> None:
    """Of each rank a letter for each 100 us."""
    ranks = [[TABLE["letters"][letter] for letter in letters] for letters in case["ranks"]]
    found = chain([Dependence(Timeline(written(calls, r, 4, 100))) for r, calls in enumerate(ranks)])
    assert found == (Chain(*case["is"]) if "is" in case else None)


@pytest.mark.parametrize("case", table_of("calibrate/summaries")["cases"], ids=lambda case: case["says"])
def test_the_summary_of_calls_that_are_written_down(case: dict[str, Any]) -> None:
    each = zip(case["calls"], case.get("fields", [{}] * len(case["calls"])), strict=True)
    ranks = (written([calls], r, **{"ranks": len(case["calls"])} | fields) for r, (calls, fields) in enumerate(each))
    found = summarise(run := Run(Path("made"), tuple(ranks)))
    assert [plain(astuple(r)) for r in found.regions] == case["regions"]
    assert {name: plain(getattr(found, name)) for name in case["summary"]} == case["summary"]
    assert list(found.notes) == case["notes"]
    if "saves" in case:  # of no library more: the rank that computes longest, us, and millionths
        assert (sent := messages_of(run)) is not None
        assert plain((sent.rank, sent.most_s, sent.most)) == case["saves"]
