"""The program that `pready prove --source` writes compiles without a warning, and every byte it receives is right."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from pready.calibrate.measure.exchange_plan import step_plan
from pready.cli import main
from pready.model.approach.interfaces import BY_KEY, Approach
from pready.model.approach.libraries import LIBRARIES
from pready.model.common.errors import PreadyError
from pready.model.toml.reading import validated
from pready.model.workload.workload import Workload
from pready.validate.prove.source import program

KINDS: dict[str, dict[str, Any]] = {
    "halo": {"pattern": "halo3d", "grid": [2, 2], "buffer": None, "faces": ["8 KiB", "4 KiB", "1 KiB"]},
    "open halo of edges": {
        "pattern": "halo3d26", "grid": [2, 2], "boundaries": "open", "edge": "1 KiB", "corner": "512 B"
    },
    "sweep": {"pattern": "sweep3d", "grid": [2, 2], "blocks": 2},
    "list": {"pattern": "neighbours", "neighbour_list": [[1], [{"to": 2, "size": "1 KiB"}], [3], [0, 2]]},
    "pairs": {"pattern": "pt2pt", "grid": [4], "both_ways": True},
    "faces, then a list": {
        "buffer": None, "pattern": "halo3d", "grid": [2, 2], "arrivals": {"model": "none"}, "exchanges": [
            {"faces": ["8 KiB", "4 KiB", "1 KiB"], "arrivals": {"model": "laggard", "delay": "1 ms"}},
            {"pattern": "neighbours", "neighbour_list": [[1], [2], [3], [0, 2]], "buffer": "2 KiB",
             "partitions_per_thread": 4},
            {"boundaries": "open", "buffer": "1 KiB"},
        ],
    },
}  # fmt: skip
MORE_LINES = {"open halo of edges": 220, "faces, then a list": 255}
"""Neighbours across edges, and several exchanges, take more than the usual 210."""
MPI = {
    "mpich": ("PREADY_MPICH_PREFIX", []),
    "openmpi": ("PREADY_OPENMPI_PREFIX", ["--allow-run-as-root", "--oversubscribe"]),
}


def workload(kind: str) -> Workload:
    told = {"name": kind, "threads": 2, "partitions_per_thread": 2, "buffer": "4 KiB"}
    return validated(Workload, {"arrivals": {"model": "laggard", "delay": "1 ms"}, **told, **KINDS[kind]}, kind)


def written_for(kind: str, key: str, messages: int) -> dict[str, str]:
    what = workload(kind)
    return program(what, [Approach(BY_KEY[key], messages)] * len(what.parts), LIBRARIES["emulated"], 1)


QUIETLY = {"OMP_WAIT_POLICY": "passive"}
"""Threads that wait leave their core: there are more of them than cores."""


def written(folder: Path, kind: str, key: str, messages: int) -> Path:
    for name, text in written_for(kind, key, messages).items():
        (folder / name).write_text(text)
    return folder


@pytest.mark.thorough
@pytest.mark.parametrize("library", sorted(MPI))
@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize(("key", "messages"), [("many", 2), ("many", 4), ("part", 4)])
def test_it_runs_and_every_byte_is_right(library: str, kind: str, key: str, messages: int, tmp_path: Path) -> None:
    variable, options = MPI[library]
    if not os.environ.get(variable):
        pytest.skip(f"{variable} is not set: no {library} to test with")
    folder, binaries = written(tmp_path, kind, key, messages), Path(os.environ[variable]) / "bin"
    strict = "CFLAGS=-O2 -Wall -Wextra -Wpedantic -Werror"
    subprocess.run(["make", "-s", f"CC={binaries / 'mpicc'}", strict], cwd=folder, check=True)
    command = [str(binaries / "mpiexec"), *options, "-n", "4", "./exchange", "3"]
    done = subprocess.run(
        command, cwd=folder, env=os.environ | QUIETLY, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "wrong bytes: 0" in done.stdout
    assert "freeing" not in done.stderr  # MPICH's word for what was left at the end


@pytest.mark.thorough
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_it_talks_to_whom_the_engine_says(kind: str, tmp_path: Path) -> None:
    if not os.environ.get("PREADY_MPICH_PREFIX"):
        pytest.skip("PREADY_MPICH_PREFIX is not set")
    folder, binaries = written(tmp_path, kind, "many", 4), Path(os.environ["PREADY_MPICH_PREFIX"]) / "bin"
    source = folder / "exchange.c"
    said = re.sub(r"add\((\S*)(send|receive), ", r'way = "\2", add(\1\2, ', source.read_text())
    said = said.replace("static void add(", "static const char *way;\n\nstatic void add(")
    said = said.replace("if (peer >= 0) {", 'if (peer >= 0) {\n printf("%s %d %d %d\\n", way, rank, peer, bytes);')
    source.write_text(said)
    subprocess.run(["make", "-s", f"CC={binaries / 'mpicc'}"], cwd=folder, check=True)
    command = [str(binaries / "mpiexec"), "-n", "4", "./exchange", "1"]
    done = subprocess.run(
        command, cwd=folder, env=os.environ | QUIETLY, capture_output=True, text=True, timeout=120, check=True
    )
    out = done.stdout
    found: dict[int, list[tuple[str, int, int]]] = {rank: [] for rank in range(4)}
    for way, rank, peer, size in re.findall(r"^(send|receive) (\d+) (\d+) (\d+)$", out, re.MULTILINE):
        found[int(rank)].append((way, int(peer), int(size)))
    for phase in (p for plan in step_plan(workload(kind), 1, 1).exchanges for p in plan.phases):
        for rank, rest in found.items():
            planned = [("send", e.receiver, e.bytes) for e in phase.edges if e.sender == rank]
            planned += [("receive", e.sender, e.bytes) for e in phase.edges if e.receiver == rank]
            now, found[rank] = rest[: len(planned)], rest[len(planned) :]
            assert sorted(now) == sorted(planned)
    assert not any(found.values())


@pytest.mark.thorough
def test_a_byte_too_few_is_noticed(tmp_path: Path) -> None:
    if not os.environ.get("PREADY_MPICH_PREFIX"):
        pytest.skip("PREADY_MPICH_PREFIX is not set")
    folder, binaries = written(tmp_path, "halo", "many", 2), Path(os.environ["PREADY_MPICH_PREFIX"]) / "bin"
    source = folder / "exchange.c"
    text = source.read_text()
    broken = text.replace("size, MPI_BYTE", "size - 1, MPI_BYTE")
    assert broken != text
    source.write_text(broken)
    subprocess.run(["make", "-s", f"CC={binaries / 'mpicc'}"], cwd=folder, check=True)
    command = [str(binaries / "mpiexec"), "-n", "4", "./exchange", "2"]
    done = subprocess.run(
        command, cwd=folder, env=os.environ | QUIETLY, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode != 0
    assert "wrong bytes: 0" not in done.stdout


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize("key", ["many", "part"])
def test_it_is_small(kind: str, key: str) -> None:
    for messages in (2, 4):
        text = written_for(kind, key, messages)["exchange.c"]
        assert len(text.splitlines()) <= MORE_LINES.get(kind, 210)
        assert max(map(len, text.splitlines())) <= 120


@pytest.mark.parametrize("key", ["many", "part"])
def test_many_partitions_stay_readable(key: str) -> None:
    what = workload("halo").changed(threads=16, partitions_per_thread=8, faces=["1 MiB", "1 MiB", "64 KiB"])
    text = program(what, [Approach(BY_KEY[key], 16)], LIBRARIES["emulated"], 1)["exchange.c"]
    assert len(text.splitlines()) <= 215
    assert max(map(len, text.splitlines())) <= 120


def test_what_no_program_is_written_for() -> None:
    with pytest.raises(PreadyError, match="rma-single-active"):
        program(workload("halo"), [Approach(BY_KEY["rma-single-active"], 4)], LIBRARIES["emulated"], 1)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "w.toml"
    file.write_text('format = 2\nthreads = 2\nbuffer = "64 KiB"\npattern = "halo3d"\ngrid = [2, 2]\n')
    out = tmp_path / "src"
    assert main(["prove", str(file), "--approach", "many:2", "--source", str(out)]) == 0
    assert {p.name for p in out.iterdir()} == {"exchange.c", "Makefile"}
    assert main(["prove", str(file), "--machine", "meluxina", "--source", str(out)]) == 0
    capsys.readouterr()
    assert main(["prove", str(file), "--source", str(out)]) == 2
    assert "--approach many:8" in capsys.readouterr().err
