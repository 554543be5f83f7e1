"""Doors open downward: `make lint` checks the contracts; here, that they see every file and every offence."""

import tomllib
from pathlib import Path

import grimp
import pytest
from tables import table_of

ROOMS = table_of("pready/rooms")


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
    for room, folder in ROOMS["folders"].items():
        for file in Path(folder).rglob("*.py"):
            parts = [p for p in file.relative_to(folder).with_suffix("").parts if p != "__init__"]
            assert ".".join([room, *parts]) in graph.modules


@pytest.mark.parametrize(("above", "below"), ROOMS["upward"])
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
