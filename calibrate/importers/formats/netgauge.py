"""Netgauge's LogGP pattern: one row per size, microseconds.

    # size n PRTT(1,0,s) PRTT(n,0,s) PRTT(n,PRTT(1,0,s),s) L o_s o_r g G lsqu(g,G)

The three PRTT and o_r are measurements and are taken; Netgauge's own L, o_s, g and G are not,
since ours come from the fit (and its L still holds o_s and o_r). o_s checks the row.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from pready.calibrate.fit.observations import Curve, Observations, Train
from pready.calibrate.importers.formats import WHOLE_FILES, WholeFile
from pready.calibrate.importers.measured import Measured, Test
from pready.calibrate.importers.text import ImportFormatError, Line, lines, number, whole
from pready.model.common.errors import shown

_HEADER = re.compile(r"#\s*size\s+n\s+PRTT\(1,0,s\)\s+PRTT\(n,0,s\)\s+PRTT\(n,PRTT\(1,0,s\),s\)(?P<rest>.*)")
_PRINTED = re.compile(r"o_s=.*o_r=")
TEST = Test("Netgauge LogGP", "trains")
_NOT_USED = ("L", "o_s", "g", "G", "lsqu(g,G)")
_NAN = ("nan", "nan(ind)", "inf")


def _read(text: str, source: str) -> tuple[list[Measured], list[str]]:
    header, columns, rows = None, list[str](), list[Line]()
    for line in lines(text, source):
        if match := _HEADER.match(line.text):
            header, columns = line, ["size", "n", "PRTT(1,0,s)", "PRTT(n,0,s)", "PRTT(n,d,s)", *match["rest"].split()]
        elif header is not None and line.text and not line.text.startswith("#"):
            rows.append(line)
    if header is None and _PRINTED.search(text):
        raise ImportFormatError("is what Netgauge printed, not its results", valid="the file of its -o", source=source)
    if header is None:
        valid = "'# size n PRTT(1,0,s) PRTT(n,0,s) PRTT(n,PRTT(1,0,s),s) L o_s o_r g G …'"
        raise ImportFormatError("has no header of Netgauge's LogGP pattern", valid=valid, source=source)
    if not rows:
        raise header.error("no rows follow the header", ", ".join(columns))
    # Netgauge prints -nan for what it computes from the rows before, which its first rows have not. Its own g and G are
    # not used, so such a row's times are; a row without a time is skipped.
    skipped = derived = 0
    found: dict[float, list[float]] = {}
    for line in rows:
        printed = line.text.split()
        if len(printed) != len(columns):
            problem = f"row {shown(line.text)} has {len(printed)} of {len(columns)} columns"
            raise line.error(problem, ", ".join(columns))
        missing = {name for name, token in zip(columns, printed, strict=True) if token.lower().lstrip("+-") in _NAN}
        if missing - {*_NOT_USED}:
            skipped += 1
            continue
        derived += bool(missing)
        row = [float(whole(printed[0], "size", line)), float(whole(printed[1], "n", line, least=2, largest=10**6))]
        for name, token in zip(columns[2:], printed[2:], strict=True):
            row.append(1e-6 * number("0" if name in missing else token, name, line, negative=len(row) >= 5))
        _check({k: v for k, v in zip(columns, row, strict=True) if k not in missing}, line)
        # Netgauge prints a size again when it finds a change of protocol there.
        known, first = found.setdefault(row[0], row), next(iter(found.values()))
        if first[1] != row[1]:
            raise line.error(f"n = {row[1]:g}", f"{first[1]:g} as in the first row")
        if known[:5] != row[:5]:
            raise line.error(f"size = {row[0]:g} was measured before, with other times", "each size once")
    if not found:
        raise rows[0].error("no row has a time: all are nan", ", ".join(columns))
    notes = [f"-nan in {derived} rows' g and G was skipped; these are not used"] if derived else []
    notes += [f"{skipped} rows with -nan in their times were skipped"] if skipped else []
    table = np.array(list(found.values()))
    size, n, one, many, delayed = table[:, :5].T
    receive = None
    if "o_r" in columns:
        receive = Train.of(size, (n[0] - 1) * (one + table[:, columns.index("o_r")]), int(n[0]), one)
    sent, sent_delayed = Train.of(size, many, int(n[0])), Train.of(size, delayed, int(n[0]), one)
    trains = Observations(prtt_1=Curve.of(size, one), prtt_n=sent, prtt_n_delay=sent_delayed, receive=receive)
    return [Measured(TEST, source, trains=trains)], notes


def _check(row: Mapping[str, float], line: Line) -> None:
    n, one, delayed = (row[name] for name in ("n", "PRTT(1,0,s)", "PRTT(n,d,s)"))
    formula = (delayed - one) / (n - 1) - one
    if abs(row.get("o_s", formula) - formula) > 1e-3 * one + 2e-12:
        problem = f"o_s = {1e6 * row['o_s']:g} does not follow from the row's PRTT: {1e6 * formula:g}"
        raise line.error(problem, "o_s = (PRTT(n,d,s) - PRTT(1,0,s))/(n - 1) - d")
    if one + row.get("o_r", 0.0) <= 0:
        raise line.error(f"o_r = {1e6 * row['o_r']:g}", "above -PRTT(1,0,s)")


WHOLE_FILES.append(WholeFile(lambda text: "PRTT(1,0,s)" in text or bool(_PRINTED.search(text)), _read))
