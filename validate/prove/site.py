"""Where to measure, and what is known of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pready.calibrate.measure.compile import Built
from pready.calibrate.measure.launcher import Launcher


@dataclass(frozen=True)
class Site:
    """Where to measure: the ranks of one MPI library."""

    library: str
    """A short name for files and tables."""
    launcher: Launcher
    built: Built


@dataclass(frozen=True)
class Told:
    """Progress of measuring."""

    stage: str
    done: int
    total: int
    left_s: float


def about(environment: Mapping[str, Any], launcher: Launcher, built: Built, seed: int, raw: Path) -> dict[str, str]:
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
