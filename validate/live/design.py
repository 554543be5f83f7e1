"""Which cases to measure: a seeded, space-filling sample of workloads.

A full factorial of sizes, threads, partitions, delays and approaches takes hours. A scrambled Sobol sequence covers the
same space evenly with as many workloads as the time allows, so that a budget that ends early leaves a whole picture.

A `Scene` is one workload: buffer, threads, partitions and the moments at which they are ready. All approaches of a
scene are measured with the same moments, bulk always among them, in an order drawn anew for every round: slow drift of
the machine falls on all of them alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from pready.calibrate.measure.raw_file import Point
from pready.model.common.arrays import Array
from pready.model.workload import draws
from pready.model.workload.workload import Workload
from pready.validate.site import LONGEST_TRANSFER, in_turn, sample

Kind = Literal["none", "laggard", "uniform", "normal"]
KINDS: tuple[Kind, ...] = ("none", "laggard", "uniform", "normal")
THREADS = (2, 3, 4, 6, 8)
PARTITIONS_PER_THREAD = (1, 2, 4, 8)
SMALLEST, LARGEST = 1 << 10, 16 << 20
"""Bytes of a buffer."""
COMPUTING_S = 1e-3
"""Seconds that every thread computes before its first partition is ready: the Machine's times are those of exchanges
after computing."""
DELAYS = (0.3, 3.0)
"""Delays over the time the buffer takes on the link: from hardly anything to more than can be hidden."""
SHORTEST, LONGEST = 500e-6, 60e-3
"""Seconds of a delay: below, threads cannot sleep for it; above, measuring takes too long."""
RMA = ("rma-single-active", "rma-many-active", "rma-single-passive", "rma-many-passive")
RMA_PER_SCENE = 2
BLOCK = 4
"""Scenes whose rounds alternate."""


@dataclass(frozen=True)
class Way:
    """One approach of a scene, by its name in ``pready-bench``, with its messages."""

    approach: str
    transport: int

    def __str__(self) -> str:
        return f"{self.approach}-{self.transport}"


@dataclass(frozen=True)
class Scene:
    """One workload: its buffer and ways of sending, and when its partitions are ready.

    `ready` is in seconds after the threads start, one per user partition.
    """

    name: str
    threads: int
    partitions_per_thread: int
    buffer: int
    kind: Kind
    ready: tuple[float, ...]
    ways: tuple[Way, ...]

    @property
    def n_partitions(self) -> int:
        """User partitions."""
        return self.threads * self.partitions_per_thread


def scenes(
    count: int, *, bytes_per_s: float, seed: int, avoid: Iterable[int] = (), crowded: bool = False
) -> list[Scene]:
    """`count` workloads that fill the space evenly; the same seed gives the same.

    Parameters
    ----------
    bytes_per_s
        Of the link, to choose delays that matter.
    avoid
        Message sizes of the calibration; no message of a scene has one of them.
    crowded
        Threads have no core each: no windows per thread, whose threads poll in MPI until an epoch ends, and would
        show each other's time slices.
    """
    avoided = set(avoid)
    return [_scene(i, row, bytes_per_s, seed, avoided, crowded) for i, row in enumerate(sample(count, 5, seed))]


def _scene(number: int, row: Array, bytes_per_s: float, seed: int, avoided: set[int], crowded: bool) -> Scene:
    size, threads, theta, kind, delay = row
    n = THREADS[int(threads * len(THREADS))]
    per_thread = PARTITIONS_PER_THREAD[int(theta * len(PARTITIONS_PER_THREAD))]
    partitions = n * per_thread
    largest = min(LARGEST, LONGEST_TRANSFER * bytes_per_s)
    wanted = SMALLEST * (largest / SMALLEST) ** float(size)
    buffer = max(round(wanted / partitions), 8) * partitions
    # The message sizes of all ways: the buffer, a thread's share or a partition.
    while avoided & {buffer, buffer // n, buffer // partitions}:
        buffer += partitions
    chosen = KINDS[int(kind * len(KINDS))]
    late = float(np.clip(DELAYS[0] * (DELAYS[1] / DELAYS[0]) ** float(delay) * buffer / bytes_per_s, SHORTEST, LONGEST))
    ready = _ready(chosen, n, per_thread, late, seed + number)
    return Scene(f"{number:03d}", n, per_thread, buffer, chosen, ready, _ways(n, per_thread, seed + number, crowded))


def _ready(kind: Kind, threads: int, per_thread: int, late: float, seed: int) -> tuple[float, ...]:
    """`COMPUTING_S`, then one draw of the arrival model."""
    model, delay = (
        {
            "none": {"model": "none"},
            "laggard": {"model": "laggard", "delay": f"{late:.17g} s"},
            "uniform": {"model": "uniform", "up_to": 1.0, "partitions": "in turn"},
            "normal": {"model": "normal by thread", "spread": 0.5, "partitions": "in turn"},
        }[kind],
        0 if kind in ("none", "laggard") else late,
    )
    common = {"threads": threads, "partitions_per_thread": per_thread, "buffer": f"{threads * per_thread} B"}
    workload = Workload.model_validate(common | {"compute": {"time": f"{delay:.17g} s"}, "arrivals": model})
    times = draws.draw(workload, 1, seed)[0]
    return tuple(round(COMPUTING_S + float(t), 7) for t in times)


def _ways(threads: int, per_thread: int, seed: int, crowded: bool) -> tuple[Way, ...]:
    n = threads * per_thread
    rng = np.random.default_rng([seed, 1])
    known = [name for name in RMA if not (crowded and "many" in name)]
    some = rng.choice(len(known), size=RMA_PER_SCENE, replace=False)
    many = [Way("many", t) for t in sorted({threads, n})]
    rma = [Way(known[i], threads if "many" in known[i] else n) for i in sorted(some)]
    return (Way("single", 1), Way("part", n), *many, *rma)


def points(designed: Sequence[Scene], *, receive_threads: int, seed: int, point_budget_s: float) -> list[Point]:
    """All points in the order of measuring."""
    turns = in_turn(designed, BLOCK, seed)
    return [point(scene, way, round_, receive_threads, point_budget_s) for scene, way, round_ in turns]


def point(scene: Scene, way: Way, round_: int, receive_threads: int, point_budget_s: float) -> Point:
    """One case in one round, for ``pready-bench``."""
    return Point.of(
        "approach",
        approach=way.approach,
        bytes=scene.buffer,
        threads=scene.threads,
        theta=scene.partitions_per_thread,
        transport=way.transport,
        receive_threads=receive_threads,
        ready_s=scene.ready,
        round=round_,
        warmup=2,
        min_repeats=6,
        max_repeats=40,
        half_width=0.02,
        budget_s=point_budget_s,
    )
