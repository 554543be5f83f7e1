"""Without Matplotlib: what needs it says so in one line, all else runs."""

import sys
from pathlib import Path

import pytest
from command_line import out, refused
from tables import table_of

LAGGARD = "examples/laggard.toml"


@pytest.fixture(autouse=True)
def no_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [n for n in sys.modules if n.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # Python takes None for "not there"
    for name in ("pready.show.figures", "pready.show.figures.prediction_pictures"):
        monkeypatch.delitem(sys.modules, name, raising=False)


@pytest.mark.parametrize("line", table_of("pready/refused")["extra"])
def test_one_line_says_what_to_install(line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = refused(capsys, *(word.format(tmp=tmp_path) for word in line.split()))
    assert f"needs matplotlib, which is not installed: {sys.executable} -m pip install 'pready[plot]'" in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.thorough
def test_the_first_command_does_not_need_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert out(capsys, "predict", LAGGARD).startswith("Partitioned (MPI_Psend): ")
    out(capsys, "sweep", LAGGARD, "--set", "threads=1", "-o", tmp_path / "s.csv")
    out(capsys, "predict", LAGGARD, "-o", tmp_path / "page")
    assert "No picture: Matplotlib is not installed" in (tmp_path / "page" / "index.html").read_text(encoding="utf-8")
