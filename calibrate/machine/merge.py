"""Merge values from other files into a machine file: assumed values are replaced, those with a source stay."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

import tomlkit

from pready.model.common.errors import PreadyError, did_you_mean, shown
from pready.model.toml.dotted import steps

KNOWN = ("measured", "literature")
WITH = {"one_sided.put": "one_sided.epoch"}
"""Parts that another brings along: puts of a flush are not synchronised by another file's fence."""


class Merged(NamedTuple):
    """The file's new text, and for each part that differed a line that says whether it was replaced."""

    text: str
    told: tuple[str, ...]


def merged(text: str, source: str, new: Mapping[str, Any], replacing: Collection[str] = ()) -> Merged:
    """The machine file `text` with parts of it taken from elsewhere.

    Parameters
    ----------
    text
        A valid machine file.
    source
        Its name, for the lines.
    new
        Parts by dotted name (``inter``, ``one_sided.put``), as a file has them.
    replacing
        Parts that replace the existing ones, whatever these are.

    Raises
    ------
    PreadyError
        A name in `replacing` that is no part of `new`.
    """
    for name in replacing:
        if name not in new:
            raise PreadyError(
                f"--replace {shown(name)} is nothing that the files say{did_you_mean(name, new)}",
                valid=", ".join(new) or "they say nothing that a machine file has",
            )
    wanted = {*replacing, *(WITH[name] for name in replacing if name in WITH)}
    document = tomlkit.parse(text)
    told: list[str] = []
    for name, part in new.items():
        *way, last = [str(step) for step in steps(name)]
        table: Any = document
        for step in way:
            table = table.setdefault(step, tomlkit.table())
        old = table.get(last)
        if old is not None and _plain(old) == _plain(part):
            continue
        why = None if old is None or name in wanted else _kept(old)
        if why is not None:
            told.append(f"kept {name} of {source}, {why}; --replace {name} takes the files' {_short(part)}")
            continue
        told.append(f"{'new' if old is None else 'replaced'}: {name} = {_short(part)}")
        if old is not None:
            told[-1] += f", was {_short(old)}"
        table[last] = part
    return Merged(tomlkit.dumps(document), tuple(told))


def _kept(old: Any) -> str | None:
    """Why a part is kept; None: it is not."""
    found = set(_sources(old))
    return next((f"which is {source}" for source in KNOWN if source in found), None)


def _sources(part: Any) -> Iterator[str]:
    if isinstance(part, Mapping):
        if isinstance(part.get("source"), str):
            yield str(part["source"])
        for inner in part.values():
            yield from _sources(inner)
    elif isinstance(part, list):
        for inner in part:
            yield from _sources(inner)


def _short(part: Any) -> str:
    """A part on a line: its value, its times, or how many segments."""
    if not isinstance(part, Mapping):
        return shown(str(part))
    if "segments" in part:
        starts = ", ".join(f"{s['protocol']} from {s['from']}" for s in part["segments"])
        return f"{len(part['segments'])} segments ({starts})"
    return str(part.get("value", part.get("time", part.get("name", "a table"))))


def _plain(part: Any) -> Any:
    return part.unwrap() if hasattr(part, "unwrap") else part
