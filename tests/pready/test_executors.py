"""Sweeps on process pools, any executor and MPI ranks: the same tables, and nothing lost where a worker dies."""

import io
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from given import Patch
from mpi_home import home_of

import pready
from pready.cli import main
from pready.files.rows import csv_text
from pready.model.common.errors import PreadyError
from pready.model.machine import machine
from pready.model.workload import workload
from pready.whatif import compute as computing
from pready.whatif.compute import compute
from pready.whatif.executors import PROCESSES_FROM, processes
from pready.whatif.fields import axis
from pready.whatif.kept import Kept
from pready.whatif.points import Options, Point, points
from pready.whatif.tasks import Task, points_per_task, work

MELUXINA = machine.load("meluxina")
LAGGARD = workload.load("examples/laggard.toml")
OVER = ("--set", "buffer=4MiB,8MiB", "--set", "seed=0:3:1", "-o", "-")


def some_points(seeds: int = 6) -> list[Point]:
    return points(MELUXINA, LAGGARD, [axis("buffer", ["4 MiB", "8 MiB"]), axis("seed", range(seeds))])


@pytest.fixture(scope="module")
def plain() -> str:
    """The table as this process computes it."""
    with redirect_stdout(io.StringIO()) as said:
        assert main(["sweep", "examples/laggard.toml", *OVER]) == 0
    return said.getvalue()


