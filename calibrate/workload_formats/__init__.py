"""Other tools' records of an application, as workloads: mpiP reports, Caliper's regions, OTF2 traces.

    mpip.py, caliper.py, from_otf2.py    what a tool wrote       from_profiles.py    from totals to a workload file

A format is a file that registers itself, with the option of `pready workload` that takes it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from pready.model.common.errors import PreadyError

_HEAD = 1 << 16


@dataclass(frozen=True)
class WorkloadFormat:
    """A tool's files: as a reader calls one, the option that takes it, and how its first bytes look."""

    name: str
    option: str
    recognised: Callable[[str, bytes], bool]
    """From the file's name and first bytes."""


FORMATS: list[WorkloadFormat] = []


def refuse_known(path: Path) -> None:
    """Raises where a file is one that an option takes.

    Raises
    ------
    PreadyError
        Naming the option.
    """
    for module in iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
    try:
        with path.open("rb") as stream:
            head = stream.read(_HEAD)
    except OSError:
        return
    for each in FORMATS:
        if each.recognised(path.name, head):
            valid = f"pready workload {each.option} {path.name}"
            raise PreadyError(f"is {each.name}, not a captured run", valid=valid, source=str(path))
