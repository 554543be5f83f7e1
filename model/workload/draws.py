"""When user partitions become ready, as far as it is no draw: seeds, and files of measured times.

The draws themselves: `plan.arrivals` and `kernel/arrivals.cpp`."""

from __future__ import annotations

from functools import lru_cache
from io import BytesIO
from pathlib import Path

import numpy as np

from pready.model.common.arrays import Array
from pready.model.common.errors import PreadyError
from pready.model.toml.reading import LARGEST_DATA, decoded, read_bytes
from pready.model.workload.arrivals import Laggard, Measured, NoArrivals
from pready.model.workload.workload import Workload

TO_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
EXCHANGE = 0xD1B54A32D192ED03
"""Step between the seeds of exchanges: large and odd, so that no two draw the same."""


def exchange_seed(seed: int, number: int) -> int:
    """The seed of exchange `number` of a step; the first has the run's own."""
    return (seed + number * EXCHANGE) % 2**64


def deterministic(workload: Workload) -> bool:
    """Do all iterations look the same?"""
    model = workload.arrivals
    return isinstance(model, NoArrivals) or (isinstance(model, Laggard) and model.late == "partition")


def scott(times: Array) -> float:
    """The kernels' standard deviation by Scott's rule, in one dimension."""
    if len(times) < 2:
        raise PreadyError(f"a density needs at least 2 thread times, the file has {len(times)}")
    return float(np.std(times, ddof=1) * len(times) ** (-1 / 5))


def replayed(workload: Workload, model: Measured) -> Array:
    """The measured times of all partitions, shape (iterations, N_part), seconds.

    Raises
    ------
    PreadyError
        A file of thread times that is missing or has the wrong shape.
    """
    times = read_times(str(Path(workload.folder) / model.file), model.unit)
    n, theta, n_part = workload.threads, workload.partitions_per_thread, workload.n_partitions
    if times.shape[1] == n_part:
        return times
    if times.shape[1] == n:
        return np.asarray((times[:, :, None] * shares(theta, model.partitions)).reshape(len(times), -1))
    raise PreadyError(
        f"arrivals.file has {times.shape[1]} columns",
        valid=f"{n} (one per thread)" + f" or {n_part} (one per partition)" * (n_part != n),
        source=str(Path(workload.folder) / model.file),
    )


def shares(theta: int, partitions: str) -> Array:
    """When each of a thread's θ partitions is ready, as a share of its time: at its end, or evenly along it."""
    return np.ones(theta) if partitions == "together" else np.arange(1, theta + 1) / theta


@lru_cache(maxsize=4)
def read_times(path: str, unit: str) -> Array:
    """Thread times from a ``.npy`` array or a text file (comma or blank separated, ``#`` comments).

    Returns
    -------
    Array of shape (iterations, columns), seconds, finite and at least 0. One line per iteration.
    """
    # Of text, each number is a word and a float.
    data = read_bytes(Path(path), LARGEST_DATA, 16 if path.endswith(".npy") else 64)
    if data[:6] == b"\x93NUMPY":
        try:
            array = np.asarray(np.load(BytesIO(data), allow_pickle=False))
        except (ValueError, EOFError, OSError, MemoryError, SyntaxError) as error:
            raise PreadyError(f"is not an array: {error}", valid="a .npy file", source=path) from None
        if array.dtype.kind not in "fiu":
            raise PreadyError(f"holds {array.dtype}", valid="numbers", source=path)
        times = np.atleast_2d(array.astype(np.float64))
    else:
        times = _read_text(decoded(data, path), path)
    if times.ndim != 2 or times.size == 0:
        raise PreadyError(f"has shape {times.shape}", valid="(iterations, threads)", source=path)
    bad = ~np.isfinite(times) | (times < 0)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise PreadyError(
            f"row {row + 1}, column {column + 1} is {times[row, column]:g}",
            valid="finite, at least 0",
            source=path,
        )
    seconds: Array = times * TO_SECONDS[unit]
    seconds.flags.writeable = False
    return seconds


def _read_text(text: str, path: str) -> Array:
    rows: list[list[float]] = []
    for number, line in enumerate(text.splitlines(), 1):
        cells = line.partition("#")[0].replace(",", " ").split()
        if not cells:
            continue
        try:
            rows.append([float(c) for c in cells])
        except ValueError:
            raise PreadyError(f"line {number} is not numbers", valid="numbers, # for comments", source=path) from None
        if len(rows[-1]) != len(rows[0]):
            raise PreadyError(
                f"line {number} has {len(rows[-1])} values, the first has {len(rows[0])}",
                valid="as many in every line",
                source=path,
            )
    return np.array(rows, dtype=np.float64) if rows else np.empty((0, 0))
