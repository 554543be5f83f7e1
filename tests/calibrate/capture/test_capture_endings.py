"""Captured programs print the same and end the same, however they end; lost records are counted."""

import os
import re
import subprocess
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from needs import need
from programs import Mpi, each_library
from real_mpi import LIBRARIES, kept
from tables import table_of

from pready.calibrate.capture.files import Run, read_run
from pready.calibrate.capture.regions import stretches
from pready.calibrate.capture.run_summary import notes

pytestmark = pytest.mark.thorough
mpi = each_library
ENDINGS: dict[str, tuple[str, str]] = table_of("calibrate/captured_programs")["endings"]


@cache
def alone(mpi: Mpi, way: str) -> subprocess.CompletedProcess[str]:
    """The program without us, run once."""
    return mpi.run(1, [mpi.endings(), way])


def _without_pids(text: str) -> str:
    """A launcher names the process that died."""
    return re.sub(r"\d{3,}", "N", text)


@pytest.mark.parametrize("way", ENDINGS)
def test_the_program_is_as_without_us(mpi: Mpi, tmp_path: Path, way: str) -> None:
    ended, says = ENDINGS[way]
    done, run = mpi.captured(1, [mpi.endings(), way], tmp_path / "run")
    assert done.returncode == alone(mpi, way).returncode
    assert _without_pids(done.stdout) == _without_pids(alone(mpi, way).stdout)
    assert run is not None
    (process,) = run.ranks
    assert process.ended == ended or (way == "MPI_Abort" and process.ended in ("abort", "unknown"))
    # 20 times a region of three stretches: its loop, its barrier, its end. They are all there, however it ended.
    found = stretches(process)
    assert sum(len(s.begin) for s in found) >= 60
    assert process.dropped == 0
    said = [note for note in notes(run) if "share cores" not in note]  # of this machine
    assert any(says in note for note in said) if says else not said
    match way:
        case "teams":
            assert {s.threads: len(s.begin) for s in found if s.key[1] == 0} == {1: 5, 2: 5, 3: 5, 4: 5}
        case "threads":
            sends = process.of("sendrecv")
            assert (sends.sum(), len(set(process.thread[sends]))) == (40, 21)
        case "exec":  # leaves both files
            assert [p.rank for p in run.processes] == [0, -1]
            assert run.processes[1].of("region").sum() == 1


def test_what_has_no_room_is_counted(mpi: Mpi, tmp_path: Path) -> None:
    """1 MiB is 16 threads' first chunks; 40 threads do not fit."""
    done, run = mpi.captured(1, [mpi.endings(), "many"], tmp_path / "run", limit_mib=1)
    assert (done.returncode, done.stdout) == (alone(mpi, "many").returncode, alone(mpi, "many").stdout)
    assert run is not None
    process = run.ranks[0]
    assert process.path.stat().st_size <= (1 << 20) + 600_000
    # Of 20 regions with 40 threads, each thread has three shares; 16 threads had room.
    assert process.dropped == 20 * 3 * (40 - 16)
    what = process.records["what"][process.of("share")].astype(np.int64)
    first, *later = np.bincount(what >> 16 & 0xFFFF).tolist()  # one after the other, without explicit tasks
    assert later == [first, first]


def _mount(options: str, folder: Path) -> None:
    words = ["mount", "-t", "tmpfs", "-o", options, "none", str(folder)]
    need("root")
    if subprocess.run(words, check=False).returncode:
        pytest.skip("this root may not make a file system")


@pytest.mark.parametrize(
    ("where", "way"), [("absent", "exec"), ("file", "exec"), ("read-only", "exec"), ("full", "exec"), ("full", "plain")]
)
def test_without_room_for_a_file(mpi: Mpi, tmp_path: Path, where: str, way: str) -> None:
    """The folder is not there, is a file, takes no files, or the disk is full; after an exec, too."""
    folder = tmp_path / "run"
    mounted = False
    if where == "file":
        folder.write_text("")
    elif where == "read-only":
        folder.mkdir(mode=0o500)
        mounted = os.geteuid() == 0  # who may write everywhere else
        if mounted:
            _mount("ro", folder)
    elif where == "full":
        folder.mkdir()
        _mount("size=640k", folder)
        mounted = True
    try:
        settings = {"LD_PRELOAD": str(mpi.library), "PREADY_CAPTURE_DIR": str(folder)}
        done = mpi.run(1, [mpi.endings(), way], settings)
        assert (done.returncode, done.stdout) == (alone(mpi, way).returncode, alone(mpi, way).stdout)
        if where == "full" and way == "plain":
            (process,) = read_run(folder).processes
            assert process.dropped > 0
        elif where in ("absent", "file"):
            assert not folder.is_dir()
    finally:
        if mounted:
            subprocess.run(["umount", str(folder)], check=True)


