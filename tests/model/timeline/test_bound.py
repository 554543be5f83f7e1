"""What no library exceeds: no way beats it, the best way without costs reaches it, and what of a GPU is left of it."""

import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from machines import ideal
from made_once import any_of
from tables import table_of
from workloads import workload_of

from pready.cli import main
from pready.model.advice.predict import approaches, predict, with_library
from pready.model.approach.interfaces import MANY
from pready.model.engine.layout import Step
from pready.model.engine.runs import Rows, Runs
from pready.model.machine import machine as machines
from pready.model.result.verdict import IN_TURN, never
from pready.model.workload.workload import Workload

FLAT = ideal(G=1 / 25e9, o_s=1e-6, L=2e-6, o_r=1e-6)
PROFILES = sorted(machines.profiles())
ARRIVALS = (
    {"model": "uniform", "up_to": 0.5},
    {"model": "uniform", "up_to": 0.1, "partitions": "in turn"},
    {"model": "laggard", "late_by": "20 %"},
    {"model": "laggard", "late_by": "20 %", "late": "thread"},
    {"model": "normal by partition", "epsilon": "10 %"},
)
RANKS: tuple[dict[str, Any], ...] = (
    {"pattern": "pt2pt"},
    {"pattern": "pt2pt", "both_ways": True},
    {"pattern": "halo3d", "grid": [3, 2, 2]},
    {"pattern": "halo3d26", "grid": [2, 2, 2]},
    {"pattern": "sweep3d", "grid": [3, 2], "blocks": 2},
    {"pattern": "bcast", "grid": [9]},
    {"pattern": "halo3d", "grid": [3, 2, 2], "ranks_per_node": 2},
)


def workload(**fields: Any) -> Workload:
    theta = fields.get("partitions_per_thread", 1)
    return workload_of(**{"buffer": f"{4 * theta * 50_000} B", "iterations": 10, **fields})


@given(
    any_of(*PROFILES), st.sampled_from(RANKS), st.sampled_from(ARRIVALS), any_of(1, 2, 4, 8), any_of(1, 3),
    any_of(8, 700, 9000, 50_000, 400_000), any_of(0.02, 0.2, 2.0), st.integers(0, 999), st.booleans(),
)  # fmt: skip
def test_no_way_beats_it(
    profile: str, ranks: dict[str, Any], arrivals: Any, threads: int, theta: int, size: int, ms: float, seed: int,
    consuming: bool,
) -> None:  # fmt: skip
    """Ends of drawn machines, in every step of several iterations from the first: a way may have saved more before."""
    more: dict[str, Any] = {"consume": {"time": "3 us"}} if consuming and ranks["pattern"][:3] in ("pt2", "hal") else {}
    w = workload(
        threads=threads, partitions_per_thread=theta, buffer=f"{threads * theta * size} B", arrivals=arrivals,
        compute={"time": f"{ms} ms"}, **ranks, **more,
    )  # fmt: skip
    machine, library = with_library(machines.load(profile))
    runs = Runs(machine, Step.of(w), Rows(5, seed, first=0))
    some = approaches(machine, w, library)[seed % 5 :: 5]
    for rows in (range(1), range(1, 6)):
        least, *others = runs.means([(runs.bound(),), *((a,) for a in some)], rows)
        for of in others:
            shared = "ranks_per_node" in ranks or rows[0] > 0  # some draws have ranks that share a node
            assert (least.ends <= of.ends * (1 + IN_TURN * shared + 1e-12)).all()


IN_STEP = st.sampled_from((*RANKS[:2], {"pattern": "halo3d"}))


@given(IN_STEP, st.sampled_from(ARRIVALS), st.floats(1e9, 1e11), st.integers(0, 999))
def test_the_best_way_without_costs_reaches_it(ranks: dict[str, Any], arrivals: Any, rate: float, seed: int) -> None:
    """Messages by threads, one for each partition; peers in step. At 1 % more bytes a second, which is another machine,
    they would beat it."""
    w = workload(partitions_per_thread=2, arrivals=arrivals, compute={"time": "20 us"}, **ranks)

    def times(rate: float) -> tuple[Any, Any]:
        step = Step.of_a_part(w) if w.both_ways else Step.from_rest(w)
        runs = Runs(ideal(G=1 / rate, L=1e-6), step, Rows(0, seed))
        least, best = runs.means([(runs.bound(),), (MANY.into(w.n_partitions, w.threads),)])
        return least.step.communication, best.step.communication

    least, best = times(rate)
    assert best == pytest.approx(least, rel=1e-9)
    assert times(1.01 * rate)[1] < least


