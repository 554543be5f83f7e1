"""From raw records to a machine: a machine of known parameters, measured on paper, comes back."""

import json
from collections.abc import Iterable
from datetime import date
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from on_paper import O_R, O_S, RATE, THRESHOLD, WIRE, gap, measured, one_way, records, written_to
from present import present

from pready.calibrate.fit import ThinDataError
from pready.calibrate.machine import calibration
from pready.calibrate.machine.calibration import Calibration, calibrate, provenance
from pready.calibrate.machine.values import observations_of
from pready.calibrate.measure.compile import Built
from pready.calibrate.measure.launcher import Launcher
from pready.calibrate.measure.raw_file import Point
from pready.calibrate.measure.schedule import ping, plan, trains
from pready.calibrate.measure.session import Outcome
from pready.model.approach.interfaces import MANY, SINGLE, Approach
from pready.model.common.errors import PreadyError
from pready.model.engine.layout import Step
from pready.model.engine.runs import Runs
from pready.model.machine.machine import load
from pready.model.machine.writing import dumps
from pready.model.toml.reading import validated
from pready.model.version import VERSION
from pready.model.workload.workload import Workload


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    return written_to(tmp_path / "paper.jsonl")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Calibration:
    return calibrate(written_to(tmp_path_factory.mktemp("measured") / "paper.jsonl"), name="paper")


def test_the_machine_comes_back(found: Calibration) -> None:
    m = found.described.machine
    assert m.description == "paper, Open MPI v5.0.11, package: test"
    low, *_, high = m.inter.segments
    assert [s.from_ for s in m.inter.segments if s.from_] == [pytest.approx(THRESHOLD, rel=0.3)]
    for segment in (low, high):
        # What 15 delays of 40 us or more leave of a train: 1 % of noise leaves o_s an interval of a quarter.
        low_s, high_s = present(segment.o_s.interval)
        assert low_s <= O_S <= high_s
        assert segment.o_s.source == "measured"
    # Receives were timed of messages up to 8 KiB: of larger ones o_r is taken as of these.
    assert (low.o_r.source, high.o_r.source) == ("measured", "assumed")
    assert high.o_r.value == low.o_r.value == pytest.approx(O_R, rel=0.05)
    assert low.L.value == pytest.approx(WIRE, rel=0.05)
    assert low.o_s.value + low.L.value + low.o_r.value == pytest.approx(O_S + WIRE + O_R, rel=0.02)
    assert 1 / low.G.value == pytest.approx(2 * RATE, rel=0.03)
    assert 1 / high.G.value == pytest.approx(RATE, rel=0.01)
    assert m.threads.contention is None  # of the library's, in units of o_s
    assert m.memory.copy_hot.value == pytest.approx(20e9, rel=0.02)
    assert m.contexts.value == 1  # communicators were as slow as one
    assert (m.library.name, present(m.library.early_send).value) == ("openmpi-persist", True)
    assert m.progress.value == "on-call"  # 90 % was left when the receiver computed
    assert m.one_sided.epoch.value == m.one_sided.epoch_peer.value == 2 * low.o_s.value


def test_predictions_of_the_machine_are_its_measurements(found: Calibration) -> None:
    m = found.described.machine
    for size in (8, 1000, 10_000, 20_000, 100_000, 3_000_000):
        w = validated(Workload, {"threads": 1, "buffer": f"{size} B"}, "w")
        assert Runs(m, Step.of(w)).mean_time(Approach(SINGLE)) == pytest.approx(one_way(size), rel=0.03)
    w = validated(Workload, {"threads": 8, "buffer": "8 MB"}, "w")
    # Eight messages of 1 MB at once: issued every few us, far below the millisecond of each.
    expected = one_way(1e6) + 7 * gap(1e6)
    assert Runs(m, Step.of(w)).mean_time(Approach(MANY, 8)) == pytest.approx(expected, rel=0.02)


@pytest.mark.thorough
def test_same_file_same_bytes(raw: Path) -> None:
    first, again = (calibrate(raw, name="paper", seed=4) for _ in range(2))
    assert dumps(first.described.machine) == dumps(again.described.machine)
    assert provenance(raw, first, 4) == provenance(raw, again, 4)
    other = calibrate(raw, name="paper", seed=5)
    assert dumps(other.described.machine) != dumps(first.described.machine)  # intervals are drawn


def test_thin_data_end_in_a_machine_that_says_so(tmp_path: Path) -> None:
    def measured(*sizes: int) -> Path:
        pings = [(p, r) for p, r in records() if p.measurement == "pingpong" and p.get("bytes") in sizes]
        return written_to(tmp_path / f"{len(sizes)}.jsonl", pings)

    thin = calibrate(measured(1, 16, 4096, 1 << 20), name="thin").described
    assert any("thin data: 4 message sizes were timed" in note and "measure next: " in note for note in thin.notes)
    segment = thin.machine.inter.segments[0]
    assert segment.o_s.source == "assumed"
    assert segment.G.interval is not None
    with pytest.raises(ThinDataError, match="2 message sizes were timed"):
        calibrate(measured(1, 1 << 20), name="thin")


