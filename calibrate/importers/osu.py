"""OSU micro-benchmarks, OMB 3 to 7: messages, pairs, threads, puts, partitions (`TESTS`).

    # OSU MPI Latency Test v5.6.2              # OSU MPI Bandwidth Test v7.3
    # Size          Latency (us)               # Datatype: MPI_CHAR.
    0                       1.55               # Size      Bandwidth (MB/s)
                                               1                       0.63

OMB 7 prints "Avg Latency(us)", may add columns (percentiles, minimum, maximum, iterations,
validation), and prints the data type before or after the header. These are means, which whatever else the
machine does now and then lengthens: where medians are printed, too (`-z`, P50), they are taken, as a
calibration of our own has them. MB is 10^6 bytes. A latency is half a round trip. A bandwidth is that of a window
of messages and its answer (`windows.py` takes the answer out). A put's latency is that of MPI_Put with the
synchronisation that the file names; with post/start/complete/wait it is half a round trip, like a latency.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pready.calibrate.fit.observations import Curve, Observations
from pready.calibrate.importers import one_node
from pready.calibrate.importers.benchmarks import Beside, Imported, explain
from pready.calibrate.importers.pasted_tables import as_osu
from pready.calibrate.importers.text import (
    ImportFormatError,
    Line,
    Provenance,
    lines,
    number,
    refuse_cut,
    row_after,
    whole,
    without_prefix,
)
from pready.calibrate.importers.windows import DEFAULT_WINDOW
from pready.model.common.errors import shown

TITLE = re.compile(
    r"#\s*OSU (?P<api>[A-Z+]+)(?:_(?P<call>\w+))?(?:-(?P<device>\w+))?\s+"
    r"(?P<test>.+?)\s+Test(?:\s+v(?P<version>[0-9][0-9.]*\S*)|\s*$)",
    re.IGNORECASE,
)
TESTS = {
    "latency": "osu_latency",
    "bandwidth": "osu_bw",
    "bi-directional bandwidth": "osu_bibw",
    "multiple bandwidth / message rate": "osu_mbw_mr",
    "multi-threaded latency": "osu_latency_mt",
    "partitioned latency": "osu_partitioned_latency",
    "put latency": "osu_put_latency",
    "put bandwidth": "osu_put_bw",
}
_COLUMNS = re.compile(
    r"Size|(?:(?:Avg|Min|Max) )?Latency ?\(us\)|P[0-9.]+ Tail Lat ?\(us\)"
    r"|P[0-9.]+ Tail BW ?\(MB/s\)|Bandwidth ?\(MB/s\)|MB/s|Messages/s|Iterations|Validation",
    re.IGNORECASE,
)
_WANTED = {
    "osu_latency": re.compile(r"(Avg )?Latency ?\(us\)", re.IGNORECASE),
    "osu_bw": re.compile(r"Bandwidth ?\(MB/s\)", re.IGNORECASE),
    "osu_mbw_mr": re.compile(r"Messages/s", re.IGNORECASE),
}
_WANTED |= {test: _WANTED["osu_latency"] for test in TESTS.values() if test.split("_")[-1] in ("mt", "latency")}
_WANTED |= dict.fromkeys(("osu_put_bw", "osu_bibw"), _WANTED["osu_bw"])
_RATES = ("osu_bw", "osu_bibw", "osu_mbw_mr", "osu_put_bw")
_MEDIAN = re.compile(r"P50 Tail (Lat ?\(us\)|BW ?\(MB/s\))", re.IGNORECASE)
_PAIRS = re.compile(r"#\s*\[\s*pairs:\s*(\d{1,9})\s*\]\s*\[\s*window size:\s*(\S+)\s*\]", re.IGNORECASE)
_THREADS = re.compile(r"#\s*Number of (Sender|Receiver) threads:\s*(\d{1,9})\s*$", re.IGNORECASE)
_SYNCHRONISATION = re.compile(r"#\s*Synchronization:\s*(\S+)\s*$", re.IGNORECASE)
_BUFFERS = re.compile(r"#\s*(?:Send Buffer|Rank 0 Memory) on (\w+).* (?:Buffer|Memory) on (\w+)", re.IGNORECASE)
_DATATYPE = re.compile(r"#\s*Datatype:\s*(\S+?)\.?\s*$", re.IGNORECASE)
_Kind = tuple[str, Hashable]
STREAM: _Kind = ("stream", None)
AGREE = 0.05  # MB/s and Messages/s of one row say the same


@dataclass
class _Section:
    """One test's table within a file."""

    test: str
    """Empty: a test that is not supported, whose rows are skipped."""
    version: str
    title: Line
    title_text: str = ""
    columns: list[str] = field(default_factory=list)
    pairs: int = 1
    window: int = DEFAULT_WINDOW
    synchronisation: str = ""
    threads: tuple[int, int] = (1, 2)
    """Sending and receiving; the defaults of versions that do not print them."""
    datatype: str = ""
    memory: str = ""
    """Of the buffers: "CUDA" and the like; empty: the host's."""
    one_node: str = ""
    """What the command line before its title says of it, if that asks for one node."""
    over: bool = False
    """Whether other lines have followed its rows."""
    rows: list[tuple[Line, list[str]]] = field(default_factory=list)

    def with_threads(self, said: Mapping[str, int]) -> None:
        """Take over how many there are, as far as that is said."""
        self.threads = (said.get("sender", self.threads[0]), said.get("receiver", self.threads[1]))


