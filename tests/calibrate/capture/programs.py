"""Programs to be captured, built with the MPI libraries that are here, and run with and without the capture."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from mpi_home import home_of
from real_mpi import LIBRARIES, TIMEOUT_S, compiled_once, copy_where_missing, kept, one_at_a_time

from pready.calibrate.capture.build import build_library, place_of
from pready.calibrate.capture.environment import variables
from pready.calibrate.capture.files import Run, read_run
from pready.calibrate.measure.compile import find_mpicc, version_of

HERE = Path(__file__).resolve().parent
_version = cache(version_of)


@cache
def preloaded(mpicc: tuple[str, ...], folder: Path) -> Path:
    """The library for an MPI, built once, a warning being an error; `pready capture` need not build it again."""
    with one_at_a_time(folder):
        library = build_library(mpicc, cache=folder, flags=["-Werror"])
        copy_where_missing(library, place_of(mpicc))
    return library


@dataclass(frozen=True)
class Mpi:
    """An MPI library, and the folder where programs for it are kept."""

    name: str
    folder: Path

    def __post_init__(self) -> None:
        home_of(self.name)  # or the test is skipped

    @property
    def mpicc(self) -> list[str]:
        """Its compiler."""
        return find_mpicc(str(home_of(self.name) / "bin" / "mpicc"))

    def mpiexec(self, ranks: int) -> list[str]:
        """The begin of a command that runs something on so many ranks."""
        return [str(home_of(self.name) / "bin" / "mpiexec"), *LIBRARIES[self.name][1], "-n", str(ranks)]

    @property
    def library(self) -> Path:
        """What is preloaded."""
        return preloaded(tuple(self.mpicc), self.folder)

    def compiled(self, source: str, *flags: str, name: str | None = None, cc: Sequence[str] | None = None) -> Path:
        """A program of this folder."""
        compiler = list(cc or self.mpicc)
        words = [*compiler, "-Wall", "-Wextra", "-Werror", "-O1", "-g", *flags, str(HERE / source), "-lm"]
        wrapped = [os.environ.get(variable, "") for variable in ("MPICH_CC", "OMPI_CC")]
        made_of = [_version(tuple(compiler)), *wrapped, (HERE / source).read_text()]
        return compiled_once(self.folder / "captured", words, name or Path(source).stem, made_of=made_of)

    def stencil(self) -> Path:
        """The halo exchange with injected thread times."""
        return self.compiled("stencil.c", "-fopenmp")

    def endings(self) -> Path:
        """Ways to behave and to end."""
        return self.compiled("endings.c", "-fopenmp", "-DWITH_MPI", "-DWITH_OPENMP")

    def run(
        self, ranks: int, program: Sequence[str | Path], settings: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a program on so many ranks; 0 of them start it without a launcher."""
        launch = self.mpiexec(ranks) if ranks else []
        return ended([*launch, *program], {"OMP_WAIT_POLICY": "passive", "OMP_DYNAMIC": "false", **(settings or {})})

    def captured(
        self, ranks: int, program: Sequence[str | Path], folder: Path, *, limit_mib: int = 64
    ) -> tuple[subprocess.CompletedProcess[str], Run | None]:
        """The same with the library preloaded; None if it wrote nothing."""
        folder.mkdir(exist_ok=True)
        preloaded = variables(self.library, folder, limit_mib, self.mpiexec(1), os.environ)
        done = self.run(ranks, program, preloaded)
        return done, read_run(folder) if any(folder.glob("*.capture")) else None


@pytest.fixture(scope="module", params=sorted(LIBRARIES))
def each_library(request: pytest.FixtureRequest) -> Mpi:
    """Each MPI library, for all tests of a file."""
    return Mpi(request.param, kept(request))


def pready(*words: str | Path, environ: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """The command line in a process of its own."""
    return ended([sys.executable, "-m", "pready", *words], environ or {})


def ended(words: Sequence[str | Path], settings: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """A command that has ended, with these variables beside the others."""
    how: dict[str, Any] = {"env": {**os.environ, **settings}, "timeout": TIMEOUT_S}
    return subprocess.run([*map(str, words)], capture_output=True, text=True, check=False, **how)
