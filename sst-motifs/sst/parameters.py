"""The motifs' parameters, read from the header that C++ compiles: one source for every default."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pready.model.common.errors import PreadyError, shown

SOURCES = Path(__file__).parent / "motifs"
"""The element library's C++ sources; they travel with the package, so that it can build them."""

GROUPS: dict[str, tuple[str, ...]] = {
    "PartPingPong": ("COMMON", "PINGPONG"),
    "PartExchange": ("COMMON", "EXCHANGE"),
    "Traffic": ("TRAFFIC",),
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
    group = ""
    for line in (SOURCES / "parameters.hpp").read_text(encoding="utf-8").splitlines():
        if head := _GROUP.match(line):
            group = head[1]
        elif item := _LINE.match(line):
            name, default, meaning = item.groups()
            found.setdefault(group, []).append(Parameter(name, default.strip(), meaning))
    return {name: tuple(items) for name, items in found.items()}


def parameters(motif: str) -> dict[str, Parameter]:
    """A motif's parameters by name."""
    return {p.name: p for group in GROUPS[motif] for p in groups()[group]}


def arguments(motif: str, values: Mapping[str, object]) -> dict[str, object]:
    """The arguments of a motif that are not at their defaults, floats rounded to what a time can tell.

    Raises
    ------
    PreadyError
        A name that the motif has not.
    """
    known = parameters(motif)
    out: dict[str, object] = {}
    for name, value in values.items():
        if name not in known:
            raise PreadyError(f"{motif} has no argument {shown(name)}", valid=", ".join(known))
        said = float(f"{value:.9g}") if isinstance(value, float) else value
        if isinstance(said, float) and said.is_integer():
            said = int(said)
        if str(said) != known[name].default:
            out[name] = said
    return out
