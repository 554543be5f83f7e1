"""Caliper's communication regions: messages and bytes by region, as JSON.

What ``CALI_CONFIG=runtime-profile,comm.stats`` aggregates over all ranks, printed by ``output.format=json``, or by
``cali-query -q "... format json"``: an array of records, or an object with ``records`` (LLNL/Caliper @74e48659,
src/reader/JsonFormatter.cpp); or by ``format json-split``, columns and rows whose regions are nodes of a tree. The
columns are those of ``comm.stats`` (src/caliper/controllers/controllers.cpp there).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pready.calibrate.importers.text import ImportFormatError
from pready.calibrate.workload_formats import FORMATS, WorkloadFormat
from pready.model.common.errors import PreadyError, shown
from pready.model.toml.reading import read_bytes
from pready.model.workload.fields import MOST_EXCHANGES

LARGEST_FILE = 256 << 20
"""Bytes of one file at most."""
LONGEST = 1000
"""Characters of a region's path at most."""
PLACES = ("comm.region", "path", "region")
"""Keys of a record's region, the most specific first; nested regions are joined by ``/``."""
NEEDED = ("Sends (max)", "Sends (total)", "Bytes sent (total)", "Dst ranks (max)")
_CALI = b"__rec="


@dataclass(frozen=True)
class Region:
    """One communication region over the whole run."""

    name: str
    sends: float
    """Most messages that a rank sends."""
    peers: float
    """Most ranks that a rank sends to."""
    message: float
    """Mean bytes of a message."""


def read_caliper(path: Path) -> list[Region]:
    """Regions with point-to-point messages, in the order of the file.

    Raises
    ------
    ImportFormatError
        No JSON of Caliper, or no region sends messages.
    """
    source = str(path)
    content = read_bytes(path, LARGEST_FILE)
    if content.startswith(_CALI):
        query = f"cali-query -q 'select * format json' {path.name} > regions.json, and that file"
        raise ImportFormatError("is Caliper's own format", valid=query, source=source)
    try:
        data = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ImportFormatError(f"is no JSON: {error}", valid="Caliper's output.format=json", source=source) from None
    records = data
    if isinstance(data, dict):
        records = _of_split(data) if {"data", "columns", "nodes"} <= data.keys() else data.get("records")
    if not isinstance(records, list) or not all(isinstance(r, dict) for r in records):
        raise ImportFormatError(
            "is no list of records", valid="Caliper's output.format=json, or cali-query's format json", source=source
        )
    found = [region for record in records if (region := _region(record, source)) is not None]
    if not found:
        there = {key for record in records for key in record}
        missing = [key for key in NEEDED if key not in there] if there & {*NEEDED} else []
        raise ImportFormatError(
            "has no region that sends messages" + (f": no column {', '.join(missing)}" if missing else ""),
            valid="records with 'Sends (max)', 'Sends (total)', 'Bytes sent (total)' and 'Dst ranks (max)': "
            "CALI_CONFIG=runtime-profile,comm.stats,output.format=json",
            source=source,
        )
    if len(found) > MOST_EXCHANGES:
        said = f"has {len(found)} regions that send messages"
        raise ImportFormatError(said, valid=f"at most {MOST_EXCHANGES}, as a step", source=source)
    return found


def _of_split(data: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """The records of ``json-split``; None: it is not as Caliper writes it."""
    columns, rows, nodes, values = (data.get(name) for name in ("columns", "data", "nodes", "column_metadata"))
    if not (isinstance(columns, list) and isinstance(rows, list) and isinstance(nodes, list)):
        return None
    values = values or [{}] * len(columns)
    if not all(isinstance(each, list) and len(each) == len(columns) for each in (values, *rows)):
        return None
    paths: list[str] = []
    for node in nodes:  # a parent stands before its children
        above = node.get("parent") if isinstance(node, dict) else -1
        if not isinstance(node, dict) or not (above is None or (type(above) is int and 0 <= above < len(paths))):
            return None
        paths.append((f"{paths[above]}/" if above is not None else "") + str(node.get("label", ""))[:LONGEST])
        if len(paths[-1]) > LONGEST:
            return None

    def cell(value: Any, about: Any) -> Any:
        is_value = about.get("is_value") if isinstance(about, dict) else True
        return paths[value] if is_value is False and type(value) is int and 0 <= value < len(paths) else value

    return [
        {
            str(name): cell(value, about)
            for name, value, about in zip(columns, row, values, strict=True)
            if value is not None
        }
        for row in rows
    ]


def _region(record: Mapping[str, Any], source: str) -> Region | None:
    place = next((str(record[key]) for key in PLACES if record.get(key)), None)
    if place is None:
        return None
    name = place.rpartition("/")[2]
    most, sends, sent, peers = (_number(record, key, name, source) for key in NEEDED)
    if not most or not sends or not sent or not peers:
        return None
    return Region(name, most, peers, sent / sends)


def _number(record: Mapping[str, Any], key: str, name: str, source: str) -> float:
    value = record.get(key, 0)
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = -1.0
    if not 0 <= number < 2**63:
        raise PreadyError(f"{key} of region {shown(name)} = {shown(value)}", valid="a number, 0 or more", source=source)
    return number


FORMATS.append(
    WorkloadFormat(
        "Caliper",
        lambda _, head: head.startswith(_CALI) or b'"Sends (' in head or b"Sends (max)" in head,
    )
)
