"""Other people's files, read carefully: bytes to lines to fields to numbers, or one clear line.

Benchmark output reaches us with carriage returns, byte-order marks, UTF-16 from a Windows editor,
Latin-1 host names, and cut off where a job was killed. Every
number is either read exactly or refused with its file, line and field; nothing is guessed.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, replace

from pready.model.common.errors import PreadyError, shown

LARGEST_FILE = 1 << 30
"""Bytes of one file at most."""
LEAST, MOST = 1e-15, 1e15  # no time, rate or size in any of the formats' units lies outside
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_PLAIN = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_COUNT = re.compile(r"[+-]?[0-9][0-9,]*[A-Za-z]*")
_THOUSANDS = re.compile(r"[+-]?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]+)?")


class ImportFormatError(PreadyError):
    """A file in another format: file, line, field, value and valid ones."""


@dataclass(frozen=True)
class Provenance:
    """Where imported numbers come from.

    Attributes
    ----------
    source
        The file's name as it was given.
    format, version
        "osu_latency", "7.3"; the version is "" where the file does not say.
    notes
        For a reader: rows left out and why, parameters that the file cannot determine. One
        sentence each.
    """

    source: str
    format: str
    version: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Line:
    """One line of a file, with its place for an error.

    Attributes
    ----------
    text
        Without its end and outer blanks.
    number
        From 1.
    cut
        True for a last line without an end: it may have been cut off.
    """

    text: str
    number: int
    source: str
    cut: bool = False

    def error(self, problem: str, valid: str | None = None) -> ImportFormatError:
        """An error about this line, not raised yet."""
        return ImportFormatError(problem, valid=valid, source=f"{self.source}:{self.number}")


def lines(data: bytes, source: str) -> list[Line]:
    """The file's lines, blank ones included.

    UTF-8 (with or without mark), UTF-16 (with mark), or else Latin-1: numbers are ASCII in all.

    Raises
    ------
    ImportFormatError
        Not text: NUL bytes, or a mark that the rest does not follow.
    """
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), "utf-8")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        if encoding != "utf-8":
            raise ImportFormatError(f"is not {encoding.upper()} as its first bytes say", source=source) from None
        text = data.decode("latin-1")
    if "\0" in text:
        raise ImportFormatError("contains NUL bytes", valid="a text file", source=source)
    *ended, last = re.split(r"\r\n|\n|\r", text)
    found = [Line(part.strip(), number, source) for number, part in enumerate(ended, start=1)]
    return [*found, Line(last.strip(), len(found) + 1, source, cut=True)] if last else found


def without_prefix(all_lines: list[Line], title: re.Pattern[str]) -> list[Line]:
    """The lines without what a launcher or a log puts before each, as it stands before the titles: a rank, a time.

        [1,0]<stdout>:# OSU MPI Latency Test v7.3          09:52:05 0: # OSU MPI Latency Test v7.3
        [1,0]<stdout>:8                    1.55            09:52:06 0: 8                    1.55

    Its digits may differ; lines that do not begin so stay as they are.
    """
    before = [line.text[: match.start()] for line in all_lines if (match := title.search(line.text))]
    shapes = dict.fromkeys(re.sub(r"\d+", r"\\d+", re.escape(text.strip())) for text in before)
    if not any(shapes):
        return all_lines
    prefix = re.compile("^(?:" + "|".join(sorted(filter(None, shapes), key=len, reverse=True)) + ")")
    return [replace(line, text=prefix.sub("", line.text, count=1).strip()) for line in all_lines]


def number(token: str, field: str, line: Line, *, zero: bool = False, negative: bool = False) -> float:
    """The number that `token` is.

    Parameters
    ----------
    token, field
        The text, and its name in an error.
    zero, negative
        Whether such values are valid.

    Raises
    ------
    ImportFormatError
        Not a number, not finite, or out of range; one with a comma, which may be read in two ways.
    """
    bound = "any sign" if negative else "at least 0" if zero else "greater than 0"
    valid = f"a finite number, {bound}"
    if not _PLAIN.fullmatch(token) or len(token) > 40:
        raise line.error(f"{field} = {shown(token)} is not a number", valid)
    value = float(token)
    if value != 0 and not LEAST <= abs(value) <= MOST:
        raise line.error(f"{field} = {shown(token)}", f"{bound}, and 0 or {LEAST:g} to {MOST:g} in size")
    if (value < 0 and not negative) or (value == 0 and not (zero or negative)):
        raise line.error(f"{field} = {shown(token)}", valid)
    return value


def whole(token: str, field: str, line: Line, *, largest: int = 1 << 50, least: int = 0) -> int:
    """The integer that `token` is; 1,048,576 is read, as counts have no decimals.

    Raises
    ------
    ImportFormatError
        Anything else, or outside least … largest.
    """
    valid = f"a whole number from {least} to {largest}"
    text = token.replace(",", "") if _THOUSANDS.fullmatch(token) and "." not in token else token
    if not (text.isascii() and text.isdigit()) or len(text) > 20 or not least <= int(text) <= largest:
        raise line.error(f"{field} = {shown(token)}", valid)
    return int(text)


def row_after(line: Line, table_over: bool) -> bool:
    """Whether a line that begins like a number is a row, or text such as a list's "1. UCX" or a rule's "---".

    Within a table every such line is one, so that a damaged row is refused; where other lines have come after the
    table's rows, only one that begins with two numbers, the first without a point.
    """
    fields = line.text.split()
    if line.text[0] in "+-." and not line.text[1:2].isdigit():
        return False
    return not table_over or bool(_COUNT.fullmatch(fields[0]) and len(fields) > 1 and _PLAIN.fullmatch(fields[1]))


def refuse_cut(line: Line, before: Line | None) -> None:
    """Raises when a last row has no line end and its last number may have lost digits.

    For rows whose last field counts and is printed with a fixed number of decimals: it is complete
    when it has as many as the row before.
    """
    if line.cut and (before is None or _decimals(line) != _decimals(before)):
        raise line.error(f"row {shown(line.text)} is cut off", "a complete last row")


def _decimals(line: Line) -> int | None:
    """How many decimals the last field has; None if it has no decimal point."""
    _, point, decimals = line.text.split()[-1].partition(".")
    return len(decimals) if point else None
