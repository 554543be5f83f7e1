"""Programs that are captured unchanged: what threads and messages they had is known."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from programs import Mpi, each_library
from tables import table_of

from pready.calibrate.capture.files import Process, Run, kinds
from pready.calibrate.capture.regions import Stretch, stretches
from pready.calibrate.capture.run_summary import stretch_name, summarise
from pready.model.common.arrays import Array

pytestmark = pytest.mark.thorough
mpi = each_library

CLOSE_S = 20e-6
"""How far a thread's time may be from the program's own, beside 5 % of it."""
ITERATIONS, THREADS = 40, 3
LAGGARDS = [("laggard", 0.01), ("laggard", 0.04), ("laggard", 0.1), ("normal by thread", 0.05)]


def halo(program: Path, to: Path, *, model: str = "laggard", amount: float = 0.1) -> list[str]:
    """4 ranks in a row that wraps around; along y and z each is its own neighbour."""
    return [
        str(program), "7", "4", "1", "1", "1", "6000", "600", "60", "0", "0", str(ITERATIONS), str(THREADS), "2000",
        model, str(amount), "isend", str(to / "truth"),
    ]  # fmt: skip


def computing(process: Process) -> Stretch:
    (found,) = [s for s in stretches(process) if stretch_name(process, s).startswith(("compute_cells", "main"))]
    return found


def truth(folder: Path, rank: int) -> Array:
    return np.loadtxt(folder / f"truth.{rank}") * 1e-6


def late(times: Array) -> float:
    """How late the last thread is behind the others, the median over iterations."""
    ordered = np.sort(times, axis=1)
    return float(np.median(ordered[:, -1] - np.median(ordered[:, :-1], axis=1)))


def recovered(run: Run, folder: Path, shift: int = 0) -> None:
    """Shares agree with the program's own clock, one by one, and so does what is made of them.

    The program reads its clock at the end of its share, the capture when the thread leaves the region: between the two
    a thread may lose its core, so the rare share that did is left out of the first comparison.
    """
    assert len(run.ranks) == 4
    for process in run.ranks:
        seen, own = computing(process).finish, truth(folder, (process.rank + shift) % 4)
        # The first region has the threads made, which the runtime may do before it tells of the region.
        seen, own = seen[1:], own[1:]
        assert seen.shape == own.shape == (ITERATIONS - 1, THREADS)
        close = np.abs(seen - own) <= np.maximum(0.05 * own, CLOSE_S)
        assert close.mean() >= 0.95
        for a, b in ((late(seen), late(own)), (seen.mean(), own.mean()), (seen.std(), own.std())):
            assert abs(a - b) <= max(0.05 * b, CLOSE_S)


@pytest.mark.alone
@pytest.mark.parametrize(("model", "amount"), LAGGARDS)
def test_thread_times_come_back(mpi: Mpi, tmp_path: Path, model: str, amount: float) -> None:
    done, run = mpi.captured(4, halo(mpi.stencil(), tmp_path, model=model, amount=amount), tmp_path / "run")
    assert (done.returncode, done.stderr) == (0, "")
    assert run is not None
    assert {p.runtime for p in run.ranks} == {"libgomp"}
    recovered(run, tmp_path)


@pytest.mark.alone
@pytest.mark.needs("clang")
def test_thread_times_by_ompt(mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMPI_CC", "clang")
    monkeypatch.setenv("MPICH_CC", "clang")
    program = mpi.compiled("stencil.c", "-fopenmp", name="stencil-clang")
    done, run = mpi.captured(4, halo(program, tmp_path), tmp_path / "run")
    assert (done.returncode, done.stderr) == (0, "")
    assert run is not None
    assert {p.runtime for p in run.ranks} == {"OMPT"}
    recovered(run, tmp_path)


def of_calls(rank: int) -> Counter[tuple[str, int, int]]:
    """What `calls.c` does on a rank of three, by kind, peer (-1 any, -2 none, -4 not one) and bytes or number."""
    own, to, by = 2 - rank, (rank - 1) % 3, (rank + 1) % 3
    graph, sides = [[1], [0, 2], [1]][own], [[2, 1], [0, 2], [0]][own]
    there = [*((n, 1) for n in graph), *((n, 3) for n in sides), *((n, i + 1) for i, n in enumerate(graph))]
    rows = [("neighbour_send", 2 - n, 4 * ints) for n, ints in there]
    calls = table_of("calibrate/captured_programs")["calls"]
    for peer, of in ((to, "sent"), (by, "received"), (-4, "no_one"), (-1, "any"), (-2, "null")):
        rows += [(kind, peer, 4 * ints) for kind, each in calls[of].items() for ints in each]
    return Counter([*rows, ("startall", -4, 2), *[("wait", -4, 2)] * 3, *[("wait", -4, 1)] * 11])


def test_every_call_is_recorded_with_its_peer_and_bytes(mpi: Mpi, tmp_path: Path) -> None:
    done, run = mpi.captured(3, [mpi.compiled("calls.c")], tmp_path / "run")
    assert done.returncode == 0
    assert run is not None
    names = {number: name for name, number in kinds().items()}
    for process in run.ranks:
        assert process.library.lower().replace(" ", "").startswith(mpi.name)
        rows, beside = process.records, ("test", "other", "init", "finalize", "barrier")
        found = ((names[int(r["kind"])], int(r["who"]), int(r["what"])) for r in rows)
        assert Counter(row for row in found if row[0] not in beside) == of_calls(process.rank)
        places = [number for number, place in enumerate(process.places) if place]
        assert places == [*range(1, len(places) + 1)]  # none is left free
        assert (rows["start"] <= rows["end"]).all()
        assert (rows["end"] <= rows["done"]).all()
        assert (process.ended, process.dropped, process.dropped_requests) == ("exit", 0, 0)


@pytest.mark.alone
def test_summary_of_a_run(mpi: Mpi, tmp_path: Path) -> None:
    _, run = mpi.captured(4, halo(mpi.stencil(), tmp_path, amount=0.5), tmp_path / "run")
    assert run is not None
    summary = summarise(run)
    (region,) = summary.regions
    assert (summary.ranks, summary.hosts, summary.collectives) == (4, 1, 0)
    assert (summary.messages, summary.message_bytes) == (4 * ITERATIONS * 6, 4 * ITERATIONS * 2 * 6660)
    assert (region.name, region.threads, region.calls) == ("compute_cells", THREADS, 4 * ITERATIONS)
    # One thread of three is late by half the time: the other two wait for a third of it on the average.
    own = np.concatenate([truth(tmp_path, rank) for rank in range(4)])
    waits = float((own.max(axis=1) - own.mean(axis=1)).sum()) / 4
    assert region.reclaimable_s == pytest.approx(waits, rel=0.05)
    assert summary.reclaimable_s == region.reclaimable_s
    assert 0 < summary.in_mpi_s < summary.run_s
    assert region.time_s < summary.run_s
    # Negative control: the times of another rank, whose late threads are others, are refused.
    recovered(run, tmp_path)
    with pytest.raises(AssertionError):
        recovered(run, tmp_path, shift=1)
