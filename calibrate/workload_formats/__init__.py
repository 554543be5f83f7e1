"""Other tools' records of an application, as workloads: mpiP reports, Caliper's regions, OTF2 traces.

    mpip.py, caliper.py, from_otf2.py    what a tool wrote       from_profiles.py    from totals to a workload file
    otf2_reading.py                      the events of an OTF2 trace, in a process of its own

A format is a file that registers itself: `pready workload` sees which one it is given.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

_HEAD = 1 << 16


@dataclass(frozen=True)
class WorkloadFormat:
    """A tool's files: its name, and how their first bytes look."""

    name: str
    recognised: Callable[[str, bytes], bool]
    """From the file's name and first bytes."""


FORMATS: list[WorkloadFormat] = []


def format_of(path: Path) -> str | None:
    """The name of the format of a file; None: it is none of them, or cannot be read."""
    for module in iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
    try:
        with path.open("rb") as stream:
            head = stream.read(_HEAD)
    except OSError:
        head = b""
    return next((each.name for each in FORMATS if each.recognised(path.name, head)), None)
