"""The page of a captured run with its pictures, and the trace."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from made import capture_file
from test_capture_steps import STEPS, run

from pready.calibrate.capture.files import Run, parse_process
from pready.calibrate.capture.run_summary import communication_matrix, most_reclaimable
from pready.calibrate.capture.trace import trace
from pready.cli import main
from pready.show.pages.capture_page import html


@pytest.fixture(scope="module")
def made() -> Run:
    return run()


def test_communication_matrix(made: Run) -> None:
    """A row of four: 640 B to both sides, 64 B down; once 8 B to the next rank around and to rank ^ 2."""
    expected = np.zeros((4, 4))
    for rank in range(4):
        expected[rank, (rank + 1) % 4] += 8
        expected[rank, rank ^ 2] += 8
        for peer in (rank - 1, rank + 1):
            if 0 <= peer < 4:
                expected[rank, peer] += 640 * STEPS
        if rank:
            expected[rank, rank - 1] += 64 * STEPS
    assert np.array_equal(communication_matrix(made), expected)


def test_the_region_whose_threads_wait_longest(made: Run) -> None:
    finishes = most_reclaimable(made)
    assert finishes is not None
    assert (finishes.first.shape, finishes.every.shape) == ((STEPS, 2), (4 * STEPS, 2))
    assert np.array_equal(finishes.last_share, [0, 1])  # thread 1 is always 10 us later
    # Of 110 us (or 60 us) the median of two threads lies 5 us before the last one.
    assert np.allclose(finishes.behind, 5e-6 / finishes.every.max(axis=1))


def test_ranks_that_began_later_are_later_in_the_trace(made: Run) -> None:
    text, _ = trace(replace(made, processes=tuple(replace(p, wall_s=10.0 - p.rank) for p in made.processes)))
    begins = {e["pid"]: e["ts"] for e in reversed(json.loads(text)["traceEvents"]) if e["ph"] == "X"}
    assert [round((begins[rank] - begins[3]) / 1e6) for rank in range(4)] == [3, 2, 1, 0]
    assert 0 <= begins[3] < 1e6


def test_the_trace_has_every_share_and_call(made: Run) -> None:
    text, left_out = trace(made)
    assert left_out == 0
    events = json.loads(text)["traceEvents"]
    for rank, process in enumerate(made.ranks):
        mine = [e for e in events if e["pid"] == rank and e["ph"] == "X"]
        assert sum(e["cat"] == "compute" for e in mine) == process.of("share").sum() == 4 * STEPS
        sends = [e for e in mine if e["name"] == "isend"]
        rows = process.records[process.of("isend")]
        assert [(e["args"]["peer"], e["args"]["bytes"]) for e in sends] == [(r["who"], r["what"]) for r in rows]
        assert np.allclose([e["dur"] for e in sends], (rows["end"] - rows["start"]) / 1e3)
        assert {e["tid"] for e in mine} == {0, 1}
    assert {e["args"]["name"] for e in events if e["name"] == "process_name"} >= {"rank 0 ()", "rank 3 ()"}


def test_a_nested_region_is_a_time_in_the_trace() -> None:
    process = parse_process(capture_file([(0, [(2000, 9500, "nested", 0, 0, 0)])], ranks=1), Path("x"))
    (event,) = (e for e in json.loads(trace(Run(Path("x"), (process,)))[0])["traceEvents"] if e["ph"] == "X")
    assert (event["name"], event["cat"], event["ts"], event["dur"]) == ("nested region", "compute", 2.0, 7.5)


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
