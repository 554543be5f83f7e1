"""Help and completion: every option has an example, and a tab offers commands, machines and fields."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import select
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path

import click
import pytest

from pready.cli import COMMANDS, cli, main
from pready.commands.completion import FILES, NEEDED
from pready.commands.examples import EXAMPLES
from pready.model.approach.libraries import LIBRARIES
from pready.model.common.units import Time
from pready.model.machine.machine import Machine, profiles
from pready.model.toml.provenance import Value
from pready.model.toml.schema import dotted_names, file_tables, takes
from pready.model.workload.workload import Workload

HALO = "examples/halo3d.toml"


def commands() -> Iterator[tuple[str, click.Command]]:
    def inside(path: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
        yield path, command
        if isinstance(command, click.Group):
            for name, inner in command.commands.items():
                yield from inside(f"{path} {name}", inner)

    for name in COMMANDS:
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        yield from inside(name, command)


EVERY = dict(commands())


@pytest.mark.parametrize("path", EVERY)
def test_every_option_has_an_example(path: str) -> None:
    options = {p.opts[-1]: p for p in EVERY[path].params if isinstance(p, click.Option)}
    words = {word.partition("=")[0] for line in EXAMPLES[path] for word in shlex.split(line)}
    lacking = [longest for longest, p in options.items() if not words & set(p.opts)]
    assert not lacking, f"add to pready/commands/examples.py, under {path!r}, a line with {', '.join(lacking)}"


@pytest.mark.parametrize("path", EVERY)
def test_help_shows_them_unwrapped(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*path.split(), "--help"]) == 0
    said = capsys.readouterr().out
    assert all(f"\n  {line}\n" in f"{said}\n" or f"\n    {line}\n" in f"{said}\n" for line in EXAMPLES[path])


def test_examples_are_of_commands_that_exist() -> None:
    assert set(EXAMPLES) == set(EVERY)


@pytest.mark.parametrize("line", [line for lines in EXAMPLES.values() for line in lines])
def test_the_examples_parse(line: str) -> None:
    """Options exist and take these values; other tests run the commands."""
    words = shlex.split(line)
    assert words[0] == "pready"
    words = words[: next((i for i, w in enumerate(words) if w in (">", "<")), len(words))]
    context = click.Context(cli)
    command: click.Command = cli
    rest = words[1:]
    while isinstance(command, click.Group) and rest and command.get_command(context, rest[0]) is not None:
        inner = command.get_command(context, rest[0])
        assert inner is not None
        command, rest = inner, rest[1:]
    command.make_context(" ".join(words), rest, parent=context)


def offered(*words: str) -> list[str]:
    line = ["pready", *words]
    environment = {"_PREADY_COMPLETE": "bash_complete", "COMP_WORDS": shlex.join(line), "COMP_CWORD": str(len(words))}
    if not words[-1]:
        environment["COMP_WORDS"] = shlex.join(line[:-1])
    said = io.BytesIO()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        with redirect_stdout(io.TextIOWrapper(said, write_through=True)), pytest.raises(SystemExit, match="0"):
            main([])
        return said.getvalue().decode().splitlines()


def test_a_tab() -> None:
    assert offered("pre") == ["plain,predict"]
    assert offered("predict", HALO, "--machine", "m") == [f"plain,{n}" for n in profiles() if n.startswith("m")]
    assert offered("explain", HALO, "--library", "mp") == [f"plain,{n}" for n in LIBRARIES if n.startswith("mp")]
    assert offered("explain", HALO, "--approach", "ma") == ["plain,many", "plain,many-joined"]
    assert offered("predict", "exa") == ["file,exa"]
    assert "plain,--min-gain" in offered("predict", HALO, "--min")


def test_completion_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for shell, path in FILES.items():
        assert main(["completion", shell, "--install"]) == 0
        assert capsys.readouterr().out.startswith(f"wrote {Path(path).expanduser()}: a new {shell} completes")
        assert main(["completion", shell]) == 0
        script = capsys.readouterr().out
        assert f"_PREADY_COMPLETE={shell}_complete" in script
        assert (tmp_path / path[2:]).read_text() == script
    (tmp_path / ".zfunc" / "_pready").unlink()
    (tmp_path / ".zfunc").rmdir()
    (tmp_path / ".zfunc").write_text("")
    assert main(["completion", "zsh", "--install"]) == 2
    assert "cannot be made" in capsys.readouterr().err


INTERACTIVE = {
    "bash": ["bash", "--norc", "--noprofile", "-i"],
    "zsh": ["zsh", "-d", "-i"],  # reads ~/.zshrc
    "fish": ["fish", "-i"],
}
PREPARED = {
    "bash": "source ~/.local/share/bash-completion/completions/pready; stty cols 200; echo rea''dy\n",
    "zsh": "PS1='$ '; unsetopt prompt_cr prompt_sp; stty cols 200; echo rea''dy\n",
    "fish": "function fish_prompt; echo -n '$ '; end; stty cols 200; echo rea''dy\n",
}
TYPED = [
    (f"pready predict {HALO} --machine melu", f"pready predict {HALO} --machine meluxina "),
    (f"pready sweep {HALO} --over arrivals.spr", f"pready sweep {HALO} --over arrivals.spread=#"),  # no blank
]


@pytest.mark.thorough
@pytest.mark.parametrize(("typed", "completed"), TYPED)
@pytest.mark.parametrize("shell", FILES)
def test_a_tab_in_a_shell_that_somebody_types_into(
    shell: str, typed: str, completed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} here")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert main(["completion", shell, "--install"]) == 0
    (tmp_path / ".zshrc").write_text(f"{NEEDED['zsh'].partition(': ')[2]}\n")
    ours, theirs = pty.openpty()
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    running = subprocess.Popen(
        ["setsid", "--ctty", *INTERACTIVE[shell]], stdin=theirs, stdout=theirs, stderr=theirs,
        env=os.environ | {"PATH": path, "TERM": "dumb", "PS1": "$ ", "COLUMNS": "200"},
    )  # fmt: skip
    try:
        os.write(ours, PREPARED[shell].encode())
        _read_until(ours, r"ready\r\n.*\$ ")
        os.write(ours, f"{typed}\t#".encode())  # text after the tab appears once it is answered
        seen = _read_until(ours, ".*#").rpartition("$ ")[2]
        assert seen in (completed, f"{completed}#")
    finally:
        running.kill()
        running.wait()
        os.close(ours)
        os.close(theirs)


def _read_until(terminal: int, pattern: str) -> str:
    """What the terminal shows, without control sequences, up to a pattern."""
    seen, shown = "", ""
    while not re.search(f"{pattern}$", shown, flags=re.DOTALL):
        readable, _, _ = select.select([terminal], [], [], 120)
        assert readable, f"nothing more comes behind {shown!r}"
        seen += os.read(terminal, 4096).decode(errors="replace")
        shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen)
        while "\x08" in shown:
            shown = re.sub("[^\x08]?\x08", "", shown, count=1)
    return shown


# ---- libraries, standard input --------------------------------------------------------------------------------------


def test_libraries(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["libraries", "--json"]) == 0
    assert [row["name"] for row in json.loads(capsys.readouterr().out)] == list(LIBRARIES)
    assert main(["libraries"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in LIBRARIES)
    for name, profile in LIBRARIES.items():
        assert main(["libraries", name]) == 0
        said = " ".join(capsys.readouterr().out.split())
        assert profile.why in said
        assert all(f.says in said and f.source in said for f in profile.facts)
    assert main(["libraries", "mpich"]) == 2
    assert 'did you mean "mpich-release"?' in capsys.readouterr().err


def test_a_workload_from_standard_input(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def said(text: bytes) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
        status = main(["predict", "-", "--csv"])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    text = Path("examples/laggard.toml").read_bytes()
    assert main(["predict", "examples/laggard.toml", "--csv"]) == 0
    from_the_file = capsys.readouterr().out
    assert said(text) == (0, from_the_file, "")
    assert "standard input: threads is missing" in said(b'buffer = "1 MiB"')[2]
    assert "larger than a workload" in said(b"#" * (5 * 2**20))[2]
    # files that it names are relative to the working directory
    monkeypatch.chdir(tmp_path)
    Path("times.csv").write_text("1,2\n2,1\n")
    traced = b'threads = 2\nbuffer = "2 B"\n[arrivals]\nmodel = "trace"\nfile = "times.csv"\nunit = "ms"\n'
    assert said(traced)[0] == 0


# ---- the fields of files --------------------------------------------------------------------------------------------


def test_field_descriptions() -> None:
    assert takes(Time) == 'a time, such as "1.22 us"'
    assert takes(Value[Time]) == 'a value (value, interval, source, why): a time, such as "1.22 us"'
    assert takes(tuple[int, ...] | None) == "a list of an integer"
    names = dotted_names(Workload)
    assert {"threads", "buffer", "compute.time", "arrivals.spread", "arrivals.file"} <= set(names)
    assert "folder" not in names
    tables = file_tables(Machine)
    assert tables[0].name == ""
    assert {t.name for t in tables} >= {"inter", "inter.segments", "threads.contention", "network"}
    segment = next(t for t in tables if t.name == "inter.segments")
    assert segment.fields[0].name == "from"
    assert next(f for f in segment.fields if f.name == "L").default is None
    assert next(f for f in segment.fields if f.name == "handshake").default == ""
