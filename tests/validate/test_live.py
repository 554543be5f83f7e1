"""The live comparison: its cases, its checks on measurements made of the model itself, and what must be rejected."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from machines import ideal
from real_mpi import benchmark

from pready.calibrate.machine.calibrate import run_measurements
from pready.calibrate.measure.raw_file import Content
from pready.calibrate.measure.schedule import sizes
from pready.calibrate.rig.namespaces import OFF_LOGGP, Rig, RigUnavailable
from pready.model.advice.predict import effective_library
from pready.model.machine.machine import Machine
from pready.model.machine.path import SendCompletes
from pready.model.toml.reading import validated
from pready.validate.claims.wrong_machines import bandwidth
from pready.validate.limits import Judged, checks, described
from pready.validate.live import design, session
from pready.validate.live.as_measured import Completed
from pready.validate.live.compare import (
    BULK,
    Repeats,
    approach_of,
    compare,
    gather,
    without_laggard,
    workload_of,
)
from pready.validate.site import ROUNDS, Site, Told

pytestmark = pytest.mark.thorough

LINK = 1e8  # bytes per second
REPEATS = 6


def machine(**changes: Any) -> Machine:
    """A gigabit link with latency and overheads, its latency known to 10 %."""
    m = ideal(
        G=1 / LINK, L=20e-6, o_s=5e-6, o_r=3e-6, g=2e-6, barrier=[0.0, 5e-6, 20e-6], put=5e-6, epoch=9e-6, contexts=1
    )
    (segment,) = m.inter.segments
    known = segment.L.model_copy(update={"interval": (18e-6, 22e-6)})
    inter = m.inter.model_copy(update={"segments": (segment.model_copy(update={"L": known}),)})
    return m.model_copy(update={"inter": inter, **changes})


def measured_by(m: Machine, scene: design.Scene, folder: Path, noise: float = 0.01) -> dict[design.Way, Repeats]:
    """What a cluster that is this Machine would measure: its own times, each round off by up to `noise`."""
    rng = np.random.default_rng(int(scene.name))
    out = {}
    for way in scene.ways:
        approach = approach_of(way, effective_library(m))
        if approach is None:
            continue
        ready = np.array([scene.ready] * REPEATS)
        truth = Completed(
            m, workload_of(scene, ready, folder, f"made-by-{scene.name}-{way}"), alone=True, samples=REPEATS
        )
        off = 1 + rng.uniform(-noise, noise, ROUNDS) * (scene.buffer >= 4096)
        out[way] = Repeats(truth.predict(approach).time_s * off, ready, truth.mean_time(approach) * off.mean())
    return out


@pytest.fixture(scope="module")
def designed() -> list[design.Scene]:
    return design.scenes(24, bytes_per_s=LINK, seed=3, avoid=sizes())


@pytest.fixture(scope="module")
def made(designed: list[design.Scene], tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("made")
    return [(s, measured_by(machine(), s, folder)) for s in designed[:8]], folder


def judged(made: Any, m: Machine, *, lag: bool = True) -> list[Judged]:
    pairs, folder = made
    found = [compare(m, s, x if lag else without_laggard(x), "made" if lag else "no-lag", folder, 0) for s, x in pairs]
    return [one for one in found if one is not None]


@pytest.fixture(scope="module")
def right(made: Any) -> list[Judged]:
    return judged(made, machine())


@pytest.fixture(scope="module")
def half(made: Any) -> list[Judged]:
    return judged(made, bandwidth(machine(), 0.5))


def kept(found: list[Judged]) -> list[bool]:
    """Limits, of η and of verdicts."""
    return [c.ok for c in checks(found, session.LIMIT)]


# ---- which cases ----------------------------------------------------------------------------------------------------


def test_scenes_fill_the_space(designed: list[design.Scene]) -> None:
    assert {s.kind for s in designed} == set(design.KINDS)
    assert {s.threads for s in designed} == set(design.THREADS)
    assert {s.partitions_per_thread for s in designed} == set(design.PARTITIONS_PER_THREAD)
    logs = np.log2([s.buffer for s in designed])
    # 14 octaves from 1 KiB to 16 MiB; 24 points of an even sequence leave no gap of more than three.
    assert np.diff(np.sort(np.concatenate([[10], logs, [24]]))).max() < 3
    assert all(max(s.ready) <= 4 * design.LONGEST for s in designed)


def test_no_message_has_a_size_of_the_calibration(designed: list[design.Scene]) -> None:
    calibrated = set(sizes())
    for s in designed:
        assert s.buffer % s.n_partitions == 0
        assert not calibrated & {s.buffer // w.transport for w in s.ways}


def test_the_same_seed_gives_the_same_cases_and_more_continue_them(designed: list[design.Scene]) -> None:
    def at(count: int, seed: int = 3) -> list[design.Scene]:
        return design.scenes(count, bytes_per_s=LINK, seed=seed, avoid=sizes())

    assert at(24) == designed
    assert at(32)[:24] == designed
    assert at(24, seed=4) != designed


def test_every_case_is_measured_in_every_round_beside_bulk(designed: list[design.Scene]) -> None:
    points = design.points(designed, receive_threads=1, seed=3, point_budget_s=0.1)
    assert len(set(points)) == len(points) == sum(len(s.ways) for s in designed) * ROUNDS
    assert all(BULK.approach in {w.approach for w in s.ways} for s in designed)
    first = [p.get("approach") for p in points if p.get("round") == 0]
    second = [p.get("approach") for p in points if p.get("round") == 1]
    assert first != second  # the order is drawn anew: drift falls on all ways alike


def test_threads_without_a_core_each_have_no_windows_of_their_own() -> None:
    few = design.scenes(32, bytes_per_s=1e8, seed=3, crowded=True)
    assert {w.approach for s in few for w in s.ways if w.approach.startswith("rma")} == {
        "rma-single-active",
        "rma-single-passive",
    }


# ---- the checks, and what they must reject --------------------------------------------------------------------------


def test_measurements_of_the_model_itself_pass(right: list[Judged]) -> None:
    assert kept(right) == [True, True]


def test_half_the_bandwidth_and_a_removed_laggard_are_rejected(made: Any, half: list[Judged]) -> None:
    assert not kept(half)[0]
    assert kept(judged(made, machine(), lag=False)) == [False, False]
    assert kept([]) == [False, False]  # over no case


def test_the_choice_is_the_models_alone(made: Any) -> None:
    pairs, folder = made
    scene, seen = next((s, x) for s, x in pairs if s.kind != "none" and s.buffer > 1 << 16)
    first = compare(machine(), scene, seen, "made", folder, 0)
    assert first is not None
    slow = {w: replace(x, centres=3 * x.centres) if i == first.chosen else x for i, (w, x) in enumerate(seen.items())}
    again = compare(machine(), scene, slow, "made", folder, 0)
    assert again is not None
    assert again.chosen == first.chosen
    assert again.regret > first.regret


def test_figures_without_a_limit_are_printed(right: list[Judged], half: list[Judged]) -> None:
    said, wrong = described(right), described(half)
    # Each round is off by up to 1 %; twice the time per byte is off by 100 % where messages are long.
    assert re.match(r"error of time 0\.\d % in the median; of mean time 0\.\d %; of η \d\.\d % at the 90th", said)
    assert re.match(r"error of time (9\d|100)\.\d % in the median; of mean time", wrong)
    assert "Eq. 3 alone: " in said
    assert re.search(r"below 4 KiB 100 % of \d+ times lie inside the interval$", said)


def test_the_suspect_is_the_term_that_was_made_wrong(made: Any) -> None:
    pairs, folder = made

    def meeting(seconds: float) -> Machine:
        m = machine()
        barrier = m.threads.barrier.model_copy(update={"time": (0.0, seconds, seconds), "interval": 0.9})
        return m.model_copy(update={"threads": m.threads.model_copy(update={"barrier": barrier})})

    # A third of 0.3 ms too little: 3 times the barrier, known to 90 %, is likelier than 1.2 times the bandwidth.
    scene = next(s for s, _ in pairs if s.kind == "none" and s.buffer < 1 << 16 and s.threads > 2)
    found = compare(
        meeting(50e-6), scene, measured_by(meeting(150e-6), scene, folder, 0.0), "slow", folder, 0, explain=True
    )
    assert found is not None
    assert found.cases[0].suspect.startswith("as if the threads' barrier cost 3 times")


@pytest.mark.parametrize("completes", ["copied", "left", "delivered"])
def test_when_a_send_completes_is_no_suspect(made: Any, completes: str) -> None:
    pairs, folder = made
    how = validated(SendCompletes, {"value": completes, "source": "measured", "why": "test"}, "test")
    m = machine()
    m = m.model_copy(update={"inter": m.inter.model_copy(update={"send_completes": how})})
    scene, seen = next((s, x) for s, x in pairs if s.buffer > 1 << 16)
    slow = {way: replace(x, centres=1.5 * x.centres) for way, x in seen.items()}
    found = compare(m, scene, slow, "slow", folder, 0, explain=True)
    assert found is not None
    assert found.cases[0].suspect
    assert not any("acknowledgement" in c.suspect for c in found.cases)


def test_a_way_without_all_its_rounds_is_left_out(designed: list[design.Scene]) -> None:
    scene, content = designed[0], Content()
    for way in scene.ways:
        for round_ in range(ROUNDS if way == BULK else ROUNDS - 1):
            after = {"median_s": 1e-3 * (1 + round_), "samples_ns": [1e6 * (1 + round_), 4e6]}
            record = {"median_s": 1.0, "also": {"after": after}, "lists": {"ready_s": [list(scene.ready)]}}
            content.points[design.point(scene, way, round_, 1, 0.1).key("e")] = {"record": record}
    found = gather(content, "e", scene, 1, 0.1)
    assert set(found) == {BULK}
    assert found[BULK].time == pytest.approx(2e-3)  # the median of 1, 2 and 3 ms
    assert found[BULK].spread == pytest.approx(0.5)  # half of their range over it
    assert found[BULK].mean == pytest.approx((1 + 2 + 3 + 3 * 4) * 1e-3 / 6)
    assert compare(machine(), scene, found, "made", Path("unused"), 0) is None


# ---- on the rig -----------------------------------------------------------------------------------------------------


@pytest.mark.alone
def test_a_short_comparison_on_the_rig(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    if not os.environ.get("PREADY_MPICH_PREFIX"):
        pytest.skip("PREADY_MPICH_PREFIX is not set: no MPICH to test with")
    prefix = Path(os.environ["PREADY_MPICH_PREFIX"])
    monkeypatch.setattr(design, "BLOCK", 1)
    monkeypatch.setattr(design, "LARGEST", 1 << 16)
    few = partial(run_measurements, only=("pingpong", "pready"))
    monkeypatch.setattr("pready.validate.site.run_measurements", few)
    monkeypatch.setattr("pready.validate.live.session.POINT_BUDGET_S", 0.02)
    try:
        with Rig("100 Mbit") as rig:
            site = Site("mpich", rig.mpich(prefix), benchmark(prefix, request), 1)
            told: list[Told] = []
            done = session.validate(site, tmp_path, budget_s=8.0, seed=1, on_progress=told.append)
    except RigUnavailable as error:
        pytest.skip(error.reason)
    assert {t.stage for t in told} == {"calibrating", "measuring"}
    assert done.cases
    assert {c.approach for c in done.cases} >= {"single", "many", "part"}
    too_few = any("too few" in note for note in done.notes)
    assert len(done.controls) == (0 if too_few else 2)
    assert OFF_LOGGP in done.notes
    assert (tmp_path / "live-mpich.toml").exists()
