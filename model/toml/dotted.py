"""Tables as in a file: to change a field by its dotted name and read the whole again.

Values are in SI with all digits, and absent fields stay absent, so that reading gives the same table again.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping
from typing import Any, Literal, get_args, get_origin

from pready.model.common.errors import PreadyError, shown
from pready.model.common.units import Unit
from pready.model.toml.provenance import Strict, Value, unit_in

_STEP = re.compile(r"([^.\[\]]+)|\[(\d+)\]")
_NAME = re.compile(r"[^.\[\]]+(\.[^.\[\]]+|\[\d+\])*")


def exactly(value: float, unit: Unit) -> object:
    """A quantity in SI with all digits."""
    if unit is Unit.SHARE:
        return value if value <= 1 else f"{100 * value!r} %"
    return f"{value!r} {unit.si}"


def written(table: Strict, quantity: Callable[[float, Unit], object] = exactly) -> dict[str, Any]:
    """A table as nested dictionaries, lists and plain values, with the field names of a file."""

    def plain(value: object, unit: Unit | None) -> object:
        if isinstance(value, Strict):
            return written(value, quantity)
        if isinstance(value, tuple):
            return [plain(part, unit) for part in value]
        return quantity(value, unit) if unit is not None and isinstance(value, float) else value

    out: dict[str, Any] = {}
    for name, info in type(table).model_fields.items():
        value = getattr(table, name)
        tag = get_origin(info.annotation) is Literal and len(get_args(info.annotation)) == 1
        if info.exclude or value is None or not (tag or name in table.model_fields_set):
            continue
        unit = table.unit if isinstance(table, Value) else unit_in([*info.metadata, info.annotation])
        out[info.alias or name] = plain(value, unit)
    return out


def steps(name: str) -> list[str | int]:
    """``inter.segments[2].L`` as a list of keys and indices.

    Raises
    ------
    PreadyError
        No dotted name.
    """
    if not _NAME.fullmatch(name):
        raise PreadyError(
            f"{shown(name)} is no dotted name", valid="such as buffer, arrivals.spread or exchanges[1].buffer"
        )
    return [key or int(place) for key, place in _STEP.findall(name)]


def changed(data: Mapping[str, Any], fields: Mapping[str, object]) -> dict[str, Any]:
    """Written data with other values of some fields, given by dotted name; None removes a field.

    A number of a machine file becomes an exact value; missing tables on the way are created.

    Raises
    ------
    PreadyError
        A name that leads through a plain value, or past the end of a list.
    """
    out = copy.deepcopy(dict(data))
    for name, value in fields.items():
        *way, last = steps(name)
        here: Any = out
        for step in way:
            if isinstance(step, str) and isinstance(here, dict):
                here = here.setdefault(step, {})
            else:
                here = _place(here, step, name)
        if isinstance(last, int) or not isinstance(here, dict):
            there = _place(here, last, name)
            here[last] = _in_place_of(there, value)
        elif value is None:
            here.pop(last, None)
        else:
            here[last] = _in_place_of(here.get(last), value)
    return out


def _place(here: Any, step: str | int, name: str) -> Any:
    if not isinstance(here, list) or not isinstance(step, int):
        raise PreadyError(f"{name}: {shown(step)} leads nowhere", valid="a dotted name of the file's tables")
    if step >= len(here):
        raise PreadyError(f"{name}: [{step}] is past the end", valid=f"[0] to [{len(here) - 1}]")
    return here[step]


def _in_place_of(there: object, value: object) -> object:
    """A machine's number keeps a provenance."""
    if isinstance(there, dict) and {"value", "source", "why"} <= set(there) and not isinstance(value, dict):
        return {"value": value, "source": "assumed", "why": "a what-if"}
    return value
