"""Build the probes with the site's MPI compiler, once per source and compiler."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from platformdirs import user_cache_path

from pready.calibrate.measure.compile import BuildError, find_mpicc, run_tool, version_of, wrapped_command

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


def build_probes(mpicc: Sequence[str], *, cache: Path | None = None, flags: Sequence[str] = ()) -> Path:
    """The program of all probes; without those of partitioned calls where the compiler does not know them.

    Raises
    ------
    BuildError
        The compiler failed, with its words.
    """
    sources = sorted(SOURCE.glob("*.c"))
    total = hashlib.sha256("\0".join([*mpicc, version_of(mpicc), wrapped_command(mpicc), *flags]).encode())
    for path in [*sources, *sorted(SOURCE.glob("*.h"))]:
        total.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    program = (cache or user_cache_path("pready")) / "doctor" / total.hexdigest()[:20] / PROGRAM
    if os.access(program, os.X_OK):
        return program
    program.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="building-", dir=program.parent) as scratch:
        made = Path(scratch) / PROGRAM
        command = [*mpicc, *FLAGS, *flags, "-o", str(made), *map(str, sources)]
        try:
            run_tool([*command, "-DPARTITIONED"])
        except BuildError:
            run_tool(command)
        made.replace(program)  # atomic: two processes may build at once
    return program
