"""bench-pcomm's results (gillis2023): a CSV file without header, seconds.

bytes, t_send, t_recv, t_compute, time, and the four times' 90 % intervals
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pready.calibrate.fit.arrays import FloatArray
from pready.calibrate.importers.text import (
    ImportFormatError,
    Line,
    Provenance,
    lines,
    number,
    read,
    whole,
)
from pready.model.errors import shown

COLUMNS = (
    "bytes",
    "t_send",
    "t_recv",
    "t_compute",
    "time",
    "ci_send",
    "ci_recv",
    "ci_compute",
    "ci_time",
)


FIELDS = (
    "size",
    "send",
    "receive",
    "compute",
    "time",
    "send_interval",
    "receive_interval",
    "compute_interval",
    "time_interval",
)


@dataclass(frozen=True)
class BenchPcomm:
    """One approach's times by message size.

    Attributes
    ----------
    size
        Bytes, shape (n,).
    send, receive, compute, time
        Seconds, shape (n,); `time` has the computation subtracted.
    send_interval, receive_interval, compute_interval, time_interval
        Widths of the 90 % intervals, seconds, shape (n,).
    provenance
        File.
    """

    size: FloatArray
    send: FloatArray
    receive: FloatArray
    compute: FloatArray
    time: FloatArray
    send_interval: FloatArray
    receive_interval: FloatArray
    compute_interval: FloatArray
    time_interval: FloatArray
    provenance: Provenance


def import_bench_pcomm(path: str | Path) -> BenchPcomm:
    """Reads a result file of bench-pcomm; see `parse_bench_pcomm`."""
    return parse_bench_pcomm(read(path), str(path))


def parse_bench_pcomm(data: bytes, source: str = "input") -> BenchPcomm:
    """Parses a bench-pcomm file; with semicolons for commas, decimal commas are read too.

    Raises
    ------
    ImportFormatError
        No rows, a row of other than nine numbers, a last row without its line end.
    """
    rows: list[list[float]] = []
    for line in lines(data, source):
        text = line.text
        if not text or text.startswith("#"):
            continue
        semicolons = ";" in text
        fields = [f.strip() for f in text.rstrip(",;").split(";" if semicolons else ",")]
        if len(fields) != len(COLUMNS):
            hint = " (decimal commas?)" if len(fields) == 2 * len(COLUMNS) - 1 else ""
            raise line.error(f"row {shown(text)} has {len(fields)} fields{hint}", ", ".join(COLUMNS))
        rows.append(_row(fields, line, semicolons))
        if line.cut:
            raise line.error("the last row has no line end and may be cut off", "a line end")
    if not rows:
        raise ImportFormatError(
            "has no rows",
            valid=f"rows of {', '.join(COLUMNS)}",
            source=" ".join(source.split()) or "input",
        )
    columns = dict(zip(FIELDS, np.array(rows).T, strict=True))
    return BenchPcomm(**columns, provenance=Provenance(source, "bench-pcomm", "", len(rows)))


def _row(fields: list[str], line: Line, comma: bool) -> list[float]:
    size = float(whole(fields[0], "bytes", line, least=1))
    return [
        size,
        *(
            number(value, name, line, decimal_comma=comma, zero=True, negative=name == "time")
            for name, value in zip(COLUMNS[1:], fields[1:], strict=True)
        ),
    ]
