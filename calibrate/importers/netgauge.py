"""Netgauge's LogGP pattern: one row per size, microseconds.

    # size n PRTT(1,0,s) PRTT(n,0,s) PRTT(n,PRTT(1,0,s),s) L o_s o_r g G lsqu(g,G)

The three PRTT and o_r are measurements and are taken; Netgauge's own L, o_s, g and G are not,
since ours come from the fit (and its L still holds o_s and o_r).
"""

import re

import numpy as np

from pready.calibrate.fit.observations import Curve, Observations, Train
from pready.calibrate.importers.measured import Measured, Test
from pready.calibrate.importers.text import ImportFormatError, Line, lines, number, whole
from pready.model.common.errors import shown

_HEADER = re.compile(r"#\s*size\s+n\s+PRTT\(1,0,s\)\s+PRTT\(n,0,s\)\s+PRTT\(n,PRTT\(1,0,s\),s\)(?P<rest>.*)")
_PRINTED = re.compile(r"o_s=.*o_r=")
_TEST = Test("Netgauge LogGP", "trains")
_TIMES = ("PRTT(1,0,s)", "PRTT(n,0,s)", "PRTT(n,d,s)")
_NAN = ("nan", "nan(ind)", "inf")


def recognised(text: str) -> bool:
    return "PRTT(1,0,s)" in text or bool(_PRINTED.search(text))


def read(text: str, source: str) -> tuple[list[Measured], list[str]]:
    """The run in a file, and a note of rows that were skipped."""
    header, columns, rows = None, list[str](), list[Line]()
    for line in lines(text, source):
        if match := _HEADER.match(line.text):
            header, columns = line, ["size", "n", *_TIMES, *match["rest"].split()]
        elif header is not None and line.text and not line.text.startswith("#"):
            rows.append(line)
    if header is None:
        what = "what Netgauge printed, not its results" if _PRINTED.search(text) else "not as Netgauge writes it"
        raise ImportFormatError(f"is {what}", valid="the file of its -o, of the pattern loggp", source=source)
    measured = [*_TIMES, *(["o_r"] if "o_r" in columns else [])]
    # In its first rows Netgauge prints -nan for what it computes from rows before; a row without a time is skipped.
    found: dict[int, list[float]] = {}
    for line in rows:
        cells = line.text.split()
        if len(cells) != len(columns):
            problem = f"row {shown(line.text)} has {len(cells)} of {len(columns)} columns"
            raise line.error(problem, ", ".join(columns))
        by = dict(zip(columns, cells, strict=True))
        if any(by[name].lower().lstrip("+-") in _NAN for name in measured):
            continue
        size, n = whole(by["size"], "size", line), whole(by["n"], "n", line, least=2, largest=10**6)
        row = [n, *(1e-6 * number(by[name], name, line, negative=name == "o_r") for name in measured)]
        # Netgauge prints a size again when it finds a change of protocol there.
        if found.setdefault(size, row)[:4] != row[:4]:
            raise line.error(f"size = {size} was measured before, with other times", "each size once")
        if (first := next(iter(found.values()))[0]) != n:
            raise line.error(f"n = {n}", f"{first} as in the first row")
        if row[1] + sum(row[4:]) <= 0:
            raise line.error(f"o_r = {1e6 * row[4]:g}", "above -PRTT(1,0,s)")
    if not found:
        raise header.error("no row with its times follows the header", ", ".join(columns))
    sizes, table = np.array([*found], dtype=float), np.array([*found.values()])
    n, one = int(table[0, 0]), table[:, 1]
    received = None if len(measured) == 3 else Train.of(sizes, (n - 1) * (one + table[:, 4]), n, one)
    sent, delayed = Train.of(sizes, table[:, 2], n), Train.of(sizes, table[:, 3], n, one)
    trains = Observations(prtt_1=Curve.of(sizes, one), prtt_n=sent, prtt_n_delay=delayed, receive=received)
    skipped = len(rows) - len(found)
    return [Measured(_TEST, source, trains=trains)], [f"{skipped} rows were skipped: nan, or twice"] if skipped else []
