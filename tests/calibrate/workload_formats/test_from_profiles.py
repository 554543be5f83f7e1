"""Profiles as workloads: mpiP reports, and Caliper's communication regions; what is missing is asked for."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from command_line import refused
from tables import table_of

from pready.calibrate.workload_formats.caliper import read_caliper
from pready.calibrate.workload_formats.from_profiles import text_from_mpip
from pready.calibrate.workload_formats.mpip import parse_mpip
from pready.cli import main
from pready.model.common.errors import PreadyError
from pready.model.workload import workload
from pready.model.workload.arrivals import Normal

CALIPER = table_of("calibrate/caliper")
RECORDS: list[dict[str, Any]] = CALIPER["records"]
GIVEN = {"threads": "4", "pattern": "halo3d", "iterations": "50", "arrivals.spread": "4 %", "compute.time": "2 ms"}

REPORT = str(Path(__file__).parents[2] / "data" / "importers" / "mpip_3.5.mpiP")
GIVEN_REPORT = {"threads": "8", "pattern": "halo3d", "iterations": "400", "arrivals.spread": "4 %"}


def words(given: dict[str, str]) -> list[str]:
    return [word for name, value in given.items() for word in ("--set", f"{name}={value}")]


def written(tmp_path: Path, data: Any) -> Path:
    path = tmp_path / "p.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    return path


@pytest.mark.parametrize("wrap", [lambda r: r, lambda r: {"records": r, "globals": {}}], ids=["records", "object"])
def test_bytes_of_a_neighbour_and_step(tmp_path: Path, wrap: Any) -> None:
    path, out = written(tmp_path, wrap(RECORDS)), tmp_path / "w.toml"
    assert main(["workload", str(path), *words(GIVEN), "-o", str(out)]) == 0
    made = workload.load(out)
    # 300 sends of 32 KiB in 50 steps to 3 ranks: 2 × 32 KiB each.
    assert (made.buffer, made.threads, made.iterations, made.pattern) == (65536, 4, 50, "halo3d")
    assert made.thread_time == 2e-3


def test_regions_are_exchanges(tmp_path: Path) -> None:
    others = [{**RECORDS[0], "path": path} for path in ("main/sweep \x1b[31m", "other/halo")]
    path, out = written(tmp_path, [RECORDS[0], *others]), tmp_path / "w.toml"
    assert main(["workload", str(path), *words(GIVEN), "-o", str(out)]) == 0
    assert "\x1b" not in out.read_text(encoding="utf-8")
    made = workload.load(out)
    assert [w.thread_time for w in made.parts] == pytest.approx([2e-3 / 3] * 3)
    assert [e.name for e in made.exchanges or ()] == ["halo 1", "sweep \\x1b[31m", "halo 3"]


@pytest.mark.parametrize("profile", ["caliper", "mpip"])
def test_missing_options_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str], profile: str) -> None:
    path, given = (written(tmp_path, RECORDS), GIVEN) if profile == "caliper" else (REPORT, GIVEN_REPORT)
    out = tmp_path / "w.toml"
    for lacking in given:
        rest = {option: value for option, value in given.items() if option != lacking}
        assert f"valid: --set {lacking}=" in refused(capsys, "workload", path, "-o", out, *words(rest))
        assert not out.exists()


def test_a_region_with_more_peers_than_the_pattern(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = (*words({**GIVEN, "pattern": "pt2pt"}), "-o", tmp_path / "w.toml")
    said = refused(capsys, "workload", written(tmp_path, RECORDS), *given)
    assert "region 'halo' sends to 3 ranks; valid: at most 1" in said
    assert main(["workload", str(written(tmp_path, [{**RECORDS[0], "Dst ranks (max)": 1}])), *map(str, given)]) == 0


def test_bytes_and_times_are_the_report_s(tmp_path: Path) -> None:
    """2 ranks, 7.864e7 B each by Isend, 12.1 s with 3.02 and 2.98 s in MPI, 400 steps, 6 neighbours.

    A step sends 196600 B, 32766.7 B to each neighbour, of which 8 threads have 4096 B each; it computes 9.1 s / 400.
    """
    out = tmp_path / "app.toml"
    assert main(["workload", REPORT, "-o", str(out), *words(GIVEN_REPORT)]) == 0
    w = workload.load(out)
    assert (w.name, w.threads, w.iterations, w.pattern, w.buffer) == ("app", 8, 400, "halo3d", 32768)
    assert w.thread_time == pytest.approx(9.1 / 400)
    assert isinstance(w.arrivals, Normal)
    assert w.arrivals.spread == pytest.approx(0.04)
    stated = [*words(GIVEN_REPORT), "--set", "compute.time=1 ms", "--overwrite"]
    assert main(["workload", REPORT, "-o", str(out), *stated]) == 0
    assert workload.load(out).thread_time == pytest.approx(1e-3)
    assert main(["workload", REPORT, "-o", str(out), *stated, "--set", "arrivals.model=trace"]) == 2


SECTIONS = table_of("calibrate/mpip")
MPIP, BY_TASK, OF_ALL, OTHER = (SECTIONS[name] for name in ("report", "by_task", "of_all", "other"))


@pytest.mark.parametrize("times", [BY_TASK, OF_ALL, OF_ALL.replace("3.00    24.79", "3.00")])
@pytest.mark.parametrize("more", ["", OTHER], ids=["", "another header"])
def test_reports_of_other_options(times: str, more: str) -> None:
    """Concise (-c) ones have the times of all tasks together; lines below a table and sections with other columns are
    skipped, as one section of messages suffices."""
    report = parse_mpip(MPIP.format(times=times, more=more).encode())
    assert [(s.call, s.count, s.total) for s in report.sent] == [("Isend", 2400, 7.864e7)]
    assert report.app_time.tolist() == [12.1, 12.1]
    assert report.mpi_time.mean() == pytest.approx(3.0)


def test_a_header_that_is_not_understood_is_named_where_nothing_else_says_it() -> None:
    text = MPIP.format(times=BY_TASK, more=OTHER).replace("Call  ", "Cull  ")
    with pytest.raises(PreadyError, match="header = 'Cull"):
        parse_mpip(text.encode())


@pytest.mark.parametrize(("times", "old", "new", "said"), SECTIONS["refused"])
def test_what_a_report_leaves_open(times: str, old: str, new: str, said: str) -> None:
    text = MPIP.format(times=SECTIONS.get(times, ""), more="").replace(old, new).encode()
    with pytest.raises(PreadyError, match=re.escape(said)):
        text_from_mpip(
            parse_mpip(text, "f"), "w", threads=4, pattern="halo3d", iterations=400, spread="4 %", source="f"
        )


def split(**fields: Any) -> dict[str, Any]:
    """RECORDS as Caliper's json-split has them."""
    names = ["path", "Sends (max)", "Sends (total)", "Bytes sent (total)", "Dst ranks (max)"]
    rows = [[0, None, None, None, None], [1, *(RECORDS[0][name] for name in names[1:])]]
    nodes = [{"label": "main", "column": "path"}, {"label": "halo", "column": "path", "parent": 0}]
    values = [{"is_value": False}, *({"is_value": True} for _ in names[1:])]
    return {"data": rows, "columns": names, "column_metadata": values, "nodes": nodes, **fields}


