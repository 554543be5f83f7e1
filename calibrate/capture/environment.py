"""The environment of a captured command."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from pready.model.common.errors import PreadyError


def check_new(folder: Path) -> None:
    """Refuse a folder that cannot be read or is not empty: two runs in it cannot be told apart."""
    try:
        used = folder.exists() and any(folder.iterdir())
    except OSError as error:
        raise PreadyError(f"cannot be used: {error.strerror}", valid="a new folder", source=str(folder)) from None
    if used:
        raise PreadyError("is not empty", valid="a new folder for each run", source=str(folder))


def variables(
    library: Path, folder: Path, limit_mib: int, command: Sequence[str], environ: Mapping[str, str]
) -> dict[str, str]:
    """Variables to add to the environment of a command, () if it is not known yet; the limit is for each process."""
    already = environ.get("LD_PRELOAD")
    found = {
        "LD_PRELOAD": str(library) if not already else f"{library}:{already}",
        "PREADY_CAPTURE_DIR": str(folder.resolve()),
        "PREADY_CAPTURE_MIB": str(limit_mib),
    }
    # Open MPI exports only listed variables to other nodes, and refuses two ways of listing them.
    if "-x" not in command and "OMPI_MCA_mca_base_env_list" not in environ:
        found["OMPI_MCA_mca_base_env_list"] = ";".join(found)
    return found


def exports(settings: Mapping[str, str]) -> str:
    """Lines of a shell script that set the variables."""
    return "".join(f"export {name}={shlex.quote(value)}\n" for name, value in settings.items())
