"""The real MPI libraries to test with, and where what is compiled for them is kept."""

import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from pready.calibrate.measure.compile import Built, build, find_mpicc, place_of

TIMEOUT_S = 120
# Of launchers that begin and end at once in one folder, one takes another's files away: "The PMIx server's listener
# thread failed to start", in about 1 of 100 starts.
OWN_FOLDER = tempfile.TemporaryDirectory(prefix="prte-")
os.environ.update(PRTE_MCA_prte_tmpdir_base=OWN_FOLDER.name)
OPENMPI_OPTIONS = (
    *("--allow-run-as-root", "--oversubscribe", "--mca", "osc", "^ucx"),
    # The ranks share a machine, and looking for libfabric's networks takes a second of every start.
    *("--mca", "btl", "^ofi", "--mca", "mtl", "^ofi"),
)
LIBRARIES: dict[str, tuple[str, tuple[str, ...]]] = {
    "mpich": ("PREADY_MPICH_PREFIX", ()),
    "openmpi": ("PREADY_OPENMPI_PREFIX", OPENMPI_OPTIONS),
}
"""Of each library: the variable that names where it is, and the options of its mpiexec."""


def kept(request: pytest.FixtureRequest) -> Path:
    """A folder for compiled programs that all workers, and later runs, share.

    Whatever is kept there is named by a hash of all that it is made of: sources, compiler and flags.
    """
    cache: pytest.Cache | None = getattr(request.config, "cache", None)
    folder = None if cache is None else cache.mkdir("programs")
    # LD_PRELOAD separates its libraries by these.
    if folder is None or any(c in str(folder) for c in " :;"):
        made: Path = request.getfixturevalue("tmp_path_factory").mktemp("programs")
        return made
    return folder


STRICT = {"WARNINGS": "-Wall -Wextra -Wpedantic -Werror"}


def benchmark(prefix: Path, request: pytest.FixtureRequest) -> Built:
    """The benchmark for the MPI library there, compiled once for all tests, a warning being an error."""
    folder = kept(request)
    own = folder / prefix.name
    own.mkdir(exist_ok=True)
    with one_at_a_time(own):
        return build(find_mpicc(str(prefix / "bin" / "mpicc")), flags=STRICT, cache=folder)


def known_to_commands(prefix: Path, request: pytest.FixtureRequest) -> None:
    """`pready` need not compile the same again: warnings apart, it is the program that it would make."""
    made = benchmark(prefix, request)
    copy_where_missing(made.program, place_of(made.compiler, {}).program)


def copy_where_missing(made: Path, wanted: Path) -> None:
    """Copy a file in one step: others may look for it meanwhile."""
    if not wanted.exists():
        wanted.parent.mkdir(parents=True, exist_ok=True)
        part = wanted.with_suffix(f".{os.getpid()}")
        shutil.copy(made, part)
        part.replace(wanted)


@contextmanager
def one_at_a_time(folder: Path) -> Iterator[None]:
    """Two workers that want the same program: one builds it, the other takes it."""
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def compiled_once(folder: Path, words: Sequence[str], name: str, *, made_of: Sequence[str]) -> Path:
    """The program that a compiler's command makes, kept by the command and all else that it is made of."""
    digest = hashlib.sha256("\0".join([*words, *made_of]).encode()).hexdigest()
    kept_there = folder / digest[:20]
    kept_there.mkdir(parents=True, exist_ok=True)
    program = kept_there / name
    with one_at_a_time(kept_there):
        if not program.exists():
            made = program.with_suffix(".made")
            subprocess.run([*words, "-o", str(made)], check=True, timeout=TIMEOUT_S)
            made.replace(program)
    return program
