"""``pready workload --from-mpip``: bytes and times of the report; options for what it lacks."""

from __future__ import annotations

from pathlib import Path

import pytest

from pready.cli import main
from pready.model.workload import workload
from pready.model.workload.arrivals import Normal

REPORT = str(Path(__file__).parents[2] / "data" / "importers" / "mpip_3.5.mpiP")
GIVEN = {"--threads": "8", "--pattern": "halo3d", "--iterations": "400", "--spread": "4 %"}


def words(given: dict[str, str]) -> list[str]:
    return [word for pair in given.items() for word in pair]


def test_bytes_and_times_are_the_report_s(tmp_path: Path) -> None:
    """2 ranks, 7.864e7 B each by Isend, 12.1 s with 3.02 and 2.98 s in MPI, 400 steps, 6 neighbours.

    A step sends 196600 B, 32766.7 B to each neighbour, of which 8 threads have 4096 B each; it computes 9.1 s / 400.
    """
    out = tmp_path / "app.toml"
    assert main(["workload", "--from-mpip", REPORT, "-o", str(out), *words(GIVEN)]) == 0
    w = workload.load(out)
    assert (w.name, w.threads, w.iterations, w.pattern, w.buffer) == ("app", 8, 400, "halo3d", 32768)
    assert w.thread_time == pytest.approx(9.1 / 400)
    assert isinstance(w.arrivals, Normal)
    assert w.arrivals.spread == pytest.approx(0.04)


def test_missing_options_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "app.toml"
    for lacking in GIVEN:
        given = {option: value for option, value in GIVEN.items() if option != lacking}
        assert main(["workload", "--from-mpip", REPORT, "-o", str(out), *words(given)]) == 2
        said = capsys.readouterr().err
        assert f"valid: {lacking} " in said
        assert said.count("\n") == 1
        assert not out.exists()


def test_one_of_run_and_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for given in ([], [str(tmp_path), "--from-mpip", REPORT]):
        assert main(["workload", *given, "-o", str(tmp_path / "app.toml")]) == 2
        assert "one of RUN (a captured run), --from-mpip," in capsys.readouterr().err
