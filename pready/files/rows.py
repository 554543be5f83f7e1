"""Rows as text and as files: CSV, or Parquet with the extra `plot`."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

from pready.files.extra import need
from pready.files.writing import check_writable, write_text, write_with

SUFFIXES = (".csv", ".parquet", ".jsonl")


def csv_text(rows: list[dict[str, Any]]) -> str:
    """Rows as CSV with a header; floats in full precision."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def check(path: Path) -> None:
    """Refuse a path before any work.

    Raises
    ------
    PreadyError
        A path that cannot be written, another suffix than `SUFFIXES`, or Parquet without PyArrow.
    """
    check_writable(path, SUFFIXES)
    if path.suffix.lower() == ".parquet":
        need("pyarrow", f"{path.name}: Parquet")


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write rows in the format of the suffix."""
    if path.suffix.lower() == ".csv":
        write_text(path, csv_text(rows))
        return
    import pyarrow as pa
    from pyarrow import parquet

    write_with(path, lambda p: parquet.write_table(pa.Table.from_pylist(rows), p))
