"""The one table without a suite's title that is read: comma-separated values with exactly `COLUMNS` in its header.

`bytes` and one of the next three are needed, in any order; an empty cell says nothing; lines that begin with # are
comments. MPIBenchmarks.jl's ``julia_osu_latency.csv``, whose header and name no other test of it has, is read, too.
"""

from collections.abc import Mapping
from pathlib import PurePath

from pready.calibrate.fit.observations import DEFAULT_WINDOW
from pready.calibrate.importers.measured import Measured, Row, gathered
from pready.calibrate.importers.suites import LATENCY, PAIRS, STREAM
from pready.calibrate.importers.text import Line, lines, number, whole
from pready.model.common.errors import shown

COLUMNS = {
    "bytes": "size of a message",
    "latency_us": "half a round trip, as osu_latency prints it: us",
    "bandwidth_MB_s": "a stream in one direction, of all pairs, as osu_bw prints it: 10^6 B/s",
    "rate_per_s": "messages of a stream in a second, of all pairs, as osu_mbw_mr prints it",
    "pairs": "of sender and receiver at once (1 if it is not said)",
    "ranks_per_node": "of the run: as many as pairs between two nodes, twice as many within one",
    "placement": "between-nodes or within-node",
}
"""The names of the header, and what each column holds."""
EXAMPLE = """# {}
bytes,latency_us,bandwidth_MB_s
1,1.20,5.398
8,1.20,43.05
512,1.37,2244
4096,2.55,7745
16384,5.28,10645
65536,9.41,11972
262144,25.92,12356
1048576,91.98,12457
4194304,356.22,12482
""".format("\n# ".join(f"{name}: {what}" for name, what in COLUMNS.items()))
_JULIA = "size (bytes),iterations,latency (seconds)"
_FIGURES = [*COLUMNS][1:4]


def _table(text: str, source: str) -> list[Line]:
    return [line for line in lines(text, source) if line.text and not line.text.startswith("#")]


def recognised(text: str) -> bool:
    header = next(iter(_table(text[:10_000], "")), None)
    names = set() if header is None else {name.strip() for name in header.text.split(",")}
    return ("bytes" in names and len(names & {*COLUMNS}) > 1) or (header is not None and header.text == _JULIA)


def read(text: str, source: str) -> tuple[list[Measured], list[str]]:
    """The runs in a file, and no notes."""
    header, *rows = _table(text, source)
    names, unit = [name.strip() for name in header.text.split(",")], 1e-6
    if header.text == _JULIA and "osu_latency" in PurePath(source).name:
        names, unit = ["bytes", "iterations", "latency_us"], 1.0
    elif odd := next((name for name in names if name not in COLUMNS or names.count(name) > 1), None):
        raise header.error(f"column = {shown(odd)}", f"each once of {', '.join(COLUMNS)}")
    if not {*names} & {*_FIGURES}:
        raise header.error("no column of a time or a rate", ", ".join(_FIGURES))
    found: list[Row] = []
    for line in rows:
        cells = [cell.strip() for cell in line.text.split(",")]
        if len(cells) != len(names):
            raise line.error(f"row {shown(line.text)} has {len(cells)} of {len(names)} columns", ", ".join(names))
        if line.cut and len(rows) > 1:
            raise line.error(f"row {shown(line.text)} has no line end and may be cut off", "a complete last row")
        by = dict(zip(names, cells, strict=True))
        size, (pairs, place) = whole(by["bytes"], "bytes", line), _placed(by, line)
        for name in (name for name in _FIGURES if by.get(name)):
            value = number(by[name], name, line)
            if name == "latency_us":
                if pairs != 1:
                    raise line.error(f"pairs = {pairs} of a {name}", "1: the time of one message alone")
                test, value = LATENCY, unit * value
            else:
                if name == "bandwidth_MB_s" and size == 0:
                    raise line.error("bytes = 0 has no bandwidth", "at least 1, or an empty cell")
                rate = 1e6 * value / size if name == "bandwidth_MB_s" else value
                test = PAIRS if pairs != 1 or name == "rate_per_s" else STREAM
                value = 1 / rate if pairs == 1 else rate
            run = Measured(
                test, source, pairs=pairs, window=DEFAULT_WINDOW if test != LATENCY else 0, line=line.number,
                heading=place.replace("-", " "),
                near="its placement or ranks_per_node says so" if place == "within-node" else "",
            )  # fmt: skip
            found.append(((test, pairs, place), run, float(size), value))
    if not found:
        raise header.error("no rows follow the header", "rows of a size and a value")
    return gathered(found), []


def _placed(by: Mapping[str, str], line: Line) -> tuple[int, str]:
    """Pairs, and where all ranks were; empty: it is not said."""
    pairs = whole(by["pairs"], "pairs", line, least=1, largest=10**6) if by.get("pairs") else 1
    places = {by["placement"]} if by.get("placement") else set()
    if by.get("ranks_per_node"):
        ranks = whole(by["ranks_per_node"], "ranks_per_node", line, largest=10**6)
        if ranks not in (pairs, 2 * pairs):
            wanted = f"{pairs} on each of two nodes, or {2 * pairs} on one"
            raise line.error(f"ranks_per_node = {ranks} of {2 * pairs} ranks", wanted)
        places.add("within-node" if ranks == 2 * pairs else "between-nodes")
    if len(places) > 1 or not places <= {"between-nodes", "within-node"}:
        told = f"placement = {shown(by['placement'])}"
        raise line.error(told, "between-nodes or within-node, as ranks_per_node says")
    return pairs, "".join(places)
