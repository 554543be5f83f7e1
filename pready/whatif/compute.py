"""Points on all cores: the kernel releases the GIL, so a thread per core suffices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed

from pready.model.common.errors import PreadyError
from pready.model.common.parallel import all_cores
from pready.whatif.kept import Kept
from pready.whatif.points import Options, Point
from pready.whatif.rows import Rows, rows_of


def compute(
    points: Sequence[Point],
    options: Options,
    *,
    kept: Kept | None = None,
    cores: int | None = None,
    on_point: Callable[[], object] = lambda: None,
) -> list[Rows]:
    """Rows of each point, with the varied fields first.

    Parameters
    ----------
    kept
        Store of finished points, read and extended.
    cores
        Worker threads; default: all cores of this process.
    on_point
        Called for each finished point, including those finished earlier.

    Raises
    ------
    PreadyError
        As `predict`, with the varied values of that point. Finished points are kept.
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
    workers = min(cores or all_cores(), len(todo))
    if workers:
        # A single point uses all cores.
        each = 1 if workers > 1 else cores
        with ThreadPoolExecutor(workers) as pool:
            running = {pool.submit(rows_of, point, options, each): key for key, point in todo.items()}
            try:
                for future in as_completed(running):
                    key = running[future]
                    done[key] = _result(future, todo[key])
                    if kept is not None:
                        kept.add(key, done[key])
                    for _ in range(alike[key]):
                        on_point()
            except BaseException:
                pool.shutdown(wait=True, cancel_futures=True)
                if kept is not None:
                    _keep_the_rest(running, done, kept)
                raise
    return [[_labelled(point, row) for row in done[key]] for key, point in zip(keys, points, strict=True)]


def _result(future: Future[Rows], point: Point) -> Rows:
    try:
        return future.result()
    except PreadyError as error:
        raise error.at(f"where {point.said}" if point.label else point.workload.name) from None


def _keep_the_rest(running: dict[Future[Rows], str], done: dict[str, Rows], kept: Kept) -> None:
    """Keep points that finished during cancellation."""
    for future, key in running.items():
        if key not in done and future.done() and not future.cancelled() and future.exception() is None:
            kept.add(key, future.result())


def _labelled(point: Point, row: dict[str, object]) -> dict[str, object]:
    return {**point.label, **{name: value for name, value in row.items() if name not in point.label}}
