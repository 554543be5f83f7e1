"""A machine of its own for every test, and the marker ``needs("ip", "root")`` for what a test needs besides.

The marker's names are `NEEDS`. What is there is put on the test's PATH; what is not skips the test, and is named.
"""

import atexit
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Generator
from functools import cache
from pathlib import Path

import pytest
from bare_machine import OUTSIDE, bare

MORE = ("PYTEST_", "PYTHON", "HYPOTHESIS_", "COV_", "REACHED", "ASAN_OPTIONS", "LD_PRELOAD")
"""Variables that tell a run of the tests, and nothing else, what to do."""


OWN = {
    # The workers keep all cores busy as it is; NumPy is imported later.
    "OPENBLAS_NUM_THREADS": "1",
    # Ranks of real MPI share the cores, too: a thread that waits for the others of its team, and keeps its core, keeps
    # it from them for as long as the kernel lets it.
    "OMP_WAIT_POLICY": "passive",
}


def _become_bare() -> None:
    """From here on this process, and what it starts, is on a bare machine."""
    kept = {name: value for name, value in os.environ.items() if name.startswith(MORE)}
    kept.setdefault("PYTEST_DEBUG_TEMPROOT", tempfile.gettempdir())  # what a failed test leaves can be looked at
    folder = Path(tempfile.mkdtemp(prefix="bare-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    machine = OWN | kept | bare(folder, os.environ)
    os.environ.clear()
    os.environ.update(machine)
    time.tzset()
    tempfile.tempdir = None  # asked for again, from TMPDIR


_become_bare()
BARE = os.environ["PATH"]


def outside(command: str) -> str:
    """Where the command is on the machine outside; empty if it is not."""
    return shutil.which(command, path=os.environ[OUTSIDE]) or ""


def _lacks_commands(*names: str) -> str:
    missing = [name for name in names if not outside(name)]
    return f"no {', '.join(missing)} on PATH" if missing else ""


@cache
def _lacks_clang() -> str:
    """clang with its OpenMP runtime."""
    test = "#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }\n"
    words = [outside("clang"), "-fopenmp", "-x", "c", "-", "-o", "/dev/null"]
    if lacks := _lacks_commands("clang"):
        return lacks
    done = subprocess.run(words, input=test, text=True, capture_output=True, check=False)
    return "clang has no OpenMP runtime (libomp)" if done.returncode else ""


def _lacks_mpi(library: str) -> str:
    """A wheel that `make test` installs; its ranks share memory."""
    if not os.environ.get(variable := f"PREADY_{library.upper()}_PREFIX"):
        return f"{variable} names no {library}"
    return "" if os.access("/dev/shm", os.W_OK) else "no /dev/shm that can be written"


SST = ("sst", "sst-config", "sst-info", "sst-register", "cmake")
NEEDS: dict[str, tuple[tuple[str, ...], Callable[[], str]]] = {
    "c++": ((), lambda: _lacks_commands("c++")),
    "clang": (("clang",), _lacks_clang),
    "fabrics": ((), lambda: "" if os.environ.get("PREADY_FABRICS") else "PREADY_FABRICS names no results of clusters"),
    "fortran": (("gfortran",), lambda: _lacks_commands("mpif90", "mpiexec", "gfortran")),
    "ip": (("ip", "tc"), lambda: _lacks_commands("ip", "tc")),
    "mpich": ((), lambda: _lacks_mpi("mpich")),
    "openmpi": ((), lambda: _lacks_mpi("openmpi")),
    "pandoc": (("pandoc",), lambda: _lacks_commands("pandoc")),
    "root": ((), lambda: "" if os.geteuid() == 0 else "not root"),
    "sst": (SST, lambda: _lacks_commands(*SST)),
    "two cores": ((), lambda: "" if len(os.sched_getaffinity(0)) > 1 else "one core"),
}
"""Commands that are put on PATH, and what is lacking, in words; empty if nothing is."""


def need(*names: str) -> None:
    """Skip the test that runs, or whose fixture is made, unless all are there."""
    for name in names:
        if lacks := NEEDS[name][1]():
            pytest.skip(f"needs {name}: {lacks}")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    names = [name for mark in item.iter_markers("needs") for name in mark.args]
    need(*names)
    if commands := sorted({command for name in names for command in NEEDS[name][0]}):
        os.environ["PATH"] = f"{_linked(tuple(commands))}{os.pathsep}{BARE}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown() -> Generator[None, object, object]:
    try:
        return (yield)
    finally:
        os.environ["PATH"] = BARE


@cache
def _linked(commands: tuple[str, ...]) -> Path:
    """A folder with these commands alone."""
    folder = Path(tempfile.mkdtemp(prefix="needed-"))
    for name in commands:
        (folder / name).symlink_to(outside(name))
    return folder
