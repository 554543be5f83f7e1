"""Programs of many kinds, each with a truth: exchanges of a step, steps, partners, bytes, and how they send."""

from pathlib import Path

import numpy as np
import pytest
from programs import Mpi, each_library
from tables import table_of

from pready.calibrate.capture.regions import stretches
from pready.calibrate.capture.run_summary import summarise
from pready.calibrate.capture.step import find
from pready.cli import main
from pready.model.workload import workload

pytestmark = pytest.mark.thorough
mpi = each_library
BYTES, STEPS, RANKS = 40_000, 30, 4
KINDS: dict[str, tuple[int, str, int, bool]] = table_of("calibrate/captured_programs")["kinds"]


# Where cores are busy, one thread may run both tasks of a step before the other wakes: six of thirty steps were others.
@pytest.mark.parametrize("way", [pytest.param(way, marks=[pytest.mark.alone] * (way == "tasks")) for way in KINDS])
def test_a_step_is_what_completes(mpi: Mpi, way: str, tmp_path: Path) -> None:
    done, run = mpi.captured(RANKS, [mpi.compiled("kinds.c", "-fopenmp"), way, str(STEPS)], tmp_path / "run")
    assert (done.returncode, done.stdout) == (0, "")
    assert run is not None
    step = find(run)
    exchanges, today, messages, early = KINDS[way]
    assert abs(step.steps - STEPS) <= STEPS / 10
    assert (len(step.exchanges), step.threads, step.chain) == (exchanges, 2, None)
    for e in step.exchanges:
        assert e.pattern.grid == (RANKS, 1, 1)
        assert (e.pattern.name, e.pattern.boundaries, e.pattern.faces[0]) == ("halo3d", "periodic", BYTES)
        assert (e.today, e.messages, e.early) == (today, messages, early)
    first = step.exchanges[0]
    apart = ("bulk", "twice", "refined", "master", "single")  # by `exchange`; others themselves, or by `send_any`
    assert first.name.startswith("exchange" if way in apart else "own_half" if way == "threads" else "each_step")
    # 2 ms and 2.6 ms asleep; of tasks either thread may run either. Busy cores wake them late, but not in each step.
    sooner, later = np.sort(first.times, axis=1).min(axis=0)
    assert 2.0e-3 <= sooner <= 1.1 * (2.6e-3 if way == "tasks" else 2.0e-3)
    assert (2.0e-3 if way == "tasks" else 2.6e-3) <= later <= 1.1 * 2.6e-3
    if way == "twice":
        assert 1e-3 <= step.exchanges[1].last_s < first.last_s
        assert step.exchanges[1].region == ""
    # What a step is made of is its time.
    parts = sum(e.last_s + e.exchange_s for e in step.exchanges)
    assert parts == pytest.approx(step.modelled_s, rel=0.2)
    # Nor are regions before it: the first one, of 20 ms, is the only one of main.
    assert "main" not in {r.name for r in summarise(run).regions}
    assert summarise(run).waiting <= 1
    assert any(s.tasks for s in stretches(run.ranks[0])) == (way == "tasks")


def test_a_sweep_is_found(mpi: Mpi, tmp_path: Path) -> None:
    done, _ = mpi.captured(RANKS, [mpi.compiled("kinds.c", "-fopenmp"), "sweep", "2"], tmp_path / "run")
    assert (done.returncode, done.stderr) == (0, "")
    assert main(["workload", str(tmp_path / "run"), "-o", str(tmp_path / "sweep.toml")]) == 0
    w = workload.load(tmp_path / "sweep.toml")
    assert (w.pattern, w.grid, w.blocks, w.buffer, w.iterations) == ("sweep3d", (2, 2), 2, BYTES, 2)
    assert (w.threads, w.boundaries) == (2, "open")