def as_alone(mpi: Mpi, built: Path, folder: Path) -> Run | None:
    """What is captured of a program, which prints and ends as without."""
    program: list[str | Path] = [built, "nine"]
    without = mpi.run(0, program)
    done, run = mpi.captured(0, program, folder)
    assert (done.returncode, done.stdout) == (without.returncode, without.stdout) == (9, without.stdout)
    return run


@pytest.mark.parametrize("has", ["nothing", "mpi", "openmp"])
def test_without_mpi_or_openmp(mpi: Mpi, tmp_path: Path, has: str) -> None:
    flags = {"nothing": (), "mpi": ("-DWITH_MPI",), "openmp": ("-fopenmp", "-DWITH_OPENMP")}[has]
    unknown = () if has == "openmp" else ("-Wno-unknown-pragmas", "-Wno-unused-function")
    cc = mpi.mpicc if has == "mpi" else ["cc"]
    built = mpi.compiled("endings.c", *flags, *unknown, "-lpthread", name=f"endings-{has}", cc=cc)
    run = as_alone(mpi, built, tmp_path / "run")
    assert (run is None) == (has == "nothing")
    if run is not None:
        kind, said = ("sendrecv", "no parallel region was seen") if has == "mpi" else ("region", "no messages")
        assert (len(run.ranks), run.processes[0].of(kind).sum()) == (has == "mpi", 20)
        assert any(said in note for note in notes(run))


def test_a_process_that_may_write_no_large_file(mpi: Mpi, tmp_path: Path) -> None:
    """Going beyond the limit would be a signal that ends the program. (MPICH itself needs more than this.)"""
    program = mpi.compiled("endings.c", "-fopenmp", "-DWITH_OPENMP", "-lpthread", name="endings-openmp", cc=["cc"])
    for blocks, size in ((1100, 563_200), (900, 460_800)):  # beyond the places of the code, and not even those
        folder = tmp_path / str(blocks)
        done, run = mpi.captured(0, ["/bin/sh", "-c", f"ulimit -f {blocks}; exec {program} nine"], folder)
        assert done.returncode == 9
        assert done.stdout.startswith("sum ")
        assert (run is None) == (size < 532_480)
        assert [p.stat().st_size for p in folder.glob("*.unwritten")] == [0] * (run is None)
        assert run is None or sum(p.dropped for p in run.processes) > 0


def test_another_family_of_mpi(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """The wrappers of one would break programs of the other: they are started again without them."""
    found = [Mpi(name, kept(request)) for name in sorted(LIBRARIES)]
    for mpi, other in (found, found[::-1]):
        folder = tmp_path / mpi.name
        folder.mkdir()
        wrong = {"LD_PRELOAD": str(other.library), "PREADY_CAPTURE_DIR": str(folder)}
        done = mpi.run(1, [mpi.endings(), "nine"], wrong)
        assert (done.returncode, done.stdout) == (alone(mpi, "nine").returncode, alone(mpi, "nine").stdout)
        assert not list(folder.iterdir())


def test_the_library_brings_nothing_along(mpi: Mpi) -> None:
    """Shells and launchers are loaded with it too: it must not load MPI into them, nor show them names of its own."""
    words = ["nm", "--dynamic", "--defined-only", "--format=just-symbols", str(mpi.library)]
    names = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()
    assert "MPI_Isend" in names
    assert "GOMP_parallel" in names
    assert [n for n in names if not n.startswith(("MPI_", "PMPI_", "GOMP_", "ompt_start_tool"))] == []
    seen = subprocess.run(["ldd", str(mpi.library)], capture_output=True, text=True, check=True).stdout
    assert "mpi" not in seen.replace(str(mpi.folder), "")
