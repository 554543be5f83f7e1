"""The page of a prediction: it has the predicted numbers, and needs nothing else."""

import json
import re
from html import unescape
from pathlib import Path

import pytest
from command_line import data, refused
from given import Patch
from rich.text import Text

from pready.cli import main
from pready.model.advice.predict import predict
from pready.model.common.errors import PreadyError
from pready.model.machine import machine
from pready.model.workload import workload
from pready.show.pages import prediction_page

MELUXINA = machine.load("meluxina")
pytestmark = pytest.mark.usefixtures("predicted_once")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("report") / "new" / "folder"
    assert main(["predict", "examples/laggard.toml", "--seed", "3", "-o", str(made)]) == 0
    return made


@pytest.mark.thorough
def test_it_says_what_was_predicted(folder: Path) -> None:
    text = (folder / "index.html").read_text(encoding="utf-8")
    p = predict(machine.load("meluxina"), workload.load("examples/laggard.toml"), seed=3)
    best = p.advised
    assert f"{best.eta:.2f}×" in text
    assert "Partitioned communication for laggard on MeluXina" in text
    assert all(r.name in text for r in p.approaches)
    headings = re.findall("<h2>(.*?)</h2>", text)
    assert headings[1:2] + headings[-3:] == ["Every way", "The workload", "The machine", "Command, data and citation"]
    text = unescape(text)
    shown = " ".join(re.sub("<[^>]*>", "", text).split())
    assert "Partitioned (MPI_Psend): no gain with mpich-release on MeluXina" in shown
    assert "what the saving rests on" in shown
    assert Path("examples/laggard.toml").read_text().splitlines()[-1] in text
    assert "10.1145/3605573.3605599" in text
    assert "seed" in text
    assert text.count("<svg") == 1
    kept = json.loads((folder / "prediction.json").read_text(encoding="utf-8"))
    assert kept["seed"] == 3
    assert kept["advice"]["eta"] == best.eta


@pytest.mark.thorough
def test_its_files_make_the_same_prediction(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(folder / "workload.toml"), "--machine", str(folder / "machine.toml")]
    found, kept = data(capsys, "predict", *files, "--seed", 3), json.loads((folder / "prediction.json").read_text())
    assert found["advice"]["eta"] == pytest.approx(kept["advice"]["eta"], rel=1e-6)  # files hold ten digits


@pytest.mark.thorough
def test_it_needs_nothing_else(folder: Path) -> None:
    text = (folder / "index.html").read_text(encoding="utf-8")
    fetched = r'<link\b(?![^>]*href="data:)|\bsrc(set)?="(?!data:|#)|url\((?!#)|@import'
    assert not re.search(fetched, text)
    links = re.findall(r'<a href="([^"]+)"', text)
    assert all((folder / link).exists() for link in links)


def test_a_prediction_of_standard_input_has_no_file(tmp_path: Path, monkeypatch: Patch) -> None:
    what = workload.load("examples/laggard.toml").changed(name="<script>alert(1)</script>")
    made = predict(MELUXINA, what, draws=0)
    monkeypatch.setattr(prediction_page, "_picture", lambda *_: Text("a picture"))
    monkeypatch.setattr("sys.argv", ["bin/pready", "predict", "a b.toml"])
    prediction_page.write(tmp_path, MELUXINA, what, made, "-")
    kept = json.loads((tmp_path / "prediction.json").read_text(encoding="utf-8"))
    assert kept == json.loads(json.dumps(made.to_dict()))
    text = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "&lt;script&gt;" in text
    assert "<script" not in text  # a name is no markup
    shown = unescape(text)
    assert f"<pre>{json.dumps(made.workload, indent=1, ensure_ascii=False)}</pre>\n" in shown
    assert "pready predict 'a b.toml'\n" in shown
    assert {path.name for path in tmp_path.iterdir()} == {"index.html", "prediction.json", "machine.toml"}
    (tmp_path / "workload.toml").write_text("# another\n")
    prediction_page.check(tmp_path, MELUXINA, "-")
    with pytest.raises(PreadyError, match=r"workload\.toml"):
        prediction_page.check(tmp_path, MELUXINA, "examples/laggard.toml")


def test_a_folder_that_cannot_be_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    words = ("predict", "examples/laggard.toml", "-o")
    assert "cannot be made: Not a directory; valid: a folder" in refused(capsys, *words, tmp_path / "file" / "r")
    assert "valid: -o p/" in refused(capsys, *words, "p.html")
