"""``pready simulate``: the engine from the command line."""

import re
from itertools import product
from pathlib import Path

import pytest
from command_line import data, out
from given import Capsys

HALO = "examples/halo3d.toml"
SMALL = ["--set", "grid=3x3x2", "--set", "iterations=5"]


@pytest.mark.parametrize(("asked", "iterations"), [([], 100), (["--set", "iterations=120"], 120)])
def test_iterations_are_those_asked_for_or_a_hundred(capsys: Capsys, asked: list[str], iterations: int) -> None:
    words = ("--set", "buffer=64 KiB", *asked, "--set", "grid=2x1x1", "--approach", "single")
    assert data(capsys, "simulate", HALO, *words)["iterations"] == iterations
    assert out(capsys, "simulate", HALO, *words).startswith("Nothing to compare: this is how it is sent today.\n")


def test_json_adds_up(capsys: Capsys) -> None:
    made = data(capsys, "simulate", HALO, *SMALL, "--approach", "many:8:8")
    assert (made["engine"], made["iterations"]) == ("engine", 5)
    # 18 ranks; an axis of two ranks has both neighbours, so six each: 8 partitions and one bulk message
    assert made["messages"] == 18 * 6 * (8 + 1) * 5
    bulk, fine = made["approaches"]
    assert (fine["key"], fine["transport_partitions"], fine["vcis"], fine["messages"]) == ("many", 8, 8, 48)
    assert fine["time_s"] == pytest.approx(fine["communication_s"])
    assert made["speedup_percent"] == fine["speedup_percent"]
    assert made["eta"] == fine["eta"] == pytest.approx(bulk["communication_s"] / fine["communication_s"])
    assert sum(fine["causes_s"].values()) == pytest.approx(fine["iteration_s"], rel=1e-9)
    each = made["iterations_detail"]
    for name, mean in (("mean_s", fine["iteration_s"]), ("bulk_mean_s", bulk["iteration_s"])):
        assert sum(r[name] for r in each) / 5 == pytest.approx(mean, rel=1e-9)
    assert all(r["mean_s"] == pytest.approx(sum(r[f"{cause}_s"] for cause in fine["causes_s"])) for r in each)
    assert all(r["shortest_s"] <= r["mean_s"] <= r["longest_s"] and r["first_end_s"] < r["last_end_s"] for r in each)
    assert made["wall_s"] == pytest.approx(bulk["wall_s"] + fine["wall_s"])


def test_ranks_come_from_the_workload_unless_the_command_says(capsys: Capsys, tmp_path: Path) -> None:
    workload = tmp_path / "w.toml"
    workload.write_text(
        'threads = 8\nbuffer = "64 KiB"\npattern = "halo3d26"\ngrid = [3, 2, 2]\nboundaries = "open"\n'
        'edge = "1 KiB"\ncorner = "64 B"\nthread_grid = [2, 2, 2]\niterations = 2\n'
    )
    words = ("simulate", workload, "--approach", "many:1")
    own = data(capsys, *words)
    assert own["ranks"] == [3, 2, 2]
    # open: pairs of neighbours along each axis, edge and corner, in both directions; bulk and many:1 alike
    steps = [step for step in product((-1, 0, 1), repeat=3) if any(step)]
    pairs = sum((3 - abs(x)) * (2 - abs(y)) * (2 - abs(z)) for x, y, z in steps)
    assert own["messages"] == 2 * 2 * pairs
    wrapped = data(capsys, *words, "--set", "boundaries=periodic", "--set", "grid=3x3x3")
    assert wrapped["ranks"] == [3, 3, 3]
    assert wrapped["messages"] == 2 * 2 * 27 * 26
    assert wrapped["workload"]["boundaries"] == "periodic"
    slower = data(capsys, *words, "--set", "edge=1 MiB")
    assert slower["approaches"][0]["time_s"] > 2 * own["approaches"][0]["time_s"]


def test_a_steps_decision_comes_first_and_its_times_are_what_it_saves(capsys: Capsys) -> None:
    """Of five iterations, the set-up of 16 VCIs is a part that is seen."""
    words = ("simulate", "examples/stencil-unequal.toml", "--set", "iterations=5", "--approach", "many:16:16")
    said = " ".join(out(capsys, *words).split())
    found = re.search(r"saves ([\d.]+) % .*?: ([\d.]+) -> ([\d.]+) ms with set-up", said)
    assert found is not None, said
    percent, before, after = map(float, found.groups())
    assert 100 * (1 - after / before) == pytest.approx(percent, abs=0.06)
