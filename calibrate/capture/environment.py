"""What a command needs in its environment to be captured."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from pready.calibrate.build import find_mpicc, find_mpiexec
from pready.model.errors import PreadyError

LARGEST_MIB = 1 << 20


def compiler_for(command: Sequence[str], given: str | None = None) -> list[str]:
    """The MPI compiler of the MPI that runs the command: the one given, that of the variable MPICC, the one beside the
    command's launcher, else as `find_mpicc` finds it."""
    if given is None and not os.environ.get("MPICC") and command:
        launcher = shutil.which(command[0])
        beside = None if launcher is None else Path(launcher).parent / "mpicc"
        if beside is not None and os.access(beside, os.X_OK) and find_mpiexec([str(beside)]) is not None:
            return [str(beside)]
    return find_mpicc(given)


def check_new(folder: Path) -> None:
    """Refuse a folder that holds something: two runs in one cannot be told apart.

    Raises
    ------
    PreadyError
        It does, or cannot be looked at.
    """
    try:
        used = folder.exists() and any(folder.iterdir())
    except OSError as error:
        raise PreadyError(f"cannot be used: {error.strerror}", valid="a new folder", source=str(folder)) from None
    if used:
        raise PreadyError("is not empty", valid="a new folder for each run", source=str(folder))


def make_folder(folder: Path) -> None:
    """Make the folder of a run.

    Raises
    ------
    PreadyError
        It cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise PreadyError(f"cannot be made: {error.strerror}", valid="a new folder", source=str(folder)) from None


def variables(
    library: Path, folder: Path, limit_mib: int, command: Sequence[str], environ: Mapping[str, str]
) -> dict[str, str]:
    """Variables to set, besides what is there.

    Parameters
    ----------
    limit_mib
        Most that a process writes, in MiB.
    command
        What is run; () if it is not known yet.
    """
    already = environ.get("LD_PRELOAD")
    found = {
        "LD_PRELOAD": str(library) if not already else f"{library}:{already}",
        "PREADY_CAPTURE_DIR": str(folder.resolve()),
        "PREADY_CAPTURE_MIB": str(limit_mib),
    }
    # Open MPI takes to other nodes what it is told to; it refuses to be told in two ways.
    if "-x" not in command and "OMPI_MCA_mca_base_env_list" not in environ:
        found["OMPI_MCA_mca_base_env_list"] = ";".join(found)
    return found


def exports(settings: Mapping[str, str]) -> str:
    """Lines of a shell script that set variables."""
    return "".join(f"export {name}={shlex.quote(value)}\n" for name, value in settings.items())