def parse_osu(data: bytes, source: str = "input") -> Imported:
    """Parses OSU's output.

    Parameters
    ----------
    data
        The file's bytes: one test or several, launcher messages in between are skipped and counted.
    source
        How errors name it.

    Raises
    ------
    ImportFormatError
        No title of a supported test, no rows, or a row that is not as its header says.
    """
    plain = without_prefix(lines(data, source), TITLE)
    all_lines, pasted = as_osu(plain)
    sections, notes = _sections(all_lines)
    if pasted:
        notes.append(f"{pasted} rows were read from a table of comma-separated values or Markdown")
    unsupported = list(dict.fromkeys(s.title_text for s in sections if not s.test))
    if unsupported and all(not s.test for s in sections):
        raise sections[0].title.error(f"test = {shown(unsupported[0])} is not supported", ", ".join(TESTS.values()))
    if unsupported:
        notes.append(f"not used: {', '.join(unsupported)}, which says nothing of two ranks' messages")
    sections = [s for s in sections if s.test]
    if not sections:
        valid = f"a line such as '# OSU MPI Latency Test v7.3' ({', '.join(TESTS.values())})"
        raise ImportFormatError("has no title line of an OSU test", valid=valid, source=source)
    found: dict[_Kind, dict[float, list[float]]] = {}
    for section in sections:
        for line, size, value in _values(section, notes):
            found.setdefault(_kind(section), {}).setdefault(size, []).append(_in_si(section, line, size, value))
    if not found:
        raise sections[0].title.error("no rows follow this title", "rows of a size and a value")
    fields: dict[str, Any] = {}
    for (name, variant), values in found.items():
        curve = Curve.of(list(values), list(values.values()))
        fields[name] = curve if variant is None else {**fields.get(name, {}), variant: curve}
    observations = Observations(ping_pong=fields.pop("ping_pong", None), stream=fields.pop("stream", None))
    runs = Counter((_kind(section), section.test) for section in sections if section.rows)
    several = [(test, n) for (_, test), n in runs.items() if n > 1]
    notes.extend(f"{n} runs of {test}: medians, and intervals that hold all but 5 % of them" for test, n in several)
    tests = ", ".join(dict.fromkeys(section.test for section in sections))
    if observations.ping_pong is None:
        notes.append(f"{tests} alone does not determine how long one message takes; add osu_latency")
    notes.extend(explain(observations, tests))
    provenance = Provenance(source, tests, sections[0].version, tuple(notes))
    window = max((s.window for s in sections if _kind(s) == STREAM), default=0)
    of_all = next(s for s in sections if s.rows)  # nodes and memory are those of the others, too
    one = one_node.of_times(observations.ping_pong, one_node.waiting(plain) or of_all.one_node)
    return Imported(observations, provenance, Beside(**fields), one, window, of_all.memory)


