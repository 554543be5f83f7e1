"""Patterns and steps are found exactly where they are, and not where they are not."""

from itertools import product
from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from present import present
from tables import table_of

from pready.calibrate.capture.arrivals_fit import Named, named
from pready.calibrate.capture.patterns import Recognised, Sent, recognise, recognise_step
from pready.calibrate.capture.repetition import Repetition, repetition

Grid = tuple[int, int, int]


def halo(stencil: int, grid: Grid, periodic: bool, sizes: dict[tuple[bool, ...], int], messages: int = 1) -> list[Sent]:
    """What each rank sends, by coordinates; messages to itself left out."""
    sent: list[Sent] = []
    for z, y, x in product(*(range(n) for n in reversed(grid))):
        mine: dict[int, tuple[int, int]] = {}
        for step in product((-1, 0, 1), repeat=3):
            axes = tuple(map(bool, step))
            if not any(axes) or (stencil == 7 and sum(axes) > 1):
                continue
            there = [a + s for a, s in zip((x, y, z), step, strict=True)]
            if not periodic and any(not 0 <= t < n for t, n in zip(there, grid, strict=True)):
                continue
            if any(n == 1 and moved for n, moved in zip(grid, axes, strict=True)):
                continue
            at = [t % n for t, n in zip(there, grid, strict=True)]
            to = at[0] + grid[0] * (at[1] + grid[1] * at[2])
            size, count = mine.get(to, (0, 0))
            mine[to] = (size + sizes[axes], count + messages)
        sent.append(mine)
    return sent


CLASSES = [axes for axes in product((False, True), repeat=3) if any(axes)]

halos = st.tuples(
    st.sampled_from([7, 27]),
    st.sampled_from([grid for grid in product(range(1, 6), repeat=3) if 2 < prod(grid) <= 60]),
    st.booleans(),
    st.lists(st.integers(1, 9), min_size=7, max_size=7),
)
"""Stencil, grid, whether it is periodic, and a number for each of CLASSES."""


@given(halos, st.integers(0, 10**6))
def test_halos_are_recognised_exactly(case: tuple[int, Grid, bool, list[int]], which: int) -> None:
    """What is recognised sends the same bytes to the same ranks: several grids may, then the simplest is named.

    With one byte more from one rank the bytes are listed as they were sent.
    """
    stencil, grid, periodic, numbers = case
    sizes = dict(zip(CLASSES, (8 * n for n in numbers), strict=True))
    sent = halo(stencil, grid, periodic, sizes)
    found = recognise(sent)
    assert found.name in ("halo3d", "halo3d26")
    assert found.grid is not None
    again = dict(zip(CLASSES, (0,) * 7, strict=True))
    for axis in range(3):
        alone = tuple(i == axis for i in range(3))
        again[alone] = found.faces[axis]
        again[tuple(not a for a in alone)] = found.edges[axis]
    again[(True, True, True)] = found.corner
    stencil_found = 7 if found.name == "halo3d" else 27
    assert halo(stencil_found, found.grid, found.boundaries == "periodic", again, found.messages) == sent
    if min(n for n in grid if n > 1) > 2:
        axes = sum(n > 1 for n in grid)
        assert [n for n in found.grid if n > 1] == [n for n in grid if n > 1]  # which axes have one rank is a name
        assert found.boundaries == ("periodic" if periodic else "open")
        assert found.name == ("halo3d" if stencil == 7 or axes == 1 else "halo3d26")
    if sum(n > 1 for n in grid) > 1 or max(grid) > 3:
        mine = sent[which % len(sent)]
        peer = sorted(mine)[which % len(mine)]
        mine[peer] = (mine[peer][0] + 1, mine[peer][1])
        lists = tuple(tuple((to, b) for to, (b, _) in s.items()) for s in sent)
        assert vars(listed := recognise(sent)) == vars(Recognised("neighbours", messages=listed.messages, lists=lists))


def test_a_halo_in_phases_is_said_to_be_one() -> None:
    """Axis after axis, and what is no halo if it is taken together."""
    whole = halo(7, (3, 2, 1), False, dict.fromkeys(CLASSES, 64))
    along_x = [{to: s for to, s in mine.items() if abs(to - rank) == 1} for rank, mine in enumerate(whole)]
    along_y = [{to: s for to, s in mine.items() if abs(to - rank) == 3} for rank, mine in enumerate(whole)]
    x, y, again = recognise_step([along_x, along_y, along_x])
    assert [x.said, y.said] == [f"halo on 3 × 2 ranks in 2 phases, phase {n}" for n in ("1 (x)", "2 (y)")]
    assert again.whole is None  # no other half follows
    assert x.lists == recognise(along_x).lists
    assert [p.whole for p in recognise_step([along_x, along_x])] == [None, None]
    pairs = [{rank ^ by: (64, 1)} for by in (1, 2) for rank in range(4)]
    found = recognise_step([pairs[:4], pairs[4:]])
    assert [p.said for p in found] == [f"halo on 2 × 2 ranks in 2 phases, phase {n}" for n in ("1 (x)", "2 (y)")]


