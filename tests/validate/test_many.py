"""Exchanges among many ranks, and both ways between two: a cluster that is the model keeps all limits, no other."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from machines import ideal
from synthetic_cluster import cluster, rows

from pready.calibrate.measure.compile import Built
from pready.calibrate.measure.exchange_plan import step_plan
from pready.calibrate.measure.launcher import Launcher
from pready.calibrate.measure.raw_file import Point, Records
from pready.calibrate.measure.session import Outcome
from pready.model.advice.predict import effective_library
from pready.model.approach.interfaces import BY_KEY
from pready.model.common.arrays import Array
from pready.model.engine.ranks.layout import layout
from pready.model.machine.machine import Machine
from pready.validate.claims.wrong_machines import bandwidth
from pready.validate.conclusion import NothingMeasured
from pready.validate.limits import Judged, as_printed, clear, described, right
from pready.validate.prove import design, many
from pready.validate.prove.expected import Expected
from pready.validate.prove.performed import of_records
from pready.validate.result import CaseResult, Comparison
from pready.validate.site import MOST_SCENES, Site, nice

SEED = 5
SITE = Site("mpi", Launcher(("mpiexec",), ranks=2), Built(Path("pready-bench"), ("mpicc",), "none", "0"))


def machine() -> Machine:
    """A link of 200 Mbit/s."""
    return ideal(G=1 / 25e6, L=50e-6, o_s=5e-6, o_r=3e-6, g=2e-6, barrier=[0.0, 5e-6, 20e-6], put=5e-6, epoch=9e-6)


def listed(nodes: int) -> list[many.Scene]:
    m = machine()
    speed, profile = nice(m.bandwidth), effective_library(m)
    return many.scenes(MOST_SCENES, nodes=nodes, bytes_per_s=speed, profile=profile, seed=SEED)


def cluster_of(truth: Machine) -> Callable[..., Outcome]:
    """Stands for `measure`: ranks whose iterations are those that the engine simulates on `truth`."""
    of_plan = {s.plan.name: s for s in listed(2)}

    def rows_of(point: Point, _: dict[str, Any]) -> Array:
        scene = of_plan[str(point.get("plan"))]
        asked = (point.get("approach"), point.get("transport"))
        (way,) = (w for w in scene.ways if [(s.name, s.transport) for s in w.each] == [asked])
        return rows(truth, scene.workload, scene.plan, way.approaches, SEED)

    return cluster(rows_of)


def compared(truth: Machine, folder: Path, monkeypatch: pytest.MonkeyPatch, workloads: int = 8) -> Comparison:
    monkeypatch.setattr(many, "MOST_SCENES", workloads)
    every = many.arrivals_of
    monkeypatch.setattr(many, "arrivals_of", lambda late: [every(late)[kind] for kind in (3, 1)])
    monkeypatch.setattr(many, "patterns", lambda _: {"pair": PAIR})
    found = SimpleNamespace(environment="here", described=SimpleNamespace(machine=machine()))
    monkeypatch.setattr(many, "calibrate", lambda *_, **__: found)
    monkeypatch.setattr(many, "measure", cluster_of(truth))
    return many.both_ways(SITE, folder / "raw.jsonl", budget_s=1.0, seed=SEED)


PAIR = many.patterns(2)["pair"]


@pytest.fixture(scope="module")
def on_the_model(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    with pytest.MonkeyPatch.context() as patch:
        return compared(machine(), tmp_path_factory.mktemp("model"), patch)


@pytest.mark.thorough
def test_a_pair_that_is_the_model_keeps_all_limits(on_the_model: Comparison) -> None:
    done = on_the_model
    assert done.title.endswith(", both ways")
    assert len(done.cases) >= 8 * 3
    assert [check.name for check in done.checks if not check.ok] == []
    for case in done.cases:
        assert case.measured_s == pytest.approx(case.predicted_s, rel=1e-6)
    # Each wrong prediction breaks a limit.
    assert all(control.rejected for control in done.controls)


@pytest.mark.thorough
def test_half_the_bandwidth_breaks_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = compared(bandwidth(machine(), 0.5), tmp_path, monkeypatch, workloads=3)
    assert "error of η, median" in [check.name for check in done.checks if not check.ok]


@pytest.mark.thorough
def test_few_workloads_have_no_negative_controls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = compared(machine(), tmp_path, monkeypatch, workloads=7)
    assert done.checks
    assert done.controls == ()
    assert "no negative controls: 7 workloads are too few, 8 are needed; a larger --budget" in done.notes
    assert done.notes[0] == f"7 of 7 workloads, {len(done.cases)} cases, were measured in all 3 rounds"


@pytest.mark.thorough
def test_ranks_that_share_cores_are_shown_not_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(many, "shared_cores", lambda _: "not judged: 4 ranks share 2 cores")
    done = compared(machine(), tmp_path, monkeypatch, workloads=2)
    assert done.cases
    assert done.checks == ()
    assert done.controls == ()
    assert "not judged: 4 ranks share 2 cores" in done.notes


def test_nothing_measured_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(points: Iterable[Point], launcher: Launcher, out: Path, *_: Any, **__: Any) -> Outcome:
        with Records(out) as records:
            records.add_environment("here", {"library": "the model", "settings": {}})
        return Outcome("here", len(list(points)), 0, 0)

    found = SimpleNamespace(environment="here", described=SimpleNamespace(machine=machine()))
    monkeypatch.setattr(many, "calibrate", lambda *_, **__: found)
    monkeypatch.setattr(many, "measure", nothing)
    with pytest.raises(NothingMeasured, match="valid: a larger budget"):
        many.both_ways(SITE, tmp_path / "raw.jsonl", budget_s=1.0, seed=SEED)


@pytest.mark.parametrize("nodes", [2, 4, 8])
def test_scenes_have_so_many_ranks_and_bytes(nodes: int) -> None:
    found = listed(nodes)
    assert len(found) == MOST_SCENES
    assert {name.split(" ", 1)[1] for name in (s.workload.name for s in found)} == set(many.patterns(nodes))
    for scene in found:
        what = layout(scene.workload)
        assert np.prod(what.grid) == nodes
        (plan,) = step_plan(scene.workload, 1, SEED).exchanges
        sent = np.zeros(nodes)
        for phase in plan.phases:
            for edge in phase.edges:
                sent[edge.sender] += edge.bytes
        # Rounding up to whole partitions of at least 8 B is all that goes beyond.
        assert sent.max() <= many.LARGEST + 8 * scene.workload.n_partitions * len(plan.phases) * 6
        assert scene.first >= design.WARM_UP / scene.steps


@pytest.mark.thorough
def test_a_regret_is_told_of_ways_that_repeat_themselves(on_the_model: Comparison) -> None:
    scene = tuple(c for c in on_the_model.cases if c.id.startswith("000 "))
    chosen = max(range(len(scene)), key=lambda i: scene[i].saving_predicted)
    slow = [1.0] * len(scene)
    slow[chosen] = 1.2
    best = next(i for i in range(len(scene)) if i != chosen)
    slow[best] = 0.9
    one = Judged(scene, tuple(slow), chosen)
    assert one.regret == pytest.approx(1.2 / 0.9 - 1)
    assert one.tells_regret
    for doubtful in (chosen, best):
        cases = tuple(replace(c, spread=0.06) if i == doubtful else c for i, c in enumerate(scene))
        assert not Judged(cases, tuple(slow), chosen).tells_regret
        assert described([one, Judged(cases, tuple(slow), chosen)]) == described([one])


def test_two_nodes_send_both_ways() -> None:
    for scene in listed(2):
        (first, *_) = step_plan(scene.workload, 1, SEED).exchanges[0].phases
        ways = {(e.sender, e.receiver) for e in first.edges}
        assert ways == ({(0, 1), (1, 0)} if "pair" in scene.workload.name else {(0, 1)})


def exchanged(began: Array, ready: Array) -> dict[str, Any]:
    """A record of bulk, shape of `ready`: (iterations, ranks, steps, partitions)."""
    iterations, _, steps, partitions = ready.shape
    times = np.stack([began, ready.max(axis=3).sum(axis=2), began + 1.0], axis=2)
    columns = [times.reshape(iterations, -1), ready.reshape(iterations, -1)]
    return {"derived": {"moments": steps * partitions}, "lists": {"ranks_s": np.hstack(columns).tolist()}}


def test_moments_are_replayed_from_one_rank_after_the_other() -> None:
    iterations, ranks, steps, partitions = 4, 3, 2, 5
    ready = np.arange(2.0 * iterations * ranks * steps * partitions).reshape(2, iterations, ranks, steps, partitions)
    began = np.zeros((iterations, ranks))
    found = of_records([exchanged(began, r) for r in ready], 1, steps)
    assert found.ready is not None
    np.testing.assert_array_equal(found.ready, ready)
    assert found.times.shape == (2, iterations, ranks, 3)
    assert found.trace is not None
    order = [(r, i, s) for r in range(2) for i in range(1, iterations) for s in range(steps)]
    expected = [ready[r, i, n % ranks, s] for n, (r, i, s) in enumerate(order)]
    np.testing.assert_array_equal(found.trace, expected)
    alone = [{"lists": {"ranks_s": np.zeros((iterations, 3 * ranks)).tolist()}}]
    assert of_records(alone, 1, steps).trace is None  # an older benchmark's


def test_threads_that_wake_up_one_after_the_other_gain_by_parts(tmp_path: Path) -> None:
    """Planned at once, but half of the partitions come when a fifth of the buffer has passed: so much is saved."""
    scene = next(s for s in listed(2) if s.workload.threads == 2 and s.workload.arrivals.model == "none")
    workload = scene.workload.model_copy(update={"buffer": 250_000.0, "pattern": "pt2pt", "both_ways": True})
    n, begin = workload.n_partitions, workload.thread_time
    rows = np.full((6, n), begin)
    rows[:, n // 2 :] += 2e-3  # of 10 ms on the cable
    late = many.replayed(workload, rows, tmp_path / "moments.npy")
    parts = BY_KEY["many"].into(2)
    saved = [Expected(machine(), w, SEED, scene.first, scene.iterations).of((parts,)).saving for w in (workload, late)]
    assert abs(saved[0]) < 0.003
    assert saved[1] == pytest.approx(2e-3 / (begin + 12e-3), abs=0.005)


def test_what_users_would_have_read_is_counted() -> None:
    """Savings of 3 %, measured: promised for certain, perhaps, and not at all; and one of 0 that was promised."""
    some = CaseResult(
        "0", "mpi", "many", 2, 1, 2, 1, 4096, "none",
        measured_s=1e-3, measured_low_s=1e-3, measured_high_s=1e-3, spread=0.01,
        predicted_s=1e-3, predicted_low_s=1e-3, predicted_high_s=1e-3,
        eta_measured=1.0, eta_measured_low=1.0, eta_measured_high=1.0,
        eta_predicted=1.0, eta_predicted_low=1.0, eta_predicted_high=1.0,
        saving_measured=0.03, saving_measured_low=0.02, saving_measured_high=0.04,
    )  # fmt: skip
    said = [(0.03, 0.02, 0.04), (0.03, 0.0, 0.06), (0.005, 0.004, 0.006)]
    cases = [
        replace(some, saving_predicted=s, saving_predicted_low=low, saving_predicted_high=high) for s, low, high in said
    ]
    cases.append(replace(cases[0], saving_measured=0.0, saving_measured_low=-0.005, saving_measured_high=0.005))
    unclear = replace(cases[0], saving_measured_low=0.005)
    assert clear([*cases, unclear]) == cases
    assert [right(c) for c in cases] == [True, True, False, False]
    assert as_printed(cases) == (
        "of 4 measured savings that are clear of 1 %, pready predict would say "
        '"port" of 2, 1 on the right side of 1 %; '
        '"do not port" of 1, 0 on the right side of 1 %; "undecided" of 1, 1 on the right side of 1 %'
    )
    assert as_printed([replace(c, saving_predicted_low=None) for c in cases]) is None
