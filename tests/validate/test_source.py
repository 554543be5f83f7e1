"""The program that `pready prove --source` writes compiles without a warning, and every byte it receives is right."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mpi_home import home_of
from needs import outside
from real_mpi import LIBRARIES
from tables import table_of

from pready.calibrate.measure.exchange_plan import step_plan
from pready.cli import main
from pready.model.approach.interfaces import BY_KEY
from pready.model.approach.libraries import LIBRARIES as LIBRARY_PROFILES
from pready.model.common.errors import PreadyError
from pready.model.toml.reading import validated
from pready.model.workload.workload import Workload
from pready.validate.prove.source import _list, program

PROGRAMS = table_of("validate/programs")
KINDS: dict[str, dict[str, Any]] = PROGRAMS["kinds"]
BEYOND = [k for k, f in KINDS.items() if any(n in str(f) for n in ("consume", "receive_partitions"))]
"""Other partitions at the receiver, and work on what comes."""
ALONE = [kind for kind in BEYOND if "step" not in kind]
STRICT = "-O2 -Wall -Wextra -Wpedantic -Werror"


def workload(kind: str) -> Workload:
    told: dict[str, Any] = {"name": kind, "threads": 2, "partitions_per_thread": 2}
    if not {"faces", "exchanges"} & {*KINDS[kind]}:
        told["buffer"] = "4 KiB"
    return validated(Workload, {"arrivals": {"model": "laggard", "delay": "1 ms"}, **told, **KINDS[kind]}, kind)


def written_for(kind: str, key: str, messages: int, language: str = "c", profile: str = "emulated") -> dict[str, str]:
    what = workload(kind)
    return program(what, [BY_KEY[key].into(messages)] * len(what.parts), LIBRARY_PROFILES[profile], 1, language)


def written(folder: Path, kind: str, key: str, messages: int, language: str = "c") -> Path:
    for name, text in written_for(kind, key, messages, language).items():
        (folder / name).write_text(text)
    return folder


def ran(command: list[str], folder: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, env=os.environ | environ, capture_output=True, text=True, timeout=120,
        check=False,
    )  # fmt: skip


def compiled(folder: Path, library: str, iterations: int, flags: str = STRICT) -> subprocess.CompletedProcess[str]:
    """What a C program does that is compiled and run with a library."""
    binaries, (_, options) = home_of(library) / "bin", LIBRARIES[library]
    subprocess.run(["make", "-s", f"CC={binaries / 'mpicc'}", f"CFLAGS={flags}"], cwd=folder, check=True)
    return ran([str(binaries / "mpiexec"), *options, "-n", "4", "./exchange", str(iterations)], folder)


def is_right(done: subprocess.CompletedProcess[str]) -> None:
    """It ended well, and every byte was right."""
    assert done.returncode == 0, done.stderr
    assert "wrong bytes: 0" in done.stdout
    assert "freeing" not in done.stderr  # MPICH's word for what was left at the end


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("kind", "key", "messages", "library"),
    [(*case, library) for *case, libraries in PROGRAMS["cases"] for library in libraries],
)
def test_it_runs_and_every_byte_is_right(kind: str, key: str, messages: int, library: str, tmp_path: Path) -> None:
    is_right(compiled(written(tmp_path, kind, key, messages), library, 3))


@pytest.mark.parametrize(("kind", "messages"), [("received in eight, worked on", 4), ("all of these in a step", 2)])
def test_what_a_library_tells_wrong_is_refused(kind: str, messages: int) -> None:
    """Work on partitions of which Open MPI's MPI_Parrived does not tell."""
    with pytest.raises(PreadyError, match="MPI_Parrived of openmpi-persist tells of others"):
        written_for(kind, "part", messages, profile="openmpi-persist")


