"""Points on all cores or on an executor's workers, each kept once it is finished."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor, as_completed, wait

from pready.model.common.errors import PreadyError, shown
from pready.model.common.parallel import all_cores
from pready.whatif.executors import PROCESSES_FROM, processes
from pready.whatif.kept import Kept
from pready.whatif.points import Options, Point
from pready.whatif.rows import Rows, rows_of
from pready.whatif.tasks import Results, Task, points_per_task, work

MOST_DEATHS = 3
"""Times that a worker process of this machine may die before the sweep gives up."""
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
    alike = Counter(keys)
    done: dict[str, Rows] = {}
    if kept is not None:
        done = {key: rows for key in keys if (rows := kept.get(key)) is not None}
    todo = {key: point for key, point in zip(keys, points, strict=True) if key not in done}
    for key in keys:
        if key not in todo:
            on_point()

    def finish(key: str, rows: Rows) -> None:
        done[key] = rows
        if kept is not None:
            kept.add(key, rows)
        for _ in range(alike[key]):
            on_point()

    if executor is not None:
        try:
            _tasks(executor, todo, options, finish, points_per_task(len(todo)), LAST_RESULTS_S)
        except (PreadyError, KeyboardInterrupt):
            raise
        except Exception as error:  # each executor has its own for a worker or a scheduler that is gone
            raise _failed(error, done, todo, kept) from error
    else:
        _local(todo, options, finish, done, cores, kept, separate=separate)
    return [[_labelled(point, row) for row in done[key]] for key, point in zip(keys, points, strict=True)]


def _local(
    todo: Mapping[str, Point],
    options: Options,
    finish: Callable[[str, Rows], None],
    done: Mapping[str, Rows],
    cores: int | None,
    kept: Kept | None,
    *,
    separate: bool,
) -> None:
    """Compute on this machine; points of a process that died are computed again."""
    workers = min(cores or all_cores(), len(todo))
    if not (separate and workers > 1 and len(todo) >= PROCESSES_FROM):
        if todo:
            _threads(todo, options, finish, workers, cores)
        return
    for death in range(1, MOST_DEATHS + 1):
        left = {key: point for key, point in todo.items() if key not in done}
        try:
            with processes(workers) as pool:
                _tasks(pool, left, options, finish, 1, None)
            return
        except BrokenExecutor as error:
            if death == MOST_DEATHS:
                raise _failed(error, done, todo, kept) from None


def _threads(
    todo: Mapping[str, Point],
    options: Options,
    finish: Callable[[str, Rows], None],
    workers: int,
    cores: int | None,
) -> None:
    each = 1 if workers > 1 else cores  # a single point uses all cores
    with ThreadPoolExecutor(workers) as pool:
        running = {pool.submit(_here, point, options, each): (key,) for key, point in todo.items()}
        _collect(running, todo, finish, None)


def _here(point: Point, options: Options, cores: int | None) -> Results:
    return [rows_of(point, options, cores)]


def _tasks(
    executor: Executor,
    todo: Mapping[str, Point],
    options: Options,
    finish: Callable[[str, Rows], None],
    size: int,
    last_s: float | None,
) -> None:
    keys = list(todo)
    running = {}
    for some in (tuple(keys[i : i + size]) for i in range(0, len(keys), size)):
        running[executor.submit(work, Task.of([todo[key] for key in some], options))] = some
    _collect(running, todo, finish, last_s)


def _collect(
    running: Mapping[Future[Results], Sequence[str]],
    todo: Mapping[str, Point],
    finish: Callable[[str, Rows], None],
    last_s: float | None,
) -> None:
    """Take results as they come; after an error, those of the tasks that still end (in `last_s`; None: all)."""
    taken: set[Future[Results]] = set()
    try:
        for future in as_completed(running):
            taken.add(future)
            _take(future, running[future], todo, finish)
    except BaseException:
        for future in running:
            future.cancel()
        ended, _ = wait([f for f in running if not f.cancelled()], last_s)
        for future in ended - taken:
            if future.exception() is None:
                for key, result in zip(running[future], future.result(), strict=True):
                    if not isinstance(result, PreadyError):
                        finish(key, result)
        raise


def _take(
    future: Future[Results],
    keys: Sequence[str],
    todo: Mapping[str, Point],
    finish: Callable[[str, Rows], None],
) -> None:
    try:
        results = future.result()
    except PreadyError as error:
        results = [error] * len(keys)
    errors = []
    for key, result in zip(keys, results, strict=True):
        if isinstance(result, PreadyError):
            point = todo[key]
            errors.append(result.at(f"where {point.said}" if point.label else point.workload.name))
        else:
            finish(key, result)
    if errors:
        raise errors[0] from None


def _failed(error: Exception, done: Mapping[str, Rows], todo: Mapping[str, Point], kept: Kept | None) -> PreadyError:
    there = sum(key in done for key in todo)
    where = "lost, -o FILE would keep them" if kept is None else f"kept in {kept.path}, the same command resumes"
    return PreadyError(
        f"the sweep's workers failed ({type(error).__name__}: {shown(str(error), 200)}); "
        f"{there} of {len(todo)} points are finished and {where}"
    )


def _labelled(point: Point, row: dict[str, object]) -> dict[str, object]:
    return {**point.label, **{name: value for name, value in row.items() if name not in point.label}}
