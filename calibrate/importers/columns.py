"""What a column of a table holds, by its name and the unit in it; and its numbers, however they are written.

    "Avg Latency(us)"  latency_us  t[usec]  "Size (KB)"  "Bandwidth (Gb/s)"  Mbytes/sec  Messages/s

A b is a bit where the unit's case or words say so (Gb/s, Mbps, Mbit/s), a B a byte; where all letters are small and no
word tells (mb/s), the unit is refused. Kilobytes of a message's size are 1024 bytes, as benchmarks count them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pready.calibrate.importers.text import Line
from pready.model.common.errors import shown

Quantity = Literal["size", "time", "rate", "messages", "label", "value", "unit", "harmless", "other"]

WOULD_DO = "a size, and a time or a rate with its unit, such as Size, 'Latency (us)', 'Bandwidth (MB/s)', Messages/s"
LABELS = {
    "pairs": "pairs", "npairs": "pairs", "threads": "threads", "nthreads": "threads", "window": "window",
    "window size": "window", "nodes": "nodes", "benchmark": "benchmark", "test": "benchmark", "test name": "benchmark",
}  # fmt: skip
"""Columns that say what a row's run was."""
HARMLESS = re.compile(
    r"index|id|row|host(?:name)?s?|node(?:list)?|date|time|timestamp|datetime|runs?|rep(?:eat|etition)?s?|iterations?|trial"
    r"|seed|job ?(?:id)?|rank|validat(?:ion|ed)|pass|result|comment"
)
"""Columns in which runs of one machine may differ."""
_SIZE = re.compile(
    r"(?:(?:msg|message|packet|buffer|data|payload)[\s_]*)?(?:sizes?|len(?:gth)?|n?bytes)"
    r"(?:[\s_(\[,]*(?:in )?(?P<unit>bytes?|[kmg]i?b?|b)[)\]]?)?",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"(?<![A-Za-z/])(?:(?P<ns>n(?:s|sec|anoseconds?))|(?P<us>[uµμ](?:s|secs?)|micro(?:sec|second)s?)|(?P<ms>m(?:s|sec)|milli(?:sec|second)s?)"
    r"|(?P<s>s|secs?|seconds?))(?![A-Za-z/])",
    re.IGNORECASE,
)
_RATE = re.compile(
    r"(?<![A-Za-z])(?P<prefix>kilo|mega|giga|tera|[KMGT]i?)?[\s-]?(?P<what>bytes?|bits?|b)\s?(?:/|_?per_?|p|_)\s?(?:s|sec|second)(?![A-Za-z])",
    re.IGNORECASE,
)
_MESSAGES = re.compile(
    r"(?:message[\s_]rate\W*)?(?P<prefix>[KMG])?\s?(?:messages?|msgs?)\s?(?:/|_?per_?)\s?(?:second|sec|s)"
    r"|message[\s_]rate",
    re.IGNORECASE,
)
_SPOKEN = re.compile(
    r"lat(?:ency)?|time|t|in|avg|average|mean|median|p50|tail|half|round|trip|rtt|one|way|oneway|ping|pong|pingpong|osu|mpi"
    r"|bandwidth|bw|throughput|rate|uni|bi|(?:uni|bi)?directional|total|messages?|\d+"
)
"""Words of columns of a message's time or rate."""
_SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
_PREFIX = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}
_BINARY = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
ROUNDED = 0.01
"""Bytes by which a size in larger units may have been rounded."""
LARGEST = 1 << 50
"""Bytes of a message at most."""


@dataclass(frozen=True)
class Column:
    """One column: what it holds, in which multiple of SI; the median has rank 0, the mean 1, another value 2."""

    at: int
    name: str
    quantity: Quantity
    factor: float = 1.0
    rank: int | None = None
    both_ways: bool = False
    unclear: bool = False
    """Whether its unit may be bits or bytes."""


def words(name: str) -> str:
    """A name as `LABELS` has it."""
    return re.sub(r"[\s_]+", " ", name.lower())


