"""The memory that is left, asked before work that needs much of it."""

from __future__ import annotations

import os
from pathlib import Path

from pready.model.common.errors import PreadyError
from pready.model.common.units import format_size

SMALL = 2**26
"""Bytes that are there without asking."""


def available() -> int:
    """Bytes that this process can still take: of the machine, or of its control group."""
    free = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    group = Path("/sys/fs/cgroup")
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        free += [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")]
        limit = (group / "memory.max").read_text(encoding="ascii").strip()
        if limit != "max":
            free.append(int(limit) - int((group / "memory.current").read_text(encoding="ascii")))
    except (OSError, ValueError):  # another system
        pass
    return max(0, min(free))


def refuse_beyond(need: float, what: str, valid: str) -> None:
    """Refuse work that needs more memory than is left.

    Raises
    ------
    PreadyError
        `what` needs `need` bytes, and fewer are available.
    """
    if need > SMALL and need > (have := available()):
        raise PreadyError(f"{what} needs {format_size(need)}, {format_size(have)} are available", valid=valid)
