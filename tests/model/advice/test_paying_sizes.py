"""Where a way pays: the machine at its values says where to look, and draws where each range ends."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from machines import ideal

from pready.model.advice import advise, paying_sizes
from pready.model.advice import predict as predicting
from pready.model.advice.predict import _simplest
from pready.model.approach.interfaces import BULK, BY_KEY, MANY, Approach
from pready.model.result.break_even import Range
from pready.model.timeline.sampling import DRAWS

MIB = 2.0**20


def ranges(
    monkeypatch: pytest.MonkeyPatch, at_values: list[float], by_draws: list[float], *, here: bool
) -> list[Range]:
    """Of a workload of 1 MiB: buffers in MiB that pay at the machine's values, and by the draws."""

    def over_sizes(ways: Any, sizes: list[float], number: int) -> Any:
        assert (ways, number) == ((BULK, Approach(MANY, 4)), 0)
        return None, np.array([[100.0] * len(sizes), [98.0 if s / MIB in at_values else 99.5 for s in sizes]])

    workload = SimpleNamespace(buffer=MIB, n_partitions=4, baseline=BULK)
    of: Any = SimpleNamespace(parts=[workload], over_sizes=over_sizes, at_buffer=lambda size, number: size / MIB)
    monkeypatch.setattr(paying_sizes, "chance", lambda size, *_: 0.9 if size in by_draws else 0.1)
    best: Any = SimpleNamespace(approach=Approach(MANY, 4), probability=0.9 if here else 0.1)
    return [Range(r.low / MIB, r.high / MIB) for r in paying_sizes.buffers(of, best, 0.01)]


POWERS = [2.0**k for k in range(-10, 11)]


@pytest.mark.parametrize(
    ("at_values", "by_draws", "here", "pays"),
    [
        (POWERS[7:15], POWERS[8:12], True, [(0.25, 2.0)]),  # 1 MiB among them
        (POWERS[7:10], POWERS[7:10], False, [(0.125, 0.5)]),  # only below it
        ([*POWERS[2:4], *POWERS[12:]], [*POWERS[2:4], *POWERS[12:]], False, [(2.0**-8, 2.0**-7), (4.0, math.inf)]),
        (POWERS, POWERS, True, [(0.0, math.inf)]),  # wherever it was looked
        (POWERS[12:], [], False, []),  # at the values alone
        (POWERS[11:13], POWERS[11:13], False, [(2.0, 4.0)]),  # only above it
        ([], [], True, [(1.0, 1.0)]),  # by the draws of the workload itself
    ],
)
def test_ranges_are_those_of_the_draws(
    monkeypatch: pytest.MonkeyPatch,
    at_values: list[float],
    by_draws: list[float],
    here: bool,
    pays: list[tuple[float, float]],
) -> None:
    assert ranges(monkeypatch, at_values, by_draws, here=here) == [Range(*ends) for ends in pays]


@pytest.mark.parametrize(("percent", "simplest"), [((5.0, 4.9), 2), ((5.0, 4.8999), 1), ((5.0, 0.5), 1)])
def test_of_ways_that_save_the_same_the_simplest(percent: tuple[float, float], simplest: int) -> None:
    rows: Any = [SimpleNamespace(approach=a) for a in (BULK, Approach(MANY, 16, 4), Approach(MANY, 2, 1))]
    savings: Any = SimpleNamespace(percent=np.array([[0.0], [percent[0]], [percent[1]]]))
    assert _simplest(savings, rows, [1, 2], 1000, 0.01) == simplest


@pytest.mark.parametrize(
    ("rma", "measured", "advised"), [((7.0, 8.0), True, 2), ((4.0, 20.0), True, 1), ((7.0, 8.0), False, 1)]
)
def test_rma_is_advised_where_it_was_measured_and_surely_saves_more(
    rma: tuple[float, float], measured: bool, advised: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(predicting, "unmeasured", lambda _: "" if measured else "MPI_Put")
    ways = BULK, Approach(MANY, 2, 1), BY_KEY["rma-single-active"].into(2)
    rows: Any = [SimpleNamespace(approach=a, available=True) for a in ways]
    percent = np.array([[0.0] * 64, [5.0] * 64, rma * 32])
    savings: Any = SimpleNamespace(percent=percent, runs=SimpleNamespace(machine=None))
    assert predicting.chosen(savings, rows, 1000, 0.01) == advised


@pytest.mark.parametrize(
    ("draws", "enough", "chance"),
    [(DRAWS, {32: 0.5}, 0.5), (DRAWS, {32: 0.7, 64: 0.9}, 0.9), (DRAWS - 1, {8: 0.7}, 0.7)],
)
def test_close_chances_are_by_all_draws_that_choose(
    draws: int, enough: dict[int, float], chance: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    def savings(step: Any, ways: Any, few: int) -> Any:
        return SimpleNamespace(enough=lambda _: (0.0, enough[few]))

    monkeypatch.setattr(paying_sizes, "Savings", savings)
    of: Any = SimpleNamespace(draws=draws, step=SimpleNamespace(today=(BULK,), way=lambda a, number: (a,)))
    assert paying_sizes.chance(of, Approach(MANY, 4), 0.01) == chance


def test_messages_are_of_the_advised_interface_on_the_vcis_that_save_most(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = dict[Approach, float]()
    monkeypatch.setattr(
        paying_sizes, "chance", lambda _, way, *__: asked.setdefault(way, 0.9 if way.vcis == 2 else 0.1)
    )
    ways = {Approach(MANY, 2, 1): 3.0, Approach(MANY, 2, 2): 5.0, Approach(MANY, 8): 4.0, Approach(MANY, 4): 9.0}
    ways |= {BY_KEY["rma-single-active"].into(16): 9.0, Approach(MANY, 32): 9.0}
    rows: Any = [
        SimpleNamespace(approach=a, speedup_percent=x, available=a.messages < 32, probability=1.0)
        for a, x in ways.items()
    ]
    of: Any = None
    assert paying_sizes.messages(of, rows, rows[3], 0.01) == [2, 4]
    assert asked == {Approach(MANY, 2, 2): 0.9, Approach(MANY, 8): 0.1}


@pytest.mark.parametrize(("enough", "said"), [(3e-6, 1), (5e-6, 0)])
def test_who_waits_for_clear_to_sends_is_the_best_that_asks_and_splits(enough: float, said: int) -> None:
    ways = {Approach(MANY, 2): (10e-6, 1.5), BY_KEY["rma-single-active"].into(2): (4e-6, 4.0), BULK: (5e-6, 3.0)}
    rows: Any = [SimpleNamespace(approach=a, name=a.name, time_s=t, eta=eta) for a, (t, eta) in ways.items()]
    workload = SimpleNamespace(baseline=BULK, receiver_computes=True)
    times = {BULK: 12e-6, Approach(MANY, 2): 6e-6}
    step = SimpleNamespace(today=(BULK,), way=lambda approach, number: (approach,))
    helped = SimpleNamespace(step=step, means=list, mean_time=lambda approach, number: times[approach])
    machine = ideal(progress="on-call")
    of: Any = SimpleNamespace(machine=machine, parts=[workload], on=lambda _: helped)
    line = "Pt2Pt many waits for clear-to-sends (1.50×; 2.00× with a progress thread)"
    assert advise._progress(of, rows, enough) == [line] * said
