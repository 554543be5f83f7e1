"""The same exchange sent in each way: one step is found, with one time, from when its last part is ready."""

from pathlib import Path

import numpy as np
import pytest
from programs import Mpi, each_library
from ring_of_runs import STEPS, files

from pready.calibrate.capture.files import Run, parse_process
from pready.calibrate.capture.step import Step, find

mpi = each_library


def step(how: str, after_us: int, second: str = "") -> Step:
    made = files(how, after_us, second=second)
    return find(Run(Path("made"), tuple(parse_process(data, Path(f"rank-{rank}")) for rank, data in enumerate(made))))


@pytest.mark.parametrize(
    ("how", "today"),
    [("bulk", "nonblocking"), ("start_send", "persistent"), ("put", "rma"), ("partitioned", "partitioned"),
     ("many", "one message per thread")],
)  # fmt: skip
def test_time_counts_from_the_last_thread(how: str, today: str) -> None:
    """From the end of the region in which the last part is ready, not from MPI_Start: 300 us after 1200 us."""
    (exchange,) = (found := step(how, 300)).exchanges
    assert found.step_s == pytest.approx(1500e-6, abs=2e-6)
    assert exchange.exchange_s == pytest.approx(300e-6, abs=2e-6)
    assert exchange.today == found.today == today
    assert exchange.early == (how in ("partitioned", "many"))
    assert exchange.partitions == (2 if how == "partitioned" else 0)
    assert not exchange.overlapped
    assert (found.threads, exchange.threads, found.steps) == (2, 2, STEPS)
    assert np.allclose(exchange.times[5:], [1000e-6, 1200e-6], atol=1e-6)


def test_each_of_two_exchanges() -> None:
    after = step("partitioned", 100, second="bulk")
    assert [(e.early, e.overlapped) for e in after.exchanges] == [(True, False), (False, False)]


@pytest.mark.thorough
@pytest.mark.alone
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
