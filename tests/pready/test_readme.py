"""The README's commands run, and the output it shows is the output."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from pready.cli import main

pytestmark = pytest.mark.thorough

README = Path("README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)


COMMANDS = [line[2:] for block in blocks("console") for line in block.splitlines() if line.startswith("$ pready")]
# What needs two nodes or SST is tested where those are: tests/validate, tests/calibrate and tests/sst.
COMMANDS = [c for c in COMMANDS if not any(w in c for w in ("calibrate", "mymachine", "validate live", "sst run"))]


def test_there_are_commands() -> None:
    assert len(COMMANDS) >= 5


# All claims are computed once, by this command: in tests/validate/test_papers.py.
@pytest.mark.parametrize("command", [c for c in COMMANDS if "validate papers" not in c])
def test_commands_run(command: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(shlex.split(command.replace("/tmp/", f"{tmp_path}/"), comments=True)[1:]) == 0
    capsys.readouterr()


def test_the_shown_output_is_real(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["predict", "examples/halo3d.toml"]) == 0
    assert blocks("text")[0].rstrip("\n") == capsys.readouterr().out.strip("\n")


def test_it_is_short() -> None:
    assert len(README.splitlines()) <= 110


def test_the_workload_is_valid(tmp_path: Path) -> None:
    for text in blocks("toml"):
        path = tmp_path / "w.toml"
        path.write_text(text, encoding="utf-8")
        assert main(["predict", str(path), "--csv"]) == 0


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert target.startswith("https://") or Path(target).exists(), target
