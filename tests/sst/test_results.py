"""Reading what a run left behind: recorded files, damaged files, and every way in which SST fails."""

from pathlib import Path

import numpy as np
import pytest
from given import Dump
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tables import table_of

from pready.model.common.errors import PreadyError
from pready.sst.results import COLUMNS, failure, parse_records, read_records

HEADER = ",".join(COLUMNS) + "\n"


def test_the_motifs_writer_and_the_reader_agree(dump: Dump, tmp_path: Path) -> None:
    path = tmp_path / "times.csv"
    assert dump("record", 2, 0, f"record={path}").returncode == 0
    assert path.read_text().startswith(HEADER)
    assert (tmp_path / "times.csv.1").exists()  # what a second process writes
    with pytest.raises(PreadyError, match=r"1 of 2 ranks did not finish \(rank 1\)"):
        read_records(path, ranks=2, iterations=2)
    found = read_records(path, ranks=2, iterations=1)
    assert found.rank.tolist() == [0, 0, 1]
    assert found.completion.tolist() == pytest.approx([5e-9] * 3)
    assert np.isnan(found.ready).all()
    assert found.arrivals[0] == pytest.approx((4e-9, 5e-9))
    table = found.table(found.end)
    assert table.shape == (2, 2)
    assert np.isnan(table[1, 1])


@pytest.mark.parametrize(("text", "message"), table_of("sst/refused")["records"])
def test_damaged_records_are_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "times.csv"
    path.write_text(text.replace("HEADER\n", HEADER))
    with pytest.raises(PreadyError) as error:
        read_records(path, 1, 1)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_no_record_is_named(tmp_path: Path) -> None:
    with pytest.raises(PreadyError, match="SST ended without recording anything"):
        read_records(tmp_path / "times.csv", 1, 1)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(st.text(st.characters(codec="ascii"), max_size=8), max_size=14), max_size=5))
def test_rubbish_is_refused_or_read_never_a_crash(rows: list[list[str]]) -> None:
    with pytest.raises(PreadyError):
        parse_records(rows, ranks=1, iterations=1)


@pytest.mark.parametrize(("output", "status", "message"), table_of("sst/refused")["failures"])
def test_failures_are_recognised(output: str, status: int, message: str) -> None:
    said = failure(output, status)
    assert said is not None
    assert message in said
    assert "\n" not in said
    assert failure("pready.PartExchange: 8 ranks\nSimulation is complete, simulated time: 12.345 us\n", 0) is None
