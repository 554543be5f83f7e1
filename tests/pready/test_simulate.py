"""``pready simulate``: the engine from the command line."""

from __future__ import annotations

import csv
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from command_line import data, out, refused

from pready.cli import main
from pready.commands import sst
from pready.model.common.errors import PreadyError
from pready.sst import library

HALO = "examples/halo3d.toml"
SMALL = ["--ranks", "3,3,2", "--iterations", "5"]


def simulated(capsys: pytest.CaptureFixture[str], *arguments: object) -> Any:
    return data(capsys, "simulate", *arguments)


@pytest.mark.thorough
def test_table_and_picture(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    picture = tmp_path / "waves.png"
    text = out(capsys, "simulate", HALO, *SMALL, "--plot", picture)
    for said in ("3 × 3 × 2 ranks, halo3d, 5 iterations", "late neighbour", "η = ", "seed 0"):
        assert said in text
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_json_and_csv_agree(capsys: pytest.CaptureFixture[str]) -> None:
    made = simulated(capsys, HALO, *SMALL, "--approach", "many:8:8", "--cores", "1")
    assert (made["engine"], made["cores"], made["iterations"]) == ("engine", 1, 5)
    # 18 ranks; an axis of two ranks has both neighbours, so six each: 8 partitions and one bulk message
    assert made["messages"] == 18 * 6 * (8 + 1) * 5
    assert made["wall_s"] > 0
    bulk, fine = made["approaches"]
    assert (fine["key"], fine["transport_partitions"], fine["vcis"], fine["messages"]) == ("many", 8, 8, 48)
    assert fine["time_s"] == pytest.approx(fine["communication_s"])
    assert made["eta"] == fine["eta"]
    assert made["availability"] == fine["availability"]
    assert made["eta"] == pytest.approx(bulk["communication_s"] / fine["communication_s"])
    assert sum(fine["causes_s"].values()) == pytest.approx(fine["iteration_s"], rel=1e-9)
    text = out(capsys, "simulate", HALO, *SMALL, "--csv", "--approach", "many:8:8")
    means = [float(r["mean_s"]) for r in csv.DictReader(text.splitlines())]
    assert means == [r["mean_s"] for r in made["iterations_detail"]]


def test_neighbour_lists(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    workload = tmp_path / "ring.toml"
    workload.write_text('threads = 4\nbuffer = "64 KiB"\npattern = "neighbours"\nneighbours = 2\n')
    ring = tmp_path / "ring.txt"
    ring.write_text("# a ring of four\n1 3\n0, 2\n1 3\n0 2\n")
    words = ["--ranks", "4", "--iterations", "2", "--neighbours", ring, "--approach", "many"]
    assert simulated(capsys, workload, *words)["messages"] == 4 * 2 * (4 + 1) * 2
    ring.write_text("1\nzwei\n")
    said = refused(capsys, "simulate", workload, "--ranks", "2", "--neighbours", ring)
    assert "line 2 is not a list of ranks" in said


def test_ranks_come_from_the_workload_unless_the_command_says(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    workload = tmp_path / "w.toml"
    workload.write_text(
        'threads = 8\nbuffer = "64 KiB"\npattern = "halo3d26"\ngrid = [3, 2, 2]\nboundaries = "open"\n'
        'edge = "1 KiB"\ncorner = "64 B"\nthread_grid = [2, 2, 2]\niterations = 2\n'
    )

    own = simulated(capsys, workload, "--approach", "many:1")
    assert own["ranks"] == [3, 2, 2]
    # open: pairs of neighbours along each axis, edge and corner, in both directions; bulk and many:1 alike
    pairs = sum(
        (3 - abs(x)) * (2 - abs(y)) * (2 - abs(z))
        for x, y, z in product((-1, 0, 1), repeat=3)
        if (x, y, z) != (0, 0, 0)
    )
    assert own["messages"] == 2 * 2 * pairs
    wrapped = simulated(capsys, workload, "--approach", "many:1", "--boundaries", "periodic", "--ranks", "3,3,3")
    assert wrapped["ranks"] == [3, 3, 3]
    assert wrapped["messages"] == 2 * 2 * 27 * 26
    assert wrapped["workload"]["boundaries"] == "periodic"
    slower = simulated(capsys, workload, "--approach", "many:1", "--edge", "1 MiB")
    assert slower["approaches"][0]["time_s"] > 2 * own["approaches"][0]["time_s"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--ranks", "0,1,1"), "--ranks = '0,1,1'"),
        (("--ranks", "1"), "1 ranks"),
        (("--ranks", "100000,100000,10", "--approach", "many"), "ranks"),
        (("--approach", "mny"), "KEY one of single, persistent"),
        (("--approach", "many:3"), "does not divide 32 user partitions"),
        (("--approach", "many:0"), "integers of at least 1"),
        (("--approach", "single:4"), "single sends one message"),
        (("--json", "--csv"), "exclude each other"),
        (("--edge", "8 KiB"), "pattern"),
        (("--iterations", "0"), "--iterations"),
        (("--ranks", "3000,3000,400", "--iterations", "1", "--approach", "many"), "GiB are available"),
    ],
)
def test_bad_input(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str) -> None:
    assert said in refused(capsys, "simulate", HALO, *arguments)


@pytest.mark.parametrize(
    ("engine", "arguments", "said"),
    [
        ("sst", ("--neighbours", "list.txt"), "--neighbours with --engine engine"),
        ("sst", ("--cores", "2"), "--cores with --engine engine"),
        ("sst", ("--plot", "x.png"), "--plot with --engine engine"),
        ("sst", ("--thread-grid", "2,2,1"), "--thread-grid with --engine engine"),
        ("sst", ("--trace", "x.json"), "--trace with --engine engine"),
        ("sst", ("--approach", "rma-many-active"), "is not simulated by SST"),
        ("sst", ("--approach", "many:8:4"), "SST simulates one VCI"),
        ("sst", ("--blocks", "3", "--boundaries", "open"), "blocks"),
        ("sst", ("--ranks", "2,2"), "ranks = 2,2"),
        ("engine", ("--topology", "torus"), "--topology with --engine sst"),
        ("timeline", (), "'pready predict --engine timeline'"),
    ],
)
def test_no_option_is_dropped(
    capsys: pytest.CaptureFixture[str], engine: str, arguments: tuple[str, ...], said: str
) -> None:
    """What an engine cannot honour is refused, whether SST is installed or not."""
    error = refused(capsys, "simulate", HALO, "--engine", engine, *arguments)
    assert said in error
    assert "with" not in said or f"--engine {engine}" in error


def test_sst_honours_what_the_workload_may_say(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    def simulated(setup: Any, **options: Any) -> Any:
        seen.append((setup, options))
        raise PreadyError("enough")

    monkeypatch.setattr(library, "find", lambda: None)
    monkeypatch.setattr(library, "build", lambda *_: None)
    monkeypatch.setattr(sst, "_calibrated", lambda made, *_: made)
    monkeypatch.setattr(sst, "simulate_beside", simulated)
    halo = ["--boundaries", "open", "--ranks", "4x2x2", "--topology", "torus", "--iterations", "3", "--seed", "5"]
    assert main(["simulate", HALO, "--engine", "sst", *halo, "--approach", "many:8", "--library", "emulated"]) == 2
    made, options = seen.pop()
    assert (made.grid, made.ranks, made.topology.name, made.iterations, made.seed) == ((4, 2, 2), 16, "torus", 3, 5)
    assert made.extra == {"periodic": 0}
    assert options["library"] == "emulated"
    assert [(a.interface.key, a.transport_partitions, a.vcis) for a in options["approaches"]] == [("many", 8, 1)]
