"""Parts of a machine file replaced by newly measured ones; all else in it stays, comments too."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import tomlkit

from pready.model.common.errors import PreadyError
from pready.model.machine.machine import Machine
from pready.model.toml.reading import LARGEST_TOML, decoded, parsed_toml, read_bytes, validated


class Merged(NamedTuple):
    """The file's new text, and a line for each part that differed."""

    text: str
    told: tuple[str, ...]


def base(path: Path, option: str) -> str:
    """The text of the machine file that an option adds to. Raises PreadyError: there is none, or it is no machine."""
    if not path.exists():
        raise PreadyError(
            f"{option} adds to a machine file, and there is none",
            valid="first 'pready calibrate' with two ranks on two nodes, into the same file",
            source=str(path),
        )
    text = decoded(read_bytes(path, LARGEST_TOML), str(path))
    validated(Machine, parsed_toml(text.encode(), str(path)), str(path))
    return text


def merged(text: str, source: str, new: Mapping[str, Any]) -> Merged:
    """The machine file `text` with these tables; a PreadyError, which names `source`, if it is no machine then."""
    document = tomlkit.parse(text)
    told: list[str] = []
    for name, part in new.items():
        old = document.get(name)
        if old is None or old.unwrap() != part:
            was = "" if old is None else f", was {_short(old)}"
            told.append(f"{'new' if old is None else 'replaced'}: {name} = {_short(part)}{was}")
            document[name] = part
    made = tomlkit.dumps(document)
    validated(Machine, parsed_toml(made.encode(), source), source)
    return Merged(made, tuple(told))


def _short(part: Mapping[str, Any]) -> str:
    """A part on a line: how many segments."""
    if "segments" not in part:
        return "a table"
    starts = ", ".join(f"{s['protocol']} from {s['from']}" for s in part["segments"])
    return f"{len(part['segments'])} segments ({starts})"