@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_any_subset_of_the_records_gives_a_machine_file(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    kinds = sorted({point.measurement for point, _ in records()})
    chosen = {"pingpong"} | data.draw(st.sets(st.sampled_from(kinds)))
    share = data.draw(st.sampled_from([0.2, 0.5, 1.0]))
    kept = np.random.default_rng(data.draw(st.integers(0, 2**16))).random(len(records())) < share
    some = [r for r, keep in zip(records(), kept, strict=True) if keep and r[0].measurement in chosen]
    path = written_to(tmp_path_factory.mktemp("some") / "some.jsonl", some)
    done = calibrate(path, name="some")
    file = path.with_suffix(".toml")
    file.write_text(dumps(done.described.machine, provenance(path, done, 0)))
    known = load(file)
    what = validated(Workload, {"threads": known.threads.barrier.threads[-1], "buffer": "1 MiB"}, "w")
    assert 0 < Runs(known, Step.of(what)).mean_time(Approach(MANY, what.threads)) < 10.0


@pytest.mark.parametrize(
    ("left", "only", "rounds"), [(0, None, 10), (1, None, 2), (0, ("rate",), 2), (0, ("overlap",), 8)]
)
def test_a_calibration_closes_in_on_where_the_protocol_changes(
    left: int, only: tuple[str, ...] | None, rounds: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """First where messages wait for progress, between 8 KiB and 1 MiB, then the plan, then what two fits ask for."""
    asked, budgets = list[dict[Point, None]](), list[float]()

    def measure(
        points: Iterable[Point], _: Launcher, raw: Path, budget_s: float, *__: object, **___: object
    ) -> Outcome:
        budgets.append(budget_s)
        asked.append(dict.fromkeys(p for p in points if not any(p in each for each in asked)))
        written_to(raw, measured(asked[-1]))
        return Outcome("e", len(asked[-1]), len(asked), left, {f"{len(asked)}": "failed"})

    monkeypatch.setattr(calibration, "measure", measure)
    monkeypatch.setattr(calibration, "time", SimpleNamespace(monotonic=count(5).__next__))  # a second for each
    launcher, built, raw = Launcher(()), Built(tmp_path, (), "", ""), tmp_path / "r.jsonl"
    done = calibration.run_measurements(launcher, built, raw, threads=2, budget_s=9.0, only=only)
    assert len(asked) == rounds
    assert (done.measured, done.failed) == (sum(map(len, asked)), rounds)
    assert budgets == [8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0, 0.0, 0.0][:rounds]
    assert list(asked[0]) == plan(threads=2, only=only, coarse=True)
    if rounds == 2:
        return
    assert {*plan(threads=2, only=only)} <= {p for each in asked for p in each}
    low, high = 8192, 1 << 20
    for number in range(1, 7):
        middle = round((low * high) ** 0.5)
        assert asked[number] == {Point.of("overlap", bytes=middle): None}
        low, high = (low, middle) if middle >= THRESHOLD else (middle, high)
    assert high <= 1.1 * low
    for more in asked[8:]:
        sizes = {int(str(p.get("bytes"))) for p in more}
        assert set(more) == {ping(size) for size in sizes} | {p for size in sizes for p in trains(size)}
        assert all(8192 < size < 32768 for size in sizes)


def test_environments_are_told_apart(raw: Path) -> None:
    line = {"format": 1, "kind": "environment", "key": "f", "record": {"launcher": "other"}}
    with raw.open("a") as stream:
        stream.write(json.dumps(line) + "\n")
    for asked in (None, "g"):
        with pytest.raises(PreadyError, match=rf"environment = {asked!r}; valid: one of: e \(paper\), f \(other\)"):
            calibrate(raw, name="x", environment=asked)
    assert calibrate(raw, name="x", environment="e").environment == "e"
    assert observations_of.environment(observations_of.load(raw), "f")[1]["launcher"] == "other"


def test_the_head_says_what_was_measured_where_and_when(raw: Path, found: Calibration) -> None:
    """The day of the last record, how many points, and what is missing."""
    points = [json.loads(line) for line in raw.read_text().splitlines()][1:]
    assert found.described.machine.created == date.fromisoformat(max(point["time"] for point in points)[:10])
    head = provenance(raw, found, 4)
    first = f"Written by pready {VERSION} calibrate from paper.jsonl, seed 4,\nenvironment e.\n{len(points)} "
    assert head.startswith(first)
    assert all(f"Note: {note}" in head for note in found.described.notes)
    assert head.splitlines()[-len(found.lacking) :] == [f"Lacks: {what}" for what in found.lacking]
