"""Sensitivity: values of the machine by its draws, unknowns and fields of the workload by simulating them."""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pready.model.advice.case import OneExchange
from pready.model.advice.predict import chosen_ways, evaluator, predict
from pready.model.advice.sensitivity import STEP, TELLS, THREADS, sensitivity, worth_of_knowing
from pready.model.advice.unknowns import unknowns
from pready.model.approach.interfaces import BY_KEY, MANY, Approach
from pready.model.common.normal import Z95
from pready.model.engine.evaluate import compare_step
from pready.model.machine import machine
from pready.model.machine.machine import Machine
from pready.model.result.prediction import Lever
from pready.model.result.verdict import MIN_GAIN
from pready.model.timeline.terms import TERMS
from pready.model.toml import dotted
from pready.model.toml.reading import validated
from pready.model.workload import workload
from pready.model.workload.workload import Workload

MELUXINA = machine.load("meluxina")
LAGGARD = workload.load("examples/laggard.toml").changed(**{"compute.time": "1 ms", "receiver": "computing"})
# In step, so that any number of iterations has the same mean.
HALO = workload.load("examples/halo3d.toml").changed(arrivals={"model": "laggard", "delay": "100 us"}, iterations=100)
TODAY = LAGGARD.changed(today="persistent")
FINE = MANY.into(4, 1)


def study(on: Machine, what: Workload, draws: int = 200, approach: Approach = FINE) -> OneExchange:
    made = evaluator(on, what, draws=draws)[0]
    made.prepare_drawn(dict.fromkeys((what.baseline, approach), draws))
    return OneExchange(made, approach)


def levers(on: Machine, what: Workload, draws: int = 200, approach: Approach = FINE) -> dict[str, Lever]:
    return {x.name: x for x in sensitivity(study(on, what, draws, approach), (), MIN_GAIN).levers}


def saved(on: Machine, what: Workload, approach: Approach = FINE) -> float:
    return evaluator(on, what, draws=0)[0].predict(approach).speedup_percent


def exact(table: Any) -> Any:
    """A machine's data without intervals."""
    if isinstance(table, dict):
        return {n: exact(v) for n, v in table.items() if n != "interval"}
    return [exact(v) for v in table] if isinstance(table, list) else table


DATA = exact(dotted.written(MELUXINA))
"""Threads that wait in MPI, of which the file says nothing, hand over in no time."""
DATA["threads"]["waiting"] = {"threads": [1, 2], "time": ["0 s", "0 s"], "source": "assumed", "why": "test"}
EXACT = validated(Machine, DATA, "machine")


@pytest.mark.parametrize("what", [LAGGARD, HALO], ids=["timeline", "engine"])
def test_an_end_of_a_term_of_one_value_is_what_a_machine_with_it_saves(what: Workload) -> None:
    # Only the G of the last segment, which bulk and four messages are of, has an interval.
    last = len(MELUXINA.inter.segments) - 1
    data = copy.deepcopy(DATA)
    ends = ("50 us/MB", "100 us/MB")
    own = {"value": "70 us/MB", "interval": list(ends), "source": "assumed", "why": "test"}
    data["inter"]["segments"][last]["G"] = own
    only = validated(Machine, data, "machine")
    lever = levers(only, what)["bandwidth"]
    expected = []
    for end in ends:
        data["inter"]["segments"][last]["G"] = own | {"value": end, "interval": [end, end]}
        expected.append(saved(validated(Machine, data, "machine"), what))
    assert (lever.kind, lever.source) == ("machine", "assumed")
    swing = abs(expected[1] - expected[0])
    assert swing > 0.02
    for mine, theirs in zip(lever.speedup_percent, expected, strict=True):
        assert mine == pytest.approx(theirs, abs=0.25 * swing)  # a straight line through a log-normal
    assert [x for x in levers(only, what).values() if x.kind == "machine"] == [lever]


@pytest.mark.parametrize("what", [LAGGARD, HALO, TODAY], ids=["timeline", "engine", "today"])
@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("buffer", lambda w, by: {"buffer": f"{by * w.buffer} B"}),
        ("compute time", lambda w, by: {"compute.time": f"{by * w.thread_time!r} s"}),
    ],
)
def test_a_step_is_a_workload_with_that_field(what: Workload, name: str, change: Any) -> None:
    lever = levers(MELUXINA, what, draws=8)[name]
    assert (lever.kind, lever.source, lever.steps) == ("workload", "given", ("÷ 2", "× 2"))
    for end, by in enumerate((1 / STEP, STEP)):
        percent = saved(MELUXINA, what.changed(**change(what, by)))
        assert lever.speedup_percent[end] == pytest.approx(percent, abs=1e-9)
    assert lever.worth_percent == 0  # the user knows it