def test_a_step_has_one_grid() -> None:
    """A file has one grid: the exchange that fits another one is listed."""
    square = halo(7, (3, 3, 1), True, dict.fromkeys(CLASSES, 64))
    line = halo(7, (9, 1, 1), True, dict.fromkeys(CLASSES, 8))
    assert [p.grid for p in recognise_step([square, line, square])] == [(3, 3, 1), None, (3, 3, 1)]


def test_pairs_and_rings() -> None:
    for to, said in table_of("calibrate/rings")["rings"]:
        assert recognise([{peer: (64 + rank % 2, 1)} for rank, peer in enumerate(to)]).said == said
    assert recognise([{rank ^ 2: (64, 2)} for rank in range(4)]).messages == 2
    assert "list of neighbours" in Recognised("neighbours", lists=(((1, 8), (2, 8)), ((0, 8),), ())).said


@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=6), st.integers(3, 8),
    st.lists(st.integers(4, 9), max_size=4, unique=True), st.lists(st.integers(10, 15), max_size=4, unique=True),
)  # fmt: skip
def test_repetition_is_the_shortest_step(step: list[int], times: int, before: list[int], after: list[int]) -> None:
    """Set-up and a last exchange of another kind do not hide it."""
    shortest = next(p for p in range(1, len(step) + 1) if len(step) % p == 0 and step == step[:p] * (len(step) // p))
    assume(len(step) * times > 2 * (len(before) + len(after)))
    found = present(repetition([*before, *step * times, *after]))
    assert (found.period, found.first, found.stop) == (shortest, len(before), len(before) + len(step) * times)
    assert found.everywhere == times * (len(step) // shortest)


@pytest.mark.parametrize(("parts", "seconds", "expected"), table_of("calibrate/repetition")["steps"])
def test_a_step_and_where_it_stands(
    parts: list[tuple[str | int, int]], seconds: list[tuple[float, int]], expected: list[int]
) -> None:
    """Words so many times, a number being so many exchanges of which no two are alike; seconds of so many each."""
    sequence = [x for word, times in parts for x in [*(range(word) if isinstance(word, int) else word)] * times]
    took = [s for each, count in seconds for s in [each] * count]
    found = repetition(sequence, took or None)
    period, first, stop, everywhere = expected or (0, 0, 0, 0)
    assert found == (Repetition(period, first, stop, everywhere) if expected else None)


def test_a_step_that_goes_on_is_none_of_the_shorter_ones() -> None:
    """Epochs of 12 steps each: two exchanges, three that begin like them, and others; the first ones take longest. That
    nothing is computed before the third one tells that the step goes on."""
    sequence = "ab" * 12 + "abc" * 12 + "de" * 12 + "def" * 12
    seconds = [10.0] * 24 + [4.0] * (len(sequence) - 24)
    found = repetition(sequence, seconds, [x in "ad" for x in sequence])
    assert (present(found).period, present(found).everywhere, present(found).rows) == (2, 12, ((0, 24),))
    assert present(repetition(sequence, seconds)).everywhere == 13  # not known


@pytest.mark.parametrize("case", table_of("calibrate/arrivals")["named"])
def test_no_spread_or_one_late_thread(case: dict[str, Any]) -> None:
    assert named(np.array(case["times"]), seed=0) == (Named(**case["is"]) if "is" in case else None)


def test_distributions_that_they_do_not_come_from_are_rejected() -> None:
    """Negative controls: two humps, a long tail, a laggard among noise of its own size."""
    rng = np.random.default_rng(4)
    humps = rng.choice([1e-3, 2e-3], (60, 4)) + rng.normal(0, 3e-5, (60, 4))
    assert named(humps, seed=0) is None
    assert named(rng.exponential(1e-3, (60, 4)), seed=0) is None
    assert present(named(rng.uniform(1e-3, 3e-3, (60, 4)), seed=0)).fields["model"] == "uniform"
    few = rng.normal(1e-3, 1e-4, (20, 1))  # of one thread
    assert [named(few[:n], seed=0) is None for n in (19, 20)] == [True, False]  # so few times reject nothing


def test_a_test_keeps_what_is_true_about_as_often_as_it_says() -> None:
    """At a significance of 5 %, normal times are kept in about 95 of 100 cases."""
    rng = np.random.default_rng(5)
    kept = [named(rng.normal(1e-3, 1e-4, (12, 4)), seed=i) for i in range(40)]
    assert sum(k is not None and k.fields["model"] == "normal by thread" for k in kept) >= 33
