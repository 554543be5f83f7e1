"""Caliper's communication regions: messages and bytes by region, as JSON.

What ``CALI_CONFIG=runtime-profile,comm.stats`` aggregates over all ranks, printed by ``output.format=json``, or by
``cali-query -q "... format json"``: an array of records, or an object with ``records`` (LLNL/Caliper @74e48659,
src/reader/JsonFormatter.cpp). The columns are those of ``comm.stats`` (src/caliper/controllers/controllers.cpp there).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pready.calibrate.importers.text import ImportFormatError
from pready.model.common.errors import PreadyError, shown
from pready.model.toml.reading import read_bytes

LARGEST_FILE = 256 << 20
"""Bytes of one file at most."""
MOST_REGIONS = 1000
PLACES = ("comm.region", "path", "region")
"""Keys of a record's region, the most specific first; nested regions are joined by ``/``."""


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
    try:
        data = json.loads(read_bytes(path, LARGEST_FILE))
    except (ValueError, RecursionError) as error:
        raise ImportFormatError(f"is no JSON: {error}", valid="Caliper's output.format=json", source=source) from None
    records = data.get("records") if isinstance(data, dict) else data
    if not isinstance(records, list) or not all(isinstance(r, dict) for r in records):
        raise ImportFormatError(
            "is no list of records", valid="Caliper's output.format=json, or cali-query's format json", source=source
        )
    found = [region for record in records if (region := _region(record, source)) is not None]
    if not found:
        raise ImportFormatError(
            "has no region that sends messages",
            valid="records with 'Sends (max)', 'Sends (total)', 'Bytes sent (total)' and 'Dst ranks (max)': "
            "CALI_CONFIG=runtime-profile,comm.stats,output.format=json",
            source=source,
        )
    if len(found) > MOST_REGIONS:
        raise ImportFormatError(f"has {len(found)} regions", valid=f"at most {MOST_REGIONS}", source=source)
    return found


def _region(record: Mapping[str, Any], source: str) -> Region | None:
    place = next((str(record[key]) for key in PLACES if record.get(key)), None)
    if place is None:
        return None
    name = place.rpartition("/")[2]
    most, sends, sent, peers = (
        _number(record, key, name, source)
        for key in ("Sends (max)", "Sends (total)", "Bytes sent (total)", "Dst ranks (max)")
    )
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
