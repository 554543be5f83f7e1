"""η and metrics of simulated approaches, against the timeline's where both apply."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from machines import ideal

from pready.model.approach import BY_KEY, SINGLE, Approach
from pready.model.engine.compare import compare
from pready.model.evaluate import Evaluation
from pready.model.workload import ComputeTime, Laggard, Normal, Workload


def workload(pattern: Any, model: Any) -> Workload:
    return Workload(
        threads=4,
        partitions_per_thread=2,
        buffer="1 MiB",  # type: ignore[arg-type]
        pattern=pattern,
        receiver="computing",
        compute=ComputeTime(time="1 ms"),  # type: ignore[arg-type]
        arrivals=model,
    )


@pytest.mark.parametrize("key", ["part", "many", "part-am", "rma-single-active", "rma-many-passive"])
@pytest.mark.parametrize(("pattern", "grid"), [("pt2pt", (2,)), ("halo3d", (3, 3, 3))])
def test_two_ranks_in_step_are_the_timelines_prediction(key: str, pattern: str, grid: Any) -> None:
    # Every rank has the same laggard, so all do the same at the same time: all ranks see what the
    # timeline says of one exchange, metrics included.
    machine = ideal(L=1e-6, o_s=2e-7, o_r=3e-7, g=5e-8, barrier=[0.0, 1e-7, 5e-7], poll=1e-7, put=3e-7, epoch=4e-7)
    w = workload(pattern, Laggard(model="laggard", delay="50 us"))  # type: ignore[arg-type]
    interface = BY_KEY[key]
    approach = Approach(interface, 4 if interface.splits else 1, 2)
    evaluation = Evaluation(machine, w, draws=0)
    rows = compare(machine, w, [approach], grid=grid, iterations=1)
    for (mine, _), expected in zip(rows, [Approach(SINGLE), approach], strict=True):
        theirs = asdict(evaluation.predict(expected))
        for field, value in asdict(mine).items():
            if isinstance(value, float):
                assert value == pytest.approx(theirs[field], rel=1e-7), field
            else:
                assert value == theirs[field], field


def test_intervals_hold_the_value() -> None:
    w = workload("halo3d", Normal(model="normal", noise=0.04))
    rows = compare(ideal(L=1e-6, o_s=2e-7), w, [Approach(BY_KEY["part"], 8, 1)], grid=(4, 4, 4), iterations=20)
    assert [p.key for p, _ in rows] == ["single", "part"]
    for p, run in rows:
        assert p.time_low_s <= p.time_s <= p.time_high_s
        assert p.eta_low <= p.eta <= p.eta_high
        np.testing.assert_allclose(p.time_s, run.communication_s.mean())
    assert rows[0][0].eta == 1.0


def test_an_interrupted_comparison_gives_what_it_has() -> None:
    calls = 0

    def on_progress(share: float) -> None:
        nonlocal calls
        calls += 1
        raise KeyboardInterrupt

    w = workload("halo3d", Normal(model="normal", noise=0.04))
    rows = compare(
        ideal(), w, [Approach(BY_KEY["part"], 8, 1)], grid=(8, 8, 8), iterations=10**6, on_progress=on_progress
    )
    assert len(rows) == 1
    assert rows[0][1].interrupted
    assert calls == 1
