"""Names of places in the code, by addr2line of binutils; without it, by the dynamic symbols that were recorded."""

from __future__ import annotations

import re
import subprocess
from functools import lru_cache
from pathlib import Path

from pready.calibrate.capture.files import Place

TIMEOUT_S = 20.0  # seconds for addr2line and c++filt
FORTRAN_MAIN = "main program"
_OUTLINED = re.compile(r"(\._omp_fn\.\d+|\.omp_outlined\S*|\.(constprop|isra|part|cold)\.\d+)+$")


def function_of(place: Place | None) -> str:
    """The function that a place is in, as its author wrote it; object and offset where there are no symbols.

    The compiler makes functions of its own of parallel regions; they are called as the function they were in.
    """
    if place is None:
        return "unknown"
    if place.name:
        return place.name
    function = _OUTLINED.sub("", _looked_up(place)[0])
    return _as_written(_demangled(function)) or f"{Path(place.object).name}+{place.offset:#x}"


def has_symbol(place: Place) -> bool:
    """Is the function known by name?"""
    return bool(place.name or _looked_up(place)[0])


def line_of(place: Place | None) -> str:
    """File and line, such as "halo.c:52"; empty if unknown."""
    return "" if place is None or place.name else _looked_up(place)[1]


def _as_written(name: str) -> str:
    """Fortran's names as in its source: of the main program, of a procedure of a module, and of one of its own."""
    if name == "MAIN__":
        return FORTRAN_MAIN
    in_module = re.fullmatch(r"__\w+?_MOD_(\w+)|\w+?_mp_(\w+)_", name)
    if in_module:
        return in_module[1] or in_module[2]
    return re.sub(r"(?<=\w)_{1,2}$", "", name) if not name.startswith("_") else name


@lru_cache(maxsize=4096)
def _looked_up(place: Place) -> tuple[str, str]:
    """Function and line; empty if unknown: lines need debug information, functions a program that is not stripped."""
    # A return address follows the call; the byte before it belongs to the call.
    at = place.offset - (1 if place.is_return else 0)
    found = _said(["addr2line", "-f", "-e", place.object, hex(at)]) if Path(place.object).is_file() else []
    function, line, *_ = [*found, "??", "??"]
    path, _, number = line.partition(" (")[0].rpartition(":")
    known = path not in ("", "??") and number.isdigit() and number != "0"
    return place.symbol if function in ("", "??") else function, f"{Path(path).name}:{number}" if known else ""


@lru_cache(maxsize=4096)
def _demangled(name: str) -> str:
    if not name.startswith("_Z"):
        return name
    return next(iter(_said(["c++filt", "--no-params", name])), name)


def _said(command: list[str]) -> list[str]:
    """The lines that a command prints; none if it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return done.stdout.split("\n")[:-1] if done.returncode == 0 else []
