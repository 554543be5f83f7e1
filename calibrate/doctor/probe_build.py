"""Build the probes with the site's MPI compiler, once per source and compiler."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from pready.calibrate.measure.compile import BuildError, find_mpicc, folder_of, make_once, run_tool, source_identity

SOURCE = Path(__file__).resolve().parent / "probes"
PROGRAM = "pready-doctor"
FLAGS = ("-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Wpedantic", "-O1", "-g")


def compiler_for(launcher: Sequence[str], mpicc: str | None = None) -> list[str]:
    """The MPI C compiler: as given, else the one beside the launcher, else as `find_mpicc` finds it."""
    found = shutil.which(launcher[0]) if launcher else None
    beside = Path(found).parent / "mpicc" if found else None
    if mpicc is None and beside is not None and os.access(beside, os.X_OK):
        return [str(beside)]
    return find_mpicc(mpicc)


def build_probes(mpicc: Sequence[str], *, cache: Path | None = None) -> Path:
    """The program of all probes; without those of partitioned calls where the compiler does not know them.

    Raises
    ------
    BuildError
        The compiler failed, with its words.
    """
    sources = sorted(SOURCE.glob("*.c"))
    identity = source_identity([*sources, *SOURCE.glob("*.h")])
    program = folder_of("doctor", mpicc, [identity], cache) / PROGRAM

    def make(made: Path) -> None:
        command = [*mpicc, *FLAGS, "-o", str(made), *map(str, sources)]
        try:
            run_tool([*command, "-DPARTITIONED"])
        except BuildError:
            run_tool(command)

    make_once(program, make)
    return program
