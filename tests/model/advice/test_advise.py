"""Advice on rows made by hand: every field, and every clause of the reason."""

from dataclasses import replace
from types import SimpleNamespace as Of
from typing import Any

import pytest
from machines import ideal
from made_row import row

from pready.model.advice import advise as advising
from pready.model.advice.advise import advise
from pready.model.advice.predict import runs_of
from pready.model.approach.interfaces import BY_KEY, Approach
from pready.model.approach.libraries import LibraryProfile
from pready.model.result.break_even import Range
from pready.model.result.prediction import Advice, Partitioned
from pready.model.timeline.terms import TERMS
from pready.model.toml.reading import validated
from pready.model.workload.workload import Workload

SHAPE = {"threads": 4, "partitions_per_thread": 2, "buffer": "1 MiB", "iterations": 100}
LIBRARY = LibraryProfile("l", "", "one", early=False, why="")
MIN_GAIN = 0.1  # not the default: what the caller says counts


NOW = row("single", iteration_s=10e-3, time_s=8e-3, eta=1.0)
MANY = row("many", 4, iteration_s=8e-3, time_s=6e-3, eta=4 / 3, speedup_percent=20.0, probability=0.9, best_in=0.7)
KEPT = row("persistent", eta=1.1, speedup_percent=1.5, time_s=1.0, best_in=0.3)
WISHES = [
    row("part", n, speedup_percent=s, needs="X", probability=p)
    for n, s, p in ((2, 6.0, 0.5), (4, 5.0, 0.5), (8, 9.0, None))
]
PARTS = [row("part-am", 1, speedup_percent=s, time_s=1.0) for s in (-3.0, -2.0)]


def runs(late_s: float = 0.0, delay_s: float = 1.0, **more: Any) -> Any:
    times = Of(exchange=lambda number: Of(late=[2 * late_s]))
    step = Of(rest=False, way=lambda approach, number: (approach,))
    of: Any = Of(machine=Of(progress=Of(value="on-call")), parts=[validated(Workload, SHAPE | more, "test")], steps=2)
    return Of(**vars(of), step=step, at_values=lambda way: times, delay=lambda number: delay_s)


@pytest.fixture(autouse=True)
def _sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    pays = {"buffers": [Range(2.0, 3.0), Range(2.0**22, 2.0**24)], "messages": [4, 8]}
    for name, found in pays.items():
        monkeypatch.setattr(f"pready.model.advice.paying_sizes.{name}", lambda *_, found=found: found)


def test_advice_to_port_is_whole() -> None:
    rows = [NOW, MANY, KEPT, *WISHES, *PARTS]
    late, left = "6 ms of bulk's 8 ms are left (2 ms waiting for neighbours)", "MPI_Send_init alone saves 1.5 %"
    wanted = Advice(
        "port", MANY, MIN_GAIN, here=Range(2.0**22, 2.0**24), pays=[Range(2.0, 3.0), Range(2.0**22, 2.0**24)],
        from_iterations=1, settings=["4 persistent sends per neighbour"],
        because=f"75 % has arrived when the threads join, {late}; MPI_Psend sends nothing early in l; {left}",
        certainty="likely", probability=0.9, best_in={"Pt2Pt many": 0.7, KEPT.name: 0.3},
        partitioned=Partitioned(PARTS[1], "do not port", WISHES[0]), pays_messages=[4, 8],
    )  # fmt: skip
    best = replace(MANY, arrived_early_percent=75.0)
    found = advise(runs(2e-3), LIBRARY, [NOW, best, *rows[2:]], best, MIN_GAIN)
    assert found == replace(wanted, best=best)
    short = replace(wanted, pays=None, here=None, pays_messages=None, because="")
    assert advise(runs(), LIBRARY, rows, MANY, MIN_GAIN, where=False, reason=False) == short
    told = replace(LIBRARY, early=None, needs="a build")
    best = replace(PARTS[0], probability=None)
    found = advise(runs(), told, [NOW, best], best, MIN_GAIN, where=False, reason=False)
    assert found.warnings == ["not released: it needs a build"]
    assert (found.settings, found.certainty, found.best_in) == ([], "", {})
    assert found.partitioned == Partitioned(best, "do not port", None, unknown=True)


