"""Points on all cores or on an executor's workers, each kept once it is finished."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    as_completed,
    wait,
)
from contextlib import nullcontext, suppress
from multiprocessing import forkserver, get_context
from signal import SIG_DFL, SIG_IGN, SIGINT, SIGTERM, signal
from typing import Any

from pready.model.common.errors import PreadyError, shown
from pready.model.common.parallel import all_cores
from pready.model.workload.workload import Workload
from pready.whatif.fields import Axis
from pready.whatif.kept import Kept
from pready.whatif.points import Options, Point, Work, notes
from pready.whatif.predicted_rows import Rows
from pready.whatif.table import Table
from pready.whatif.tasks import Task, work

PROCESSES_FROM = 24
"""Points from which processes of this machine are faster than threads: they take half a second to start."""
LAST_RESULTS_S = 10.0
"""How long a sweep that ends early waits for points that are computed elsewhere."""


def tabulate(
    some: Sequence[Point],
    workloads: Sequence[Workload],
    axes: Sequence[Axis],
    options: Options,
    *,
    work: Work = "per-thread",
    **how: Any,
) -> Table:
    """Compute the points of `pready.whatif.points.product` as a table; further arguments and errors as of `compute`."""
    rows = compute(some, options, **how)
    said = dict.fromkeys(note for w in workloads for note in notes(w, axes, work))
    varied = (*(("workload",) if len(workloads) > 1 else ()), *(a.field for a in axes))
    return Table(varied, [row for of in rows for row in of], tuple(said))


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

    Raises PreadyError: as `predict`, with the varied values of that point; or the executor failed. Finished points are
    kept; KeyboardInterrupt: Ctrl-C; raised after the running points finish.

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
    """
    keys = [point.key(options) for point in points]
    alike, done = Counter(keys), dict[str, Rows]()

    def finish(key: str, rows: Rows) -> None:
        done[key] = rows
        if kept is not None and kept.get(key) is None:
            kept.add(key, rows)
        for _ in range(alike[key]):
            on_point()

    todo = dict(zip(keys, points, strict=True))
    for key in todo:
        if kept is not None and (rows := kept.get(key)) is not None:
            finish(key, rows)
    todo = {key: point for key, point in todo.items() if key not in done}
    workers = min(cores or all_cores(), len(todo))
    if todo:
        each = cores if workers == 1 and executor is None else 1  # a single point uses all cores
        with _opened(executor, workers, len(todo), separate=separate) as pool:
            running = dict[Future[Rows], str]()
            with suppress(BrokenExecutor):  # which points that were handed out tell as well
                for key, point in todo.items():
                    running[pool.submit(work, Task.of(point, options), each)] = key
            try:
                _collect(running, finish, None if executor is None else LAST_RESULTS_S)
            except _Failed as failed:
                raise _said(failed.error, todo[failed.key], len(done), len(keys), kept) from failed.error
    return [[_labelled(point, row) for row in done[key]] for key, point in zip(keys, points, strict=True)]


def _labelled(point: Point, row: dict[str, object]) -> dict[str, object]:
    return {**point.label, **{name: value for name, value in row.items() if name not in point.label}}


def _opened(executor: Executor | None, workers: int, points: int, *, separate: bool) -> Any:
    """Where points are computed, as a context."""
    if executor is not None:
        return nullcontext(executor)
    if not separate or workers == 1 or points < PROCESSES_FROM:
        return ThreadPoolExecutor(workers)
    context = get_context("forkserver")
    context.set_forkserver_preload(["pready.whatif.tasks"])
    was = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"  # a folder called pready where it runs, such as here, is not what is installed
    try:
        forkserver.ensure_running()
    finally:
        del os.environ["PYTHONSAFEPATH"]
        os.environ.update({} if was is None else {"PYTHONSAFEPATH": was})
    return ProcessPoolExecutor(workers, mp_context=context, initializer=_leave_signals)


def _leave_signals() -> None:
    """Leave Ctrl-C to the process that hands out points, and take SIGTERM from it."""
    signal(SIGINT, SIG_IGN)
    signal(SIGTERM, SIG_DFL)


class _Failed(Exception):
    """A point failed."""

    def __init__(self, key: str, error: Exception) -> None:
        self.key, self.error = key, error


def _collect(running: Mapping[Future[Rows], str], finish: Callable[[str, Rows], None], last_s: float | None) -> None:
    """Take results as they come; after an error, those of the points that still end (in `last_s`; None: all).

    Of several points that fail, the first in order is named: points begin in order, so it is among those that ended.
    """
    left = dict(running)
    try:
        for future in as_completed(running):
            if future.exception() is not None:
                break
            finish(left.pop(future), future.result())
    finally:
        for future in left:
            future.cancel()
        ended, _ = wait([f for f in left if not f.cancelled()], last_s)
        for future in ended:
            with suppress(Exception):  # one is under way, or is raised below
                finish(left[future], future.result())
    for future, key in left.items():
        if not future.cancelled() and future.done() and isinstance(error := future.exception(), Exception):
            raise _Failed(key, error)


def _said(error: Exception, point: Point, done: int, points: int, kept: Kept | None) -> PreadyError:
    """The error of a point, or of workers that are gone."""
    if isinstance(error, PreadyError):
        return error.at(f"where {point.said}" if point.label else point.workload.name)
    where = "lost, -o FILE would keep them"
    if kept is not None:
        where = f"kept in {kept.path}, the same command resumes"
    return PreadyError(
        f"the sweep's workers failed ({type(error).__name__}: {shown(str(error), 200)}); "
        f"{done} of {points} points are finished and {where}"
    )
