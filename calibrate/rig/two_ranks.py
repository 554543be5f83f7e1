"""Ranks on two nodes: through the user's launcher, or on the rig with an MPI that is found here."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pready.calibrate.measure.launcher import Launcher
from pready.calibrate.rig.namespaces import Rig
from pready.model.common.errors import PreadyError


@contextmanager
def two_ranks(
    launcher: str | None,
    rig: str | None,
    prefix: Path | None,
    *,
    crowded: bool = False,
    nodes: int | None = None,
    per_node: int = 1,
    ranks: int | None = None,
) -> Iterator[tuple[Launcher, Path | None]]:
    """A launcher of two ranks, and the MPI's home if it is known; `crowded` as for `Rig.openmpi`.

    With more than two `nodes` of a rig they are the first two on a switch. There, each node has `per_node` ranks.
    Of a rig, `ranks` may be more than those of two nodes.
    """
    if (launcher is None) == (rig is None):
        given = "both --launcher and --rig" if launcher else "neither --launcher nor --rig"
        raise PreadyError(
            f"{given} given", valid='one of them, such as --launcher "srun -N 2 -n 2 -c 8" or --rig 100Mbit'
        )
    check_nodes(nodes, rig)
    if launcher is not None:
        yield Launcher.parse(launcher), prefix
        return
    home = mpi_home(prefix)
    with Rig(str(rig), nodes or 2) as made:
        ranks = ranks or 2 * per_node
        if is_open_mpi(home):
            yield made.openmpi(home, crowded=crowded, ranks=ranks, per_node=per_node), home
        else:
            yield made.mpich(home, ranks=ranks, per_node=per_node), home


def check_nodes(nodes: int | None, rig: str | None) -> None:
    """Refuse a number of nodes without a rig."""
    if nodes is not None and rig is None:
        raise PreadyError(f"--nodes {nodes} without --rig", valid="--nodes with --rig; a launcher sets its own nodes")


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
    """Does its mpiexec say so?"""
    said = subprocess.run([str(home / "bin" / "mpiexec"), "--version"], capture_output=True, text=True, check=False)
    return "Open MPI" in said.stdout or "OpenRTE" in said.stdout
