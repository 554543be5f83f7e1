"""What the documents say of SST is what the recorded run of one command and one seed said."""

import json
from pathlib import Path

import pytest
from refresh_sst import RECORD, lines

MADE = json.loads(RECORD.read_text(encoding="utf-8"))


@pytest.mark.parametrize(("path", "begins"), [(p, b) for p, made in lines(MADE).items() for b in made])
def test_each_line_is_the_record_s(path: str, begins: str) -> None:
    text = Path(path).read_text(encoding="utf-8").splitlines()
    assert [line for line in text if line.startswith(begins)] == [lines(MADE)[path][begins]]


def test_the_command_is_named_where_the_figures_are() -> None:
    assert MADE["command"] == f"python docs/refresh_sst.py --seed {MADE['seed']}"
    assert MADE["command"] in Path("sst-motifs/README.md").read_text(encoding="utf-8")
