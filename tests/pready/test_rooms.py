"""Doors open downward: `make lint` checks the contracts, here is that they see every file and would see an offence."""

from __future__ import annotations

import tomllib
from graphlib import TopologicalSorter
from pathlib import Path

import grimp
import pytest

FOLDERS = {
    "pready.model": Path("model"),
    "pready.calibrate": Path("calibrate"),
    "pready.sst": Path("sst-motifs/sst"),
    "pready.validate": Path("validate"),
    "pready.commands": Path("pready/commands"),
    "pready.show": Path("pready/show"),
    "pready.files": Path("pready/files"),
}


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("pready", cache_dir=None)


@pytest.fixture(scope="module")
def layers() -> list[grimp.Layer]:
    """The floors as the contract has them, the highest first."""
    contracts = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    (floors,) = (c["layers"] for c in contracts if c["type"] == "layers")
    return [grimp.Layer(*map(str.strip, floor.split("|")), independent=True) for floor in floors]


def test_links_to_folders_are_followed(graph: grimp.ImportGraph) -> None:
    for room, folder in FOLDERS.items():
        for file in folder.rglob("*.py"):
            parts = [p for p in file.relative_to(folder).with_suffix("").parts if p != "__init__"]
            assert ".".join([room, *parts]) in graph.modules


@pytest.mark.parametrize(
    ("above", "below"),
    [
        ("pready.show.terminal.terminal", "pready.model.gain"),
        ("pready.commands.options", "pready.show.terminal.terminal"),
        ("pready.validate.live", "pready.calibrate.run"),
        ("pready.files.writing", "pready.model.files"),
        ("pready.sst.run", "pready.calibrate.run"),
    ],
)
def test_an_upward_import_would_be_seen(
    graph: grimp.ImportGraph, layers: list[grimp.Layer], above: str, below: str
) -> None:
    assert graph.find_illegal_dependencies_for_layers(layers, containers={"pready"}) == set()
    graph.add_import(importer=below, imported=above)
    try:
        assert graph.find_illegal_dependencies_for_layers(layers, containers={"pready"})
    finally:
        graph.remove_import(importer=below, imported=above)


def test_no_circle_among_files(graph: grimp.ImportGraph) -> None:
    """Imports inside functions and under TYPE_CHECKING included; a package's own file counts as one."""
    TopologicalSorter({m: graph.find_modules_directly_imported_by(m) for m in graph.modules}).prepare()
