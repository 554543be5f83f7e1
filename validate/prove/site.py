"""Where to measure, and what is known of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pready.calibrate.doctor.findings import profile_from
from pready.calibrate.measure.compile import Built
from pready.calibrate.measure.launcher import Launcher
from pready.model.advice.predict import effective_library
from pready.model.approach.libraries import LibraryProfile
from pready.model.approach.libraries import library as library_by_name
from pready.model.common.errors import PreadyError
from pready.model.machine.machine import Machine


@dataclass(frozen=True)
class Site:
    """Where to measure: the ranks of one MPI library."""

    library: str  # a short name for files and tables
    launcher: Launcher
    built: Built


@dataclass(frozen=True)
class Told:
    """Progress of measuring."""

    stage: str
    done: int
    total: int
    left_s: float


def about_run(environment: Mapping[str, Any], launcher: Launcher, built: Built, seed: int, raw: Path) -> dict[str, str]:
    """What was measured where, for the page and the data of a proof."""
    hosts = ", ".join(dict.fromkeys(map(str, environment.get("hosts", ()))))
    return {
        "MPI library": " ".join(str(environment.get("library", "")).split("\n")[0].split()),
        "launcher": launcher.name,
        "hosts": f"{hosts}; {environment.get('cores_online')} cores online",
        "processors": ", ".join(dict.fromkeys(map(str, environment.get("cpus", ())))),
        "benchmark": built.identity,
        "seed": str(seed),
        "raw": str(raw),
    }


def library_notes(environment: Mapping[str, Any], machine: Machine | None, name: str | None) -> list[str]:
    """Hold the library that was launched against the one that is predicted for, and the machine file's.

    Raises PreadyError: they are of two code bases: a measurement of one says nothing of a prediction for the other.

    Parameters
    ----------
    environment
        Of the benchmark.
    machine
        None: calibrated with what was launched.
    name
        Of ``--library``.

    Returns
    -------
    How they differ, where they are of one code base.
    """
    launched = profile_from(str(environment["library"]))
    own = launched if machine is None else effective_library(machine)
    meant = own if name is None else library_by_name(name)
    if len({launched.family, meant.family} - {"any"}) > 1:
        whose = "--library" if name is not None else "the machine file's library"
        raise PreadyError(
            f"the launcher's MPI is {launched.full_name}, predicted for is {meant.full_name} ({whose})",
            valid=f"the launcher and compiler (--mpicc) of that library, or --library {launched.name}",
        )
    notes = []
    if launched.family != "any" and not _alike(launched, meant):
        notes.append(f"measured is {launched.full_name}, predicted {meant.full_name}")
    if meant.name != own.name:
        notes.append(f"the machine file's values are of {own.full_name}, the prediction is for {meant.full_name}")
    return notes


def _alike(one: LibraryProfile, other: LibraryProfile) -> bool:
    """Are both one library, with the same first two numbers of its version where these are known?"""
    series = {".".join(p.version.split(".")[:2]) for p in (one, other) if p.version}
    return one.name == other.name and len(series) < 2
