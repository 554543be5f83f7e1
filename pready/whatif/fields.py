"""Fields to vary: ``arrivals.spread=1%,4%,10%``, ``buffer=1KiB:64MiB:2x``, ``machine=meluxina,niagara``.

Fields have the dotted names and the values of a workload file; ``machine.`` before a name means the machine file.
``machine``, ``library`` and ``seed`` are the options of these names.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pready.model.common import units
from pready.model.common.errors import PreadyError, shown
from pready.model.toml import dotted

LARGEST = 100_000
"""Most values of a field, and most points of a sweep."""

OPTIONS = ("machine", "library", "seed")
OF_THE_MACHINE = "machine."

_COMMA = re.compile(r",(?![^\[]*\])")


@dataclass(frozen=True)
class Axis:
    """One field and the values it takes."""

    field: str
    values: tuple[object, ...]
    """As in a file."""


def axis(field: str, values: object) -> Axis:
    """An axis from Python: text as after the ``=`` of `parse_axis`, one value, or several."""
    dotted.steps(field)
    if isinstance(values, str):
        return Axis(field, _values(field, values, field))
    given = tuple(values) if isinstance(values, Iterable) and not isinstance(values, dict) else (values,)
    if not given:
        raise PreadyError(f"{field} has no values", valid="at least one")
    return Axis(field, tuple(_read(v) if isinstance(v, str) else v for v in given))


def parse_axis(text: str, option: str = "--over") -> Axis:
    """``FIELD=A,B,C`` or ``FIELD=FROM:TO:STEP`` as a field and its values.

    ``FROM:TO:2x`` multiplies, ``FROM:TO:STEP`` adds; both ends are included if met. A range has integers, numbers, or
    quantities in the unit of FROM.

    Raises
    ------
    PreadyError
        No field, a malformed or an endless range.
    """
    field, equals, spec = text.partition("=")
    field = field.strip()
    if not equals or not spec.strip():
        raise PreadyError(f"{option} {shown(text)} varies nothing", valid="FIELD=A,B,C or FIELD=FROM:TO:2x")
    dotted.steps(field)
    return Axis(field, _values(field, spec, f"{option} {field}"))


def _values(field: str, spec: str, where: str) -> tuple[object, ...]:
    parts = spec.split(":")
    if len(parts) == 3 and field not in ("machine", "library"):
        return tuple(_range(where, *(p.strip() for p in parts)))
    if len(parts) == 2 and field not in ("machine", "library"):
        raise PreadyError(f"{where} = {shown(spec)} is no range", valid="A,B,C or FROM:TO:2x or FROM:TO:STEP")
    words = [word.strip() for word in _COMMA.split(spec)]
    if field in ("machine", "library"):
        return tuple(words)
    return tuple(map(_read, words))


def _read(word: str) -> object:
    """A value as in a file; only ambiguous text needs quotation marks."""
    try:
        value: object = tomllib.loads(f"x = {word}")["x"]
    except (tomllib.TOMLDecodeError, ValueError):
        return word
    return value if isinstance(value, (bool, int, float, str, list)) else word


def _range(where: str, low: str, high: str, step: str) -> list[object]:
    start, unit = _number(where, low)
    end = _in_unit(where, high, unit)
    if step.endswith("x"):
        try:
            factor = float(step[:-1])
        except ValueError:
            factor = 0.0
        if not 1 < factor < float("inf"):
            raise PreadyError(f"{where}: factor {shown(step)}", valid="greater than 1, such as 2x")
        numbers = _up_to(end, lambda n: start * factor**n) if start > 0 else []
    else:
        added = _in_unit(where, step, unit)
        numbers = _up_to(end, lambda n: start + n * added) if added > 0 else []
    if not numbers or len(numbers) > LARGEST:
        raise PreadyError(
            f"{where}: {low} to {high} by {step}", valid=f"FROM at most TO, steps upwards, at most {LARGEST} values"
        )
    whole = not unit and all(isinstance(_read(w), int) for w in (low, high)) and all(n == int(n) for n in numbers)
    if whole:
        return [int(n) for n in numbers]
    return [f"{n:.12g}{unit}" if unit else float(f"{n:.12g}") for n in numbers]


def _up_to(end: float, nth: Any) -> list[float]:
    numbers: list[float] = []
    while (number := nth(len(numbers))) <= end + 1e-9 * abs(end) and len(numbers) <= LARGEST:
        numbers.append(number)
    return numbers


def _number(where: str, text: str) -> tuple[float, str]:
    """A number and its unit as written."""
    match = re.fullmatch(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)(\s*[^\d\s].*)?", text)
    if match is None:
        raise PreadyError(f"{where}: {shown(text)} is no number", valid="numbers, with a unit where the field has one")
    return float(match[1]), match[2] or ""


def _in_unit(where: str, text: str, unit: str) -> float:
    value, own = _number(where, text)
    if own.strip() == unit.strip():
        return value
    return value * units.ratio(own.strip(), unit.strip(), f"{where}: {shown(text)}")


def magnitude(value: object) -> float | None:
    """A value's position on an axis, in SI; None if it is no number."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    if not isinstance(value, str):
        return float(value)
    for unit in units.Unit:
        try:
            return units.parse(value, unit)
        except PreadyError:
            continue
    return None
