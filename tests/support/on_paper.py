"""Records of a machine of known parameters, as a perfect clock with some noise would have measured it."""

import zlib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from pready.calibrate.measure.raw_file import Point, Records
from pready.calibrate.measure.schedule import plan

US = 1e-6
O_S, O_R, WIRE = 2 * US, 1 * US, 20 * US
RATE = 1e9  # bytes per second, from THRESHOLD on; twice that below, so that a line cannot serve both
THRESHOLD, JUMP = 16384, 15 * US
STRETCH = {1: 1.0, 2: 1.5, 4: 3.0, 8: 8.0}
ENVIRONMENT = {"library": "Open MPI v5.0.11, package: test", "launcher": "paper", "hosts": ["a", "b"]}


def one_way(size: float) -> float:
    late = size >= THRESHOLD
    return O_S + WIRE + O_R + (JUMP if late else 0.0) + size / (RATE if late else 2 * RATE)


def gap(size: float) -> float:
    return O_S + size / (RATE if size >= THRESHOLD else 2 * RATE)


def time_of(point: Point) -> float | None:
    """What a perfect clock would read for a point of the plan; None for what is not simulated here."""
    p: dict[str, Any] = dict(point.parameters)
    size = float(p.get("bytes", 0))
    match point.measurement:
        case "pingpong" if p["mode"] == "isend":
            return one_way(size)
        case "prtt":
            n, delay = int(p["n"]), p["delay_s"]
            round_trip = 2 * one_way(size)
            between = O_S + round_trip if delay == -1.0 else gap(size)
            return round_trip + (n - 1) * between
        case "receive":
            return O_R
        case "rate":
            k = int(p["threads"])
            return k * 64 * O_S * STRETCH[k]
        case "memcpy":
            return size / (20e9 if p["cache"] == "hot" else 8e9)
        case "early":
            return 0.019 if size <= 65536 else 1e-6
        case "overlap":
            return 0.9 * one_way(size) if size >= THRESHOLD else 0.0
    return None


@cache
def records(threads: int = 8, noise: float = 0.01, seed: int = 0) -> tuple[tuple[Point, dict[str, Any]], ...]:
    return tuple(measured(plan(threads=threads), noise, seed))


def measured(points: Iterable[Point], noise: float = 0.01, seed: int = 0) -> Iterator[tuple[Point, dict[str, Any]]]:
    for point in points:
        rng = np.random.default_rng([seed, zlib.crc32(str(point).encode())])  # each point's own, whatever the order
        time = time_of(point)
        if time is None:
            continue
        samples = np.maximum(time * (1 + noise * rng.standard_normal(30)), 1e-10)
        p: dict[str, Any] = dict(point.parameters)
        size = float(p.get("bytes", 0))
        derived = {
            "delay_s": 2 * one_way(size) if p.get("delay_s") == -1.0 else 0.0,
            "early_first": 0,
            "early_steady": int(size <= 65536),
            "baseline_s": one_way(size),
            "messages_per_s": int(p.get("threads", 1)) * 64 / max(time, 1e-10),
        }
        low, high = map(float, np.percentile(samples, [30, 70]))
        record: dict[str, Any] = {"measurement": point.measurement, "parameters": p, "derived": derived}
        record |= {"median_s": float(np.median(samples)), "low_s": low, "high_s": high}
        record |= {"min_s": float(samples.min()), "max_s": float(samples.max())}
        yield point, record | {"samples_ns": (samples * 1e9).tolist()}


def written_to(path: Path, points: Iterable[tuple[Point, dict[str, Any]]] | None = None, **about: Any) -> Path:
    """A raw file of these records, or of `records()`; not synced to the disk, which takes longer than a fit."""
    with patch("os.fsync"), Records(path) as out:
        out.add_environment("e", ENVIRONMENT | about)
        for point, record in records() if points is None else points:
            out.add_point(point, "e", record)
    return path
