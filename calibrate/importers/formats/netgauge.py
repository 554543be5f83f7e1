"""Netgauge's LogGP pattern: one row per size, microseconds.

    # size n PRTT(1,0,s) PRTT(n,0,s) PRTT(n,PRTT(1,0,s),s) L o_s o_r g G lsqu(g,G)

The three PRTT and o_r are measurements and are taken; Netgauge's own L, o_s, g and G are not,
since ours come from the fit (and its L still holds o_s and o_r). o_s checks the row.
"""

from __future__ import annotations

import re

import numpy as np

from pready.calibrate.fit.observations import Curve, Observations, Train
from pready.calibrate.importers.benchmarks import TRAINS, Measured
from pready.calibrate.importers.columns import column as named
from pready.calibrate.importers.columns import size_of
from pready.calibrate.importers.formats import WholeFile, register
from pready.calibrate.importers.text import ImportFormatError, Line, lines, number, whole
from pready.model.common.arrays import Array
from pready.model.common.errors import shown

_HEADER = re.compile(r"#\s*size\s+n\s+PRTT\(1,0,s\)\s+PRTT\(n,0,s\)\s+PRTT\(n,PRTT\(1,0,s\),s\)(?P<rest>.*)")
_PRINTED = re.compile(r"o_s=.*o_r=")


def read(text: str, source: str) -> tuple[list[Measured], list[str]]:
    """Parses Netgauge's LogGP file.

    Raises
    ------
    ImportFormatError
        No header, no rows, different n, or a row that is not as the header says.
    """
    header: Line | None = None
    columns: list[str] = []
    rows: list[tuple[Line, list[str]]] = []
    for line in lines(text, source):
        if match := _HEADER.match(line.text):
            header = line
            columns = ["size", "n", "PRTT(1,0,s)", "PRTT(n,0,s)", "PRTT(n,d,s)", *match["rest"].split()]
        elif line.text and not line.text.startswith("#"):
            if header is None and _PRINTED.search(line.text):
                problem = "is what Netgauge printed, not its results"
                raise ImportFormatError(problem, valid="the file that its option -o names", source=source)
            if header is not None:
                rows.append((line, line.text.split()))
    if header is None:
        valid = "'# size n PRTT(1,0,s) PRTT(n,0,s) PRTT(n,PRTT(1,0,s),s) L o_s o_r g G …'"
        raise ImportFormatError("has no header of Netgauge's LogGP pattern", valid=valid, source=source)
    if not rows:
        raise header.error("no rows follow the header", ", ".join(columns))
    table, notes = _table(columns, rows)
    size, n, one, many, delayed = table[:, :5].T
    receive = None
    if "o_r" in columns:
        o_r = table[:, columns.index("o_r")]
        receive = Train.of(size, (n[0] - 1) * (one + o_r), int(n[0]), one)
    trains = Observations(
        prtt_1=Curve.of(size, one),
        prtt_n=Train.of(size, many, int(n[0])),
        prtt_n_delay=Train.of(size, delayed, int(n[0]), one),
        receive=receive,
    )
    return [Measured(TRAINS, source, trains=trains)], notes


def _table(columns: list[str], rows: list[tuple[Line, list[str]]]) -> tuple[Array, list[str]]:
    """Shape (sizes, columns), times in seconds, one row per size; and notes.

    Netgauge prints ``-nan`` for what it computes from the rows before, which its first rows have not. Its own g and G
    are not used, so such a row's times are; a row without a time is skipped.
    """
    needed = [i for i, name in enumerate(columns) if name not in ("L", "o_s", "g", "G", "lsqu(g,G)")]
    skipped = derived = 0
    found: dict[float, list[float]] = {}
    for line, printed in rows:
        if len(printed) != len(columns):
            problem = f"row {shown(line.text)} has {len(printed)} of {len(columns)} columns"
            raise line.error(problem, ", ".join(columns))
        missing = [i for i, token in enumerate(printed) if token.lower().lstrip("+-") in ("nan", "nan(ind)", "inf")]
        if any(i in needed for i in missing):
            skipped += 1
            continue
        derived += bool(missing)
        row = ["0" if i in missing else token for i, token in enumerate(printed)]
        size = size_of(row[0], named(0, "size"), line, comma=False)
        n = float(whole(row[1], "n", line, least=2, largest=10**6))
        values = [
            1e-6 * number(t, name, line, negative=i >= 3)
            for i, (t, name) in enumerate(zip(row[2:], columns[2:], strict=True))
        ]
        made = [size, n, *values]
        _check(columns, made, line, {columns[i] for i in missing})
        if found and next(iter(found.values()))[1] != n:
            raise line.error(f"n = {n:g}", f"{next(iter(found.values()))[1]:g} as in the first row")
        # Netgauge prints a size again when it finds a change of protocol there.
        known = found.setdefault(size, made)
        if known[:5] != made[:5]:
            raise line.error(f"size = {size:g} was measured before, with other times", "each size once")
    if not found:
        raise rows[0][0].error("no row has a time: all are nan", ", ".join(columns))
    notes = [f"-nan in {derived} rows' g and G was skipped; these are not used"] if derived else []
    notes += [f"{skipped} rows with -nan in their times were skipped"] if skipped else []
    return np.array(list(found.values())), notes


def _check(columns: list[str], row: list[float], line: Line, missing: set[str]) -> None:
    _, n, one, _, delayed = row[:5]
    if "o_s" in columns and "o_s" not in missing:
        o_s = row[columns.index("o_s")]
        formula = (delayed - one) / (n - 1) - one
        if abs(o_s - formula) > 1e-3 * one + 2e-12:
            raise line.error(
                f"o_s = {1e6 * o_s:g} does not follow from the row's PRTT: {1e6 * formula:g}",
                "o_s = (PRTT(n,d,s) - PRTT(1,0,s))/(n - 1) - d",
            )
    if "o_r" in columns and one + row[columns.index("o_r")] <= 0:
        raise line.error(f"o_r = {1e6 * row[columns.index('o_r')]:g}", "above -PRTT(1,0,s)")


register(WholeFile("Netgauge LogGP", lambda text: "PRTT(1,0,s)" in text or bool(_PRINTED.search(text)), read))