def _in_si(section: _Section, line: Line, size: float, value: float) -> float:
    """Seconds of a message; of several pairs, messages per second."""
    if section.test == "osu_mbw_mr":
        return 1 / value if section.pairs == 1 else value
    if section.test not in _RATES:
        return value * 1e-6
    if size == 0:
        raise line.error("size = 0 has no bandwidth", "at least 1")
    return (2 if section.test == "osu_bibw" else 1) * size / (value * 1e6)


def _kind(section: _Section) -> _Kind:
    """The field of `Observations` or of `Beside` that a section's curve belongs to, and its key there, if any."""
    if section.test == "osu_mbw_mr" and section.pairs > 1:
        return "pair_rates", section.pairs
    kinds: dict[str, _Kind] = {
        "osu_latency": ("ping_pong", None),
        "osu_bibw": ("both_ways", None),
        "osu_latency_mt": ("threaded", section.threads),
        "osu_partitioned_latency": ("partitioned", None),
        "osu_put_latency": ("puts", section.synchronisation),
        "osu_put_bw": ("put_streams", section.synchronisation),
    }
    return kinds.get(section.test, STREAM)


def _sections(all_lines: list[Line]) -> tuple[list[_Section], list[str]]:
    sections: list[_Section] = []
    skipped = 0
    threads = dict[str, int]()
    command = ""
    for line in all_lines:
        text = line.text
        said = one_node.of_command(line)
        command = command if said is None else said
        if title := TITLE.search(text):
            sections.append(replace(_opened(title, line, threads), one_node=command))
            threads = {}
        elif match := _THREADS.match(text):  # before its title in OMB 7
            threads[match.group(1).lower()] = int(match.group(2))
            if sections and not sections[-1].rows:
                sections[-1].with_threads(threads)
        elif not sections:
            continue
        elif text.startswith("#"):
            sections.extend(_told(sections[-1], line))
        elif text and (text[0].isdigit() or text[0] in "+-.") and row_after(line, sections[-1].over):
            if sections[-1].test and not text[0].isdigit():
                raise line.error(f"size = {shown(text.split()[0])}", "a whole number, at least 0")
            sections[-1].rows.append((line, text.split()))
        else:
            sections[-1].over = bool(sections[-1].rows)
            skipped += bool(text)
    notes = [f"{skipped} lines that are no rows were skipped"] if skipped else []
    return _two_nodes(_one_memory(_one_type(sections, notes), notes), notes), notes


def _told(section: _Section, line: Line) -> list[_Section]:
    """Keep a comment's facts about its section; a further data type begins another section, which is returned."""
    text = line.text
    if match := _PAIRS.match(text):
        section.pairs = max(int(match.group(1)), 1)
        section.window = int(match.group(2)) if match.group(2).isdigit() else DEFAULT_WINDOW
    elif match := _SYNCHRONISATION.match(text):
        section.synchronisation = match.group(1)
    elif match := _BUFFERS.match(text):
        on_host = all(side.upper() == "HOST" for side in match.groups())
        section.memory = "" if on_host else section.memory or "GPU"
    elif match := _DATATYPE.match(text):
        if section.datatype:
            return [replace(section, title=line, datatype=match.group(1), rows=[])]
        section.datatype = match.group(1)
    elif re.match(r"#\s*Size\b", text, re.IGNORECASE):
        section.columns = _header(text)
    return []


def _opened(title: re.Match[str], line: Line, threads: Mapping[str, int]) -> _Section:
    said = " ".join(filter(None, [title.group("call"), title.group("test")]))
    name = " ".join(said.lower().split()) if title.group("api").upper() == "MPI" else ""
    memory = (title.group("device") or "").upper()
    section = _Section(TESTS.get(name, ""), title.group("version") or "", line, said, memory=memory)
    section.with_threads(threads)
    return section


