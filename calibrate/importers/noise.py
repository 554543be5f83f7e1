"""Noise traces: when the operating system took the processor away, and for how long.

    time_ns<TAB>duration_ns

Integers in nanoseconds, times that do not decrease; lines that start with # are comments.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pready.calibrate.fit.arrays import FloatArray
from pready.calibrate.importers.text import ImportFormatError, Line, Provenance, lines, read, whole
from pready.model.errors import shown


@dataclass(frozen=True)
class NoiseTrace:
    """Detours of one core.

    Attributes
    ----------
    start
        Seconds after the first detour's start, shape (n,), not decreasing.
    duration
        Seconds, shape (n,).
    provenance
        File, notes.
    """

    start: FloatArray
    duration: FloatArray
    provenance: Provenance

    @property
    def share(self) -> float:
        """Share of the trace's time that detours took; 0 for a single one."""
        span = float(self.start[-1] + self.duration[-1])
        return float(self.duration.sum()) / span if len(self.start) > 1 and span > 0 else 0.0


def import_noise(path: str | Path) -> NoiseTrace:
    """Reads a noise trace; see `parse_noise`."""
    return parse_noise(read(path), str(path))


def parse_noise(data: bytes, source: str = "input") -> NoiseTrace:
    """Parses a noise trace.

    Raises
    ------
    ImportFormatError
        No rows, a row of other than two whole numbers, a time before its predecessor's.
    """
    rows: list[tuple[int, int]] = []
    last: Line | None = None
    for line in lines(data, source):
        text = line.text
        if not text or text.startswith("#"):
            continue
        fields = text.split()
        if fields == ["time_ns", "duration_ns"] and not rows:
            continue
        if len(fields) != 2:
            raise line.error(f"row {shown(text)} has {len(fields)} fields", "time_ns<TAB>duration_ns")
        start = whole(fields[0], "time_ns", line, largest=1 << 63)
        duration = whole(fields[1], "duration_ns", line, largest=10**15)
        if rows and start < rows[-1][0]:
            raise line.error(f"time_ns = {start} comes after {rows[-1][0]}", "times that do not decrease")
        rows.append((start, duration))
        last = line
    if not rows or last is None:
        raise ImportFormatError(
            "has no rows",
            valid="rows of time_ns<TAB>duration_ns",
            source=" ".join(source.split()) or "input",
        )
    notes: tuple[str, ...] = ()
    if last.cut:
        # An integer may have lost digits without a trace of it.
        rows.pop()
        notes = (f"the last row, line {last.number}, has no line end and may be cut off: left out",)
        if not rows:
            raise last.error("the only row has no line end and may be cut off", "a line end")
    first = rows[0][0]
    start_s = np.array([(start - first) * 1e-9 for start, _ in rows])
    duration_s = np.array([duration * 1e-9 for _, duration in rows])
    return NoiseTrace(start_s, duration_s, Provenance(source, "noise trace", "", len(rows), notes))
