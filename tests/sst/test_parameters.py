"""One header, two languages: the parameters that Python reads are those that C++ compiles."""

from pathlib import Path

import pytest
from given import Dump

from pready.model.common.errors import PreadyError
from pready.sst.parameters import GROUPS, SOURCES, arguments, groups, parameters


def test_every_line_of_the_header_is_read() -> None:
    text = (SOURCES / "parameters.hpp").read_text().partition("#define PREADY_STATISTICS")[0]
    lines = [x for x in text.splitlines() if x.lstrip().startswith("X(")]
    assert len(lines) == sum(map(len, groups().values())) > 25


def test_every_group_belongs_to_a_motif_and_every_motif_has_a_file() -> None:
    assert {g for gs in GROUPS.values() for g in gs} == set(groups())
    sources = {path: path.read_text() for path in SOURCES.glob("*.cpp")}
    for motif, used in GROUPS.items():
        (of_motif,) = (text for text in sources.values() if f'"pready", "{motif}Motif"' in text)
        assert of_motif.count("SST_ELI_REGISTER_SUBCOMPONENT(") == 1
        # What SST documents, and what a motif takes.
        for use in ("ELI", "NAME"):
            assert {g for g in groups() if f"PREADY_{g}(PREADY_{use})" in of_motif} == set(used)


@pytest.mark.thorough
def test_every_default_is_valid_in_cpp(dump: Dump) -> None:
    words = {f"{p.name}={p.default}" for motif in GROUPS if motif != "Traffic" for p in parameters(motif).values()}
    done = dump("pingpong", 8, 0, *sorted(words))
    assert done.returncode == 0, done.stderr
    assert done.stdout == dump("pingpong", 8, 0).stdout


def test_arguments_at_their_defaults_are_left_out_and_times_are_clean() -> None:
    values = {
        "threads": 1,
        "transport": 4,
        "compute_ns": 100e-9 * 1e9 + 1e-14,
        "barrier_ns": 0.0,
        "contention_ns": 8.4e1,
    }
    assert str(arguments("PartExchange", values)) == "{'transport': 4, 'compute_ns': 100, 'contention_ns': 84}"
    assert arguments("PartExchange", {"compute_ns": 0.1 + 0.2}) == {"compute_ns": 0.3}


def test_a_name_that_a_motif_has_not() -> None:
    with pytest.raises(PreadyError, match="PartExchange has no argument 'pong'; valid: approach, threads"):
        arguments("PartExchange", {"pong": 1})


@pytest.mark.parametrize(
    ("text", "read"),
    [("my%20runs/r%3D1.csv", "my runs/r=1.csv"), ("50%25", "50%"), ("5%", None), ("5%4", None), ("5%zz", None)],
)
def test_blanks_in_names_of_files(dump: Dump, tmp_path: Path, text: str, read: str | None) -> None:
    # Ember splits at blanks and "=".
    done = dump("pingpong", 8, 0, f"arrivals={tmp_path}/{text}")
    assert done.returncode == 1
    said = f"{tmp_path}/{read}: cannot be read" if read else "valid: two hexadecimal digits after %, %25 for % itself"
    assert said in done.stderr
