"""When partitions are ready, as the kernel takes it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pready.model.common import normal
from pready.model.common.arrays import Array
from pready.model.common.errors import PreadyError
from pready.model.workload import draws
from pready.model.workload.arrivals import Gaussian, Laggard, Measured, NoArrivals, Normal, Uniform
from pready.model.workload.workload import Workload

TABLE, THREADS, GAUSSIAN = range(3)
FIRST, TURN, DRAW = range(3)
UNIFORM, NORMAL, KERNEL = range(3)


def ready_numbers(workload: Workload, seed: int) -> dict[str, object]:
    """When partitions are ready: a table of rows where there are few, else a distribution."""
    model = workload.arrivals
    base, theta = workload.thread_time, workload.partitions_per_thread
    share = np.arange(1, theta + 1) / theta if getattr(model, "partitions", "together") == "in turn" else np.ones(theta)
    numbers: dict[str, object] = {
        "seed": np.uint64(seed),
        "first": np.uint64(0),
        "arrivals": TABLE,
        "select": FIRST,
        "table_rows": 1,
        "table": np.zeros((1, 1)),
        "density": UNIFORM,
        "base": base,
        "noise": 0.0,
        "sd": 0.0,
        "cut": 0.0,
        "share": share,
        "kernels": 0,
        "centre": np.zeros(0),
        "centre_cut": np.zeros(0),
        "width": 0.0,
    }

    def table(rows: Array, select: int) -> None:
        numbers.update(select=select, table_rows=len(rows), table=rows)

    match model:
        case NoArrivals():
            table(draws.draw(workload, 1, seed), FIRST)
        case Laggard() if model.late == "partition":
            table(draws.draw(workload, 1, seed), FIRST)
        case Laggard():
            late = float(draws.draw(workload, 1, seed).max())
            rows = np.full((workload.threads, workload.threads, theta), base)
            rows[np.arange(workload.threads), np.arange(workload.threads)] = late
            table(rows.reshape(workload.threads, -1), DRAW)
        case Uniform():
            low, length = model.interval(base)
            numbers.update(arrivals=THREADS, base=low, noise=length)
        case Normal():
            sd = model.seconds(base)
            numbers.update(arrivals=THREADS, density=NORMAL, sd=sd, cut=normal.below(-base / sd) if sd else 0.0)
        case Gaussian():
            mean = base / theta
            sd = model.sigma(theta) * mean
            numbers.update(arrivals=GAUSSIAN, base=mean, sd=sd, cut=normal.below(-mean / sd) if sd else 0.0)
        case Measured():
            times = draws.read_times(str(Path(workload.folder) / model.file), model.unit)
            if model.model == "trace":
                table(draws.draw(workload, len(times), seed), TURN)
            else:
                numbers.update(arrivals=THREADS, density=KERNEL, **density(times.ravel()))
    return numbers


def density(times: Array) -> dict[str, object]:
    """As `draws._kde`, the cut of each kernel computed once."""
    if len(times) < 2:
        raise PreadyError(f"a density needs at least 2 thread times, the file has {len(times)}")
    width = float(np.std(times, ddof=1)) * len(times) ** (-1 / 5)
    from scipy.special import ndtr

    cut = ndtr(-times / width) if width else np.zeros(len(times))
    return {"kernels": len(times), "centre": times, "centre_cut": cut, "width": width}
