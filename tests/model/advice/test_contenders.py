"""A short look at all approaches leaves out none that a long one would choose."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pready.model.advice import contenders
from pready.model.advice.contenders import GLANCE, Contenders, Look, Times
from pready.model.advice.predict import approaches, evaluator, predict, with_library
from pready.model.approach.interfaces import BULK, BY_KEY, MANY
from pready.model.machine.machine import load, profiles
from pready.model.result.verdict import INDISTINCT
from pready.model.toml.reading import validated
from pready.model.workload.workload import Workload
from pready.model.workload.workload import load as load_workload


def what_if(number: int) -> tuple[str, Workload]:
    rng = random.Random(number)
    spread = f"{100 * 10 ** rng.uniform(-2.5, -0.5):.3g} %"
    arrivals = rng.choice(
        (
            {"model": "laggard", "late_by": spread},
            {"model": "normal by thread", "spread": spread},
            {"model": "normal by partition", "spread": spread},
        )
    )
    fields = {
        "format": 2,
        "threads": rng.choice((2, 4, 8)),
        "partitions_per_thread": rng.choice((1, 2, 4)),
        "buffer": f"{2 ** rng.randint(14, 25)} B",
        "pattern": rng.choice(("halo3d", "halo3d", "sweep3d")),
        "receiver": rng.choice(("waiting", "computing")),
        "compute": {"time": f"{10 ** rng.uniform(-0.5, 1.3):.3g} ms"},
        "arrivals": arrivals,
        "iterations": 1000,
    }
    return rng.choice(sorted(profiles())), validated(Workload, fields, "what-if")


@pytest.mark.thorough
@pytest.mark.parametrize("number", range(16))
def test_what_a_long_look_chooses_is_among_the_contenders(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    profile, w = what_if(number)
    machine, library = with_library(load(profile))
    able = approaches(machine, w, library)
    short = Contenders(evaluator(machine, w, number)[0], able, 0.01)
    best = short.best()
    found = short.simpler(best)
    looked = len(short.evaluation._nominal)
    monkeypatch.setattr(contenders, "LONG", 10**9)
    evaluation = evaluator(machine, w, number)[0]
    whole = Contenders(evaluation, able, 0.01)
    assert whole.best() == best
    every = whole.simpler(best)
    assert found == [a for a in every if a in found]
    # The others are told apart from the best on all draws.
    most = evaluation.saving(best)
    for a in {*every} - {*found}:
        assert most.over(evaluation.saving(a))[0] > 0
        assert most.percent - evaluation.saving(a).percent > 100 * INDISTINCT
    # Control: something was left out, where there are many iterations.
    available = sum(not a.interface.needs for a in able)
    assert len(whole.evaluation._nominal) == available
    assert (looked < available) == (whole.evaluation.iterations >= 4 * GLANCE)


ABLE = [BULK, MANY.into(2), MANY.into(4), MANY.into(8), BY_KEY["rma-single-active"].into(8)]


def seen(times: np.ndarray, begin: tuple[float, ...] = (0.0,) * 5) -> Look:
    return Look(ABLE, 100, Times(times, np.array(begin) / 100), Times(times, np.zeros(5)))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.floats(1e-5, 0.02), st.floats(0, 0.05))
def test_a_glance_keeps_the_simplest_of_the_shortest(seed: int, noise: float, apart: float) -> None:
    # Iterations of which what all approaches share is large, and what tells them apart is not.
    rng = np.random.default_rng(seed)
    means = 1 + apart * rng.random(5)
    times = means[:, None] + rng.normal(0, 0.1, 50) + rng.normal(0, noise, (5, 50))
    look = seen(times[:, :GLANCE])
    kept = look.shortest([1, 2, 3], look.run, INDISTINCT)
    long = times[1:4].mean(axis=1)
    close = 1 + int(np.argmax(long <= long.min() * (1 + INDISTINCT)))  # the approaches are in order of their trouble
    assert close in kept


def test_a_glance_leaves_out_what_is_far_and_what_is_no_simpler() -> None:
    noise = np.random.default_rng(1).normal(0, 1e-6, (5, GLANCE))
    times = np.array([2.0, 1.5, 1.0, 1.0, 0.9])[:, None] + np.linspace(0, 0.1, GLANCE)
    look = seen(times + noise)
    assert look.shortest([1, 2, 3], look.run, INDISTINCT) == {2}  # 4 messages take as long as 8
    assert look.leading([1, 2, 3, 4], 0, 0.01) == {4}
    # Control: as far as the noise is large, all are kept.
    wide = seen(times + 1e6 * (noise - noise.mean(axis=1, keepdims=True)))
    assert wide.shortest([1, 2, 3], wide.run, INDISTINCT) == {1, 2, 3}


def test_where_nothing_pays_those_that_pay_first_or_are_fastest_stay() -> None:
    # Each saves 6 % of an iteration before its set-up of 0.9 or 0.055 of an iteration: one pays from 110 iterations on.
    calm = np.linspace(0, 1e-9, GLANCE)
    times = np.array([1.0, 0.94, 0.94, 0.94, 0.94])[:, None] + calm
    look = seen(times, (0.0, 90.0, 90.0, 5.5, 90.0))
    assert look.leading([1, 2, 3, 4], 0, 0.01) == {3}
    # None saves 20 %, however long the run: the simplest of the fastest exchanges.
    assert look.leading([1, 2, 3, 4], 0, 0.2) == {1}
    # Any may: 8.5 % are asked for, and half as much again as the 6 % may be saved.
    assert look.leading([1, 2, 3, 4], 0, 0.085) == {1, 2, 3, 4}


def test_a_step_of_which_little_is_shown_says_the_same() -> None:
    machine, step = load("meluxina"), load_workload("examples/stencil-unequal.toml")
    step = step.changed(grid=(4, 2, 2), iterations=20, transport_partitions=[2, 4, 8])
    every, few, one = (predict(machine, step, seed=2, draws=8, whole=whole) for whole in (None, (), ["pressure"]))
    assert few.approaches == every.approaches
    assert few.advice == every.advice
    assert few.exchanges[0] == every.exchanges[0]  # saves most: its reason is that of the step
    less, all_of_it = few.exchanges[1], every.exchanges[1]
    assert less.advised == all_of_it.advised
    assert less.advice.verdict == all_of_it.advice.verdict
    assert len(less.approaches) < len(all_of_it.approaches)
    assert one.exchanges[1] == all_of_it
