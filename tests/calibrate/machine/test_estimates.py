"""Estimates as values of a machine file: their ends, and what is said where one is not above 0."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from on_paper import written_to
from tables import table_of

from pready.calibrate.fit import Curve, Estimate, Train
from pready.calibrate.machine.description import _begin, _library, _setup
from pready.calibrate.machine.values.estimates import TIME, assumed, between, positive, value
from pready.calibrate.machine.values.observations_of import Probes, TimedExchange, load, observations, probes
from pready.calibrate.machine.values.team_costs import contexts, threads
from pready.calibrate.measure.raw_file import Point
from pready.model.machine.machine import load as load_machine
from pready.model.toml.provenance import Value

TEAMS = table_of("calibrate/teams")


def test_ends() -> None:
    guess = assumed(TIME, 6e-6, "a guess", 3)
    assert (guess.value, guess.source) == (6e-6, "assumed")
    assert guess.interval == pytest.approx((2e-6, 18e-6))
    for low, high in ((1e-6, 2e-6), (4e-6, 5e-6)):  # of a value outside of its interval
        assert value(TIME, Estimate(3e-6, low, high), "w").interval == (min(low, 3e-6), max(high, 3e-6))
    assert between([1e-6, 2e-6, 6e-6], "w").interval == (1e-6, 6e-6)
    assert between([1e-6, 2e-6, 6e-6], "w").value == pytest.approx(3e-6)


def test_what_is_not_above_zero_is_said() -> None:
    notes: list[str] = []
    assert positive(TIME, Estimate(2e-6, 1e-6, 3e-6), "w", notes, "g").interval == (1e-6, 3e-6)
    assert not notes
    cut = positive(TIME, Estimate(2e-6, 0.0, 3e-6), "w", notes, "g")
    assert cut.source == "measured"
    assert cut.interval == pytest.approx((2e-9, 3e-6))
    none = positive(TIME, Estimate(0.0, -1e-6, 3e-6), "w", notes, "g")
    assert (none.value, none.interval, none.why) == (0.0, None, "w; not distinguishable from 0")
    assert [note.split("; ")[-1] for note in notes] == ["cut off at 0.001 of the value", "taken as 0"]
    unknown = positive(TIME, Estimate(2e-6, 0.0, 3e-6, assumed=True), "w", [], "g")
    assert unknown.source == "assumed"
    assert unknown.interval == pytest.approx((2e-9, 3e-6))
    assert positive(TIME, Estimate(0.0, 0.0, 3e-6, assumed=True), "w", [], "g").interval is None


@pytest.mark.parametrize("case", TEAMS["contexts"], ids=lambda case: case["is"]["why"])
def test_contexts_are_those_that_threads_with_communicators_show(case: dict[str, Any]) -> None:
    rates = {name: {int(k): rate for k, rate in of.items()} for name, of in case.items() if name != "is"}
    assert contexts(Probes(rates=rates)) == Value[int](**case["is"])


@pytest.mark.parametrize("case", TEAMS["contention"])
def test_what_a_taken_lock_costs(case: dict[str, Any]) -> None:
    notes, none = list[str](), Estimate(0.0, 0.0, 0.0)
    locks = {int(k): Estimate(*each) for k, each in case.get("locks", {}).items()}
    team = TimedExchange("single", 8, case.get("team", 2), 1, 0.0, none, none, ())
    found = threads(Probes(taken_lock=locks, exchanges=(team,)), case.get("cores"), notes)
    known = load_machine("meluxina").threads.barrier
    assert found.barrier == known.model_copy(update={"why": f"not measured: as on meluxina ({known.why})"})
    curve = found.contention and vars(found.contention) | {"interval": round(found.contention.interval, 6)}
    said: dict[str, Any] | None = case.get("is")
    why = "threads that issue at once while the receiver sleeps, beside one alone"
    lists = said and {name: tuple(said[name]) for name in ("threads", "time")}
    assert curve == (lists and {"source": "measured", "why": why, "interval": 0.0} | (said or {}) | lists)
    assert notes == case.get("notes", [])


@pytest.mark.parametrize(("early", "said"), [(None, None), (True, "arrived early"), (False, "with the last")])
def test_what_a_library_sent_early(early: bool | None, said: str | None) -> None:
    made = _library(Probes(early_send=early), {"library": f" Open MPI  v5.0.11 {'x' * 80}\nident"})
    assert (made.name, made.version) == ("openmpi-persist", f"Open MPI v5.0.11 {'x' * 63}")  # 80 characters
    found = made.early_send
    assert found is None if said is None else found is not None and found.why.endswith(said)


def record(name: str, times: tuple[float, float, float], **parameters: Any) -> tuple[Point, dict[str, Any]]:
    """A point, and a record of a median with its interval."""
    low, median, high = times
    read = {"median_s": median, "low_s": low, "high_s": high, "min_s": 0.5 * low, "max_s": 2 * high}
    about = {"measurement": name, "parameters": parameters, "samples_ns": [1e9 * t for t in times], "also": {}}
    return Point.of(name, **parameters), {**about, **read}


def test_values_that_are_read_off_the_records(tmp_path: Path) -> None:
    """Persistent sends save 1, 2 and 3 us up to 1 KiB: 2 us, give or take 4.303 (Student's t of 2) · 1 us / √3."""
    saved = {1: 1e-6, 64: 2e-6, 1024: 3e-6, 2048: 9e-6}
    pings = [record("pingpong", (t - 1e-8, t, t + 1e-8), bytes=size, mode=mode)
             for size, less in saved.items() for mode, t in (("isend", 2e-5), ("persistent", 2e-5 - less))]  # fmt: skip
    given: dict[str, Any] = {"approach": "single", "bytes": 64, "threads": 2, "theta": 1, "delay_s": 0.5, "round": 1}
    point, exchange = record("approach", (0, 0, 0), **given)
    timed = {name: {**exchange, "low_s": None, "min_s": a, "median_s": b, "high_s": c}
             for name, a, b, c in (("total", 7.0, 8.0, 9.0), ("after", 1.0, 2.0, 4.0))}  # fmt: skip
    exchange |= {"also": timed, "lists": {"ready_s": [[0.25, 0.5]]}}
    parameters = {name: value for name, value in exchange["parameters"].items() if name != "round"}
    both = (point, exchange), (Point.of("approach", **parameters), exchange | {"parameters": parameters})
    found = probes(load(written_to(tmp_path / "r.jsonl", [*pings, *both])), "e")
    setup = found.setup
    assert setup is not None
    half = 4.303e-6 / 3**0.5
    assert setup.value == pytest.approx(2e-6)
    assert (2e-6 - setup.low, setup.high - 2e-6) == pytest.approx((half, half), rel=0.04)
    assert _setup(found).interval == (0, setup.high)  # saved, so at least 0
    begin = _begin(Probes(begin={"window": Estimate(2.0, 1.0, 3.0), "registration": Estimate(4.0, 3.0, 5.0)}))
    assert (begin.window.value, begin.registration.value) == (2, 4)
    total, after = Estimate(8.0, 7.0, 9.0), Estimate(2.0, 1.0, 4.0)
    one = TimedExchange("single", 64, 2, 1, 0.5, total, after, ((0.25, 0.5),), 1)
    assert found.exchanges == (one, replace(one, round=0))


def flat(found: object, at: str = "") -> dict[str, object]:
    """Numbers by the words that lead to them."""
    if isinstance(found, Estimate | Train):
        found = vars(found)
    if isinstance(found, Curve | np.ndarray):
        found = found.medians if isinstance(found, Curve) else dict(enumerate(found))
    if isinstance(found, Mapping):
        return {key: x for name, value in found.items() for key, x in flat(value, f"{at} {name}").items()}
    return {} if found is None else {at.strip() or "value": found}


@pytest.mark.parametrize("case", table_of("calibrate/probes")["probes"], ids=lambda case: case["why"][:40])
def test_what_records_say(case: dict[str, Any], tmp_path: Path) -> None:
    points = [(record(name, times, **given), more) for name, times, given, more in case["records"]]
    path = written_to(tmp_path / "r.jsonl", [(point, made | more) for (point, made), more in points], cores=[4, 2])
    found = vars(probes(load(path), "e")) | vars(observations(load(path), "e"))
    for name, said in case["expect"].items():
        assert flat(found[name]) == pytest.approx(said, rel=1e-4), name
