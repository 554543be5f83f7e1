"""Output in terminals, pipes and 60 columns: whole numbers, no trailing blanks, every encoding."""

import io
import json
import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from command_line import out
from given import Capsys, Patch
from rich.console import Console
from tables import table_of

from pready.cli import main
from pready.show.terminal.table import Readable
from pready.show.terminal.terminal import status

pytestmark = pytest.mark.usefixtures("predicted_once")

LAGGARD = "examples/laggard.toml"
COMMANDS = [shlex.split(line) for line in table_of("pready/lines")["terminal"]]
FIGURE = re.compile(r"[+-]?\d[\d.,e+-]*")


def figures(text: str) -> list[str]:
    """Every number, sorted, with wrapped ones joined again."""
    joined = re.sub(r"\n\s*", " ", text)
    return sorted(w.rstrip(".,-") for w in FIGURE.findall(joined))


@pytest.mark.thorough
@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_a_pipe_gets_no_trailing_blanks_and_a_narrow_terminal_loses_no_number(
    arguments: list[str], capsys: Capsys, monkeypatch: Patch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    wide = out(capsys, *arguments)
    monkeypatch.setenv("COLUMNS", "60")
    narrow = out(capsys, *arguments)
    for text, width in ((wide, 120), (narrow, 60)):
        assert [line for line in text.splitlines() if line != line.rstrip()] == []
        assert max(map(len, text.splitlines())) <= width
    assert "…" not in narrow
    if arguments[0] != "simulate":  # which prints how long it took
        glued = re.sub(r"\s", "", narrow)
        lost = [f for f in figures(wide) if f not in glued]
        assert not lost, narrow


@contextmanager
def terminal_of(encoding: str) -> Iterator[io.BytesIO]:
    """Standard output and error with an encoding."""
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, errors="strict", write_through=True)
    with redirect_stdout(stream), redirect_stderr(stream):
        yield raw
    stream.detach()


@pytest.mark.thorough
@pytest.mark.parametrize("arguments", [*COMMANDS, ["gain", "--help"]], ids=" ".join)
def test_a_terminal_without_greek(arguments: list[str]) -> None:
    with terminal_of("ascii") as written:
        assert main(arguments) == 0
    assert written.getvalue().decode("ascii")


@pytest.mark.thorough
def test_json_is_the_same_data_in_every_encoding(tmp_path: Path) -> None:
    path = tmp_path / "w.toml"
    path.write_text('name = "η"\n' + Path(LAGGARD).read_text(encoding="utf-8").replace("name =", "description ="))
    said = []
    for encoding in ("ascii", "utf-8"):
        with terminal_of(encoding) as written:
            assert main(["predict", str(path), "--json"]) == 0
        said.append(json.loads(written.getvalue().decode(encoding)))
    assert said[0] == said[1]


def test_errors_in_ascii(tmp_path: Path) -> None:
    path = tmp_path / "η.toml"
    path.write_text("thraeds = 8\n", encoding="utf-8")
    with terminal_of("ascii") as written:
        assert main(["predict", str(path)]) == 2
    assert written.getvalue().decode("ascii").count("\n") == 1


@pytest.mark.thorough
def test_no_color(capsys: Capsys, monkeypatch: Patch) -> None:
    colour = re.compile(r"\x1b\[[0-9;]*3[0-7]m")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    assert colour.search(out(capsys, "predict", LAGGARD))
    monkeypatch.setenv("NO_COLOR", "1")
    assert not colour.search(out(capsys, "predict", LAGGARD))


def drawn(table: Readable, width: int) -> str:
    stream = io.StringIO()
    Console(file=stream, width=width, color_system=None).print(table)
    return stream.getvalue()


def test_a_table_that_just_fits_is_a_table() -> None:
    table = Readable("a", "b")
    table.add_row("xxx", "yy")
    assert ["xxx  yy" in drawn(table, width) for width in (7, 6)] == [True, False]
    table = Readable("a")
    table.add_column("bb\ncc", no_wrap=True)
    table.add_row("x", "y")
    for width in (8, 7, 8, 5):  # a header is folded where it has to be, whatever was drawn before
        text = drawn(table, width)
        assert ("bb cc" in text, "x  y" in text) == (width == 8, True)


@pytest.mark.parametrize(("width", "said"), table_of("pready/lines")["layouts"])
def test_a_table_at_widths(width: int, said: str) -> None:
    table = Readable("name", heading="head")
    for header in ("long header", "b\nc", ""):
        table.add_column(header, justify="right" if len(header) > 3 else "left", no_wrap=True)
    table.add_row("one two", "1 us", "x y", "note")
    table.add_row("three", "22 us", "z", "")
    assert "\n".join(line.rstrip() for line in drawn(table, width).splitlines()) == said


def test_long_work_says_so_now_and_then(monkeypatch: Patch, capsys: Capsys) -> None:
    now = [100.0]
    monkeypatch.setattr("pready.show.terminal.terminal.monotonic", lambda: now[0])
    with status("SST") as said:
        for now[0] in (100.0, 129.0, 131.0, 160.0, 162.0):
            said.wait(now[0] - 100)
        said.update("next", long=True)
    assert capsys.readouterr().err.splitlines() == ["SST: 31 s", "SST: 62 s", "next"]