def test_columns_and_rows_of_caliper(tmp_path: Path) -> None:
    whole, parts = (read_caliper(written(tmp_path, data)) for data in (RECORDS, split()))
    assert parts == whole
    path, *numbers = split()["data"][1]
    (beside,) = read_caliper(written(tmp_path, split(data=[[path + 1, *numbers]])))  # of no node: a name
    assert beside.name == "2"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        *CALIPER["refused"].items(),
        ("[" * 100_000, "is no JSON"),
        ([{**RECORDS[0], "path": f"{n}"} for n in range(65)], "has 65 regions that send messages; valid: at most 64"),
        (split(data=[[1, 1]]), "is no list of records"),
        (split(columns=5), "is no list of records"),
        (split(columns=[]), "is no list of records"),
        *((split(nodes=[{"label": "main"}, {"label": "halo", "parent": above}]), "is no list") for above in (-1, 1)),
        (split(nodes=[{"label": "x" * 600}, {"label": "x" * 600, "parent": 0}]), "is no list of records"),
        (split(columns=["path", "Sends (max)", "Sends (total)", "x", "y"]), "no column Bytes sent (total), Dst ranks"),
    ],
)
def test_what_is_no_profile_of_caliper_is_refused(tmp_path: Path, data: Any, said: str) -> None:
    with pytest.raises(PreadyError, match=re.escape(said)):
        read_caliper(written(tmp_path, data))
