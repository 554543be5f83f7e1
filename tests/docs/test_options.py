"""Commands and options are few, each is in a page written by hand, and no document names one that is gone."""

import re
import shlex
from pathlib import Path

import click
import pytest
from command_line import every_command, parsed

from pready.cli import COMMANDS, cli, main

README = Path("README.md")
PAGES = [README, Path("docs/howto.md"), *sorted(Path("docs/reference").glob("*.md"))]
DOCUMENTS = [*PAGES, Path("docs/limits.md"), Path("docs/trust.md"), Path("docs/glossary.md")]
DOCUMENTS += [Path("SECURITY.md"), Path("ARCHITECTURE.md"), *Path("docs/theory").glob("*.md")]
MOST_OPTIONS = 110
COMMANDS_AND_ALL = {"": cli, **every_command()}
OPTIONS = {
    path: [max(p.opts, key=len) for p in command.params if isinstance(p, click.Option) and not p.hidden]
    for path, command in COMMANDS_AND_ALL.items()
}


def test_options_are_few() -> None:
    assert sum(map(len, OPTIONS.values())) <= MOST_OPTIONS


def test_help_fits_a_screen(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80


def test_each_option_is_in_a_page_written_by_hand() -> None:
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    short = {"--output": "-o"}
    written = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", text))
    lacking = sorted({o for of in OPTIONS.values() for o in of if short.get(o, o) not in written})
    assert not lacking, f"say in docs/howto.md or a page of docs/reference what {', '.join(lacking)} is for"


def lines_of(text: str) -> list[str]:
    """Command lines of `pready` in blocks and in single quotes of code."""
    blocks = "\n".join(re.findall(r"^```(?:console|text|sh)\n(.*?)^```$", text, re.M | re.S)).replace("\\\n", "")
    lines = [line.removeprefix("$ ").split(" #")[0].strip() for line in blocks.splitlines()]
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    spans = [" ".join(span.split()) for span in re.findall(r"(?<!`)`([^`]+)`(?!`)", prose)]
    return [line for line in (*lines, *spans) if re.match(r"pready [a-z-]", line)]


def options_in(line: str) -> tuple[str, list[str]]:
    """The command of a line, and its long options; words behind ``--`` are another program's."""
    words = shlex.split(line.split(" -- ", maxsplit=1)[0].replace("…", ""))[1:]
    path = words[0]
    while len(words) > 1 and f"{path} {words[1]}" in OPTIONS:
        path, words = f"{path} {words[1]}", words[1:]
    return path, [w.partition("=")[0] for w in words if re.fullmatch(r"--[a-z][a-z-]*(=.*)?", w)]


@pytest.mark.parametrize("document", DOCUMENTS, ids=str)
def test_no_document_names_what_is_gone(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    everywhere = {"--help", "--version", *OPTIONS[""]}
    known = {"--help", "--version", "--mca"} | {o for of in OPTIONS.values() for o in of}
    for line in lines_of(text):
        path, options = options_in(line)
        assert path in OPTIONS or path.startswith("-"), line
        assert set(options) <= {*OPTIONS.get(path, ()), *everywhere}, line
    for command in re.findall(r"`pready ([a-z]+)", text):
        assert command in COMMANDS, command
    for option in re.findall(r"`(--[a-z][a-z-]*)[` ]", text):
        assert option in known, option


def test_what_is_gone_would_be_found() -> None:
    """Negative control."""
    gone = "See `pready explore w.toml`:\n```console\n$ pready sweep w.toml --over a=1 \\\n   --dask x\n```\n"
    assert [options_in(line) for line in lines_of(gone)] == [("sweep", ["--over", "--dask"]), ("explore", [])]
    with pytest.raises(click.NoSuchOption):
        parsed("pready sweep w.toml --over a=1")