class Here(Executor):
    """Runs each task at once, through the bytes in which it would travel."""

    def submit(self, function: Any, /, *args: Any, **_: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(pickle.loads(pickle.dumps(function(*pickle.loads(pickle.dumps(args))))))
        except Exception as error:
            future.set_exception(error)
        return future


@pytest.mark.parametrize("name", machine.profiles())
def test_a_task_holds_the_machine_and_the_workload_exactly(name: str, monkeypatch: Patch) -> None:
    found: list[Point] = []
    monkeypatch.setattr("pready.whatif.tasks.rows_of", lambda point, _, cores: found.extend(cores * [point]))
    given = [
        Point(machine.load(name), workload.load(path), None, 3, {}) for path in sorted(Path("examples").glob("*.toml"))
    ]
    work(pickle.loads(pickle.dumps(Task.of(given, Options()))))
    assert [p.key(Options()) for p in found] == [p.key(Options()) for p in given]
    assert all(p.workload.folder == str(Path("examples").resolve()) for p in found)


def test_a_table_is_the_same_wherever_it_is_computed() -> None:
    over = {"buffer": ["4 MiB"], "threads": [2, 4]}
    plain = pready.sweep(LAGGARD, over, "meluxina", every=True)
    there = pready.sweep(LAGGARD, over, "meluxina", every=True, executor=Here())
    assert csv_text(there.to_dicts()) == csv_text(plain.to_dicts())
    both = pready.compare(LAGGARD, ["meluxina", "niagara"], executor=Here())
    assert csv_text(both.to_dicts()) == csv_text(pready.compare(LAGGARD, ["meluxina", "niagara"]).to_dicts())


def test_an_error_in_a_task_names_its_point_and_keeps_the_others(tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.setattr(computing, "points_per_task", lambda _: 3)
    some = points(MELUXINA, LAGGARD, [axis("threads", [2, 1024, 4, 8])])
    kept = Kept(tmp_path / "s.csv")
    with pytest.raises(PreadyError, match=r"where threads = 1024: .* is known for 1 to"):
        compute(some, Options(), kept=kept, executor=Here())
    assert len(kept) == 3
    travelled = pickle.loads(pickle.dumps(PreadyError("x = 1", valid="2", source="f")))
    assert (str(travelled), str(travelled.at("g"))) == ("f: x = 1; valid: 2", "g: x = 1; valid: 2")


class Gone(Here):
    """Workers that are gone after the first task."""

    def __init__(self, error: Exception) -> None:
        self.error, self.left = error, 1

    def submit(self, function: Any, /, *args: Any, **_: Any) -> Future[Any]:
        self.left -= 1
        future: Future[Any] = Future()
        future.set_exception(self.error)
        return super().submit(function, *args) if self.left >= 0 else future


def test_workers_that_are_gone_are_said_and_what_is_kept(tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.setattr("pready.whatif.tasks.rows_of", lambda *_: [{"eta": 1.0}])
    monkeypatch.setattr(computing, "PROCESSES_FROM", 2)
    some, kept, pools = some_points(2), Kept(tmp_path / "s.csv"), [Gone(BrokenExecutor("died")) for _ in range(6)]
    for where, said in ((None, "lost, -o FILE would"), (kept, f"kept in {kept.path}, the same command resumes")):
        with pytest.raises(PreadyError, match=rf"failed \(OSError: 'gone'\); 1 of 4 points are finished and {said}"):
            compute(some, Options(), kept=where, executor=Gone(OSError("gone")))
    monkeypatch.setattr(computing, "processes", lambda _: pools.pop())
    with pytest.raises(PreadyError, match=r"failed \(BrokenExecutor: 'died'\); 3 of 4 points"):  # a point of each pool
        compute(some, Options(), cores=2, separate=True)
    assert (len(kept), len(pools)) == (1, 3)
    assert len(compute(some, Options(), cores=2, separate=True, kept=kept)) == 4  # the three that are left
    assert len(pools) == 0


def test_many_points_of_a_command_go_to_processes_and_a_single_one_has_all_cores(monkeypatch: Patch) -> None:
    seen: list[Any] = []

    def done(run: Any, opened: Any, lost: type[Exception], cores: int | None = 1) -> None:
        assert lost is BrokenExecutor
        seen.append((*opened(), cores))
        run.done.update({key: [] for key in run.todo})

    monkeypatch.setattr(computing._Run, "on", done)
    monkeypatch.setattr(computing, "processes", lambda workers: ("processes", workers))
    monkeypatch.setattr(computing, "ThreadPoolExecutor", lambda workers: ("threads", workers))
    many = some_points(PROCESSES_FROM // 2)
    for points_of, cores, separate in ((many, 2, True), (many[1:], 2, True), (many, 1, True), (many, 2, False)):
        compute(points_of, Options(), cores=cores, separate=separate)
    compute(many[:1], Options(), cores=4, separate=True)
    pools = [("processes", 2), ("threads", 2), ("threads", 1), ("threads", 2), ("threads", 1)]
    assert seen == [(*of, cores) for of, cores in zip(pools, (1, 1, 1, 1, 4), strict=True)]


def test_tasks_of_very_many_points_have_several() -> None:
    counts = {1: 1, 1999: 1, 2000: 2, 61_999: 31, 62_000: 32, 10**6: 32}
    assert {count: points_per_task(count) for count in counts} == counts


def test_workers_are_forked_only_from_a_single_thread(monkeypatch: Patch) -> None:
    for threads, how in ((1, "fork"), (2, "forkserver")):
        monkeypatch.setattr("threading.active_count", lambda of=threads: of)
        context: Any = processes(1)._mp_context
        assert context.get_start_method() == how


def test_a_worker_of_another_version_is_refused(monkeypatch: Patch) -> None:
    task = Task.of(some_points(1), Options())
    monkeypatch.setattr("pready.whatif.installed_code.digest", lambda: "another")
    with pytest.raises(PreadyError, match=r"a worker's pready .* is other code than this one"):
        work(task)


class Loses(Here):
    """A worker dies with each of the first results."""

    def __init__(self, results: int) -> None:
        self.left = results

    def submit(self, function: Any, /, *args: Any, **_: Any) -> Future[Any]:
        future, self.left = super().submit(function, *args), self.left - 1
        if self.left >= 0:
            future = Future()
            future.set_exception(ValueError("lost"))
        return future


def test_what_a_worker_elsewhere_has_lost_is_computed_again(tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.setattr("pready.whatif.tasks.rows_of", lambda *_: [{"eta": 1.0}])
    monkeypatch.setattr(computing, "points_per_task", lambda _: 1)
    some, kept = some_points(2), Kept(tmp_path / "s.csv")
    assert len(compute(some, Options(), kept=kept, executor=Loses(8))) == len(kept) == 4
    with pytest.raises(PreadyError, match=r"failed \(ValueError: 'lost'\); 0 of 4 points"):
        compute(some, Options(), executor=Loses(12))


@pytest.mark.thorough
def test_a_process_that_dies_costs_only_its_points(monkeypatch: Patch, tmp_path: Path) -> None:
    monkeypatch.setattr(computing, "PROCESSES_FROM", 2)
    some = some_points(2)
    plain = compute(some, Options())
    told: list[int] = []

    def kill_one() -> None:
        told.append(1)
        if len(told) == 2:
            os.kill(multiprocessing.active_children()[0].pid or 0, signal.SIGKILL)

    kept = Kept(tmp_path / "s.csv")
    assert compute(some, Options(), cores=2, separate=True, kept=kept, on_point=kill_one) == plain
    assert len(told) == len(kept.path.read_text(encoding="utf-8").splitlines()) == len(some)


@pytest.mark.thorough
def test_ranks_of_an_mpi_job_give_the_same_bytes(plain: str) -> None:
    pytest.importorskip("mpi4py")
    prefix = home_of("mpich")
    words = [f"{prefix}/bin/mpiexec", "-n", "3", sys.executable, "-m", "mpi4py.futures", "-m", "pready", "sweep"]
    there = {**os.environ, "MPI4PY_LIBMPI": f"{prefix}/lib/libmpi.so.12"}
    done = subprocess.run(
        [*words, "examples/laggard.toml", *OVER], capture_output=True, text=True, check=False, timeout=240, env=there
    )
    assert (done.returncode, done.stdout) == (0, plain), done.stderr