@pytest.mark.thorough
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_it_talks_to_whom_the_engine_says_and_every_byte_is_right(kind: str, tmp_path: Path) -> None:
    messages = 2 if kind in ("halo", "faces, then a list") or "worked on" in kind else 4
    source = written(tmp_path, kind, "many", messages) / "exchange.c"
    said = re.sub(r"add\((\S*)(send|receive), ", r'way = "\2", add(\1\2, ', source.read_text())
    said = said.replace("static void add(", "static const char *way;\n\nstatic void add(")
    said = said.replace("if (peer >= 0) {", 'if (peer >= 0) {\n printf("%s %d %d %d\\n", way, rank, peer, bytes);')
    source.write_text(said)
    done = compiled(tmp_path, "mpich", 3)
    is_right(done)
    found: dict[int, list[tuple[str, int, int]]] = {rank: [] for rank in range(4)}
    for way, rank, peer, size in re.findall(r"^(send|receive) (\d+) (\d+) (\d+)$", done.stdout, re.MULTILINE):
        found[int(rank)].append((way, int(peer), int(size)))
    plans = step_plan(workload(kind), 1, 1).exchanges
    for edges in ([e for e in p.edges if e.phase == n] for p in plans for n in range(p.phases)):
        for rank, rest in found.items():
            planned = [("send", e.receiver, e.bytes) for e in edges if e.sender == rank]
            planned += [("receive", e.sender, e.bytes) for e in edges if e.receiver == rank]
            now, found[rank] = rest[: len(planned)], rest[len(planned) :]
            assert sorted(now) == sorted(planned)
    assert not any(found.values())


def too_few(text: str) -> str:
    return text.replace("size, MPI_BYTE", "size - 1, MPI_BYTE")


def at_once(text: str) -> str:
    return text.replace("int there = 0, ", "int there = 1, ").replace(", &there, ", ", &(int){0}, ")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("kind", "key", "messages", "broken"),
    [
        ("halo", "many", 2, too_few),
        ("halo", "rma-single-active", 2, too_few),
        ("worked on", "many", 4, at_once),  # work on what has not come
    ],
)
def test_what_is_broken_is_noticed(
    kind: str, key: str, messages: int, broken: Callable[[str], str], tmp_path: Path
) -> None:
    source = written(tmp_path, kind, key, messages) / "exchange.c"
    text = source.read_text()
    assert broken(text) != text
    source.write_text(broken(text))
    done = compiled(tmp_path, "mpich", 5, "-O2")
    assert done.returncode != 0
    assert "wrong bytes: 0" not in done.stdout


@pytest.mark.parametrize(("kind", "key", "messages", "language", "texts"), PROGRAMS["texts"])
def test_what_stands_in_a_program(kind: str, key: str, messages: int, language: str, texts: list[str]) -> None:
    """Of 4 KiB in units of 512 B, threads with two partitions each own 3 and 1 in 4: 3, 3, 1 and 1 units."""
    said = " ".join(" ".join(written_for(kind, key, messages, language).values()).split()).replace(" * ", " ")
    assert [text for text in texts if text not in said] == []


