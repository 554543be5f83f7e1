"""η and metrics of simulated approaches: of ranks that go on, and of exchanges from rest."""

from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from machines import ideal
from tables import table_of
from workloads import workload_of

from pready.model.approach.interfaces import BULK, BY_KEY, Approach
from pready.model.engine.layout import Step, layout, of_a_step
from pready.model.engine.runs import Job, Length, Rows, Runs, sums_of
from pready.model.engine.simulate import compare
from pready.model.machine.machine import load
from pready.model.toml.reading import validated
from pready.model.workload.arrivals import Laggard, Normal
from pready.model.workload.workload import Workload

NOISY = Normal(model="normal by thread", spread=0.04)
LATE_50_US = Laggard(model="laggard", delay="50 us")  # type: ignore[arg-type]


def workload(pattern: Any, model: Any = NOISY) -> Workload:
    return workload_of(partitions_per_thread=2, buffer="1 MiB", pattern=pattern, receiver="computing", arrivals=model)


def test_an_interrupted_comparison_gives_what_it_has() -> None:
    calls = list[float]()

    def on_progress(approach: Approach, share: float) -> None:
        calls.append(share)
        raise KeyboardInterrupt

    w = workload("halo3d")
    rows, _ = compare(ideal(), w, [Approach(BY_KEY["part"], 8, 1)], iterations=10**6, on_progress=on_progress)
    assert len(rows) == 1
    assert rows[0][1].interrupted
    assert len(calls) == 1


@pytest.mark.parametrize("key", ["part", "many", "part-am", "rma-single-active", "rma-many-passive"])
@pytest.mark.parametrize("pattern", ["pt2pt", "halo3d"])
def test_ranks_in_step_are_predicted_as_from_rest(key: str, pattern: str) -> None:
    # The late partition is the same on every rank, so nobody waits for a late neighbour: values and
    # the intervals from the machine's parameters are equal, draw by draw.
    said = {"thread_grid": "shared"} if pattern == "halo3d" else {}
    w = workload(pattern, LATE_50_US).changed(ranks_per_node=1, **said)
    machine, approach = load("meluxina"), BY_KEY[key].into(4, 2)
    on, from_rest = (Runs(machine, step, Rows(12, 3)) for step in (Step.of_a_part(w), Step.from_rest(w)))
    expected = asdict(from_rest.predicted([(approach,)])[0])
    for field, value in asdict(on.predicted([(approach,)])[0]).items():
        assert value == (pytest.approx(expected[field], rel=1e-7) if isinstance(value, float) else expected[field])
    for way in (BULK, approach):
        here, there = (e.means([(way,)], e.drawn())[0].exchange() for e in (on, from_rest))
        np.testing.assert_allclose(here.communication, there.communication, rtol=1e-7)


def test_late_neighbours_are_what_differs() -> None:
    # With nothing but compute, a rank ends an exchange when the latest of itself and its neighbours is
    # ready: T is the mean of max over neighbours of (start + ready) - own. From rest it has one peer.
    w = workload("halo3d")
    machine = ideal(G=1e-18, link=1e18)
    part_ = Approach(BY_KEY["part"], 8, 1)
    engine = Runs(machine, Step.of(w))
    late = engine.at_values((part_,)).exchange().late
    assert late == pytest.approx(engine.mean_time(part_), rel=1e-6)
    assert engine.mean_time(part_) > 1.2 * Runs(machine, Step.from_rest(w)).mean_time(part_)
    assert engine.predicted([(part_,)])[0].eta == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize(("fields", "grid", "periodic"), table_of("model/known")["parts"])
def test_part_of_a_halo(fields: Any, grid: Any, periodic: Any) -> None:
    w = validated(Workload, {"threads": 1, "buffer": "8 B", "pattern": "halo3d"} | fields, "test")
    (some,) = of_a_step(w, some=True)
    assert (some.grid, some.periodic) == (tuple(grid), tuple(periodic))
    assert layout(w).periodic == (w.boundaries == "periodic")


def test_a_sweep_is_counted_by_exchange() -> None:
    # Two ranks in a row, computing C per octant, T = 40 us to send. Octants start left, left, right four
    # times, left, left. First sweep: rank 0 is done at 10 C + 2 T, rank 1 at 11 C + 3 T; second: both
    # 10 C + 2 T later. Less the 8 C of computing, an exchange costs (2.5 + 2) / 2 (C + T) / 8.
    w = workload_of(threads=1, buffer="1 MB", pattern="sweep3d", grid=[2, 1], iterations=2)
    ((row, run),), _ = compare(ideal(), w, [BULK], iterations=2)
    assert run.exchanges == 8
    np.testing.assert_allclose(run.mean_s, [10.5e-3 + 2.5 * 40e-6, 10e-3 + 2 * 40e-6], rtol=1e-9)
    assert row.time_s == pytest.approx(2.25 * 1.04e-3 / 8, rel=1e-9)


def test_times_of_an_earlier_call_change_nothing() -> None:
    # A plan's arrivals keep what was drawn of them: the same ranks for fewer iterations, for more, and on other cores.
    ways = [Approach(BY_KEY["many"], 8, 4), Approach(BY_KEY["part"], 4, 1), BULK]
    step = Step.of(workload("halo3d"))
    before = Runs(load("meluxina"), step, Rows(4))
    for iterations, cores in ((6, 1), (4, 2), (9, 1)):
        for way in ways:
            fresh = Runs(load("meluxina"), step, Rows(4))
            jobs = (Job(of.plans((way,), 2), Length(0, iterations)) for of in (before, fresh))
            one, other = (sums_of([job], cores)[0][0].of for job in jobs)
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("model", [NOISY, Laggard(model="laggard", delay_rate="10 us/MiB")])  # type: ignore[arg-type]
def test_another_buffer_is_another_workload(model: Any) -> None:
    machine, w = load("meluxina"), workload("halo3d", model)
    runs = Runs(machine, Step.of(w))
    assert Runs(machine, Step.from_rest(w)).length_of_draw.exchanges == (16 if model is NOISY else 1)  # all alike
    for size in (2.0**20, 512.0, 2.0**16, 2.0**13):  # of every protocol
        there = Runs(machine, Step.of(w.changed(buffer=f"{size:.17g} B")))
        for way in (BULK, Approach(BY_KEY["many"], 8, 4)):
            assert runs.at_buffer(size).mean_time(way) == there.mean_time(way)