def column(at: int, name: str) -> Column:
    """The column of that name."""
    text = name.strip().strip("#*`\"'").strip()
    spoken = words(text)
    if match := _SIZE.fullmatch(text):
        unit = (match["unit"] or "").lower().rstrip("s").replace("byte", "").rstrip("b").rstrip("i")
        return Column(at, text, "size", _BINARY[unit])
    if spoken in LABELS:
        return Column(at, text, "label")
    if spoken in ("value", "unit", "units"):
        return Column(at, text, "unit" if spoken.startswith("unit") else "value")
    if not spoken or HARMLESS.fullmatch(spoken) or spoken.startswith("unnamed"):
        return Column(at, text, "harmless")
    quantity: Quantity
    factor, unclear = 1.0, False
    if match := _MESSAGES.search(text):
        # IMB's Msg/sec has no prefix; Mmsg/s, and a message rate in (M/s), have one.
        several = re.search(r"\(([KMG])/s\)", text)
        quantity, factor = "messages", _PREFIX[(match["prefix"] or (several[1] if several else "")).lower()]
    elif match := _RATE.search(text):
        quantity, factor, unclear = "rate", *_of_rate(match)
    elif match := _TIME.search(text):
        quantity, factor = "time", _SECONDS[next(unit for unit in _SECONDS if match[unit])]
    else:
        return Column(at, text, "other")
    around = set(re.findall(r"[a-z0-9]+", (text[: match.start()] + " " + text[match.end() :]).lower()))
    half = "half" in around or re.search(r"/\s?2\b", text)
    if around & {"rtt", "round"} and not half:
        factor /= 2
    around |= {"of all"} if quantity == "time" and "total" in around else set()
    known = all(_SPOKEN.fullmatch(word) or (quantity == "messages" and len(word) == 1) for word in around)
    middle = 0 if around & {"median", "p50"} else 1 if around & {"avg", "average", "mean"} else 2
    both = "bi" in around or bool(re.search(r"bi-?\s?dir", spoken))
    return Column(at, text, quantity, factor, middle if known else None, both, unclear)


def _of_rate(match: re.Match[str]) -> tuple[float, bool]:
    """Bytes per second, and whether it may be bits."""
    prefix, what = match["prefix"] or "", match["what"]
    power = " kmgt".index((prefix or " ")[0].lower())
    scale = float((1024 if prefix[1:] in ("i", "I") else 1000) ** power)
    if len(what) > 1:
        return scale / (8 if what.lower().startswith("bit") else 1), False
    # Mbps is a word.
    unclear = what == "b" and prefix.islower() and prefix != "k" and not match.group().lower().endswith("ps")
    return scale / (8 if what == "b" else 1), unclear


def of_unit(text: str) -> Column | None:
    """The column whose values have this unit."""
    made = column(0, f"({text})")
    return made if made.quantity in ("time", "rate", "messages") and not made.unclear else None


def chosen(columns: Sequence[Column], quantity: Quantity, line: Line) -> Column | None:
    """The column of that quantity to read: its median, else its mean, else the only one.

    An ImportFormatError for several that nothing tells apart, or one whose unit may be bits or bytes.
    """
    some = [c for c in columns if c.quantity == quantity and (c.rank is not None or quantity == "size")]
    some = [c for c in some if not c.both_ways] or some
    best = [c for c in some if c.rank == min(x.rank or 0 for x in some)]
    if len(best) > 1:
        raise line.error(
            f"columns {', '.join(shown(c.name) for c in best)} are not told apart", "one of them, called Avg or Median"
        )
    if best and best[0].unclear:
        raise line.error(f"column {shown(best[0].name)} may be bits or bytes", "MB/s, or Mbit/s")
    return best[0] if best else None


# --- numbers ------------------------------------------------------------------------------------------

_THOUSANDS = {mark: re.compile(rf"[+-]?[1-9]\d{{0,2}}(?:{re.escape(mark)}\d{{3}})+") for mark in ",."}
_SIZED = re.compile(r"(\d+(?:\.\d+)?(?:e[+-]?\d{1,2})?)\s*(?P<unit>(?P<prefix>[KMG])?i?(?:B|bytes)?)", re.IGNORECASE)


def decimal_comma(cells: Sequence[str]) -> bool | None:
    """Whether commas in these cells are decimal ones; None: they may be either."""
    commas = [c for c in cells if "," in c]
    if any(not re.fullmatch(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d*)?(?:[eE][+-]?\d+)?", c) for c in commas):
        return True
    told = any(c.count(",") > 1 or "." in c for c in commas) or any("." in c for c in cells)
    return False if told or not commas else None


def plain(cell: str, *, comma: bool) -> str:
    """The cell with a decimal point, and without marks of thousands."""
    return cell.replace(".", "").replace(",", ".") if comma and "," in cell else cell.replace(",", "")


def size_of(cell: str, column: Column, line: Line, *, comma: bool) -> float:
    """The bytes that a cell of sizes says: 1,048,576, 1K, 64 KiB, 1024.0; points mark thousands in tables of decimal
    commas."""
    text = cell
    for mark in ",." if comma else ",":
        text = text.replace(mark, "") if _THOUSANDS[mark].fullmatch(text) else text
    match = _SIZED.fullmatch(text)
    factor = column.factor if match is None or not match["unit"] else _BINARY[(match["prefix"] or "").lower()]
    size = -1.0 if match is None or len(text) > 25 else float(match[1]) * factor
    if factor > 1 and abs(size - round(size)) < ROUNDED:
        size = float(round(size))
    if size != int(size) or not 0 <= size <= LARGEST:
        raise line.error(f"{column.name} = {shown(cell)}", "a whole number of bytes, at least 0")
    return size
