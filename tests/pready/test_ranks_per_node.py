"""``--set ranks_per_node``: a run that was captured with one layout, predicted for another."""

import pytest
from command_line import data, refused

import pready
from pready.model.machine import machine as machines
from pready.whatif.fields import changed

CAPTURED = "tests/data/pready/captured.toml"


@pytest.mark.parametrize("name", machines.profiles())
def test_every_shipped_machine_predicts_four_ranks_a_node(name: str) -> None:
    on, what = pready.load_machine(name), pready.load_workload(CAPTURED)
    _, there = changed(on, what, {"ranks_per_node": 4, "transport_partitions": 4})
    assert (there.node_grid, changed(on, what, {"threads": 2})[1].node_grid) == (None, (2, 2, 2))
    assert all(row.time_s > 0 for row in pready.predict(there, on, draws=0).approaches)


def test_another_layout_is_predicted_than_was_captured(capsys: pytest.CaptureFixture[str]) -> None:
    """With a rank on each node, none shares the adapter: bulk is faster than with eight that share its one."""
    words = ("simulate", CAPTURED, "--set", "iterations=5", "--approach", "many:4", "--set")
    bulk = {n: data(capsys, *words, f"ranks_per_node={n}")["approaches"][0]["time_s"] for n in (1, 8, 16)}
    assert bulk[1] < bulk[8]
    assert bulk[16] != bulk[8]
    found = data(capsys, "predict", CAPTURED, "--set", "ranks_per_node=16")
    assert found["workload"]["ranks_per_node"] == 16
    said = refused(capsys, "predict", CAPTURED, "--set", "ranks_per_node=3")
    assert "ranks_per_node = 3 does not divide 16 ranks" in said
