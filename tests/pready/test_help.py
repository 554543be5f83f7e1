"""Help and completion: every option has an example, and a tab offers commands and options."""

import io
import shlex
from contextlib import redirect_stdout
from pathlib import Path

import click
import pytest
from command_line import every_command, out, parsed
from given import Capsys, Patch

from pready.cli import main
from pready.commands.command_lines import EXAMPLES
from pready.files import shipped_examples
from pready.files.shipped_examples import found
from pready.model.approach.libraries import LIBRARIES

HALO = "examples/halo3d.toml"


EVERY = every_command()


@pytest.mark.parametrize("path", EVERY)
def test_every_option_has_an_example(path: str) -> None:
    options = {p.opts[-1]: p for p in EVERY[path].params if isinstance(p, click.Option)}
    words = {word.partition("=")[0] for line in EXAMPLES[path] for word in shlex.split(line)}
    lacking = [longest for longest, p in options.items() if not words & set(p.opts)]
    assert not lacking, f"add to pready/commands/command_lines.py, under {path!r}, a line with {', '.join(lacking)}"


def test_examples_are_of_commands_that_exist(capsys: Capsys) -> None:
    assert set(EXAMPLES) == set(EVERY)
    for path in ("gain", "sst info"):
        lines = "".join(f"    {line}\n" for line in EXAMPLES[path])
        assert out(capsys, *path.split(), "--help").endswith(f"\n  Examples:\n{lines}")


@pytest.mark.parametrize("line", [line for lines in EXAMPLES.values() for line in lines])
def test_the_examples_parse(line: str) -> None:
    parsed(line)


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
    assert "plain,--min-gain" in offered("predict", HALO, "--min")


def test_no_command_shows_the_list_and_examples_say_what_they_are_of(capsys: Capsys) -> None:
    for words in ((), ("sst",)):
        assert out(capsys, *words) == out(capsys, *words, "--help")
    assert out(capsys).startswith("Usage: pready [OPTIONS] [COMMAND] [ARGS]...\n  Is it worth porting MPI+threads code")
    said = " ".join(out(capsys, "examples").split())
    for path in Path("examples").glob("*.toml"):
        head = path.read_text(encoding="utf-8").partition("\n\n")[0]
        about = " ".join(" ".join(line.lstrip("# ") for line in head.splitlines() if line.startswith("#")).split())
        assert f"examples/{path.name} {about}" in said
        assert about
    assert said.endswith(f" in {Path('examples').resolve()}")


def test_an_example_is_the_one_here_else_the_shipped_one(tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("examples/none.toml", "other/halo3d.toml"):
        assert found(name) == Path(name)
    assert found("examples/halo3d.toml") == shipped_examples.FOLDER / "halo3d.toml"
    Path("examples").mkdir()
    Path("examples/halo3d.toml").write_text("# a\n#  b\nthreads = 2\n# c\n")
    assert found("examples/halo3d.toml") == Path("examples/halo3d.toml")
    assert shipped_examples.about(Path("examples/halo3d.toml")) == "a b"


def test_libraries(capsys: Capsys) -> None:
    listed = out(capsys, "libraries")
    assert all(name in listed for name in LIBRARIES)
    for name, profile in LIBRARIES.items():
        assert profile.why in " ".join(out(capsys, "libraries", name).split())


def test_a_workload_from_standard_input(capsys: Capsys, monkeypatch: Patch, tmp_path: Path) -> None:
    def said(text: bytes) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
        status = main(["predict", "-", "--json"])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    text = Path("examples/laggard.toml").read_bytes()
    assert said(text) == (0, out(capsys, "predict", "examples/laggard.toml", "--json"), "")
    assert "standard input: threads is missing" in said(b'buffer = "1 MiB"')[2]
    assert "larger than a workload" in said(b"#" * (5 * 2**20))[2]
    # files that it names are relative to the working directory
    monkeypatch.chdir(tmp_path)
    Path("times.csv").write_text("1,2\n2,1\n")
    traced = b'threads = 2\nbuffer = "2 B"\n[arrivals]\nmodel = "trace"\nfile = "times.csv"\nunit = "ms"\n'
    assert said(traced)[0] == 0
