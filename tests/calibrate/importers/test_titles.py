"""Tables below a suite's title are read, wherever they stand; and what their run was."""

import gzip
import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from present import present
from results_of_suites import SIZES, bandwidth, imb, latency, pairs, us
from tables import table_of

from pready.calibrate.importers import Imported, ImportFormatError, read, sections
from pready.calibrate.importers import text as texts
from pready.calibrate.importers.command import Command, allocated, exported, parsed
from pready.calibrate.importers.formats.osu import _pairs
from pready.calibrate.importers.text import Line, number, whole

COMMANDS = table_of("calibrate/commands")


def times(found: Imported) -> dict[float, float]:
    return {size: 1e6 * time for size, time in present(found.observations.ping_pong).medians.items()}


@pytest.mark.parametrize("case", table_of("calibrate/texts")["texts"], ids=lambda case: case["why"][:40])
def test_what_a_table_is_of(case: dict[str, Any]) -> None:
    found = read(case["text"].encode(), case.get("file", "f"))
    alone, more = found.observations, found.beside
    curves = {
        "ping_pong": alone.ping_pong,
        "stream": alone.stream,
        "both_ways": more.both_ways,
        "prtt_1": alone.prtt_1,
    }
    curves |= {f"threads {a} {b}": curve for (a, b), curve in more.threaded.items()}
    curves |= {f"{kind} {by}": c for kind in ("puts", "put_streams") for by, c in getattr(more, kind).items()}
    shown = {name: {size: 1e6 * t for size, t in curve.medians.items()} for name, curve in curves.items() if curve}
    shown |= {f"pairs {k}": curve.medians for k, curve in more.pair_rates.items()}
    beside = {"window": found.window, "tests": found.tests, "one_node": found.one_node}
    wanted = {name: dict(rows) for name, rows in case.items() if name not in ("why", "file", "text", "notes", *beside)}
    assert shown.keys() == wanted.keys()
    assert all(shown[name] == pytest.approx(wanted[name]) for name in wanted)
    own = [note for note in found.notes if "does not determine" not in note]
    assert [said for said, note in zip(case.get("notes", []), own, strict=True) if said not in note] == []
    assert {name: case.get(name, said) for name, said in beside.items()} == beside


NOISE = {
    "of Slurm": "srun: job 42 queued and waiting for resources\nslurmstepd: error: *** 3 of 4\n",
    "of PBS": "PBS Job Id: 77.pbs\n10 20 30 jobs before\n2026-11-20 10:11:12 started\n",
    "modules": "Currently Loaded Modules:\n  1) GCC/12.3.0   2) UCX/1.14.1\n",
    "a warning of the launcher's": "--------\nWARNING: There was an error initializing a device.\n--------\n",
    "times of a shell": "\nreal\t0m3.201s\nuser\t0m0.1s\n",
    "a binding": "[node01:123] MCW rank 0 bound to socket 0[core 0[hwt 0]]: [B/././.][./././.]\n",
}
ALLREDUCE = "# OSU MPI Allreduce Latency Test v7.4\n# Size       Avg Latency(us)\n4   99.00\n1024   99.00\n"


@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_a_jobs_log_around_before_and_between(noise: str, ends: str) -> None:
    """Several tests in one log: each is read, a collective is not, and text changes nothing."""
    said = NOISE[noise]
    parts = [latency(), bandwidth(), pairs(4), ALLREDUCE, imb(test="Allgather"), imb()]
    text = said + said.join(f"$ srun -N 2 -n 8 ./osu_x\n{part}" for part in parts) + said
    found = read(text.replace("\n", ends).encode())
    assert times(found) == pytest.approx({s: us(s) for s in SIZES}, abs=0.006)
    assert len(present(found.observations.stream)) == len(SIZES)
    assert list(found.beside.pair_rates) == [4]
    assert any("Allreduce Latency, Allgather" in note for note in found.notes)


@pytest.mark.parametrize("version", [" v3.1.1", " v4.4.1", " v5.6.2", " v6.1", " v7.5", ""])
@pytest.mark.parametrize("encoded", ["utf-8", "utf-16", "gzip"])
def test_every_version_and_encoding(version: str, encoded: str) -> None:
    text = latency().replace(" v7.4", version)
    parts = text[:99].encode(), text[99:].encode()
    found = read(b"".join(map(gzip.compress, parts)) if encoded == "gzip" else text.encode(encoded))
    assert times(found) == pytest.approx({s: us(s) for s in SIZES}, abs=0.006)
    assert found.version == version.removeprefix(" v")


@pytest.mark.parametrize("title", [
    "MPI Partitioned Latency", "MPI Non-blocking Allreduce Latency", "MPI Multi-process Latency", "MPI Multi Latency",
    "MPI Bandwidth Persistent", "MPI_Get latency", "OpenSHMEM Put", "UPC Put Latency", "MPI Fan In Bandwidth",
])  # fmt: skip
def test_other_tests_are_named_and_not_read(title: str) -> None:
    other = f"# OSU {title} Test v7.4\n# Size       Overall(us)   Compute(us)\n8   0.01   0.02\n16  0.01   0.02\n"
    found = read((latency() + other).encode())
    assert times(found) == pytest.approx({s: us(s) for s in SIZES}, abs=0.006)
    assert any(note.startswith("not used: ") for note in found.notes)
    with pytest.raises(ImportFormatError, match=r"^input:1: test = .* is not used; valid: IMB PingPong, "):
        read(other.encode())


