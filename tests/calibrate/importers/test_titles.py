"""Tables below a suite's title are read, wherever they stand; and what their run was."""

import re
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from present import present
from results_of_suites import SIZES, bandwidth, imb, latency, pairs, read, us
from tables import table_of

from pready.calibrate.importers.collect import Imported, why_one_node
from pready.calibrate.importers.command import Command, allocated, exported, parsed
from pready.calibrate.importers.text import ImportFormatError, Line, number, whole

COMMANDS, TEXTS = table_of("calibrate/commands"), table_of("calibrate/texts")


def times(found: Imported) -> dict[float, float]:
    return {size: 1e6 * time for size, time in present(found.observations.ping_pong).medians.items()}


@pytest.mark.parametrize("case", TEXTS["texts"], ids=lambda case: case["why"][:40])
def test_what_a_table_is_of(case: dict[str, Any]) -> None:
    found = read(case["text"].encode(), case.get("file", "f"))
    alone = found.observations
    curves = {"ping_pong": alone.ping_pong, "stream": alone.stream, "prtt_1": alone.prtt_1}
    shown = {name: {size: 1e6 * t for size, t in curve.medians.items()} for name, curve in curves.items() if curve}
    shown |= {f"pairs {k}": curve.medians for k, curve in found.pair_rates.items()}
    beside = {"window": found.window, "one_node": why_one_node(found.runs)}
    wanted = {name: dict(rows) for name, rows in case.items() if name not in ("why", "file", "text", "notes", *beside)}
    assert shown.keys() == wanted.keys()
    assert all(shown[name] == pytest.approx(wanted[name]) for name in wanted)
    own = [note for note in found.notes if "taken as two nodes" not in note]
    assert [said for said, note in zip(case.get("notes", []), own, strict=True) if said not in note] == []
    assert {name: case.get(name, said) for name, said in beside.items()} == beside


ALLREDUCE = "# OSU MPI Allreduce Latency Test v7.4\n# Size       Avg Latency(us)\n4   99.00\n1024   99.00\n"


@pytest.mark.parametrize("said", TEXTS["noise"])
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_a_jobs_log_around_before_and_between(said: str, ends: str) -> None:
    """Several tests in one log: each is read, a collective is not, and text changes nothing."""
    parts = [latency(), bandwidth(), pairs(4), ALLREDUCE, imb(test="Allgather"), imb()]
    text = said + said.join(f"$ srun -N 2 -n 8 ./osu_x\n{part}" for part in parts) + said
    found = read(text.replace("\n", ends).encode())
    assert times(found) == pytest.approx({s: us(s) for s in SIZES}, abs=0.006)
    assert len(present(found.observations.stream)) == len(SIZES)
    assert list(found.pair_rates) == [4]
    assert any("Allreduce Latency, Allgather" in note for note in found.notes)


@pytest.mark.parametrize("version", [" v3.1.1", " v5.6.2", " v7.5", " (Version 2.0)", ""])
@pytest.mark.parametrize("encoded", ["utf-8", "utf-16"])
def test_every_version_and_encoding(version: str, encoded: str) -> None:
    """Built by hand, OSU's programs say none."""
    found = read(latency().replace(" v7.4", version).encode(encoded))
    assert times(found) == pytest.approx({s: us(s) for s in SIZES}, abs=0.006)
    assert found.runs[0].version == version.strip(" v()Version")


@pytest.mark.parametrize("title", TEXTS["other_titles"])
def test_other_tests_are_named_and_not_read(title: str) -> None:
    other = f"# OSU {title} Test v7.4\n# Size       Overall(us)   Compute(us)\n8   0.01   0.02\n16  0.01   0.02\n"
    for text in (latency() + other, latency() + other.replace("Overall(us)   Compute(us)", "Latency (us)")):
        found = read(text.encode())
        assert times(found) == pytest.approx({s: us(s) for s in SIZES}, abs=0.006)
        assert any(note.startswith("not used: ") for note in found.notes)
    with pytest.raises(ImportFormatError, match=r"^input:1: test = .* is not used; valid: osu_latency, "):
        read(other.encode())


@pytest.mark.parametrize("prefix", TEXTS["prefixes"])
def test_what_a_launcher_puts_before_each_line_is_taken_off(prefix: str) -> None:
    """srun -l, mpiexec -l, mpirun --tag-output, logs with times, quoted mail; digits may differ from line to line."""
    text = "\n".join(prefix.format(n=k % 3) + line for k, line in enumerate(latency().splitlines()))
    assert times(read(f"{text}\nDone.\n".encode())) == pytest.approx({s: us(s) for s in SIZES}, abs=0.006)


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
        found = read(f"{line}\n$ mpirun -np 2 ./osu_latency\n{latency()}".encode())
        assert "asks for one node" in why_one_node(found.runs)


def test_what_lines_around_a_command_say() -> None:
    assert [exported(line) for line, _ in COMMANDS["exports"]] == [said for _, said in COMMANDS["exports"]]
    assert [parsed(line, None) for line in COMMANDS["no_commands"]] == [None] * 4


def test_a_line_of_more_than_4000_characters_is_no_row() -> None:
    head = "# OSU MPI Latency Test v7.4\n# Size       Avg Latency(us)\n"
    for blanks, last in ((3995, 16), (3996, 8)):
        assert max(times(read(f"{head}8  1.5\n16{' ' * blanks}1.6\n".encode()))) == last


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\x1f\x8b\x08", "f: is compressed; valid: the text file in it"),
        (b"\xff\xfe\x00", "f: is not UTF-16 as its first bytes say"),
        (latency().encode() + b"\0", "f: contains NUL bytes; valid: a text file"),
    ],
)
def test_what_is_no_text_is_refused(data: bytes, said: str) -> None:
    with pytest.raises(ImportFormatError, match=f"^{re.escape(said)}$"):
        read(data, "f")


@pytest.mark.parametrize(
    "text", ["\n" * 50_000, "srun " * 50_000, "# " * 50_000, " 1" * 50_000], ids=["blank", "command", "comment", "row"]
)
def test_text_without_tables_is_refused_in_time_that_grows_with_its_size(text: str) -> None:
    """A pattern that looked over all blank lines from each of them took hours."""
    with pytest.raises(ImportFormatError, match="--example"):
        read(text.encode())


def test_which_cells_are_numbers() -> None:
    line = Line("", 1, "f")
    cases: list[tuple[Any, float]]
    cases = [(partial(number, token, "x", line, zero=sign == "0", negative=sign == "-"), one and float(token))
             for token, sign, one in COMMANDS["numbers"]]  # fmt: skip
    cases += [(partial(whole, token, "x", line, least=least, largest=largest), one and int(token))
              for token, least, largest, one in COMMANDS["wholes"]]  # fmt: skip
    for reads, value in cases:
        with nullcontext() if value is not False else pytest.raises(ImportFormatError):
            assert reads() == value
