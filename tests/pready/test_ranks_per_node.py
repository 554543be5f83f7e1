"""``--ranks-per-node``: a run that was captured with one layout, predicted for another."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pready.cli import main
from pready.model.machine import machine as machines

CAPTURED = """format = 2
name = "captured"
threads = 4
buffer = "1 MiB"
pattern = "halo3d"
grid = [4, 2, 2]
node_grid = [2, 2, 2]
receiver = "computing"

[compute]
time = "1 ms"

[arrivals]
model = "normal by thread"
spread = "10 %"
"""


@pytest.fixture
def captured(tmp_path: Path) -> str:
    path = tmp_path / "captured.toml"
    path.write_text(CAPTURED)
    return str(path)


def run(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("name", machines.profiles())
def test_every_shipped_machine_predicts_four_ranks_a_node(
    name: str, captured: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = run(capsys, "predict", captured, "--machine", name, "--ranks-per-node", "4")
    assert all(row["time_s"] > 0 for row in found["approaches"])


def test_another_layout_is_predicted_than_was_captured(captured: str, capsys: pytest.CaptureFixture[str]) -> None:
    """With a rank on each node, none shares the adapter: bulk is faster than with eight that share its one."""
    words = ("predict", captured, "--machine", "meluxina")
    bulk = {
        n: next(
            row["time_s"]
            for row in run(capsys, *words, *(("--ranks-per-node", n) if n else ()))["approaches"]
            if row["key"] == "single"
        )
        for n in ("", "1", "8", "16")
    }
    assert bulk["1"] < bulk["8"]
    assert bulk["16"] != bulk["8"]
    simulated = run(capsys, "simulate", captured, "--machine", "meluxina", "--ranks-per-node", "16", "--ranks", "4,2,2")
    assert simulated


def test_ranks_that_do_not_fill_nodes_are_refused(captured: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["predict", captured, "--ranks-per-node", "3"]) == 2
    assert "ranks_per_node = 3 does not divide 16 ranks" in capsys.readouterr().err
