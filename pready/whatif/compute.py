"""Points on all cores or on an executor's workers, each kept once it is finished."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor, as_completed, wait
from contextlib import AbstractContextManager, nullcontext, suppress
from itertools import count

from pready.model.common.errors import PreadyError, shown
from pready.model.common.parallel import all_cores
from pready.whatif.executors import PROCESSES_FROM, processes
from pready.whatif.kept import Kept
from pready.whatif.points import Options, Point
from pready.whatif.predicted_rows import Rows
from pready.whatif.tasks import Results, Task, points_per_task, work

MOST_DEATHS = 3
"""Times that workers may die before the sweep gives up."""
LAST_RESULTS_S = 10.0
"""How long a sweep that ends early waits for tasks that run elsewhere."""


def compute(
    points: Sequence[Point],
    options: Options,
    *,
    kept: Kept | None = None,
    cores: int | None = None,
    executor: Executor | None = None,
    separate: bool = False,
    on_point: Callable[[], object] = lambda: None,
) -> list[Rows]:
    """Rows of each point, with the varied fields first.

    Parameters
    ----------
    kept
        Store of finished points, read and extended.
    cores
        Workers on this machine; default: all cores of this process.
    executor
        Where to compute instead, such as a process pool, Dask's or mpi4py's; it stays open.
    separate
        May many points go to processes of this machine in place of threads? They import the caller's main module.
    on_point
        Called for each finished point, including those finished earlier.

    Raises
    ------
    PreadyError
        As `predict`, with the varied values of that point; or the executor failed. Finished points are kept.
    KeyboardInterrupt
        Ctrl-C; raised after the running points finish.
    """
    keys = [point.key(options) for point in points]
    run = _Run(dict(zip(keys, points, strict=True)), options, kept, Counter(keys), on_point)
    workers = min(cores or all_cores(), len(run.todo))
    if executor is not None:  # whose errors for a worker or a scheduler that is gone are its own
        run.on(lambda: nullcontext(executor), Exception, points_per_task(len(run.todo)), 1, LAST_RESULTS_S)
    elif separate and workers > 1 and len(run.todo) >= PROCESSES_FROM:
        run.on(lambda: processes(workers), BrokenExecutor)
    elif run.todo:  # a single point uses all cores
        run.on(lambda: ThreadPoolExecutor(workers), BrokenExecutor, cores=1 if workers > 1 else cores)
    return [[_labelled(point, row) for row in run.done[key]] for key, point in zip(keys, points, strict=True)]


def _labelled(point: Point, row: dict[str, object]) -> dict[str, object]:
    return {**point.label, **{name: value for name, value in row.items() if name not in point.label}}


class _Run:
    """The points of a sweep by their keys: what is left to do, and the rows of what is done."""

    def __init__(
        self,
        points: Mapping[str, Point],
        options: Options,
        kept: Kept | None,
        alike: Mapping[str, int],
        on_point: Callable[[], object],
    ) -> None:
        self.options, self.kept, self.alike, self.on_point = options, kept, alike, on_point
        self.done: dict[str, Rows] = {}
        for key in points:
            if kept is not None and (rows := kept.get(key)) is not None:
                self._finish(key, rows)
        self.todo = {key: point for key, point in points.items() if key not in self.done}

    def _finish(self, key: str, rows: Rows) -> None:
        self.done[key] = rows
        if self.kept is not None and self.kept.get(key) is None:
            self.kept.add(key, rows)
        for _ in range(self.alike[key]):
            self.on_point()

    def on(
        self,
        opened: Callable[[], AbstractContextManager[Executor]],
        lost: type[Exception],
        size: int = 1,
        cores: int | None = 1,
        last_s: float | None = None,
    ) -> None:
        """Compute on an executor, so many points a task and cores a point; those that a dead worker lost, once more."""
        for death in count(1):
            left = [key for key in self.todo if key not in self.done]
            tasks = [left[i : i + size] for i in range(0, len(left), size)]
            try:
                with opened() as pool:
                    return self._collect({pool.submit(work, self._task(some), cores): some for some in tasks}, last_s)
            except PreadyError:
                raise
            except lost as error:
                if death == MOST_DEATHS:
                    raise self.failed(error) from error

    def _task(self, keys: Sequence[str]) -> Task:
        return Task.of([self.todo[key] for key in keys], self.options)

    def _collect(self, running: Mapping[Future[Results], Sequence[str]], last_s: float | None) -> None:
        """Take results as they come; after an error, those of the tasks that still end (in `last_s`; None: all).

        Of several points that fail, the first in order is named: tasks begin in order, so it is among those that ended.
        """
        left, errors = set(running), {}
        try:
            for future in as_completed(running):
                left.discard(future)
                errors[future] = self._take(future, running[future])
                if errors[future] is not None:
                    break
        finally:
            for future in left:
                future.cancel()
            ended, _ = wait([f for f in left if not f.cancelled()], last_s)
            for future in ended:
                with suppress(Exception):  # one is under way, and is raised
                    errors[future] = self._take(future, running[future])
        if (first := next((error for f in running if (error := errors.get(f))), None)) is not None:
            raise first

    def _take(self, future: Future[Results], keys: Sequence[str]) -> PreadyError | None:
        """Finish a task's points; the first error, with its point."""
        try:
            results = future.result()
        except PreadyError as error:
            results = [error] * len(keys)
        first: PreadyError | None = None
        for key, result in zip(keys, results, strict=True):
            if not isinstance(result, PreadyError):
                self._finish(key, result)
            elif first is None:
                point = self.todo[key]
                first = result.at(f"where {point.said}" if point.label else point.workload.name)
        return first

    def failed(self, error: Exception) -> PreadyError:
        """The error of workers that are gone."""
        there = sum(key in self.done for key in self.todo)
        where = "lost, -o FILE would keep them"
        if self.kept is not None:
            where = f"kept in {self.kept.path}, the same command resumes"
        return PreadyError(
            f"the sweep's workers failed ({type(error).__name__}: {shown(str(error), 200)}); "
            f"{there} of {len(self.todo)} points are finished and {where}"
        )