@pytest.mark.parametrize("what", [LAGGARD, HALO], ids=["timeline", "engine"])
def test_an_unknown_is_a_machine_or_a_workload_with_it(what: Workload) -> None:
    found = levers(MELUXINA, what, draws=8)
    threshold = MELUXINA.inter.segments[-1].from_
    files = dotted.written(MELUXINA)
    last = len(files["inter"]["segments"]) - 1

    def changed(**fields: Any) -> Machine:
        return validated(Machine, dotted.changed(files, fields), "machine")

    half = {f"inter.segments[{i}].G": f"{2e12 * s.G.value!r} us/MB" for i, s in enumerate(MELUXINA.inter.segments)}
    half["inter.link_bandwidth"] = f"{MELUXINA.inter.link_bandwidth.value / 2e9!r} GB/s"
    barrier = [f"{3 * t!r} s" for t in MELUXINA.threads.barrier.time]
    expected: dict[tuple[str, int], float] = {
        ("congestion", 0): saved(changed(**half), what),
        ("the threads' barrier", 0): saved(changed(**{"threads.barrier.time": barrier}), what),
        ("who answers a rendezvous", 0): saved(changed(**{"progress": "thread"}), what),
    }
    expected["the rendezvous threshold", 0] = saved(
        changed(**{f"inter.segments[{last}].from": f"{4 * threshold:g} B"}), what
    )
    for (name, step), percent in expected.items():
        if name in found:
            assert found[name].kind == "unknown"
            assert found[name].speedup_percent[step] == pytest.approx(percent, abs=1e-6), name
        else:  # too little to speak of
            assert percent == pytest.approx(saved(MELUXINA, what), abs=0.02), name
    assert {name for name, _ in expected} & set(found)


def test_what_was_measured_is_not_unknown() -> None:
    def names(on: Machine) -> set[str]:
        return {u.name for u in unknowns(study(on, LAGGARD, 8, BY_KEY["rma-single-active"].into(4)).here)}

    def measured(table: Any) -> Any:
        if isinstance(table, dict):
            return {n: "measured" if n == "source" else measured(v) for n, v in table.items()}
        return [measured(v) for v in table] if isinstance(table, list) else table

    sure = validated(Machine, measured(dotted.written(MELUXINA)), "machine")
    assert {"synchronisation of RMA", "the threads' barrier", "congestion", "ranks per node"} <= names(MELUXINA)
    # Neither the network's load nor how many ranks a node has is in a machine file.
    left = {"congestion", "ranks per node"}
    assert names(sure) - ({"puts"} if sure.one_sided.put is None else set()) == left
    assert names(validated(Machine, exact(dotted.written(sure)), "machine")) == names(sure)


def test_spread_is_what_the_file_says_of_it() -> None:
    late = LAGGARD.changed(arrivals={"model": "laggard", "delay": "50 us"})
    lever = levers(MELUXINA, late, draws=8)["spread of arrivals"]
    wider = saved(MELUXINA, late.changed(**{"arrivals.delay": "100 us"}))
    assert lever.speedup_percent[1] == pytest.approx(wider, abs=1e-9)


@pytest.mark.parametrize("columns", ["threads", "partitions"])
@pytest.mark.parametrize("what", [LAGGARD, HALO], ids=["timeline", "engine"])
def test_threads_whose_times_are_replayed_stay_as_many(what: Workload, columns: str, tmp_path: Path) -> None:
    some = what if what.grid is None else what.changed(grid=[2, 2, 1])
    n = some.threads if columns == "threads" else some.n_partitions
    np.save(tmp_path / "times.npy", np.random.default_rng(1).uniform(0.5e-3, 1e-3, (10, n)))
    told = {"model": "trace", "file": str(tmp_path / "times.npy"), "unit": "s"}
    replayed = levers(MELUXINA, some.changed(arrivals=told), draws=8)
    assert THREADS not in replayed
    assert "buffer" in replayed
    assert THREADS in levers(MELUXINA, some.changed(arrivals={**told, "model": "kde"}), draws=8)


def test_a_machine_without_intervals_leaves_unknowns_and_the_workload() -> None:
    assert {x.kind for x in levers(EXACT, LAGGARD, draws=8).values()} == {"workload", "unknown"}


