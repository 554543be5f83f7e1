"""Doors open downward: `make lint` checks the contracts; here, that they see every file and every offence."""

import tomllib
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
def layers() -> dict[str, list[grimp.Layer]]:
    """The floors of each house that a contract has, the highest first."""
    contracts = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    return {
        house: [grimp.Layer(*map(str.strip, floor.split("|")), independent=True) for floor in contract["layers"]]
        for contract in contracts
        if contract["type"] == "layers"
        for house in contract["containers"]
    }


def test_links_to_folders_are_followed(graph: grimp.ImportGraph) -> None:
    for room, folder in FOLDERS.items():
        for file in folder.rglob("*.py"):
            parts = [p for p in file.relative_to(folder).with_suffix("").parts if p != "__init__"]
            assert ".".join([room, *parts]) in graph.modules


@pytest.mark.parametrize(
    ("above", "below"),
    [
        ("pready.show.terminal.terminal", "pready.model.equations.gain"),
        ("pready.show.figures.style", "pready.show.tables.prediction"),
        ("pready.show.pages.prediction_page", "pready.show.figures.files"),
        ("pready.commands.options", "pready.show.terminal.terminal"),
        ("pready.validate.prove.session", "pready.calibrate.machine.calibration"),
        ("pready.files.writing", "pready.model.toml.reading"),
        ("pready.sst.run", "pready.calibrate.machine.calibration"),
    ],
)
def test_an_upward_import_would_be_seen(
    graph: grimp.ImportGraph, layers: dict[str, list[grimp.Layer]], above: str, below: str
) -> None:
    def illegal() -> bool:
        return any(graph.find_illegal_dependencies_for_layers(f, containers={house}) for house, f in layers.items())

    assert not illegal()
    graph.add_import(importer=below, imported=above)
    try:
        assert illegal()
    finally:
        graph.remove_import(importer=below, imported=above)