def _header(text: str) -> list[str]:
    """Column names; unknown ones between known ones by blanks, so that positions stay right."""
    found: list[str] = []
    at = 0
    body = text.lstrip("#").strip()
    for match in _COLUMNS.finditer(body):
        found.extend(body[at : match.start()].split())
        found.append(match.group())
        at = match.end()
    return found + body[at:].split()


def _one_type(sections: list[_Section], notes: list[str]) -> list[_Section]:
    """Of sections that differ in data type (OMB 7, -T all) only the first type's."""
    types = list(dict.fromkeys(s.datatype for s in sections if s.datatype))
    if len(types) < 2:
        return sections
    notes.append(f"only {types[0]} was used, not {', '.join(types[1:])}")
    return [s for s in sections if s.datatype in ("", types[0])]


def _one_memory(sections: list[_Section], notes: list[str]) -> list[_Section]:
    """Of messages between hosts' and between GPUs' memory only those between hosts', if there are any."""
    used = [s for s in sections if s.test and s.rows]
    devices = list(dict.fromkeys(s.memory for s in used if s.memory))
    if not devices:
        return sections
    if all(s.memory for s in used):
        notes.append(f"buffers were in the memory of GPUs ({', '.join(devices)}): a machine of messages between GPUs")
        return sections
    notes.append(f"only buffers in the hosts' memory were used, not those of GPUs ({', '.join(devices)})")
    return [s for s in sections if not s.memory]


def _two_nodes(sections: list[_Section], notes: list[str]) -> list[_Section]:
    """Of runs on one node, by their command lines, and on others only the others."""
    used = [s for s in sections if s.test and s.rows]
    if all(s.one_node for s in used) or not any(s.one_node for s in used):
        return sections
    notes.append("only runs between two nodes were used, not those whose command lines ask for one node")
    return [s for s in sections if not s.one_node]


def _values(section: _Section, notes: list[str]) -> list[tuple[Line, float, float]]:
    """(line, size, value in the file's unit) of each row."""
    if not section.rows:
        return []
    wanted = _WANTED[section.test]
    if not section.columns:
        raise section.title.error("no '# Size …' header follows this title", "the header that OSU prints")
    column, median = (
        next((i for i, name in enumerate(section.columns) if kind.fullmatch(name)), None) for kind in (wanted, _MEDIAN)
    )
    if column is None or section.columns[0].lower() != "size":
        problem = f"columns = {shown(', '.join(section.columns))}"
        raise section.title.error(problem, f"Size first, and one for {section.test}")
    if median is not None and section.test != "osu_mbw_mr":
        column = median
        notes.append(f"the medians (P50) of {section.test} were used, not its means")
    found: list[tuple[Line, float, float]] = []
    zeros = failed = 0
    before: Line | None = None
    for line, row in section.rows:
        if len(row) < len(section.columns):
            problem = f"row {shown(line.text)} has {len(row)} of {len(section.columns)} columns"
            raise line.error(problem, ", ".join(section.columns))
        if column == len(row) - 1:
            refuse_cut(line, before)
        before = line
        size = float(whole(row[0], "size", line))
        value = number(row[column], section.columns[column], line, zero=section.test in _RATES)
        if value == 0:
            zeros += 1
            continue
        if "Validation" in section.columns and row[section.columns.index("Validation")].lower() == "fail":
            failed += 1
            continue
        if section.test == "osu_mbw_mr":
            _agree(section, line, row, size, value)
        found.append((line, size, value))
    if failed:
        notes.append(f"{failed} rows of {section.test} whose validation failed were left out")
    if zeros:
        notes.append(f"{zeros} rows of {section.test} with a rate that was rounded to 0 were left out")
    return found


def _agree(section: _Section, line: Line, row: list[str], size: float, rate: float) -> None:
    names = [name.lower() for name in section.columns]
    if "mb/s" not in names:
        return
    megabytes = number(row[names.index("mb/s")], "MB/s", line, zero=True)
    if abs(megabytes - rate * size / 1e6) > AGREE * megabytes + 0.006:
        raise line.error(
            f"MB/s = {megabytes:g} and Messages/s = {rate:g} do not belong to {size:g} bytes",
            "MB/s = Messages/s · size/10^6",
        )
