"""Records of benchmarks' results: JSON (OMB's, ReFrame's, one's own) by record, column or size; ReFrame's logs.

    [{"size": 8, "latency_us": 1.2}, …]      {"size": [8, …], "latency_us": [1.2, …]}      {"latency_us": {"8": 1.2, …}}
    {"columns": ["size", "latency_us"], "data": [[8, 1.2], …]}    [{"name": "latency_8", "value": 1.2, "unit": "us"}, …]

At any depth, also a record a line; each becomes a table, which `tables.py` reads. Text around it, such as the
benchmark's name, its command or its unit, says of what. A log of ReFrame's has its fields apart by bars, as its
configuration or its default has them:

    …|reframe 3.9|…|latency_8=1.2|ref=0 (l=null, u=null)|us       result|…|latency_8_value|latency_8_unit|…
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from pready.calibrate.importers.columns import column
from pready.calibrate.importers.formats import WHOLE_FILES, WholeFile
from pready.calibrate.importers.text import ImportFormatError

_BENCHMARK = re.compile(r"osu_\w+|IMB[- ]\w+", re.IGNORECASE)
_LOG = re.compile(r"^(?:\w+\|)+\w+_value\||\|reframe [0-9v]", re.MULTILINE)
_LOGGED = re.compile(r"\|(?P<name>\w+)=(?P<value>[^|]*)\|ref=[^|]*\|(?P<unit>[^|]*)$")
_FIGURE = re.compile(r"lat|time|bw|bandwidth|rate|value|avg|median", re.IGNORECASE)
_COMMANDS = ("command", "cmd", "cmdline", "launcher")
MOST_DEEP = 40  # brackets within brackets


def _parsed(text: str) -> Any:
    """What the text holds; None: it has no records."""
    if text.lstrip()[:1] in ("[", "{"):
        with suppress(ValueError, RecursionError):
            return json.loads(text)
        with suppress(ValueError, RecursionError):
            return [json.loads(line) for line in text.splitlines() if line.strip()]
    return list(_logged(text)) if _LOG.search(text) else None


def _logged(text: str) -> Iterator[dict[str, str]]:
    """What ReFrame logged of performance variables."""
    columns: list[str] = []
    for line in text.splitlines():
        cells = line.split("|")
        if match := _LOGGED.search(line):
            yield match.groupdict()
        elif any(cell.endswith("_value") for cell in cells):
            columns = cells
        elif len(cells) == len(columns):
            row = dict(zip(columns, cells, strict=True))
            for name in (c.removesuffix("_value") for c in columns if c.endswith("_value")):
                yield {"name": name, "value": row[f"{name}_value"], "unit": row.get(f"{name}_unit", "")}


def _sizes(names: Iterable[Any]) -> list[Any]:
    return [name for name in names if column(0, str(name)).quantity == "size"]


def _tables(node: Any, about: Mapping[str, str], name: str = "", deep: int = 0) -> Iterator[str]:
    """The tables in it, as comma-separated values."""
    if isinstance(node, dict):
        about = {**about, **{str(k).lower(): v for k, v in node.items() if isinstance(v, str)}}
    made = _table(node, name)
    if made is not None:
        yield _csv(*made, about)
    elif deep < MOST_DEEP:
        for key, each in node.items() if isinstance(node, dict) else ((name, each) for each in node):
            if isinstance(each, (dict, list)):
                yield from _tables(each, about, str(key), deep + 1)


def _table(node: Any, name: str) -> tuple[list[str], Sequence[Sequence[Any]]] | None:
    """Names and rows, if it is a table by itself."""
    if isinstance(node, list):
        records = [_flat(each) for each in node if isinstance(each, dict)]
        if not records or not _sizes(records[0]):
            return None
        names = list(dict.fromkeys(k for each in records for k, v in each.items() if not isinstance(v, (dict, list))))
        return names, [[each.get(k, "") for k in names] for each in records]
    by_size = [{"size": k, **v} for k, v in node.items() if isinstance(v, dict) and str(k).isdigit()]
    # ReFrame's reports: {"system:partition:latency_8": [1.2, reference, lower, upper, "us"]}
    by_size += [
        {"name": k.rpartition(":")[2], "value": v[0], "unit": v[4]}
        for k, v in node.items()
        if isinstance(v, list) and len(v) > 4 and isinstance(v[4], str)
    ]
    if by_size and len(by_size) == len(node):
        return _table(by_size, name)
    lists = {str(k): v for k, v in node.items() if isinstance(v, list)}
    columns, data = lists.get("columns", []), lists.get("data")
    if data is not None and _sizes(columns):
        return [str(k) for k in columns], [row for row in data if isinstance(row, list) and len(row) == len(columns)]
    if sizes := _sizes(lists):
        same = {k: v for k, v in lists.items() if len(v) == len(lists[sizes[0]])}
        return list(same), list(zip(*same.values(), strict=True))
    scalars = [(str(k), v) for k, v in node.items() if isinstance(v, (int, float))]
    if len(scalars) == len(node) > 1 and all(re.fullmatch(r"\d{1,15}", k) for k, _ in scalars):
        return ["size", name], scalars
    return None


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
    if unit and not any(column(0, n).quantity in ("time", "rate", "messages", "value") for n in names):
        names = [f"{n} ({unit})" if _FIGURE.search(n) else n for n in names]
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
        valid = '{"size": 8, "latency_us": 1.2}, or performance variables such as latency_8'
        raise ImportFormatError("has records without sizes and their figures", valid=valid, source=source)
    return made


WHOLE_FILES.append(WholeFile(lambda text: _parsed(text) is not None, _read))
