"""The one table without a suite's title that is read: comma-separated values with exactly `COLUMNS` in its header.

`bytes` and one of the next three are needed, in any order; an empty cell says nothing; lines that begin with # are
comments. MPIBenchmarks.jl's ``julia_osu_latency.csv``, whose header and name no other test of it has, is read, too.
"""

from __future__ import annotations

from pathlib import PurePath

from pready.calibrate.fit.observations import DEFAULT_WINDOW
from pready.calibrate.importers.formats import TESTS, WHOLE_FILES, WholeFile
from pready.calibrate.importers.measured import Measured
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
64,1.22,335.9
512,1.37,2244
4096,2.55,7745
8192,3.90,9389
16384,5.28,10645
65536,9.41,11972
262144,25.92,12356
1048576,91.98,12457
4194304,356.22,12482
""".format("\n# ".join(f"{name}: {what}" for name, what in COLUMNS.items()))
_JULIA = "size (bytes),iterations,latency (seconds)"
_FIGURES = {
    "latency_us": ("osu_latency", 1e-6),
    "latency (seconds)": ("osu_latency", 1.0),
    "bandwidth_MB_s": ("osu_bw", 1e6),
    "rate_per_s": ("osu_mbw_mr", 1.0),
}


def _names(text: str) -> list[str]:
    first = next((line.text for line in lines(text, "") if line.text and not line.text.startswith("#")), "")
    return [name.strip() for name in first.split(",")]


def _recognised(text: str) -> bool:
    names = {*_names(text)}
    return ("bytes" in names and len(names & {*COLUMNS}) > 1) or names == {*_JULIA.split(",")}


def _read(text: str, source: str) -> tuple[list[Measured], list[str]]:
    header, *rows = [line for line in lines(text, source) if line.text and not line.text.startswith("#")]
    names, julia = _names(text), header.text == _JULIA and "osu_latency" in PurePath(source).name
    for name in [] if julia else names:
        if name not in COLUMNS or names.count(name) > 1:
            raise header.error(f"column = {shown(name)}", f"each once of {', '.join(COLUMNS)}")
    if not {*names} & {*_FIGURES}:
        raise header.error("no column of a time or a rate", ", ".join([*COLUMNS][1:4]))
    runs: dict[tuple[str, int, str, int], tuple[Line, list[tuple[float, float]]]] = {}
    seen: dict[tuple[str, int, str, int], int] = {}
    for line in rows:
        cells = [cell.strip() for cell in line.text.split(",")]
        if len(cells) != len(names):
            raise line.error(f"row {shown(line.text)} has {len(cells)} of {len(names)} columns", ", ".join(names))
        if line.cut and len(rows) > 1:
            raise line.error(f"row {shown(line.text)} has no line end and may be cut off", "a complete last row")
        by = dict(zip(names, cells, strict=True))
        size, (pairs, near) = (
            whole(cells[names.index(_JULIA.split(",", maxsplit=1)[0] if julia else "bytes")], "bytes", line),
            _run(by, line),
        )
        for name in (name for name in _FIGURES if by.get(name)):
            test, unit = _FIGURES[name]
            if test == "osu_latency" and pairs != 1:
                raise line.error(f"pairs = {pairs} of a {name}", "1: the time of one message alone")
            if name == "bandwidth_MB_s" and size == 0:
                raise line.error("bytes = 0 has no bandwidth", "at least 1, or an empty cell")
            value = unit * number(by[name], name, line) / (size if name == "bandwidth_MB_s" else 1)
            test = "osu_mbw_mr" if test == "osu_bw" and pairs != 1 else test
            of = test, pairs, near, size
            seen[of] = seen.get(of, 0) + 1  # a size that comes again is another run's
            run = runs.setdefault((test, pairs, near, seen[of]), (line, []))[1]
            run.append((float(size), value if pairs != 1 or test == "osu_latency" else 1 / value))
    if not runs:
        raise header.error("no rows follow the header", "rows of a size and a value")
    return [
        Measured(
            TESTS[test], source, key=pairs if test == "osu_mbw_mr" else None, values=tuple(sorted(values)),
            window=0 if test == "osu_latency" else DEFAULT_WINDOW, line=line.number, near=near,
        )
        for (test, pairs, near, _), (line, values) in runs.items()
    ], []  # fmt: skip


def _run(by: dict[str, str], line: Line) -> tuple[int, str]:
    """Pairs, and what says that all ranks were on one node."""
    pairs = whole(by["pairs"], "pairs", line, least=1, largest=10**6) if by.get("pairs") else 1
    places = {by.get("placement") or "": "placement"}
    if by.get("ranks_per_node"):
        ranks = whole(by["ranks_per_node"], "ranks_per_node", line, largest=10**6)
        if ranks not in (pairs, 2 * pairs):
            wanted = f"{pairs} on each of two nodes, or {2 * pairs} on one"
            raise line.error(f"ranks_per_node = {ranks} of {2 * pairs} ranks", wanted)
        places["within-node" if ranks == 2 * pairs else "between-nodes"] = "ranks_per_node"
    if len({*places} - {""}) > 1 or {*places} - {"", "between-nodes", "within-node"}:
        raise line.error(
            f"placement = {shown(by.get('placement'))}", "between-nodes or within-node, as ranks_per_node says"
        )
    return pairs, f"its {places['within-node']} says so" if "within-node" in places else ""


WHOLE_FILES.append(WholeFile(_recognised, _read))
