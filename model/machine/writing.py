"""Writing a Machine as the TOML file that `pready.model.machine.machine.load` reads."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import tomlkit
from tomlkit.items import InlineTable, Table

from pready.model.common.units import Unit, format_exact
from pready.model.machine.machine import Machine, unmeasured
from pready.model.toml.dotted import unit_in
from pready.model.toml.provenance import Strict, Value


def dumps(machine: Machine, comment: str = "") -> str:
    """The machine as TOML text, one line per value: ``L = {value = "1.11 us", interval = …, …}``.

    Tables that `load` adds by itself are left out.

    Parameters
    ----------
    comment
        Lines put in front, without their ``#``.
    """
    return tomlkit.dumps(document(machine, comment))


def document(machine: Machine, comment: str = "") -> tomlkit.TOMLDocument:
    """The machine's tables as `dumps` writes them."""
    out = tomlkit.document()
    for line in comment.splitlines():
        out.add(tomlkit.comment(line))
    _fill(out, machine, dict(unmeasured()))
    return out


def _fill(into: Any, table: Strict, known: Mapping[str, object] = MappingProxyType({})) -> None:
    """Fill in all fields but those that are as `known`."""
    later: list[tuple[str, Any]] = []
    for name, info in type(table).model_fields.items():
        item, key = getattr(table, name), info.alias or name
        if item is None or item == "" or item == known.get(name):
            continue
        if isinstance(item, Value):
            into.add(key, _inline(item))
        elif isinstance(item, Strict) or _is_tables(item):
            later.append((key, item))  # TOML: plain keys come before tables
        else:
            into.add(key, _plain(item, unit_in([*info.metadata, info.annotation])))
    for key, item in later:
        if isinstance(item, Strict):
            sub: Table = tomlkit.table()
            _fill(sub, item)
            into.add(key, sub)
            continue
        array = tomlkit.aot()
        for part in item:
            row: Table = tomlkit.table()
            _fill(row, part)
            array.append(row)
        into.add(key, array)


def _is_tables(item: object) -> bool:
    return isinstance(item, tuple) and bool(item) and isinstance(item[0], Strict)


def _inline(item: Value[Any]) -> InlineTable:
    (argument,) = type(item).__pydantic_generic_metadata__["args"]
    unit = unit_in([argument])
    out = tomlkit.inline_table()
    out.add("value", _plain(item.value, unit))
    if item.interval is not None:
        out.add("interval", [_plain(v, unit) for v in item.interval])
    out.add("source", item.source)
    out.add("why", item.why)
    return out


def _plain(item: Any, unit: Unit | None) -> Any:
    if isinstance(item, tuple):
        return [_plain(part, unit) for part in item]
    return format_exact(item, unit) if unit is not None else item
