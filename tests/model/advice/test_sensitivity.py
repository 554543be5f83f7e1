"""What decides: an end of an interval is a machine with that value, a step is a workload with that field."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pready.model.advice.predict import evaluator, predict
from pready.model.advice.sensitivity import STEP, THREADS, decides
from pready.model.approach.interfaces import MANY
from pready.model.engine.whole_step import compare_step
from pready.model.machine import machine
from pready.model.machine.machine import Machine
from pready.model.result.prediction import Lever
from pready.model.result.verdict import MIN_GAIN
from pready.model.timeline.terms import TERMS, of_value
from pready.model.toml import dotted
from pready.model.toml.provenance import Value
from pready.model.toml.reading import validated
from pready.model.workload import workload
from pready.model.workload.workload import Workload

MELUXINA = machine.load("meluxina")
LAGGARD = workload.load("examples/laggard.toml").changed(**{"compute.time": "1 ms", "receiver": "computing"})
# In step, so that any number of iterations has the same mean.
HALO = workload.load("examples/halo3d.toml").changed(arrivals={"model": "laggard", "delay": "100 us"}, iterations=100)
TODAY = LAGGARD.changed(today="persistent")
FINE = MANY.into(4, 1)


def levers(on: Machine, what: Workload) -> dict[str, Lever]:
    return {lever.name: lever for lever in decides(evaluator(on, what, draws=0)[0], FINE, MIN_GAIN)}


def saved(on: Machine, what: Workload) -> tuple[float, float]:
    row = evaluator(on, what, draws=0)[0].predict(FINE)
    return row.eta, row.speedup_percent


def at_end(name: str, end: int) -> Machine:
    """All values of a term at the low or the high end of their intervals."""
    fields: dict[str, object] = {}
    for label, value in MELUXINA.values():
        term = of_value(label)
        if term is not None and term.name == name and isinstance(value, Value) and value.interval is not None:
            fields[label] = dotted.written(value)["interval"][end]
    assert fields, name
    return validated(Machine, dotted.changed(dotted.written(MELUXINA), fields), "machine")


@pytest.mark.parametrize("what", [LAGGARD, HALO], ids=["timeline", "engine"])
@pytest.mark.parametrize("name", ["message overhead o_s", "latency", "the rendezvous handshake"])
def test_an_end_is_a_machine_with_that_value(what: Workload, name: str) -> None:
    lever = levers(MELUXINA, what).get(name)
    ends = [saved(at_end(name, end), what) for end in (0, 1)]
    if lever is None:  # too little to speak of
        assert max(e[1] for e in ends) - min(e[1] for e in ends) < 0.02
        return
    assert lever.kind == "machine"
    for end, (eta, percent) in enumerate(ends):
        assert lever.eta[end] == pytest.approx(eta, rel=1e-9)
        assert lever.speedup_percent[end] == pytest.approx(percent, abs=1e-9)


@pytest.mark.parametrize("what", [LAGGARD, HALO, TODAY], ids=["timeline", "engine", "today"])
@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("buffer", lambda w, by: {"buffer": f"{by * w.buffer} B"}),
        ("compute time", lambda w, by: {"compute.time": f"{by * w.thread_time!r} s"}),
    ],
)
def test_a_step_is_a_workload_with_that_field(what: Workload, name: str, change: Any) -> None:
    lever = levers(MELUXINA, what)[name]
    assert (lever.kind, lever.steps) == ("workload", ("÷ 2", "× 2"))
    for end, by in enumerate((1 / STEP, STEP)):
        eta, percent = saved(MELUXINA, what.changed(**change(what, by)))
        assert lever.eta[end] == pytest.approx(eta, rel=1e-9)
        assert lever.speedup_percent[end] == pytest.approx(percent, abs=1e-9)


def test_spread_is_what_the_file_says_of_it() -> None:
    late = LAGGARD.changed(arrivals={"model": "laggard", "delay": "50 us"})
    lever = levers(MELUXINA, late)["spread of arrivals"]
    eta, _ = saved(MELUXINA, late.changed(**{"arrivals.delay": "100 us"}))
    assert lever.eta[1] == pytest.approx(eta, rel=1e-9)


@pytest.mark.parametrize("columns", ["threads", "partitions"])
@pytest.mark.parametrize("what", [LAGGARD, HALO], ids=["timeline", "engine"])
def test_threads_whose_times_are_replayed_stay_as_many(what: Workload, columns: str, tmp_path: Path) -> None:
    some = what if what.grid is None else what.changed(grid=[2, 2, 1])
    n = some.threads if columns == "threads" else some.n_partitions
    np.save(tmp_path / "times.npy", np.random.default_rng(1).uniform(0.5e-3, 1e-3, (10, n)))
    told = {"model": "trace", "file": str(tmp_path / "times.npy"), "unit": "s"}
    replayed = levers(MELUXINA, some.changed(arrivals=told))
    assert THREADS not in replayed
    assert "buffer" in replayed
    assert THREADS in levers(MELUXINA, some.changed(arrivals={**told, "model": "kde"}))


def test_a_machine_without_intervals_leaves_the_workload() -> None:
    data = dotted.written(MELUXINA)

    def exact(table: Any) -> Any:
        if isinstance(table, dict):
            return {n: exact(v) for n, v in table.items() if n != "interval"}
        return [exact(v) for v in table] if isinstance(table, list) else table

    found = levers(validated(Machine, exact(data), "machine"), LAGGARD)
    assert {lever.kind for lever in found.values()} == {"workload"}


def test_names_are_the_terms_and_the_first_moves_most() -> None:
    prediction = predict(MELUXINA, LAGGARD)
    found = prediction.decides
    assert {lever.name for lever in found if lever.kind == "machine"} <= {t.name for t in TERMS}
    assert [lever.swing for lever in found] == sorted((lever.swing for lever in found), reverse=True)
    assert found[0].here_percent == pytest.approx(prediction.advised.speedup_percent)
    assert predict(MELUXINA, LAGGARD, draws=0).decides == []


def test_what_turns_the_verdict_is_marked() -> None:
    evaluation, _ = evaluator(MELUXINA, LAGGARD, draws=0)

    def buffer(min_gain: float) -> Lever:
        return next(x for x in decides(evaluation, FINE, min_gain) if x.name == "buffer")

    ends = buffer(0.0).speedup_percent
    assert buffer(sum(ends) / 200).turns
    assert not buffer(0.9).turns


@pytest.mark.thorough
def test_a_step_of_one_exchange_has_the_levers_of_that_exchange() -> None:
    top: dict[str, Any] = {"format": 2, "threads": 8, "grid": [4, 4, 4], "receiver": "computing"}
    exchange: dict[str, Any] = {
        "pattern": "halo3d",
        "faces": ["256 KiB", "1 MiB", "1 MiB"],
        "compute": {"time": "2 ms"},
        "arrivals": {"model": "normal", "spread": 0.04},
    }
    alone = predict(MELUXINA, Workload.model_validate(top | exchange))
    step = predict(MELUXINA, Workload.model_validate(top | {"exchanges": [exchange]}))
    assert len(alone.decides) > 5
    assert [x.name for x in step.decides] == [x.name for x in alone.decides]
    for mine, theirs in zip(step.decides, alone.decides, strict=True):
        assert mine.speedup_percent == pytest.approx(theirs.speedup_percent, abs=1e-9)
        assert mine.eta == pytest.approx(theirs.eta, rel=1e-9)


@pytest.mark.thorough
def test_a_step_moves_what_its_exchanges_have_in_all_of_them() -> None:
    # In step: the mean of any number of iterations is the same, so that an end is the step with that input.
    late = {"model": "laggard", "delay": "100 us"}
    top: dict[str, Any] = {"format": 2, "threads": 4, "grid": [2, 2, 2], "pattern": "halo3d", "receiver": "computing"}

    def step(size: int, time: float, more: int) -> Workload:
        first = {"faces": [f"{size} KiB"] * 3, "compute": {"time": f"{time} us"}, "arrivals": late}
        return Workload.model_validate(top | {"exchanges": [first, {"buffer": f"{more} KiB"}]})

    here = predict(MELUXINA, step(512, 800, 64))
    moved = {x.name: x for x in here.decides}
    assert here.advice.verdict == "port"
    ways = [e.advised.approach for e in here.exchanges]
    for name, ends in (
        ("compute time", (step(512, 400, 64), step(512, 1600, 64))),
        ("buffer", (step(256, 800, 32), step(1024, 800, 128))),
    ):
        for end, there in enumerate(ends):
            rows, _ = compare_step(MELUXINA, there, ways, iterations=100)
            assert moved[name].speedup_percent[end] == pytest.approx(rows[-1][0].speedup_percent, abs=1e-6), name
    assert not {"spread of arrivals"} & {x.name for x in predict(MELUXINA, step(512, 800, 64), draws=0).decides}
