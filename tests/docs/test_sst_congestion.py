"""The tables of congestion in SST are those of the recorded runs."""

import json
from pathlib import Path

import pytest
from sst_congestion import DOCUMENTS, RECORD, tables, with_tables

MADE = json.loads(RECORD.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", DOCUMENTS, ids=str)
def test_the_tables_are_the_record_s(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert with_tables(text, MADE) == text
    other = MADE | {"packets": [r | {"error": 0.5} for r in MADE["packets"]]}
    other |= {"curve": {name: [r | {"eta": 9.0} for r in rows] for name, rows in MADE["curve"].items()}}
    assert with_tables(text, other) != text


def test_every_run_is_in_a_table() -> None:
    made = tables(MADE)
    assert len(made["curve"]) == 2 + len(next(iter(MADE["curve"].values())))
    assert len(made["packets"]) == 2 + len(MADE["packets"])
    assert sum(line.count("|") - 2 for line in made["seconds"][2:]) == len(MADE["took"])
