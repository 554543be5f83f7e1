"""Intervals hold what they say: machines whose truth is drawn from the stated uncertainty."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pready.model.approach.interfaces import BULK, INTERFACES, Approach
from pready.model.common.arrays import Array
from pready.model.engine import evaluate
from pready.model.machine import machine as machines
from pready.model.result.interval import interval
from pready.model.toml.reading import validated
from pready.model.workload.workload import Workload

CASES = 300
PROFILES = sorted(machines.profiles())
ARRIVALS: list[dict[str, Any]] = [
    {"model": "none"},
    {"model": "laggard", "delay": "20 us"},
    {"model": "normal", "spread": 0.04},
]


def case(number: int) -> tuple[str, Workload, Approach]:
    rng = np.random.default_rng(number)
    threads, theta = int(rng.choice([1, 2, 4, 8, 16])), int(rng.choice([1, 2, 4]))
    n = threads * theta
    data = {
        "threads": threads,
        "partitions_per_thread": theta,
        "buffer": f"{n * int(rng.choice([100, 1500, 9000, 40000, 300000]))} B",
        "compute": {"time": str(rng.choice(["10 us", "1 ms"]))},
        "receiver": str(rng.choice(["waiting", "computing"])),
        "arrivals": ARRIVALS[int(rng.integers(len(ARRIVALS)))],
    }
    interface = INTERFACES[int(rng.integers(1, len(INTERFACES)))]
    return PROFILES[int(rng.integers(len(PROFILES)))], validated(Workload, data, "case"), interface.into(n)


def figures(e: evaluate.Evaluation, approach: Approach) -> tuple[Array, Array, Array]:
    """Time, eta and saving of each drawn machine."""
    of, bulk = e.drawn(approach), e.drawn(BULK)
    return of.communication, bulk.communication / of.communication, 1 - of.iteration / bulk.iteration


@pytest.mark.slow
def test_intervals_hold_the_truth(monkeypatch: pytest.MonkeyPatch) -> None:
    held = np.zeros((CASES, 3))
    percentiles = np.zeros((CASES, 3))
    for number in range(CASES):
        profile, workload, approach = case(number)
        on = machines.load(profile)
        said = figures(evaluate.Evaluation(on, workload, seed=number), approach)
        # One more machine, drawn as those were, its arrivals averaged.
        with monkeypatch.context() as many:
            many.setattr(evaluate, "PER_DRAW_ALONE", 256)
            truth = figures(evaluate.Evaluation(on, workload, seed=10**6 + number, draws=1), approach)
        for k, (drawn, (true,)) in enumerate(zip(said, truth, strict=True)):
            low, high = interval(drawn, float(drawn[0]))
            held[number, k] = low - 1e-9 * abs(low) <= true <= high + 1e-9 * abs(high)
            low, high = np.percentile(drawn, [2.5, 97.5])
            percentiles[number, k] = low <= true <= high
    assert (held.mean(axis=0) >= 0.92).all(), held.mean(axis=0)
    assert (held.mean(axis=0) <= 0.98).all(), held.mean(axis=0)
    # Negative control: percentiles of so few draws do not.
    assert (percentiles.mean(axis=0) < 0.92).all(), percentiles.mean(axis=0)
