"""The two ranks that ``--launcher``, ``--rig`` and ``--mpi`` name, and the benchmark built for their MPI."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pready.calibrate.build import Built, build, find_mpicc
from pready.calibrate.launch import Launcher
from pready.model.errors import PreadyError
from pready.validate.rig import Rig


def built_for(home: Path | None, mpicc: str | None = None) -> Built:
    """`pready-bench`, built with the compiler given, else the one beside the MPI."""
    beside = None if home is None else home / "bin" / "mpicc"
    return build(find_mpicc(mpicc or (str(beside) if beside is not None and beside.exists() else None)))


@contextmanager
def two_ranks(
    launcher: str | None, rig: str | None, prefix: Path | None, netmod: str, *, crowded: bool = False
) -> Iterator[tuple[Launcher, Path | None]]:
    """A launcher of two ranks, and the MPI's home if it is known; `crowded` as for `Rig.openmpi`."""
    if (launcher is None) == (rig is None):
        given = "both --launcher and --rig" if launcher else "neither --launcher nor --rig"
        raise PreadyError(f"{given} given", valid='one of them, such as --launcher "srun -N 2 -n 2" or --rig 1Gbit')
    if launcher is not None:
        yield Launcher.parse(launcher), prefix
        return
    home = mpi_home(prefix)
    with Rig(str(rig)) as made:
        yield (made.openmpi(home, crowded=crowded) if is_open_mpi(home) else made.mpich(home, netmod)), home


def mpi_home(prefix: Path | None) -> Path:
    """Where bin/mpiexec lies: as given, PREADY_MPICH_PREFIX, beside the running Python, on PATH."""
    tried = [prefix] if prefix is not None else []
    if prefix is None:
        named = os.environ.get("PREADY_MPICH_PREFIX")
        found = shutil.which("mpiexec")
        tried = [Path(named)] if named else []
        tried += [Path(sys.prefix)] + ([Path(found).parent.parent] if found else [])
    for home in tried:
        if (home / "bin" / "mpiexec").exists():
            return home
    raise PreadyError(
        f"no mpiexec in {', '.join(str(t / 'bin') for t in tried)}",
        valid="--mpi PREFIX, or an MPI beside this Python (pip install mpich)",
    )


def is_open_mpi(home: Path) -> bool:
    """Ask its mpiexec."""
    said = subprocess.run([str(home / "bin" / "mpiexec"), "--version"], capture_output=True, text=True, check=False)
    return "Open MPI" in said.stdout or "OpenRTE" in said.stdout
