"""Sweeps on processes and on any executor: the same tables, and nothing lost where a worker dies."""

import multiprocessing
import os
import pickle
import signal
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import pytest
from given import Patch

import pready
from pready.model.common.errors import PreadyError
from pready.model.machine import machine
from pready.model.workload import workload
from pready.whatif import compute as computing
from pready.whatif.compute import PROCESSES_FROM, compute
from pready.whatif.fields import axis
from pready.whatif.kept import Kept
from pready.whatif.points import Options, Point, points
from pready.whatif.tasks import Task, work

MELUXINA = machine.load("meluxina")
LAGGARD = workload.load("examples/laggard.toml")


def some_points(seeds: int = 6) -> list[Point]:
    return points(MELUXINA, LAGGARD, [axis("buffer", ["4 MiB", "8 MiB"]), axis("seed", range(seeds))])


class Here(Executor):
    """Runs each task at once, through the bytes in which it would travel; after `left` tasks its workers are gone."""

    def __init__(self, left: int = 1000) -> None:
        self.left = left

    def submit(self, function: Any, /, *args: Any, **_: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.left -= 1
        try:
            if self.left < 0:
                raise OSError("gone")
            future.set_result(pickle.loads(pickle.dumps(function(*pickle.loads(pickle.dumps(args))))))
        except Exception as error:
            future.set_exception(pickle.loads(pickle.dumps(error)))
        return future


@pytest.mark.parametrize("name", machine.profiles())
def test_a_task_holds_the_machine_and_the_workload_exactly(name: str, monkeypatch: Patch) -> None:
    found: list[Point] = []
    monkeypatch.setattr("pready.whatif.tasks.rows_of", lambda point, _, cores: found.extend(cores * [point]))
    examples = sorted(Path("examples").glob("*.toml"))
    given = [Point(machine.load(name), workload.load(path), None, 3, {}) for path in examples]
    for point in given:
        work(pickle.loads(pickle.dumps(Task.of(point, Options()))))
    assert [p.key(Options()) for p in found] == [p.key(Options()) for p in given]
    assert all(p.workload.folder == str(Path("examples").resolve()) for p in found)


def test_a_table_is_the_same_wherever_it_is_computed() -> None:
    over = {"buffer": ["4 MiB"], "threads": [2, 4]}
    plain = pready.sweep(LAGGARD, over, "meluxina", every=True)
    assert pready.sweep(LAGGARD, over, "meluxina", every=True, executor=Here()).to_dicts() == plain.to_dicts()


def test_an_error_names_its_point_and_keeps_the_others(tmp_path: Path) -> None:
    some = points(MELUXINA, LAGGARD, [axis("threads", [2, 1024, 4, 2048, 8])])
    kept = Kept(tmp_path / "s.csv")
    with pytest.raises(PreadyError, match=r"where threads = 1024: .* is known for 1 to"):
        compute(some, Options(), kept=kept, executor=Here())
    assert len(kept) == 3


def test_workers_that_are_gone_are_said_and_what_is_kept(tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.setattr("pready.whatif.tasks.rows_of", lambda *_: [{"eta": 1.0}])
    some, kept = some_points(2), Kept(tmp_path / "s.csv")
    for where, said in ((None, "lost, -o FILE would"), (kept, f"kept in {kept.path}, the same command resumes")):
        with pytest.raises(PreadyError, match=rf"failed \(OSError: 'gone'\); 1 of 4 points are finished and {said}"):
            compute(some, Options(), kept=where, executor=Here(1))
    assert len(compute(some, Options(), kept=kept, executor=Here(3))) == 4  # the three that are left


def test_a_worker_of_another_version_is_refused(monkeypatch: Patch) -> None:
    task = Task.of(some_points(1)[0], Options())
    monkeypatch.setattr("pready.whatif.tasks.code_digest", lambda: "another")
    with pytest.raises(PreadyError, match=r"a worker's pready .* is other code than this one"):
        work(task)


@pytest.mark.thorough
def test_many_points_of_a_command_go_to_processes_and_one_that_dies_loses_no_finished_point(
    monkeypatch: Patch, tmp_path: Path
) -> None:
    some = some_points(PROCESSES_FROM // 2)
    plain = compute(some, Options())
    told: list[int] = []

    def kill_one() -> None:
        told.append(1)
        if len(told) == 2:
            os.kill(multiprocessing.active_children()[0].pid or 0, signal.SIGKILL)

    kept = Kept(tmp_path / "s.csv")
    with pytest.raises(PreadyError, match=r"workers failed .* of 24 points are finished and kept in"):
        compute(some, Options(), cores=2, separate=True, kept=kept, on_point=kill_one)
    assert 2 <= len(Kept(tmp_path / "s.csv")) < len(some)
    monkeypatch.setattr(computing, "PROCESSES_FROM", 2)
    assert compute(some, Options(), cores=2, separate=True, kept=Kept(tmp_path / "s.csv")) == plain