@pytest.mark.parametrize(("text", "nodes", "one_node", "settings"), COMMANDS["commands"])
def test_what_a_command_says(text: str, nodes: int, one_node: str, settings: list[str]) -> None:
    found = Command(text.removeprefix("salloc "), {"yes": True, "no": False}.get(one_node), nodes or None, (*settings,))
    assert parsed(text, 2) == found
    # An allocation of one node decides what the command leaves open.
    assert parsed(text, 1) == (replace(found, nodes=1, one_node=True) if one_node == "unknown" else found)


@pytest.mark.parametrize(("line", "nodes"), COMMANDS["allocations"])
def test_an_allocation(line: str, nodes: int) -> None:
    assert allocated(line) == (nodes or None)
    if nodes == 1:
        assert "asks for one node" in read(f"{line}\n$ mpirun -np 2 ./osu_latency\n{latency()}".encode()).one_node


def test_what_lines_around_a_command_say() -> None:
    assert [exported(line) for line, _ in COMMANDS["exports"]] == [said for _, said in COMMANDS["exports"]]
    assert [parsed(line, None) for line in COMMANDS["no_commands"]] == [None] * 4


@pytest.mark.parametrize("count", ["²", "9" * 5000])
def test_what_is_no_number_of_ranks_is_as_if_not_said(count: str) -> None:
    for unsaid, said in (("mpirun -H a,b", f"mpirun -H a,b -np {count}"), ("mpirun -H a,b", f"mpirun -H a:{count},b")):
        without, found = (present(parsed(f"{launcher} ./osu_latency", None)) for launcher in (unsaid, said))
        assert found.one_node == without.one_node
    section: Any = SimpleNamespace(window=7)
    assert _pairs(section, present(re.match("(.) (.*)", f"2 {count}"))) == {"pairs": 2, "window": 7}


def test_a_line_of_more_than_4000_characters_is_no_row() -> None:
    head = "# OSU MPI Latency Test v7.4\n# Size       Avg Latency(us)\n"
    for blanks, last in ((3995, 16), (3996, 8)):
        assert max(times(read(f"{head}8  1.5\n16{' ' * blanks}1.6\n".encode()))) == last


def test_what_is_no_text_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "LARGEST_FILE", 1 << 20)
    whole = latency().encode().ljust(1 << 20)
    assert read(gzip.compress(whole), "f").runs
    for data, said in (
        (gzip.compress(whole + b" "), "f: is larger than 1 MiB unpacked; valid: at most 1 MiB"),
        (b"\xff\xfe\x00", "f: is not UTF-16 as its first bytes say"),
        (b"\x1f\x8b\x08damaged", "f: is a .gz file that is damaged or was cut off; valid: what gzip wrote"),
    ):
        with pytest.raises(ImportFormatError, match=f"^{re.escape(said)}$"):
            read(data, "f")


def test_what_stands_before_titles_has_few_shapes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rank before one title and a time before the other; digits may differ."""
    lines = [f"rank {n}: {line}" for n, line in enumerate(latency().splitlines())]
    lines += [f"09:52:0{n % 10} | {line}" for n, line in enumerate(bandwidth().splitlines())]
    monkeypatch.setattr(texts, "MOST_PREFIXES", 2)
    found = read("\n".join([*lines, ""]).encode()).observations
    assert len(present(found.ping_pong)) == len(present(found.stream)) == len(SIZES)
    monkeypatch.setattr(texts, "MOST_PREFIXES", 1)
    with pytest.raises(ImportFormatError):
        read("\n".join([*lines, ""]).encode())


def test_a_file_of_more_than_200_000_rows_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sections, "MOST_ROWS", 3)
    assert len(times(read(latency(sizes=SIZES[:3]).encode()))) == 3
    with pytest.raises(ImportFormatError, match=r"^f:6: is one row too many; valid: at most 3 rows of results$"):
        read(latency(sizes=SIZES[:4]).encode(), "f")


@pytest.mark.parametrize(
    "text", ["\n" * 50_000, "srun " * 50_000, "# " * 50_000, " 1" * 50_000], ids=["blank", "command", "comment", "row"]
)
def test_text_without_tables_is_refused_in_time_that_grows_with_its_size(text: str) -> None:
    """A pattern that looked over all blank lines from each of them took hours."""
    with pytest.raises(ImportFormatError, match="--example"):
        read(text.encode())


def test_which_cells_are_numbers() -> None:
    for token, sign, one in COMMANDS["numbers"]:
        reads = {"zero": sign == "0", "negative": sign == "-"}
        if one:
            assert number(token, "x", Line("", 1, "f"), **reads) == float(token)
        else:
            with pytest.raises(ImportFormatError):
                number(token, "x", Line("", 1, "f"), **reads)
    for token, least, largest, one in COMMANDS["wholes"]:
        if one:
            assert whole(token, "x", Line("", 1, "f"), least=least, largest=largest) == int(token)
        else:
            with pytest.raises(ImportFormatError):
                whole(token, "x", Line("", 1, "f"), least=least, largest=largest)
