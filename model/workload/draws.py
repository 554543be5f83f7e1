"""When user partition j of N_part becomes ready: an array of shape (samples, N_part), in seconds.

Partition j belongs to thread j // θ. Times count from the start of the iteration. Every draw comes
from `model/common/native/draws.hpp`, so the same seed gives the same times in every engine; an iteration is
a sample, and a rank has draws of its own.

Sources: temucin2022 3.3 (https://doi.org/10.1145/3545008.3545088), marts2024 III.D, gillis2023 4.3
and Appendix A (https://doi.org/10.1145/3605573.3605599).
"""

from __future__ import annotations

from functools import lru_cache
from io import BytesIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pready.model.common import normal
from pready.model.common._draws import normals, uniforms
from pready.model.common.arrays import Array
from pready.model.common.errors import PreadyError
from pready.model.toml.reading import LARGEST_DATA, decoded, read_bytes
from pready.model.workload.arrivals import Gaussian, Laggard, Measured, NoArrivals, Normal, Uniform
from pready.model.workload.workload import Workload

TO_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
STREAM_TIMES, STREAM_LATE = 0, 1
EXCHANGE = 0xD1B54A32D192ED03
"""Step between the seeds of exchanges: large and odd, so that no two draw the same."""


def exchange_seed(seed: int, number: int) -> int:
    """The seed of exchange `number` of a step; the first has the run's own."""
    return (seed + number * EXCHANGE) % 2**64


def deterministic(workload: Workload) -> bool:
    """Do all iterations look the same?"""
    model = workload.arrivals
    return isinstance(model, NoArrivals) or (isinstance(model, Laggard) and model.late == "partition")


def draw(workload: Workload, samples: int, seed: int, *, rank: int = 0, first: int = 0) -> Array:
    """Ready times of iterations `first` to `first + samples`.

    Returns
    -------
    Array of shape (samples, N_part), seconds after the start, all at least 0.

    Raises
    ------
    PreadyError
        A file of thread times that is missing or has the wrong shape.
    """
    model = workload.arrivals
    iterations = np.arange(first, first + samples)
    n, theta, base = workload.threads, workload.partitions_per_thread, workload.thread_time
    match model:
        case NoArrivals():
            return np.full((samples, n * theta), base)
        case Laggard():
            return _laggard(workload, model, first, samples, seed, rank)
        case Uniform():
            low, length = model.interval(base)
            u = _uniforms(seed, rank, first, samples, n)
            return _per_partition(low * (1 + length * u), theta, model.partitions)
        case Normal():
            u = _uniforms(seed, rank, first, samples, n)
            return _per_partition(truncated_normal(base, model.seconds(base), u), theta, model.partitions)
        case Gaussian():
            mean = base / theta
            u = _uniforms(seed, rank, first, samples, n * theta)
            each = truncated_normal(mean, model.sigma(theta) * mean, u)
            return np.cumsum(each.reshape(samples, n, theta), axis=2).reshape(samples, n * theta)
        case Measured():
            times = read_times(str(Path(workload.folder) / model.file), model.unit)
            if model.model == "trace":
                return _replay(times, workload, model, iterations, rank)
            u = _uniforms(seed, rank, first, samples, 2 * n)
            return _per_partition(_kde(times.ravel(), u[:, :n], u[:, n:]), theta, model.partitions)


@lru_cache(maxsize=8)
def _uniforms(seed: int, rank: int, first: int, samples: int, n: int, stream: int = STREAM_TIMES) -> Array:
    """Draws of consecutive iterations, cached: one prediction needs the same at many buffer sizes."""
    drawn = uniforms(seed, rank, first, samples, n, stream)
    drawn.flags.writeable = False
    return drawn


def _laggard(workload: Workload, model: Laggard, first: int, samples: int, seed: int, rank: int) -> Array:
    n, theta, base = workload.threads, workload.partitions_per_thread, workload.thread_time
    delay = model.seconds(n, base, workload.partition_size)
    ready = np.full((samples, n, theta), base)
    if model.late == "partition":
        # The last partition, as in gillis2023 4.3.
        ready[:, -1, -1] += delay
    else:
        who = (_uniforms(seed, rank, first, samples, 1, STREAM_LATE)[:, 0] * n).astype(np.intp)
        ready[np.arange(samples), who, :] += delay
    return ready.reshape(samples, n * theta)


def _per_partition(thread_times: Array, theta: int, partitions: str) -> Array:
    """Ready times of each thread's θ partitions: all at its end, or evenly along its time."""
    share = np.ones(theta) if partitions == "together" else np.arange(1, theta + 1) / theta
    return (thread_times[:, :, None] * share).reshape(len(thread_times), -1)


def truncated_normal(mean: float, sd: float, u: Array) -> Array:
    """Normal draws from uniform ones, by inversion, conditioned on being positive.

    The papers leave the tail below zero open ("sufficiently infrequent", temucin2022 3.3); a time
    cannot be negative, so the tail is cut off the distribution instead of being folded to zero.
    """
    if sd == 0:
        return np.full_like(u, mean)
    cut = normal.below(-mean / sd)
    return np.asarray(mean + sd * normals((cut + u * (1 - cut)).ravel()).reshape(u.shape), dtype=np.float64)


def _kde(times: Array, pick: Array, within: Array) -> Array:
    """Draws from a Gaussian kernel density estimate (Scott's rule), cut off at 0 like the normal."""
    width = scott(times)
    centre = times[(pick * len(times)).astype(np.intp)]
    if width == 0:
        return np.asarray(centre, dtype=np.float64)
    # Each kernel is cut at 0 by itself; their mixture stays within a kernel's width of the data.
    from scipy.special import ndtr

    cut = ndtr(-centre / width)
    return np.asarray(centre + width * normals((cut + within * (1 - cut)).ravel()).reshape(cut.shape), dtype=np.float64)


def scott(times: Array) -> float:
    """The kernels' standard deviation by Scott's rule, in one dimension."""
    if len(times) < 2:
        raise PreadyError(f"a density needs at least 2 thread times, the file has {len(times)}")
    return float(np.std(times, ddof=1) * len(times) ** (-1 / 5))


def _replay(times: Array, workload: Workload, model: Measured, iterations: NDArray[np.int64], rank: int) -> Array:
    n, n_part = workload.threads, workload.n_partitions
    rows = times[(iterations + rank) % len(times)]
    if times.shape[1] == n_part:
        return rows
    if times.shape[1] == n:
        return _per_partition(rows, workload.partitions_per_thread, model.partitions)
    raise PreadyError(
        f"arrivals.file has {times.shape[1]} columns",
        valid=f"{n} (one per thread)" + f" or {n_part} (one per partition)" * (n_part != n),
        source=str(Path(workload.folder) / model.file),
    )


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
