"""Fortran programs, with both modules: the wheels have no Fortran, so the MPI on PATH is taken where it has."""

import subprocess
from pathlib import Path

import numpy as np
import pytest
from needs import outside
from programs import HERE, pready

from pready.calibrate.capture.files import Run, kinds, read_run
from pready.calibrate.capture.step import find

OPTIONS = ("--allow-run-as-root", "--oversubscribe")
pytestmark = [pytest.mark.thorough, pytest.mark.needs("fortran")]


def built(source: str, folder: Path, *flags: str) -> Path:
    program = folder / Path(source).stem
    words = [outside("mpif90"), "-cpp", "-fopenmp", *flags, "-o", str(program), str(HERE / source)]
    subprocess.run(words, check=True, timeout=100, cwd=folder)
    return program


def captured(program: Path, ranks: int, folder: Path) -> Run:
    mpiexec = outside("mpiexec")
    version = subprocess.run([mpiexec, "--version"], capture_output=True, text=True, check=True).stdout
    options = OPTIONS if "Open" in version else ()
    environ = {"OMP_WAIT_POLICY": "passive", "OMP_NUM_THREADS": "2", "OMPI_MCA_plm": "isolated"}  # there is no ssh
    words = ["capture", "-o", folder, "--mpicc", Path(mpiexec).with_name("mpicc"), "--", mpiexec, *options]
    done = pready(*words, "-n", str(ranks), program, environ=environ)
    assert done.returncode == 0, done.stderr
    said = done.stderr.splitlines()  # the launcher's own before ours
    ours = next(i for i, line in enumerate(said) if f"{ranks} ranks on " in line)
    assert len(said) - ours <= 12
    assert said[-1] == f"next: pready workload {folder} -o app.toml"
    return read_run(folder)


@pytest.mark.parametrize("module", ["mpi", "mpi_f08"])
def test_fortran_is_captured(tmp_path: Path, module: str) -> None:
    program = built("ring.f90", tmp_path, "-g", *(["-DMPI_MODULE"] if module == "mpi" else []))
    run = captured(program, 3, tmp_path / "run")
    for process in run.ranks:
        sent = process.records[process.records["kind"] == kinds()["isend"]]
        received = process.records[process.records["kind"] == kinds()["irecv"]]
        assert len(sent) == len(received) == 20
        assert np.all(sent["who"] == (process.rank + 1) % 3)
        assert np.all(received["who"] == (process.rank + 2) % 3)
        assert np.all(sent["what"] == 8000)
    step = find(run)
    assert (step.steps, step.threads) == (20, 2)
    assert step.exchanges[0].name == "main program"
    assert step.exchanges[0].pattern.said == "ring, one way, of 3 ranks"


AXES = ("x", "y")


def order_of(names: list[str]) -> list[int]:
    """Numbers of call sites: 1 to 3 in the order of the program's text, which the linker may choose."""
    found = [int(name.split()[2]) for name in names[::2]]
    assert sorted(found) == [1, 2, 3]
    return found


@pytest.mark.parametrize("flags", [("-O2", "-g"), ("-O2",), ("-O2", "-s")], ids=["lines", "symbols", "stripped"])
def test_exchanges_are_named_by_the_application(flags: tuple[str, ...], tmp_path: Path) -> None:
    """Behind Fortran's binding and the application's own wrapper, with whatever the program still says of itself."""
    run = captured(built("phases.f90", tmp_path, "-fno-inline", *flags), 4, tmp_path / "run")
    step = find(run)
    assert (step.steps, step.ranks, len(step.exchanges)) == (20, 4, 6)
    names = [e.name for e in step.exchanges]
    if "-g" in flags:
        # the lines of the two calls in advect
        source = (HERE / "phases.f90").read_text().splitlines()
        at = [number for number, line in enumerate(source, 1) if "call update_halo(" in line]
        expected = ["update_halo from accelerate", *(f"update_halo (phases.f90:{line})" for line in at[1:])]
    elif "-s" not in flags:
        expected = ["update_halo from accelerate", *(f"update_halo, call site {n} in advect" for n in (1, 2))]
    else:
        assert names == [f"call site {n} of phases, {axis}" for n in order_of(names) for axis in AXES]
        return
    assert names == [f"{name}, {axis}" for name in expected for axis in AXES]
    said = [f"halo on 2 × 2 ranks in 2 phases, phase {n} ({axis})" for n, axis in enumerate(AXES, 1)]
    assert [e.pattern.said for e in step.exchanges] == 3 * said
    assert {e.region for e in step.exchanges} == {"update_halo"}