def test_names_are_the_terms_and_the_first_moves_most() -> None:
    prediction = predict(MELUXINA, LAGGARD)
    found = prediction.sensitivity
    assert {lever.name for lever in found if lever.kind == "machine"} <= {t.name for t in TERMS}
    assert [lever.swing for lever in found] == sorted((lever.swing for lever in found), reverse=True)
    assert found[0].here_percent == pytest.approx(prediction.advised.speedup_percent)
    assert predict(MELUXINA, LAGGARD, draws=0).sensitivity == []


def test_every_term_says_what_measures_it() -> None:
    from pready.calibrate.measure.catalogue import MEASUREMENTS

    assert {m for names in TELLS.values() for m in names.split(",") if m} <= set(MEASUREMENTS)
    assert {t.name for t in TERMS if t.values} <= set(TELLS)
    here = study(MELUXINA, LAGGARD, 8, BY_KEY["rma-single-active"].into(4)).here
    assert {u.measure for u in unknowns(here)} <= {*MEASUREMENTS, ""}


def test_what_turns_the_verdict_is_marked() -> None:
    of = study(MELUXINA, LAGGARD, 8)

    def buffer(min_gain: float) -> Lever:
        return next(x for x in sensitivity(of, (), min_gain).levers if x.name == "buffer")

    ends = buffer(0.0).speedup_percent
    assert buffer(sum(ends) / 200).turns
    assert not buffer(0.9).turns


def test_what_knowing_is_worth_by_hand() -> None:
    # Porting saves 4 or costs 2: known, it is done half the time (2); unknown, always (1).
    assert worth_of_knowing([4, -2], [0.5, 0.5]) == pytest.approx(1)
    assert worth_of_knowing([4, 2], [0.5, 0.5]) == 0  # it is done either way
    assert worth_of_knowing([-4, -2], [0.5, 0.5]) == 0


def test_what_a_term_is_worth_is_that_of_its_draws() -> None:
    # The same sum over many draws of a saving that is normal by one term.
    of = study(MELUXINA, HALO)
    found = {x.name: x for x in sensitivity(of, (), MIN_GAIN).levers}
    least = of.saving.percent / 100  # the middle: knowing decides
    some = {x.name: x for x in sensitivity(of, (), least).levers if x.kind == "machine"}
    name = max(some, key=lambda n: some[n].swing)
    deviation = abs(found[name].speedup_percent[1] - found[name].here_percent) / Z95
    z = np.random.default_rng(1).normal(size=20000) * deviation
    assert some[name].worth_percent == pytest.approx(np.maximum(z, 0).mean() - max(z.mean(), 0), rel=0.03)
    assert some[name].worth_percent == pytest.approx(deviation / math.sqrt(2 * math.pi), rel=1e-6)


def test_a_verdict_that_an_assumption_turns_is_likely() -> None:
    # One put takes longer than a thread's delay: what is advised rests on what puts cost.
    w = workload.load("examples/halo3d.toml").changed(grid=[2, 2, 2], iterations=200)
    advice = predict(MELUXINA, w).advice
    assert advice.verdict == "port"
    assert advice.best.approach.interface.one_sided
    turned = [said for said, percent in advice.turns_if if "put took" in said and percent < 1]
    assert turned
    assert advice.certainty == "likely"
    assert advice.measure_next.startswith("pready calibrate --measure ")
    assert advice.between is not None
    assert advice.between[0] < advice.best.speedup_low_percent
    assert advice.rests_on["assumed"] > 0
    # Control: told that its puts were measured, nothing else turns it.
    put = {"sizes": ["1 B", "1 MiB"], "time": ["1.79 us", "1.79 us"], "interval": 0.1, "source": "measured", "why": "t"}
    data = dotted.written(MELUXINA)
    data["one_sided"]["put"] = put
    sure = predict(validated(Machine, data, "machine"), w).advice
    assert (sure.verdict, sure.certainty) == ("port", "certain")
    assert sure.rests_on["measured"] == 1
    assert sure.rests_on["assumed"] == advice.rests_on["assumed"]


