"""Merge values from other files into a machine file, and keep those that a hand or a measurement wrote into it.

A file that pready wrote holds a digest of its values. While it is right, nobody has edited them, and assumed
values may be replaced; after an edit no value is, unless it is named.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

import tomlkit

from pready.model.common.errors import PreadyError, did_you_mean, shown
from pready.model.machine.machine import Machine
from pready.model.machine.writing import dumps
from pready.model.toml.dotted import steps

_SEAL = re.compile(r"^# Values ([0-9a-f]{16})[^\n]*\n", re.MULTILINE)
KNOWN = ("measured", "literature")


class Merged(NamedTuple):
    """The file's new text, and for each part that differed a line that says whether it was replaced."""

    text: str
    told: tuple[str, ...]


def sealed(machine: Machine, head: str) -> str:
    """The machine as a file that shows whether a hand has changed its values."""
    return dumps(machine, f"{head}\n{_seal(dumps(machine))}")


def edited(text: str) -> bool:
    """Whether a hand has changed the values of a machine file, or may have: the file does not say."""
    seal = _SEAL.search(text)
    return seal is None or seal.group(1) != _digest(text)


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
    document = tomlkit.parse(text)
    by_hand = edited(text)
    told: list[str] = []
    taken = 0
    for name, part in new.items():
        *way, last = [str(step) for step in steps(name)]
        table: Any = document
        for step in way:
            table = table.setdefault(step, tomlkit.table())
        old = table.get(last)
        if old is not None and _plain(old) == _plain(part):
            continue
        why = None if old is None or name in replacing else _kept(old, by_hand=by_hand)
        if why is not None:
            told.append(f"kept {name} of {source}, {why}; --replace {name} takes the files' {_short(part)}")
            continue
        told.append(f"{'new' if old is None else 'replaced'}: {name} = {_short(part)}")
        if old is not None:
            told[-1] += f", was {_short(old)}"
        table[last] = part
        taken += 1
    out = tomlkit.dumps(document)
    if taken:  # a digest would vouch for a hand's values
        text = _SEAL.sub("", out) if by_hand else _resealed(out)
    return Merged(text, tuple(told))


def _kept(old: Any, *, by_hand: bool) -> str | None:
    """Why a part is kept; None: it is not."""
    found = set(_sources(old))
    if known := [source for source in KNOWN if source in found]:
        return f"which is {known[0]}"
    return "for the file was edited by hand, or is not one that pready wrote" if by_hand else None


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


def _seal(text: str) -> str:
    return f"Values {_digest(text)}: while this is right, no hand has changed them."


def _resealed(text: str) -> str:
    return _SEAL.sub(f"# {_seal(text)}\n", text, count=1)


def _digest(text: str) -> str:
    values = json.dumps(tomllib.loads(text), sort_keys=True, default=str)
    return hashlib.sha256(values.encode()).hexdigest()[:16]
