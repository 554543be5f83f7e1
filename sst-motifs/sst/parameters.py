"""The motifs' parameters, read from the header that C++ compiles: one source for every default."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pready.model.common.errors import PreadyError, shown

SOURCES = Path(__file__).parent / "motifs"
"""The element library's C++ sources; they travel with the package, so that it can build them."""

GROUPS: dict[str, tuple[str, ...]] = {
    "PartPingPong": ("COMMON", "PINGPONG"),
    "PartHalo3D": ("COMMON", "HALO3D"),
    "PartHalo3D26": ("COMMON", "HALO3D", "HALO3D26"),
    "PartSweep3D": ("COMMON", "SWEEP3D"),
}

_GROUP = re.compile(r"^#define PREADY_(\w+)\(X\)")
_LINE = re.compile(r'^\s*X\((\w+), (?:Text|Count|Time), ([^,]*), "([^"]*)"\)')


@dataclass(frozen=True)
class Parameter:
    """One ``name=value`` of a motif. `default` is the text that both languages parse."""

    name: str
    default: str
    meaning: str


@cache
def groups() -> dict[str, tuple[Parameter, ...]]:
    """The groups of parameters.hpp."""
    found: dict[str, list[Parameter]] = {}
    current: list[Parameter] = []
    for line in (SOURCES / "parameters.hpp").read_text(encoding="utf-8").splitlines():
        if head := _GROUP.match(line):
            current = found.setdefault(head[1], [])
        elif item := _LINE.match(line):
            name, default, meaning = item.groups()
            current.append(Parameter(name, default.strip(), meaning))
    return {name: tuple(items) for name, items in found.items()}


def parameters(motif: str) -> dict[str, Parameter]:
    """A motif's parameters by name."""
    return {p.name: p for group in GROUPS[motif] for p in groups()[group]}


def motif_line(motif: str, **values: object) -> str:
    """The text that Ember's ``addMotif`` takes; values at their defaults are left out.

    Raises
    ------
    PreadyError
        A name that the motif has not, or a text that Ember would split.
    """
    known = parameters(motif)
    words = [f"pready.{motif}"]
    for name, value in values.items():
        if name not in known:
            raise PreadyError(f"{motif} has no parameter {shown(name)}", valid=", ".join(known))
        text = f"{value:.17g}" if isinstance(value, float) else str(value)
        if re.search(r"[\s=]", text):
            raise PreadyError(f"{name} = {shown(text)} has blanks or '='", valid="text without either")
        if text != known[name].default:
            words.append(f"{name}={text}")
    return " ".join(words)