@pytest.fixture(scope="module")
def fortran(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The MPI on PATH, which has mpi_f08 with partitioned calls: the wheels have no Fortran."""
    mpif90, folder = outside("mpif90"), tmp_path_factory.mktemp("f08")
    (folder / "has.f90").write_text("program has\nuse mpi_f08, only: MPI_Psend_init\nend program has\n")
    if subprocess.run([mpif90, "has.f90"], cwd=folder, capture_output=True, check=False).returncode != 0:
        pytest.skip("mpif90 has no MPI_Psend_init in mpi_f08")
    return mpif90


@pytest.mark.thorough
@pytest.mark.needs("fortran")
@pytest.mark.parametrize(("key", "messages"), [("persistent", 1), ("part", 2), ("many", 2), ("many", 4)])
@pytest.mark.parametrize("kind", ["halo", "list", *ALONE])
def test_fortran_runs_and_every_byte_is_right(kind: str, key: str, messages: int, fortran: str, tmp_path: Path) -> None:
    folder = written(tmp_path, kind, key, messages, "fortran")
    strict = "FFLAGS=-O2 -Wall -Wextra -Werror"
    subprocess.run(["make", "-s", f"FC={fortran}", strict], cwd=folder, check=True)
    mpiexec = outside("mpiexec")
    said = subprocess.run([mpiexec, "--version"], capture_output=True, text=True, check=True).stdout
    is_right(ran([mpiexec, *(LIBRARIES["openmpi"][1] if "Open" in said else []), "-n", "4", "./exchange", "3"], folder))


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("kind", "key", "messages", "library"),
    [(*case, library) for *case, libraries in PROGRAMS["python"] for library in libraries],
)
def test_python_runs_and_every_byte_is_right(kind: str, key: str, messages: int, library: str, tmp_path: Path) -> None:
    pytest.importorskip("mpi4py", reason="mpi4py is not installed")
    home, (_, options) = home_of(library), LIBRARIES[library]
    folder = written(tmp_path, kind, key, messages, "python")
    command = [str(home / "bin" / "mpiexec"), *options, "-n", "4", sys.executable, "exchange.py", "3"]
    is_right(ran(command, folder, MPI4PY_MPIABI=library, LD_LIBRARY_PATH=str(home / "lib")))


@pytest.mark.parametrize(("kind", "key", "language", "said"), PROGRAMS["refused"])
def test_what_no_program_is_written_for(kind: str, key: str, language: str, said: str) -> None:
    with pytest.raises(PreadyError, match=said):
        written_for(kind, key, 4, language)


def test_a_program_has_one_interface() -> None:
    what = workload("faces, then a list")
    ways = [BY_KEY["many"].into(4), BY_KEY["part"].into(2), BY_KEY["many"].into(2)]
    with pytest.raises(PreadyError, match="one interface, not many, part"):
        program(what, ways, LIBRARY_PROFILES["emulated"], 1)
    inside = {"interior": "80 %", "compute": {"time": "1 ms"}}
    for fields, said in (
        ({"thread_grid": [2, 1, 1]}, "thread_grid has no program: its threads own a part of every buffer"),
        (inside, "interior has no program: what threads compute is one piece"),
        ({"receive_partitions": 3, "consume": {"time": "1 us"}}, "4 messages do not divide 3 receive_partitions"),
    ):
        other = workload("halo").changed(faces=None, buffer="12 KiB", **fields)
        with pytest.raises(PreadyError, match=said):
            program(other, ways[:1], LIBRARY_PROFILES["emulated"], 1)


def test_names_that_end_comments_and_grids_of_other_axes() -> None:
    for kind, fields, said in (
        ("halo", {"name": "a */\nb"}, "The exchange of a * / b, as today"),
        ("halo", {"grid": [2, 1, 2]}, "{1, {1, 0, 0}, 8192}, {2, {0, 0, -1}, 1024},"),
        ("sweep", {"grid": [1, 4]}, "{0, 1, {0, 1, 0}, 4096}, {1, 1, {0, 1, 0}, 4096}, {2, 1, {0, -1, 0}, 4096},"),
    ):
        files = program(workload(kind).changed(**fields), [BY_KEY["many"].into(4)], LIBRARY_PROFILES["emulated"], 1)
        assert said in " ".join(files["exchange.c"].split())


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "w.toml"
    file.write_text('format = 2\nthreads = 2\nbuffer = "64 KiB"\npattern = "halo3d"\ngrid = [2, 2]\n')
    out = tmp_path / "src"
    assert main(["prove", str(file), "--approach", "many:2", "--source", "c", str(out)]) == 0
    assert {p.name for p in out.iterdir()} == {"exchange.c", "Makefile"}
    made = f"wrote {out}/exchange.c, {out}/Makefile ({{}}): make -C {out}\n"
    assert capsys.readouterr().err == made.format("Pt2Pt many in 2 messages")
    assert main(["prove", str(file), "--machine", "meluxina", "--source", "c", str(out), "--overwrite"]) == 0
    assert capsys.readouterr().err == made.format("Pt2Pt many in 1 message")
    assert main(["prove", str(file), "--approach", "part:2", "--source", "python", str(out)]) == 0
    assert capsys.readouterr().err == f"wrote {out}/exchange.py (Pt2Pt part in 2 messages)\n"
    assert (out / "exchange.py").exists()
    assert main(["prove", str(file), "--source", "c", str(out)]) == 2
    assert "--approach many:8" in capsys.readouterr().err


def test_long_lists_are_wrapped() -> None:
    """57 characters are in one line, 58 are not."""
    ones = ["1"] * 18
    assert _list(["1", *ones]) == "{" + ", ".join(["1"] * 19) + "}"
    assert _list(["11", *ones]) == "{\n    11, " + ", ".join(ones) + "}"
