"""`pready doctor` on real MPI libraries: the bugs that they are known to have, and no process left."""

import json
from pathlib import Path

import pytest
from given import Capsys, Patch
from mpi_home import home_of
from real_mpi import LIBRARIES

from pready.calibrate.doctor.diagnosis import BUDGET_S
from pready.cli import main

pytestmark = pytest.mark.thorough

KNOWN = {"mpich-release@5.0.2": {"MPI_PROC_NULL"}, "openmpi-persist@5.0.11": {"MPI_Startall", "free unstarted"}}
"""What does not work, by library and version."""


def diagnosed(words: list[str], home: Path, patch: Patch, capsys: Capsys) -> dict:  # type: ignore[type-arg]
    patch.setenv("XDG_CACHE_HOME", str(home))
    assert main(["doctor", "--json", *words]) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    assert [p for p in Path("/proc").glob("[0-9]*/exe") if str(home) in read(p)] == []
    return found


def read(link: Path) -> str:
    try:
        return str(link.readlink())
    except OSError:
        return ""


@pytest.mark.parametrize("name", sorted(LIBRARIES))
def test_known_bugs_are_found(name: str, tmp_path: Path, monkeypatch: Patch, capsys: Capsys) -> None:
    words = " ".join([str(home_of(name) / "bin" / "mpiexec"), *LIBRARIES[name][1], "-n", "2"])
    found = diagnosed(["--launcher", words], tmp_path, monkeypatch, capsys)
    if found["profile"] not in KNOWN:
        pytest.skip(f"{found['profile']}: nobody has noted what its bugs are")
    bad = {f["name"] for f in found["findings"] if f["grade"] == "bad"}
    assert bad - {"ranks"} == KNOWN[found["profile"]]
    early = next(f for f in found["findings"] if f["name"] == "MPI_Pready")
    assert early["grade"] == ("care" if name == "mpich" else "good")
    assert found["seconds"] <= BUDGET_S
