"""Misspelt words get suggestions; control characters do not reach the terminal."""

import shlex
from pathlib import Path

import pytest
from command_line import refused
from given import Capsys
from tables import table_of

from pready.model.common.errors import PreadyError, shown
from pready.model.toml.misspelt import OTHER_NAMES, called_here
from pready.model.toml.reading import field_names
from pready.model.workload.exchange import ComputeTime
from pready.model.workload.workload import Workload


@pytest.mark.parametrize(("line", "meant"), table_of("pready/refused")["meant"])
def test_the_command_line_says_what_was_meant(line: str, meant: str, capsys: Capsys) -> None:
    said = refused(capsys, *shlex.split(line))
    assert f'id you mean "{meant}"?' in said.replace("'", '"')  # click's own has single quotes


@pytest.mark.parametrize(("line", "said"), table_of("pready/refused")["lines"])
def test_a_bare_value_is_met_with_the_table_to_write(line: str, said: str, tmp_path: Path, capsys: Capsys) -> None:
    path = tmp_path / "w.toml"
    path.write_text(f'threads = 8\nbuffer = "1 MiB"\n{line}\n', encoding="utf-8")
    assert said in refused(capsys, "predict", path)


@pytest.mark.parametrize("line", table_of("pready/refused")["escapes"])
def test_no_escape_sequence_reaches_the_terminal(line: str, tmp_path: Path, capsys: Capsys) -> None:
    path = tmp_path / "w.toml"
    path.write_text(f'threads = 8\nbuffer = "1 MiB"\n{line}\n', encoding="utf-8")
    said = refused(capsys, "predict", path)
    assert "printable characters" in said
    assert all(c.isprintable() for c in said.removesuffix("\n"))


def test_names_used_elsewhere_lead_to_fields_that_are_there() -> None:
    tables = {"": field_names(Workload), "compute": field_names(ComputeTime), "arrivals": ["spread", "delay"]}
    for field, names in OTHER_NAMES.items():
        table, _, name = field.rpartition(".")
        assert name in tables[table], field
        for other in names:
            assert called_here(other, tables[""]) == field
            assert other not in tables[""], f"{other} is a field itself"
    assert called_here("message size", tables[""]) == "buffer"
    assert called_here("ranks", ["from", "G"]) is None  # of a machine file


def test_an_error_quotes_no_control_character() -> None:
    error = PreadyError("columns = '\x1b[31mred'", valid="\x07 as before", source="a\x9bb")
    assert str(error) == "a\\x9bb: columns = '\\x1b[31mred'; valid: \\x07 as before"
    assert str(error.at("c")).isprintable()
    assert [shown("x" * n) for n in (58, 59)] == [repr("x" * 58), "'" + 58 * "x" + "…"]  # sixty characters
