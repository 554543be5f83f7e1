"""Fortran programs, with both modules: the wheels have no Fortran, so the MPI on PATH is taken where it has."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from programs import HERE, pready

from pready.calibrate.capture.files import kinds, read_run
from pready.calibrate.capture.step import find

MPIF90, MPIEXEC = shutil.which("mpif90"), shutil.which("mpiexec")
OPTIONS = ("--allow-run-as-root", "--oversubscribe")


@pytest.mark.thorough
@pytest.mark.skipif(MPIF90 is None or MPIEXEC is None, reason="needs mpif90 with gfortran")
@pytest.mark.parametrize("module", ["mpi", "mpi_f08"])
def test_fortran_is_captured(tmp_path: Path, module: str) -> None:
    assert MPIF90 is not None
    assert MPIEXEC is not None
    said = subprocess.run([MPIEXEC, "--version"], capture_output=True, text=True, check=True).stdout
    options = OPTIONS if "Open" in said else ()
    program = tmp_path / "ring"
    flags = ["-cpp", "-fopenmp", "-g", *(["-DMPI_MODULE"] if module == "mpi" else [])]
    subprocess.run([MPIF90, *flags, "-o", str(program), str(HERE / "ring.f90")], check=True, timeout=100)
    run = tmp_path / "run"
    launched = [MPIEXEC, *options, "-n", "3", program]
    done = pready("capture", "-o", run, "--", *launched, environ={"OMP_WAIT_POLICY": "passive"})
    assert done.returncode == 0, done.stderr
    captured = read_run(run)
    for process in captured.ranks:
        sent = process.records[process.records["kind"] == kinds()["isend"]]
        received = process.records[process.records["kind"] == kinds()["irecv"]]
        assert len(sent) == len(received) == 20
        assert np.all(sent["who"] == (process.rank + 1) % 3)
        assert np.all(received["who"] == (process.rank + 2) % 3)
        assert np.all(sent["what"] == 8000)
        assert process.thread_level == "funneled"
    step = find(captured)
    assert (step.steps, step.threads) == (20, 2)
    assert step.exchanges[0].pattern.said == "ring, one way, of 3 ranks"
