"""The page of a captured run with its pictures, and the trace."""

import json
import re
from pathlib import Path

import pytest
from made import capture_file, written
from tables import table_of
from test_capture_steps import run

from pready.calibrate.capture.files import Run
from pready.calibrate.capture.trace import trace
from pready.cli import main
from pready.show.pages.capture_page import html


@pytest.fixture(scope="module")
def made() -> Run:
    return run()


def test_the_trace_of_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = table_of("calibrate/trace")
    monkeypatch.setattr("pready.calibrate.capture.trace.MOST_EVENTS", wanted["most"])
    processes = (written([p["calls"]], p["rank"], p["ranks"], wall_ns=p["wall_ns"]) for p in wanted["processes"])
    text, left_out = trace(Run(Path("made"), tuple(processes)))
    assert (json.loads(text)["traceEvents"], left_out) == (wanted["events"], wanted["left_out"])
    assert trace(Run(Path("empty"), ())) == ('{"traceEvents": [], "displayTimeUnit": "ns"}', 0)


@pytest.mark.thorough
def test_the_page_needs_nothing_else(made: Run) -> None:
    page = html(made, None, "nothing repeats", "A run <b>")
    assert "<title>A run &lt;b&gt;</title>" in page
    assert page.count("<svg ") == 4  # heat map, distribution, reclaimable time, matrix
    assert "nothing repeats" in page
    fetched = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert all(f.startswith(("data:", "#")) for f in fetched)
    # Units fit: shares take 60 to 110 us here, and 640 B go to a neighbour in each step. Ranks are whole numbers.
    words = {" ".join(t.split()) for t in re.findall(r"<text[^>]*>([^<]*)</text>", page)}
    assert {"finished after, us", "0", "1", "2", "3"} <= words
    assert not {"0.5", "−0.5"} & words
    assert any(re.fullmatch(r"[\d.]+ (?:B|KiB)", word) for word in words)


def test_page_and_trace_by_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "rank-000000.capture").write_bytes(capture_file([], rank=0, ranks=1))
    words = ["workload", str(folder), "--report", str(tmp_path / "r.html"), "--trace", str(tmp_path / "t.json")]
    assert main(words) == 2  # there is no step, but what there is is shown
    said = capsys.readouterr()
    assert "no rank sends messages to another one" in said.err
    assert "no rank sends messages to another one" in " ".join((tmp_path / "r.html").read_text().split())
    assert json.loads((tmp_path / "t.json").read_text())["traceEvents"]
