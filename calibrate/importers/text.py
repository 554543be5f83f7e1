"""Other people's files, read carefully: bytes to lines, tokens to numbers, or one clear line.

Benchmark output reaches us with carriage returns, byte-order marks, UTF-16 from a Windows editor, Latin-1 host names,
and cut off where a job was killed. A number is read exactly or refused with its file, line and field.
"""

import codecs
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pready.model.common.errors import PreadyError, shown

LARGEST_FILE = 64 << 20
"""Bytes of one file at most; reading one takes at most 150 times its size of memory."""
MOST_PREFIXES = 30
"""Shapes of what stands before titles; more are text."""
LEAST, MOST = 1e-15, 1e15  # no time, rate or size in any of the formats' units lies outside
_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_PLAIN = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_LINE = re.compile(r"([^\r\n]*)(\r\n|\n|\r|\Z)")


class ImportFormatError(PreadyError):
    """A file in another format: file, line, field, value and valid ones."""


class NotUsedError(ImportFormatError):
    """A file whose tests say nothing that a machine has."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a file, numbered from 1, without outer blanks; a last one without an end may be cut off."""

    text: str
    number: int
    source: str
    cut: bool = False

    def error(self, problem: str, valid: str | None = None) -> ImportFormatError:
        """An error about this line, not raised yet."""
        at = f"{self.source}:{self.number}" if self.number else self.source
        return ImportFormatError(problem, valid=valid, source=at)


def text_of(data: bytes, source: str) -> str:
    """The file's text: UTF-8, UTF-16 with its mark, or else Latin-1 (numbers are ASCII in all).

    An ImportFormatError for what is compressed, has NUL bytes, or a mark that the rest does not follow.
    """
    if data.startswith((b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"PK\x03\x04")):
        raise ImportFormatError("is compressed", valid="the text file in it", source=source)
    encoding = next((name for mark, name in _MARKS.items() if data.startswith(mark)), "utf-8")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        if encoding != "utf-8":
            raise ImportFormatError(f"is not {encoding.upper()} as its first bytes say", source=source) from None
        text = data.decode("latin-1")
    if "\0" in text:
        raise ImportFormatError("contains NUL bytes", valid="a text file", source=source)
    return _COLOURS.sub("", text)


def lines(text: str, source: str) -> Iterator[Line]:
    """The lines, blank ones included."""
    for number, match in enumerate(_LINE.finditer(text), start=1):
        if match.group():
            yield Line(match[1].strip(), number, source, cut=not match[2])


def without_prefix(text: str, source: str, titles: Sequence[re.Pattern[str]]) -> Iterator[Line]:
    """The lines without what a launcher or a log puts before each, as it stands before the titles; digits may differ.

    [1,0]<stdout>:# OSU MPI Latency Test v7.3          09:52:05 0: # OSU MPI Latency Test v7.3
    [1,0]<stdout>:8                    1.55            09:52:06 0: 8                    1.55
    """
    found = ((line.text, title.search(line.text)) for line in lines(text, source) for title in titles)
    before = {said[: match.start()].strip() for said, match in found if match}
    shapes = {re.sub(r"\d+", r"\\d+", re.escape(lead)) for lead in before if lead}
    longest_first = sorted(shapes, key=lambda shape: (-len(shape), shape))
    prefix = re.compile(f"^(?:{'|'.join(longest_first)})" if 0 < len(shapes) <= MOST_PREFIXES else "^")
    for line in lines(text, source):
        yield replace(line, text=prefix.sub("", line.text).strip())


def number(token: str, field: str, line: Line, *, zero: bool = False, negative: bool = False) -> float:
    """The number that `token` is; an ImportFormatError where it is none, or out of range."""
    bound = "any sign" if negative else "at least 0" if zero else "greater than 0"
    valid = f"a finite number, {bound}; {LEAST:g} to {MOST:g} in size"
    value = float(token) if _PLAIN.fullmatch(token) and len(token) <= 40 else float("nan")
    if not (LEAST <= (abs(value) if negative else value) <= MOST or (value == 0 and (zero or negative))):
        raise line.error(f"{field} = {shown(token)}", valid)
    return value


def whole(token: str, field: str, line: Line, *, largest: int = 1 << 50, least: int = 0) -> int:
    """The integer that `token` is; an ImportFormatError for anything else, or outside least … largest."""
    if not (token.isascii() and token.isdigit()) or len(token) > 20 or not least <= int(token) <= largest:
        raise line.error(f"{field} = {shown(token)}", f"a whole number from {least} to {largest}")
    return int(token)
