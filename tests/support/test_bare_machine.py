"""Tests are on a machine of their own, whoever's it is; what they need besides is there by name or skips them."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from bare_machine import COMMANDS, OUTSIDE, __file__
from given import Patch
from needs import need

OWNERS = {
    **{"MPICC": "mpicc", "OMPI_CC": "clang", "OMP_NUM_THREADS": "3", "XDG_CACHE_HOME": "/x", "COLUMNS": "40"},
    **{"TZ": "Pacific/Auckland", "LC_ALL": "C"},
}
NEEDED = {"https_proxy": "p", "HTTPS_PROXY": "q", "PIP_INDEX_URL": "i", "SSL_CERT_FILE": "c", "PREADY_FABRICS": "f"}


def test_a_command_runs_with_nothing_of_the_owners(tmp_path: Path) -> None:
    """What .ci/run does: variables of the owner's are gone, and commands beyond those of a bare machine."""
    (tmp_path / "mpiexec").symlink_to(sys.executable)
    path = f"{tmp_path}:{os.environ['PATH']}"
    show = "env; command -v mpiexec; command -v python3; ls -A ~; date +%Z"
    words = [sys.executable, __file__, "sh", "-c", show]
    done = subprocess.run(
        words, env={"PATH": path, **OWNERS, **NEEDED}, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    there = dict(line.split("=", 1) for line in done if "=" in line)
    assert there.items() >= (NEEDED | {OUTSIDE: path, "TZ": "UTC", "LC_ALL": "C.UTF-8"}).items()
    place = Path(there["HOME"]).parent
    own = {"PATH", "HOME", "TMPDIR", "PYTHON", "TZ", "LC_ALL", OUTSIDE, "PWD", "OLDPWD", "SHLVL", "_"}
    assert set(there) - NEEDED.keys() <= own
    assert [line for line in done if "=" not in line] == [f"{place}/bin/python3", "UTC"]  # no mpiexec, an empty home
    assert Path(there["PYTHON"]).exists()
    assert not place.exists()


def test_a_test_is_there(tmp_path: Path) -> None:
    bare = Path(os.environ["PATH"])
    assert {p.name for p in bare.iterdir()} <= {*COMMANDS.split(), "python3"}
    assert {Path.home(), Path(tempfile.gettempdir())} == {bare.parent / "home", bare.parent / "tmp"}
    assert not tmp_path.is_relative_to(bare.parent)  # what fails leaves something to look at
    assert not {"MPICC", "XDG_CACHE_HOME", "COLUMNS"} & os.environ.keys()


@pytest.mark.needs("ip")
def test_what_is_needed_is_linked() -> None:
    assert shutil.which("ip")
    assert shutil.which("tc")
    assert len(os.environ["PATH"].split(os.pathsep)) == 2


def test_what_lacks_is_named(monkeypatch: Patch) -> None:
    monkeypatch.setenv(OUTSIDE, os.environ["PATH"])
    monkeypatch.delenv("PREADY_MPICH_PREFIX", raising=False)
    for name, lacks in (("ip", "no ip, tc on PATH"), ("mpich", "PREADY_MPICH_PREFIX names no mpich")):
        with pytest.raises(pytest.skip.Exception, match=f"needs {name}: {lacks}"):
            need(name)
