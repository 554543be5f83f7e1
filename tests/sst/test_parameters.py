"""One table, two languages: the parameters that Python reads are those that C++ compiles and SST documents."""

from pathlib import Path

import pytest
from given import Dump

from pready.model.common.errors import PreadyError
from pready.sst.parameters import FILES, SOURCES, arguments, parameters


def test_every_motif_has_a_table_and_every_row_of_one_is_read() -> None:
    sources = {path.name: path.read_text() for path in SOURCES.glob("*.?pp")}
    for motif, files in FILES.items():
        assert f'"pready", "{motif}Motif"' in sources[files[-1]]
        assert len(parameters(motif)) == sum(sources[name].count('{"arg.') for name in files) >= 3
    assert {name for name, text in sources.items() if '{"arg.' in text} == {f for some in FILES.values() for f in some}


def test_a_default_that_is_documented_is_the_one_that_cpp_has(dump: Dump) -> None:
    documented = parameters("PartPingPong") | parameters("PartExchange")
    done = dump("settings", 2, 0)
    assert dict(line.split("=") for line in done.stdout.splitlines()) == {n: p.default for n, p in documented.items()}
    # Each is read under its name: another value shows.
    for name, p in documented.items():
        flag = name in ("pong", "receives_first", "messages", "answers")
        other = {"approach": "many", "receiver": "computing"}.get(name, "1" if flag else "2")
        given = dump("settings", 2, 0, f"{name}={other}", *(["threads=2"] if name in ("transport", "shares") else []))
        if name != "shares":
            assert f"{name}={other}" in given.stdout.splitlines(), (p, given.stderr)


def test_arguments_at_their_defaults_are_left_out_and_times_are_clean() -> None:
    values = {"threads": 1, "transport": 4, "compute_ns": 100 + 1e-14, "barrier_ns": 0.0, "contention_ns": 8.4e1}
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
