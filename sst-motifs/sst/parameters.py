"""The motifs' parameters, read from the tables that C++ compiles and SST documents."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pready.model.common.errors import PreadyError, shown

SOURCES = Path(__file__).parent / "motifs"
"""The element library's C++ sources; they travel with the package, so that it can build them."""

FILES: dict[str, tuple[str, ...]] = {
    "PartPingPong": ("motif.hpp", "ping_pong.cpp"),
    "PartExchange": ("motif.hpp", "exchange.cpp"),
    "Traffic": ("traffic.cpp",),
}
"""Files with the tables of each motif's arguments."""

_ROW = re.compile(r'^\s*(?:SST_ELI_DOCUMENT_PARAMS\()?\{"arg\.(\w+)", "([^"]*)", "([^"]*)"\}', re.MULTILINE)


@dataclass(frozen=True)
class Parameter:
    """One ``name=value`` of a motif. `default` is the text that both languages parse."""

    name: str
    default: str
    meaning: str


@cache
def parameters(motif: str) -> dict[str, Parameter]:
    """A motif's parameters by name, from the tables that SST documents."""
    texts = [(SOURCES / name).read_text(encoding="utf-8") for name in FILES[motif]]
    rows = [row for text in texts for row in _ROW.findall(text)]
    return {name: Parameter(name, default, meaning) for name, meaning, default in rows}


def arguments(motif: str, values: Mapping[str, object]) -> dict[str, object]:
    """The arguments of a motif that are not at their defaults, floats rounded to what a time can tell. Raises
    PreadyError: a name that the motif has not."""
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