def test_where_nothing_pays_what_would_is_looked_for_in_all_kinds() -> None:
    # With a progress thread, sends gain; puts, which are advised against here, would not change.
    on = MELUXINA.model_copy(update={"progress": MELUXINA.progress.model_copy(update={"source": "assumed"})})
    slow = on.one_sided.model_copy(
        update={"epoch": on.one_sided.epoch.model_copy(update={"value": 1e-3, "interval": None})}
    )
    # One thread is in MPI once it has computed all its partitions; of several, the first that is through would answer.
    w = workload.load("examples/halo3d.toml").changed(grid=[2, 2, 2], threads=1, partitions_per_thread=8)
    made = predict(on.model_copy(update={"one_sided": slow}), w)
    assert made.advice.verdict == "do not port"
    (progress,) = [x for x in made.sensitivity if x.name == "who answers a rendezvous"]
    assert progress.turns
    assert made.advice.certainty == "likely"
    assert any("answered each rendezvous" in said for said, _ in made.advice.turns_if)


@pytest.mark.thorough
def test_a_step_of_one_exchange_has_the_levers_of_that_exchange() -> None:
    top: dict[str, Any] = {"format": 2, "threads": 8, "grid": [2, 2, 2], "receiver": "computing", "iterations": 60}
    exchange: dict[str, Any] = {
        "pattern": "halo3d",
        "faces": ["256 KiB", "1 MiB", "1 MiB"],
        "compute": {"time": "2 ms"},
        "arrivals": {"model": "normal by thread", "spread": 0.04},
    }
    alone = predict(MELUXINA, Workload.model_validate(top | exchange))
    step = predict(MELUXINA, Workload.model_validate(top | {"exchanges": [exchange]}))
    assert alone.advice.verdict == step.advice.verdict == "port"
    mine, theirs = ({x.name: x for x in p.sensitivity if x.kind != "machine"} for p in (step, alone))
    assert len(theirs) > 5
    assert mine.keys() == theirs.keys()
    for name, lever in theirs.items():
        shift = lever.here_percent - mine[name].here_percent
        for a, b in zip(mine[name].speedup_percent, lever.speedup_percent, strict=True):
            assert a + shift == pytest.approx(b, abs=1e-9), name


@pytest.mark.thorough
def test_a_step_moves_what_its_exchanges_have_in_all_of_them() -> None:
    # In step: the mean of any number of iterations is the same, so that an end is the step with that input.
    late = {"model": "laggard", "delay": "100 us"}
    top: dict[str, Any] = {"format": 2, "threads": 4, "grid": [2, 2, 2], "pattern": "halo3d", "receiver": "computing"}

    def step(size: int, time: float, more: int) -> Workload:
        first = {"faces": [f"{size} KiB"] * 3, "compute": {"time": f"{time} us"}, "arrivals": late}
        return Workload.model_validate(top | {"exchanges": [first, {"buffer": f"{more} KiB"}]})

    what = step(512, 800, 64)
    here = predict(MELUXINA, what)
    moved = {x.name: x for x in here.sensitivity}
    assert here.advice.verdict != "do not port"
    ways = chosen_ways(what, here.exchanges)
    for name, ends in (
        ("compute time", (step(512, 400, 64), step(512, 1600, 64))),
        ("buffer", (step(256, 800, 32), step(1024, 800, 128))),
    ):
        for end, there in enumerate(ends):
            rows, _ = compare_step(MELUXINA, there, ways, iterations=100)
            assert moved[name].speedup_percent[end] == pytest.approx(rows[-1][0].speedup_percent, abs=1e-6), name
    assert predict(MELUXINA, step(512, 800, 64), draws=0).sensitivity == []


def test_replaced_ways_are_another_case() -> None:
    # Two ways of one workload share its baseline, which is simulated once.
    of = study(MELUXINA, LAGGARD, 8)
    other = replace(of.here, ways=(BY_KEY["rma-single-active"].into(4),))
    alone = [of.percent([c])[0] for c in (of.here, other)]
    assert of.percent([of.here, other]) == alone
    assert alone[0] != alone[1]


def test_who_works_on_what_comes_may_keep_it_from_coming() -> None:
    """Without progress while all threads work nothing is done early: what is left is the gain of the messages alone."""
    what = workload.load("examples/consuming.toml")
    there = levers(MELUXINA.progressing("on-call"), what)["progress while receivers work"]
    assert there.speedup_percent[0] == pytest.approx(saved(MELUXINA, what, Approach(BY_KEY["part-whole"], 4)), abs=0.6)
    assert there.speedup_percent[0] < there.here_percent - 1
    assert "progress while receivers work" not in levers(MELUXINA.progressing("thread"), what)
    assert "progress while receivers work" not in levers(MELUXINA, LAGGARD)
