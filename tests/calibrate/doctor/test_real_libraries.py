"""`pready doctor` on real MPI libraries: what they do, known bugs of their versions, and no process left."""

import json
import subprocess
from pathlib import Path

import pytest
from given import Capsys, Patch
from mpi_home import home_of
from real_mpi import LIBRARIES

from pready.cli import main

pytestmark = pytest.mark.thorough


@pytest.mark.parametrize("name", sorted(LIBRARIES))
def test_what_a_library_does_and_is_known_for(name: str, tmp_path: Path, monkeypatch: Patch, capsys: Capsys) -> None:
    words = " ".join([str(home_of(name) / "bin" / "mpiexec"), *LIBRARIES[name][1], "-n", "2"])
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert main(["doctor", "--json", "--launcher", words]) == 0
    found = json.loads(capsys.readouterr().out)
    left = subprocess.run(["sh", "-c", "ls -l /proc/[0-9]*/exe"], capture_output=True, text=True, check=False).stdout
    assert left
    assert str(tmp_path) not in left
    assert {f["name"] for f in found["findings"] if f["grade"] == "bad"} <= {"ranks"}
    bug = "MPI_PROC_NULL" if name == "mpich" else "MPI_Startall"
    assert any(bug in f["says"] for f in found["findings"] if f["name"] == "known bug")
    early = next(f for f in found["findings"] if f["name"] == "MPI_Pready")
    assert early["grade"] == ("care" if name == "mpich" else "good")
    assert found["seconds"] <= 60
