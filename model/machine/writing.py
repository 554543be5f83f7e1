"""Writing a Machine as the TOML file that `pready.model.machine.machine.load` reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import tomlkit

from pready.model.common.units import format_exact
from pready.model.machine.machine import Machine, unmeasured
from pready.model.toml.dotted import written

T = TypeVar("T")

VALUE = ("value", "interval", "source", "why", "candidates")
"""The fields of a value, which is written in one line."""


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
    by_default = [name for name, table in unmeasured() if table == getattr(machine, name)]
    _fill(out, {name: item for name, item in written(machine, format_exact).items() if name not in by_default})
    return out


def _fill(into: Any, data: Mapping[str, Any]) -> None:
    later: dict[str, Any] = {}
    for key, item in data.items():
        if isinstance(item, dict) and item.keys() <= {*VALUE}:
            into.add(key, _inline({name: item[name] for name in VALUE if name in item}))
        elif isinstance(item, dict):
            later[key] = _filled(tomlkit.table(), item)  # TOML: plain keys come before tables
        elif isinstance(item, list) and isinstance(item[0], dict):
            later[key] = tomlkit.aot()
            for row in item:
                later[key].append(_filled(tomlkit.table(), row))
        elif item != "":
            into.add(key, item)
    for key, table in later.items():
        into.add(key, table)


def _inline(data: Mapping[str, Any]) -> Any:
    """The data in one line, lists of tables, too."""
    table = tomlkit.inline_table()
    for key, item in data.items():
        of_tables = isinstance(item, list) and item and isinstance(item[0], dict)
        table.append(key, [_inline(each) for each in item] if of_tables else item)
    return table


def _filled(table: T, data: Mapping[str, Any]) -> T:
    _fill(table, data)
    return table
