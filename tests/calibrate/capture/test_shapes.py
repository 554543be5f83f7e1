"""Programs whose messages depend on each other in known ways, over both libraries: each is said as it is."""

from pathlib import Path
from typing import Any

import pytest
from programs import Mpi, each_library
from tables import table_of

from pready.calibrate.capture.step import find
from pready.cli import main
from pready.model.workload.workload import load

pytestmark = [pytest.mark.thorough, pytest.mark.alone]  # what they compute is told from what they wait for
mpi = each_library


def within(value: float | None, low: float | None = None, high: float = 0.0) -> None:
    """Is a value what it should be, or not there?"""
    assert value is None if low is None else low <= (value or 0.0) <= high, value


CASES = [pytest.param(c, id=f"{c['way']}-{c['ranks']}") for c in table_of("calibrate/captured_programs")["shapes"]]


@pytest.mark.parametrize("case", CASES)
def test_what_depends_on_what(
    mpi: Mpi, tmp_path: Path, case: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    words = [mpi.compiled("shapes.c", "-fopenmp"), case["way"], str(case["steps"])]
    done, run = mpi.captured(case["ranks"], words, tmp_path / "run")
    assert (done.returncode, done.stderr) == (0, "")
    assert run is not None
    step = find(run)
    assert (step.steps, step.threads) == (case.get("of", case["steps"]), 2)
    found = [[e.routine.split()[0], e.depends, *e.pattern.to_a_rank] for e in step.exchanges]
    assert found in (case["exchanges"], *case.get("or", ()))
    assert step.notes[0].partition(":")[0] == case.get("note", step.notes[0].partition(":")[0])
    assert case.get("share", [0, 1])[0] <= step.share <= case.get("share", [0, 1])[1]
    assert main(["workload", str(tmp_path / "run"), "-o", str(tmp_path / "w.toml")]) == 0
    written = load(tmp_path / "w.toml")
    within(written.interior, *case.get("interior", ()))
    within(written.pack, *case.get("pack", ()))
    assert written.today == case.get("today", "pipeline" if step.chain else "nonblocking")
    code = main(["predict", str(tmp_path / "w.toml"), "--machine", "niagara"])
    said = " ".join("".join(capsys.readouterr()).split())
    assert code == (2 if step.chain else 0)
    if step.chain:
        assert "this is a pipeline" in said
