"""``pready explore``: the notebook it writes runs, and bad input is refused before a file is written."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from command_line import out, refused
from nbclient import NotebookClient

from pready.cli import main

HALO, LAGGARD = "examples/halo3d.toml", "examples/laggard.toml"


def test_its_notebook_is_valid_and_shows_sliders(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "sliders.ipynb"
    out(capsys, "explore", LAGGARD, "--machine", "niagara", "--seed", "3", "-o", path, "--no-open")
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    shown = [o for c in notebook.cells if c.cell_type == "code" for o in c.outputs]
    assert [kind for o in shown for kind in o.data if "widget" in kind] == ["application/vnd.jupyter.widget-view+json"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["-"], "WORKLOAD = '-'"),
        ([HALO, "-o", "sliders.txt"], "'sliders.txt'"),
        (["examples/stencil-unequal.toml"], "several exchanges"),
        ([HALO, "--machine", "niagra"], "niagara"),
    ],
)
def test_what_cannot_be_explored_is_refused(
    arguments: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("subprocess.run", lambda *_, **__: pytest.fail("Jupyter was started"))
    arguments = [str(Path(a).resolve()) if a.endswith(".toml") else a for a in arguments]
    monkeypatch.chdir(tmp_path)
    assert says in refused(capsys, "explore", *arguments)
    assert not list(tmp_path.iterdir())


def test_without_jupyter_the_notebook_is_written_and_how_to_get_it_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("pready.commands.explore.find_spec", lambda _: None)
    assert main(["explore", HALO, "-o", str(tmp_path / "x.ipynb")]) == 2
    said = capsys.readouterr()
    assert (tmp_path / "x.ipynb").is_file()
    assert "pip install jupyterlab" in said.err
