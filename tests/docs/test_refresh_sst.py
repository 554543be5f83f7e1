"""What the documents say of SST is what the recorded run of one command and one seed said."""

import json
from pathlib import Path

import pytest
from refresh_sst import RECORD, lines, values

MADE = json.loads(RECORD.read_text(encoding="utf-8"))


@pytest.mark.parametrize(("path", "begins"), [(p, b) for p, made in lines(MADE).items() for b in made])
def test_each_line_is_the_record_s(path: str, begins: str) -> None:
    text = Path(path).read_text(encoding="utf-8").splitlines()
    assert [line for line in text if line.startswith(begins)] == [lines(MADE)[path][begins]]


def test_another_record_makes_other_lines() -> None:
    other = MADE | {"halos": {"step": [-0.5, 0.1], "apart": [-0.2, 0.3], "eager": [0.0, 0.1]}}
    assert values(other)["step"] == "50"
    assert (values(other)["apart_low"], values(other)["apart_high"]) == ("−20.0", "+30.0")
    changed = [p for p, made in lines(other).items() if made != lines(MADE)[p]]
    assert {"README.md", "docs/trust.md", "sst-motifs/README.md"} <= set(changed)


def test_the_command_is_named_where_the_figures_are() -> None:
    assert MADE["command"] == f"python docs/refresh_sst.py --seed {MADE['seed']}"
    assert MADE["command"] in Path("sst-motifs/README.md").read_text(encoding="utf-8")
