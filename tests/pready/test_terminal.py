"""Output in terminals, pipes and 60 columns: whole numbers, no trailing blanks, every encoding."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text

from pready.cli import main
from pready.model.common.units import Unit, format_change, format_quantity, format_time
from pready.show.terminal.plain_text import SPELT, plain
from pready.show.terminal.table import Readable

HALO = "examples/halo3d.toml"
COMMANDS = (
    ("predict", HALO, "--engine", "timeline"),
    ("simulate", HALO, "--ranks", "2,2,2", "--iterations", "2", "--approach", "many:8:8"),
    ("explain", HALO, "--engine", "timeline", "--approach", "many:8"),
    ("explain",),
    ("machines",),
    ("machines", "meluxina"),
    ("libraries",),
    ("libraries", "mpich-release"),
)
FIGURE = re.compile(r"[+-]?\d[\d.,e+-]*")


def ran(*arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    kept = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR", "FORCE_COLOR")}
    command = [sys.executable, "-m", "pready", *arguments]
    return subprocess.run(command, capture_output=True, env=kept | environment, check=False)


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(list(arguments)) == 0
    return capsys.readouterr().out


def figures(text: str) -> list[str]:
    """Every number, sorted, with wrapped ones joined again."""
    joined = re.sub(r"\n\s*", " ", text)
    return sorted(w.rstrip(".,-") for w in FIGURE.findall(joined))


@pytest.mark.thorough
@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_a_narrow_terminal_loses_no_number(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    wide = printed(capsys, *arguments)
    monkeypatch.setenv("COLUMNS", "60")
    narrow = printed(capsys, *arguments)
    assert max(map(len, narrow.splitlines())) <= 60
    assert "…" not in narrow
    if arguments[0] != "simulate":  # which prints how long it took
        glued = re.sub(r"\s", "", narrow)
        lost = [f for f in figures(wide) if f not in glued]
        assert not lost, narrow


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_a_pipe_gets_no_trailing_blanks(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    lines = printed(capsys, *arguments).splitlines()
    assert [line for line in lines if line != line.rstrip()] == []
    assert max(map(len, lines)) <= 120


@contextmanager
def terminal_of(encoding: str) -> Iterator[io.BytesIO]:
    """Standard output with an encoding."""
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, errors="strict", write_through=True)
    with redirect_stdout(stream):
        yield raw
    stream.detach()


@pytest.mark.thorough
@pytest.mark.parametrize(
    "arguments",
    [*COMMANDS, ("gain", "--help"), ("explain", HALO, "--engine", "timeline", "--latex")],
    ids=" ".join,
)
def test_a_terminal_without_greek(arguments: tuple[str, ...]) -> None:
    with terminal_of("ascii") as written:
        assert main(list(arguments)) == 0
    text = written.getvalue().decode("ascii")
    assert text
    assert "?" not in text


@pytest.mark.thorough
def test_json_is_the_same_data_in_every_encoding(tmp_path: Path) -> None:
    path = tmp_path / "w.toml"
    path.write_text('name = "η"\n' + Path(HALO).read_text(encoding="utf-8").replace("name =", "description ="))
    said = []
    for encoding in ("ascii", "utf-8"):
        with terminal_of(encoding) as written:
            assert main(["predict", str(path), "--engine", "timeline", "--json"]) == 0
        said.append(json.loads(written.getvalue().decode(encoding)))
    assert said[0] == said[1]


@pytest.mark.thorough
def test_errors_in_ascii(tmp_path: Path) -> None:
    path = tmp_path / "η.toml"
    path.write_text("thraeds = 8\n", encoding="utf-8")
    done = ran("predict", str(path), PYTHONIOENCODING="ascii", PYTHONUTF8="1")
    assert done.returncode == 2
    assert done.stderr.decode("ascii").count("\n") == 1


@pytest.mark.thorough
def test_no_color() -> None:
    colour = re.compile(rb"\x1b\[[0-9;]*3[0-7]m")
    assert colour.search(ran("predict", HALO, "--engine", "timeline", FORCE_COLOR="1", TERM="xterm").stdout)
    plain_ = ran("predict", HALO, "--engine", "timeline", FORCE_COLOR="1", NO_COLOR="1", TERM="xterm").stdout
    assert not colour.search(plain_)


# ---- spelling -------------------------------------------------------------------------------------------------------


def test_spelt() -> None:
    assert plain("η = 8.17× → −3 ± 1 µs", "ascii") == "eta = 8.17x > -3 +- 1 us"
    assert plain("η = 8.17×", "cp1252") == "eta = 8.17×"
    assert plain("Temuçin", "ascii") == "Temucin"
    assert plain("漢", "ascii") == "?"
    assert plain("η", "utf-8") == plain("η", None) == plain("η", "no such encoding") == "η"
    assert all(word.isascii() for word in SPELT.values())


@given(st.text(), st.sampled_from(["ascii", "cp1252", "koi8-r", "utf-8"]))
def test_spelt_text_can_be_written(text: str, encoding: str) -> None:
    spelt = plain(text, encoding)
    if encoding != "utf-8" or text.isprintable():
        spelt.encode(encoding)


# ---- tables ---------------------------------------------------------------------------------------------------------


def drawn(width: int) -> list[str]:
    table = Readable(heading="a heading that is longer than the table")
    table.add_column("name")
    table.add_column("a long\nheader", justify="right", no_wrap=True)
    table.add_column("interval", no_wrap=True)
    table.add_row("first of two", "1.25 us", "1.00× (1.00-1.00)")
    table.add_row(Text("second"), "100 us", "10.00× (9.00-11.00)")
    stream = io.StringIO()
    Console(file=stream, width=width, color_system=None).print(table)
    return [line.rstrip() for line in stream.getvalue().splitlines()]


WORDS = st.lists(st.text("ab", min_size=1, max_size=12), min_size=1, max_size=6).map(" ".join)


@given(
    st.lists(st.tuples(WORDS, WORDS, st.text("7", min_size=1, max_size=9), WORDS), min_size=1, max_size=4), st.data()
)
def test_no_word_is_cut_whatever_the_width(rows: list[tuple[str, ...]], data: st.DataObject) -> None:
    table = Readable()
    for number in range(4):
        table.add_column("abcd"[number], no_wrap=number == 2)
    for row in rows:
        table.add_row(*row)
    width = data.draw(st.integers(30, 120))
    stream = io.StringIO()
    Console(file=stream, width=width, color_system=None).print(table)
    text = stream.getvalue()
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width
    assert {w for row in rows for cell in row for w in cell.split()} <= set(text.split())


def test_a_table_where_it_fits() -> None:
    # 12 (the longest name) + 7 (header and figure) + 19 (interval) + two gaps of 2
    assert drawn(12 + 7 + 19 + 4)[2:] == [
        "               a long",
        "name           header  interval",
        "─" * 42,
        "first of two  1.25 us  1.00× (1.00-1.00)",
        "second         100 us  10.00× (9.00-11.00)",
    ]


def test_two_lines_for_a_row_where_it_does_not() -> None:
    # a name may be wrapped, to its longest word: 6 + 7 + 19 + 4 is the least
    assert drawn(12 + 7 + 19 + 4 - 7)[3:] == [
        "     a long",
        "     header  interval",
        "    " + "─" * 28,
        "first of two",
        "    1.25 us  1.00× (1.00-1.00)",
        "second",
        "     100 us  10.00× (9.00-11.00)",
    ]


def test_a_list_where_even_that_is_too_wide() -> None:
    assert drawn(31)[3:] == [
        "first of two",
        "    a long header  1.25 us",
        "    interval       1.00×",
        "                   (1.00-1.00)",
        "second",
        "    a long header  100 us",
        "    interval       10.00×",
        "                   (9.00-11.00)",
    ]


# ---- numbers --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (-8.05e-20, "0 ns"),  # rounding of a sum of microseconds
        (6e-13, "0.0006 ns"),
        (1.5e-9, "1.5 ns"),
        (1234.5, "1234 s"),
        (-2.5e-3, "-2.5 ms"),
    ],
)
def test_times(seconds: float, said: str) -> None:
    assert format_time(seconds) == said


@pytest.mark.parametrize(
    ("percent", "said"), [(-0.04, "0 %"), (0.0, "0 %"), (-0.06, "-0.1 %"), (12.345, "+12.3 %"), (4321.9, "+4322 %")]
)
def test_changes(percent: float, said: str) -> None:
    assert format_change(percent) == said


def test_delay_rates() -> None:
    assert format_quantity(4.708e-8, Unit.TIME_PER_BYTE) == "47.08 ms/MB"
