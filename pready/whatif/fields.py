"""Fields by dotted name, with a value or several: ``arrivals.spread=1%,4%,10%``, ``buffer=1KiB:64MiB:2x``.

Names and values are those of a workload file; ``machine.`` before a name means the machine file. Of a sweep,
``machine``, ``library`` and ``seed`` are fields, too.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pready.model.common import units
from pready.model.common.errors import PreadyError, shown
from pready.model.machine.machine import Machine
from pready.model.toml import dotted
from pready.model.toml.reading import validated
from pready.model.workload.workload import Workload

LARGEST = 100_000
"""Most values of a field, and most points of a sweep."""

OPTIONS = ("machine", "library", "seed")
"""Fields of several predictions alone; ``work=total`` of the command line is one more."""
OF_THE_MACHINE = "machine."
LISTS = ("grid", "node_grid", "thread_grid", "transport_partitions")
"""Fields with a list of integers, for which one integer does."""

_COMMA = re.compile(r",(?![^\[]*\])")


@dataclass(frozen=True)
class Axis:
    """One field and the values it takes."""

    field: str
    values: tuple[object, ...]


def axis(field: str, values: object) -> Axis:
    """An axis from Python: text as after the ``=`` of `parse_axis`, one value, or several."""
    dotted.steps(field)
    if isinstance(values, str):
        return Axis(field, _values(field, values, field))
    given = tuple(values) if isinstance(values, Iterable) and not isinstance(values, dict) else (values,)
    if not given:
        raise PreadyError(f"{field} has no values", valid="at least one")
    return Axis(field, tuple(_read(v) if isinstance(v, str) else v for v in given))


def parse_axis(text: str) -> Axis:
    """``FIELD=A,B,C`` or ``FIELD=FROM:TO:STEP`` as a field and its values.

    ``FROM:TO:2x`` multiplies, ``FROM:TO:STEP`` adds; both ends are included if met. A range has integers, numbers, or
    quantities in the unit of FROM. ``4x4x4`` and ``[4, 4, 4]`` are one list. Raises PreadyError: no field, a malformed
    or an endless range.
    """
    field, equals, spec = text.partition("=")
    field = field.strip()
    if not equals or not spec.strip():
        raise PreadyError(f"--set {shown(text)} sets nothing", valid='FIELD=VALUE, such as buffer="64 KiB"')
    dotted.steps(field)
    return Axis(field, _values(field, spec, f"--set {field}"))


M = TypeVar("M", Machine, Machine | None)


def changed(machine: M, workload: Workload, fields: Mapping[str, Any]) -> tuple[M, Workload]:
    """Both with other values of some fields, given by dotted name. Raises PreadyError: as of a file: an unknown field,
    with the one that was probably meant, or a value that is not valid."""
    of_machine = {n.removeprefix(OF_THE_MACHINE): v for n, v in fields.items() if n.startswith(OF_THE_MACHINE)}
    if of_machine:
        if machine is None:
            raise PreadyError(f"machine.{next(iter(of_machine))} without a machine", valid="--machine")
        machine = validated(Machine, dotted.changed(dotted.written(machine), of_machine), "machine")
    own = {n: v for n, v in fields.items() if not n.startswith(OF_THE_MACHINE)}
    if "ranks_per_node" in own and workload.node_grid is not None:
        own.setdefault("node_grid", None)  # another number of ranks fills nodes in a row
    own |= {n: (v,) for n, v in own.items() if n.rpartition(".")[2] in LISTS and isinstance(v, int)}
    return machine, workload.changed(**own) if own else workload


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
    if re.fullmatch(r"\d+(x\d+)+", word):
        return [int(n) for n in word.split("x")]
    if re.fullmatch(r"\[[^\[\]]*\]", word):
        return [_read(part.strip()) for part in word[1:-1].split(",") if part.strip()]
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
