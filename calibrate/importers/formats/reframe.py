"""ReFrame's performance logs and JSON reports, of checks whose name is that of a test of OSU or IMB.

    …|reframe 3.9|osu_latency on sys:cpu using gnu|…|latency_8=1.2|ref=0 (l=null, u=null)|us
    result|check_name|…|latency_8_value|latency_8_unit|…       below it:  pass|osu_latency|…|1.2|us|…

A performance variable is read if its name ends in a size in bytes; its unit is us or MB/s.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from pready.calibrate.fit.observations import DEFAULT_WINDOW
from pready.calibrate.importers.formats import TESTS, WHOLE_FILES, WholeFile
from pready.calibrate.importers.measured import Measured
from pready.calibrate.importers.text import ImportFormatError, Line, lines, number
from pready.model.common.errors import shown

_LOGGED = re.compile(
    r"reframe [^|]*\|(?P<check>[^|]*)\|.*\|(?P<name>\w+)=(?P<value>[^|]*)\|ref=[^|]*\|(?P<unit>[^|]*)$"
)
_CHECK = re.compile(
    r"(?<![a-z0-9])(?:osu[_ ]?(?P<osu>latency|bw|bandwidth|bibw)|imb(?:[_ -]mpi1)?[_ -]?ping_?pong)"
    r"(?:[_ ]?(?:test|check|run|benchmark))?(?![a-z0-9_])",
    re.IGNORECASE,
)
_TEST = {"": "IMB PingPong", "latency": "osu_latency", "bw": "osu_bw", "bandwidth": "osu_bw", "bibw": "osu_bibw"}
_ABOUT = (
    *("check_name", "display_name", "name", "unique_name", "info", "system", "partition", "environ", "job_nodelist"),
)
_UNITS = {"time": ("us", 1e-6), "rate": ("MB/s", 1e6)}


def _records(text: str, source: str) -> Iterator[tuple[int, str, str, str, str]]:
    """Line, check and where it ran, name, value and unit of each performance variable."""
    if text.lstrip()[:1] == "{":
        # {"runs": [{"testcases": [{"name": …, "perfvalues": {"system:partition:latency_8": [1.2, …, …, …, "us"]}}]}]}
        try:
            for case in (case for run in json.loads(text)["runs"] for case in run["testcases"]):
                about = " ".join(str(case[key]) for key in _ABOUT if key in case)
                for name, each in (case["perfvalues"] or {}).items():
                    yield 0, about, name.rpartition(":")[2], str(each[0]), str(each[4])
        except (ValueError, RecursionError, AttributeError, TypeError, LookupError):
            valid = "its runs, their testcases and perfvalues"
            raise ImportFormatError("is no whole report of ReFrame's", valid=valid, source=source) from None
        return
    columns: list[str] = []
    for line in lines(text, source):
        at, cells = line.number, [cell.strip() for cell in line.text.split("|")]
        if match := _LOGGED.search(line.text):
            yield at, match["check"], match["name"], match["value"], match["unit"]
        elif any(cell.endswith("_value") for cell in cells):
            columns = cells
        elif len(cells) == len(columns):
            row = dict(zip(columns, cells, strict=True))
            about = " ".join(row[key] for key in _ABOUT if key in row)
            for name in (c.removesuffix("_value") for c in columns if c.endswith("_value")):
                yield at, about, name, row[f"{name}_value"], row.get(f"{name}_unit", "")


def _read(text: str, source: str) -> tuple[list[Measured], list[str]]:
    found: dict[tuple[str, str, int], tuple[int, list[tuple[float, float]]]] = {}
    seen: dict[tuple[str, str], int] = {}
    other: dict[str, None] = {}
    for at, about, name, value, unit in _records(text, source):
        match, sized = _CHECK.search(about), re.search(r"_(\d{1,12})B?$", name)
        if match is None or sized is None:
            other[f"{name} of {about[:60]}"] = None
            continue
        test, line, size = TESTS[_TEST[(match["osu"] or "").lower()]], Line("", at, source), float(sized[1])
        wanted, factor = _UNITS[test.quantity]
        if unit.strip() != wanted or (test.quantity == "rate" and not size):
            raise line.error(f"{name} = {shown(value)} of {test.name} in {shown(unit)}", f"{wanted} of at least 1 byte")
        figure = factor * number(value, name, line)
        seen[about, name] = seen.get((about, name), 0) + 1  # a variable that comes again is another run's
        run = found.setdefault((test.name, about, seen[about, name]), (at, []))[1]
        run.append((size, figure if test.quantity == "time" else test.messages * size / figure))
    if not found:
        told = f"is ReFrame's, without a test of OSU or IMB by size: {', '.join(map(shown, [*other][:3])) or 'none'}"
        valid = "checks named osu_latency, osu_bw, osu_bibw or IMB_PingPong, of variables such as latency_8"
        raise ImportFormatError(told, valid=f"{valid}; or the output of its runs", source=source)
    runs = []
    for (name, about, _), (at, values) in found.items():
        test, of = TESTS[name], tuple(sorted(values))
        window = DEFAULT_WINDOW if test.kind == "stream" else 0
        runs.append(Measured(test, source, values=of, window=window, heading=about, line=at))
    return runs, [f"not used: {', '.join([*other][:4])} of ReFrame's"] if other else []


_RECOGNISED = re.compile(r'^[^|\n]+(?:\|[^|\n]+)*_value\||\|\s*reframe [0-9v]|"perfvalues"', re.MULTILINE)
WHOLE_FILES.append(WholeFile(lambda text: bool(_RECOGNISED.search(text)), _read))
