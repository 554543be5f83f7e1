"""The code that predicts, as it is installed: what two pready of one version may differ in."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

import pready
from pready.model.common import _draws
from pready.model.engine import _kernel

ROOMS = ("model", "whatif")
"""A prediction, and a row of it, come from these alone."""


@cache
def digest() -> str:
    """A digest of the files of `ROOMS`, those that are compiled included."""
    root, total = Path(pready.__file__).parent, hashlib.sha256()
    files = sorted(path for room in ROOMS for path in (root / room).rglob("*.py"))
    for path in (*files, Path(_draws.__file__), Path(_kernel.__file__)):
        total.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return total.hexdigest()