def test_why_not(monkeypatch: pytest.MonkeyPatch) -> None:
    alike = next(t.name for t in TERMS if t.bulk_alike)
    costs = [(alike, 1e-3), ("a", 3e-6), ("b", 2e-6), ("c", 1e-6)]
    monkeypatch.setattr(advising, "costs_that_matter", lambda *_: costs)
    of = runs(delay_s=0.9e-3)
    of.mean_time = lambda *_: 10e-3
    # It takes 2 ms off 10 ms, of which 1 ms has to be saved: 1 s of set-up is made up for by 1000 iterations.
    best, early = replace(MANY, begin_s=1.0, probability=0.1, work_left_s=2e-3), replace(LIBRARY, early=True)
    now = replace(NOW, work_left_s=5e-3)
    set_up = "set-up takes 1 s, so Pt2Pt many pays from 1000 iterations on, not in 100"
    together = "the threads finish together, so there is nothing to send early"
    hidden = "3 ms of the receiver's 5 ms of work are done before everything is there"
    said = f"{set_up}; costs that take the gain: a (3 us), b (2 us); {together}; {hidden}"
    assert advise(of, early, [now, best], best, MIN_GAIN).because == said
    costs, of.delay = [], lambda _: 1e-3  # as much as has to be saved is late
    found = advise(of, early, [NOW, best], replace(best, begin_s=0.1), MIN_GAIN)
    assert found.because == "bulk takes 8 ms, Pt2Pt many 6 ms"
    kept = replace(KEPT, time_s=6e-3)
    assert advise(of, early, [NOW, kept], kept, MIN_GAIN).because == f"bulk takes 8 ms, {KEPT.name} 6 ms"


def test_work_that_is_hidden() -> None:
    now, whole = replace(NOW, work_left_s=5e-3), "the receiver's 5 ms of work"
    for best, said in (
        (replace(MANY, work_left_s=2e-3), f"3 ms of {whole} are done before everything is there"),
        (replace(MANY, work_left_s=6e-3), f"0 ns of {whole} are done before everything is there"),
        (row("rma-many-active", 4), f"{whole} come after the end: nothing tells a target of each put"),
        (KEPT, f"{whole} come after the end: {KEPT.name} is one message"),
    ):
        assert advising._hidden_work(best, now) == [said]
        assert advising._hidden_work(best, NOW) == []


def test_costs_that_matter_are_more_than_a_thousandth_the_largest_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advising, "by_name", lambda: {"a": 1e-3, "b": 3e-3, "c": 5e-3})
    monkeypatch.setattr(advising, "without", lambda costs, cut: {"cut": cut} if costs == "all" else {})
    of: Any = Of(costs=lambda *_: "all", mean_time=lambda *_: 2.0)
    of.replaced = lambda approach, each, number: [2.0 - cut["cut"] for cut in each]
    names, seconds = zip(*advising.costs_that_matter(of, MANY.approach), strict=True)
    assert names == ("c", "b")
    assert seconds == pytest.approx((5e-3, 3e-3))


def test_how_many_messages_costs_ask_for() -> None:
    """1 MB at 25 GB/s is 40 us on the cable; calls of 2.5 us, of which nobody shares a lock, make it sqrt(16) = 4."""
    what = validated(Workload, SHAPE | {"buffer": "1 MB", "partitions_per_thread": 1}, "test")
    made, _ = runs_of(ideal(G=1 / 25e9, o_s=2.5e-6), what, draws=0)
    assert advising.messages_asked_for(made, Approach(BY_KEY["many"], 4, 4)) == pytest.approx(4)
    free, _ = runs_of(ideal(G=1 / 25e9), what, draws=0)
    assert advising.messages_asked_for(free, Approach(BY_KEY["many"], 4, 4)) == float("inf")


def test_numbers_of_messages_within_half_a_point() -> None:
    """Of one interface only; 0.5 points count, 0.6 do not."""
    some = [row("many", n, speedup_percent=s) for n, s in ((2, 4.4), (4, 4.5), (8, 5.0), (16, 4.9))]
    others = [row("part", 1, speedup_percent=5.0)]
    assert advising.alike_counts(some[2], [*some, *others]) == [4, 8, 16]
