"""JSON forms of benchmarks' results (OMB's, ReFrame's, one's own): records, columns, or values by size.

    [{"size": 8, "latency_us": 1.2}, …]      {"size": [8, …], "latency_us": [1.2, …]}      {"latency_us": {"8": 1.2, …}}
    {"columns": ["size", "latency_us"], "data": [[8, 1.2], …]}    [{"name": "latency_8", "value": 1.2, "unit": "us"}, …]

At any depth, also a record a line; each becomes a table, which `tables.py` reads. Text around it, such as the
benchmark's name, its command or its unit, says of what.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pready.calibrate.importers.columns import column
from pready.calibrate.importers.formats import WholeFile, register
from pready.calibrate.importers.text import ImportFormatError

_BENCHMARK = re.compile(r"osu_\w+|IMB[- ]\w+", re.IGNORECASE)
_COMMANDS = ("command", "cmd", "cmdline", "launcher")
MOST_DEEP = 40


def _parsed(text: str) -> Any:
    """What the text holds; None: it is no JSON."""
    if text.lstrip()[:1] not in ("[", "{"):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except (ValueError, RecursionError):
        return None


def _is_size(name: str) -> bool:
    return column(0, name).quantity == "size"


def _tables(node: Any, about: Mapping[str, str], name: str = "", deep: int = 0) -> Iterator[str]:
    """The tables in it, as comma-separated values."""
    if deep > MOST_DEEP:
        return
    if isinstance(node, list):
        records = [_flat(each) for each in node if isinstance(each, dict)]
        if records and any(_is_size(str(key)) for key in records[0]):
            names = list(
                dict.fromkeys(str(key) for each in records for key in each if not isinstance(each[key], (dict, list)))
            )
            yield _csv(names, [[each.get(key, "") for key in names] for each in records], about)
            return
        for each in node:
            yield from _tables(each, about, name, deep + 1)
    elif isinstance(node, dict):
        said = {str(k).lower(): v for k, v in node.items() if isinstance(v, str)}
        about = {**about, **said}
        lists = {str(k): v for k, v in node.items() if isinstance(v, list)}
        sizes = next((k for k in lists if _is_size(k)), None)
        columns, data = node.get("columns"), node.get("data")
        if isinstance(columns, list) and isinstance(data, list) and any(_is_size(str(name)) for name in columns):
            rows = [row for row in data if isinstance(row, list) and len(row) == len(columns)]
            yield _csv([str(name) for name in columns], rows, about)
            return
        if sizes is not None:
            same = {k: v for k, v in lists.items() if len(v) == len(lists[sizes])}
            yield _csv(list(same), list(zip(*same.values(), strict=True)), about)
            return
        scalars = {str(k): v for k, v in node.items() if isinstance(v, (int, float))}
        if len(scalars) == len(node) > 1 and all(re.fullmatch(r"\d{1,15}", k) for k in scalars):
            yield _csv(["size", name], list(scalars.items()), about)
            return
        for key, each in node.items():
            if isinstance(each, (dict, list)):
                yield from _tables(each, about, str(key), deep + 1)


def _flat(record: Mapping[Any, Any]) -> dict[str, Any]:
    """A record with its figures beside its size: of {"latency": {"value": 1.2, "unit": "us"}}, {"name": "bw_8", …}."""
    out: dict[str, Any] = {}
    for key, each in record.items():
        within = each if isinstance(each, dict) else {}
        out[f"{key} ({within['unit']})" if "unit" in within else str(key)] = within.get("value", each)
    named = re.search(r"(?:^|[_ ])(\d{1,12})(?: ?B)?$", str(record.get("name", "")))
    if named and {"value", "unit"} <= out.keys():
        out = {"size": named[1], "value": out["value"], "unit": out["unit"]}
    return out


def _csv(names: Sequence[str], rows: Sequence[Sequence[Any]], about: Mapping[str, str]) -> str:
    unit = about.get("unit") or about.get("units")
    plain = [column(0, n) for n in names]
    if unit and not any(c.quantity in ("time", "rate", "messages", "value") for c in plain):
        names = [
            f"{n} ({unit})" if re.search(r"lat|time|bw|bandwidth|rate|value|avg|median", n, re.I) else n for n in names
        ]
    command = next((about[key] for key in _COMMANDS if key in about), "")
    benchmark = next((m.group() for text in about.values() if (m := _BENCHMARK.search(text))), "")
    if benchmark and "benchmark" not in names:
        names, rows = [*names, "benchmark"], [[*row, benchmark] for row in rows]
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([names, *rows])
    return f"{' '.join(command.split())}\n\n{out.getvalue()}\n"


def _read(text: str, source: str) -> str:
    made = "".join(_tables(_parsed(text), {}))
    if not made:
        valid = 'records such as {"size": 8, "latency_us": 1.2}'
        raise ImportFormatError("is JSON without sizes and their figures", valid=valid, source=source)
    return made


register(WholeFile("JSON", lambda text: _parsed(text) is not None, _read))