def test_known_answers() -> None:
    """A late partition: Eq. 3 of gillis2023, max(M/β - D, M/(nβ)), and L. Two that send to one rank share its port;
    of two that one sends to, a library may serve either first."""
    size, L = 4e6, 2e-6
    for late, left in ((40e-6, 160e-6 - 40e-6), (200e-6, 40e-6)):
        w = workload(buffer="4000000 B", arrivals={"model": "laggard", "delay": f"{late} s"})
        runs = Runs(FLAT, Step.from_rest(w), Rows(0))
        assert runs.mean_time(runs.bound()) == pytest.approx(left + L)
    for lists, port in (([[2], [2], [0, 1]], 2), ([[1], [2], [0]], 1)):
        w = workload(buffer="4000000 B", pattern="neighbours", neighbour_list=lists)
        runs = Runs(FLAT, Step.of_a_part(w), Rows(0, iterations=1, first=0))
        assert runs.bound().messages == 1  # all is ready at once
        (of,) = runs.means([(runs.bound(),)])
        assert of.ends[0] == pytest.approx(1e-3 + port * size / 25e9 + L)


def test_of_a_step_of_several_exchanges() -> None:
    """One after the other, each as late as its own bytes: 2 × (160 us + L)."""
    each = {"buffer": "4000000 B", "compute": {"time": "1 ms"}}
    w = workload_of(compute={"time": "0 s"}, exchanges=[{**each, "name": "a"}, {**each, "name": "b"}])
    found = predict(FLAT, w, draws=39)
    bound = found.advice.bound
    assert bound is not None
    assert bound.iteration_s == pytest.approx(2 * (1e-3 + 162e-6), rel=0.05)


def of_gpu(**own: Any) -> Workload:
    return workload_of(threads=1, buffer="8000000 B", compute={"device": "gpu", "time": "2 ms", "waves": 8, **own})


def test_waves_of_a_gpu_are_partitions() -> None:
    """8 MB at 25 GB/s: 320 us; 8 waves of 250 us leave an eighth, 40 us; of 300 us in all, 320 - 7 / 8 * 300 us."""
    for time, left in (("2 ms", 40e-6), ("300 us", 57.5e-6)):
        found = predict(FLAT, of_gpu(time=time), draws=0)
        assert found.advice.bound is not None
        assert found.advice.bound.time_s == pytest.approx(2e-6 + left)
        assert found.bulk.time_s == pytest.approx(324e-6)
        assert found.advice.verdict == "undecided"
    one = predict(FLAT, of_gpu(waves=1))
    assert one.advice.verdict == "do not port"
    assert one.advice.never


@pytest.mark.parametrize(("compute", "said"), table_of("model/refused")["gpu"])
def test_bad_files_are_a_line(compute: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "g.toml"
    path.write_text(f'threads = 1\nbuffer = "1 MiB"\ncompute = {compute}\n')
    assert main(["predict", str(path)]) == 2
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1


@pytest.mark.usefixtures("predicted_once")
def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["predict", "examples/gpu.toml", "--machine", "alps"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert said.startswith("Undecided: no library could save more than ")
    assert "as each of 8 waves ends" in said
    assert main(["predict", "examples/gpu.toml", "--machine", "alps", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["advice"]["bound"]["speedup_percent"] > 0
    for line, refused in table_of("pready/refused")["gpu"]:
        assert main(shlex.split(line)) == 2
        assert refused in capsys.readouterr().err


def test_an_adapter_that_is_shared_is_no_bound() -> None:
    """0.3 % at most is never 1 %; beside an exchange of half an iteration 12 % of it, 6 %, may be."""
    bound = predict(FLAT, workload(), draws=16).advice.bound
    assert bound is not None
    small = replace(bound, probability=0.0, speedup_high_percent=0.3, time_s=bound.iteration_s / 2)
    assert never(small, 0.01, shared=False)
    assert not never(small, 0.01, shared=True)
    assert never(replace(small, time_s=bound.iteration_s / 20), 0.01, shared=True)


@pytest.mark.usefixtures("predicted_once")
def test_never(capsys: pytest.CaptureFixture[str]) -> None:
    """1 KiB in a millisecond: no library saves a percent, whatever is not known; of 1 MiB one might."""
    small = ["--set", "buffer=1 KiB"]
    assert main(["predict", "examples/halo3d.toml", *small]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert said.startswith("Do not port, by any library: none could save more than ")
    assert main(["predict", "examples/halo3d.toml", *small, "--json"]) == 0
    advice = json.loads(capsys.readouterr().out)["advice"]
    assert advice["never"]
    assert (advice["verdict"], advice["certainty"]) == ("do not port", "certain")
    assert main(["predict", "examples/halo3d.toml"]) == 0
    assert "No library could save more than " in " ".join(capsys.readouterr().out.split())
    assert np.isfinite(advice["bound"]["speedup_high_percent"])
