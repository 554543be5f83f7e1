"""Programs whose messages depend on each other in known ways, over both libraries: each is said as it is."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from programs import Mpi, each_library
from tables import table_of

from pready.calibrate.capture.run_summary import messages_of, summarise
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
    assert (step.steps, step.threads) == (case.get("of", case["steps"]), case.get("threads", 2))
    assert summarise(run).messages == case.get("messages", summarise(run).messages)
    found = [[e.routine.split()[0], e.depends, *e.pattern.to_a_rank] for e in step.exchanges]
    assert found in (case["exchanges"], *case.get("or", ()))
    assert step.notes[0].partition(":")[0] == case.get("note", step.notes[0].partition(":")[0])
    assert case.get("share", [0, 1])[0] <= step.share <= case.get("share", [0, 1])[1]
    assert main(["workload", str(tmp_path / "run"), "-o", str(tmp_path / "w.toml")]) == 0
    written = load(tmp_path / "w.toml")
    within(written.interior, *case.get("interior", ()))
    within(written.pack, *case.get("pack", ()))
    today = case.get("today", "pipeline" if step.chain else "nonblocking")
    assert (step.today, written.today) == (today, "nonblocking" if today == "blocking" else today)  # on one node
    code = main(["predict", str(tmp_path / "w.toml"), "--machine", "niagara"])
    said = " ".join("".join(capsys.readouterr()).split())
    assert code == (2 if step.chain else 0)
    if step.chain:
        assert "this is a pipeline" in said


def test_what_never_repeats(mpi: Mpi, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a step: messages, bytes, peers, late threads, and what no library can save."""
    done, run = mpi.captured(4, [mpi.compiled("shapes.c", "-fopenmp"), "random", "40"], tmp_path / "run")
    assert run is not None
    sizes = [*map(int, done.stdout.split())]
    assert (sent := messages_of(run)) is not None
    assert (sent.messages, sent.bytes, sent.peers, sent.sizes) == (40, sum(sizes), (3, 3), (min(sizes), max(sizes)))
    summary = summarise(run)
    assert 1 - sent.most >= 40 * 1.2e-3 / summary.run_s * 0.95  # asleep in steps of 1.2 ms
    assert summary.regions[0].late >= 0.9 / 12  # 1.2 ms behind 1.1 ms, the median of two; busy cores add to it
    assert main(["workload", str(tmp_path / "run")]) == 2
    said = " ".join("".join(capsys.readouterr()).split())
    assert "a rank sends 40 messages of " in said
    assert f"whatever it costs: rank {sent.rank} is outside MPI for the rest" in said


def test_a_program_with_partitioned_sends(mpi: Mpi, tmp_path: Path) -> None:
    """Partitions of its buffers are counted, and its threads' times come back as it took them itself."""
    words = ["7", "2", "2", "1", "0", "60000", "60000", "60", "0", "0", "20", "3", "2000", "laggard", "0.5", "ported"]
    done, run = mpi.captured(4, [mpi.stencil(), *words, str(tmp_path / "truth")], tmp_path / "run")
    assert (done.returncode, done.stderr) == (0, "")
    assert run is not None
    (exchange,) = (found := find(run)).exchanges
    assert (exchange.early, exchange.partitions, exchange.today) == (True, 3, "partitioned")
    own = np.concatenate([np.loadtxt(tmp_path / f"truth.{rank}")[1:] for rank in range(4)]) * 1e-6
    late, own_late = (np.median(t.max(axis=1) - t.min(axis=1)) for t in (exchange.times, own))
    assert abs(late - own_late) <= max(0.1 * own_late, 100e-6)
    assert 0 < exchange.exchange_s < found.step_s - 2e-3  # without the 2 ms in which threads compute
