"""A whole exchange among many ranks: its plan, and real MPI that performs it and says which rank went wrong."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from machines import ideal
from mpi_home import home_of
from real_mpi import LIBRARIES, benchmark
from tables import table_of

from pready.calibrate.measure.catalogue import EXCHANGE_WAYS
from pready.calibrate.measure.compile import Built
from pready.calibrate.measure.exchange_plan import ExchangePlan, StepPlan, step_plan
from pready.calibrate.measure.launcher import Launcher
from pready.calibrate.measure.raw_file import Point, read
from pready.calibrate.measure.session import Outcome, measure
from pready.model.approach.interfaces import BULK, MANY, Approach
from pready.model.common.errors import PreadyError
from pready.model.engine.layout import Step, layout
from pready.model.engine.messages import messages
from pready.model.engine.plan import drawn_times
from pready.model.engine.runs import Rows, Runs
from pready.model.engine.simulate import run_step
from pready.model.toml.reading import validated
from pready.model.workload.draws import exchange_seed
from pready.model.workload.edges import Edge
from pready.model.workload.workload import Workload, load


def workload(**fields: Any) -> Workload:
    told = {"threads": 2, "partitions_per_thread": 2, "buffer": "64 KiB", **fields}
    return validated(Workload, {"arrivals": {"model": "laggard", "delay": "1 ms"}, **told}, "test")


def halo(**fields: Any) -> Workload:
    """Two ranks by two that wrap around."""
    return workload(pattern="halo3d", grid=[2, 2], **fields)


def exchange_plan(what: Workload, iterations: int, seed: int) -> ExchangePlan:
    """The plan of a workload with one exchange."""
    (plan,) = step_plan(what, iterations, seed).exchanges
    return plan


def test_a_sweep_goes_downstream_from_all_four_corners() -> None:
    """Ranks 0 1 2 / 3 4 5: away from 0, then from 2, 5 and 3, each for two octants of three blocks."""
    plan = exchange_plan(workload(pattern="sweep3d", grid=[3, 2], blocks=3), 2, seed=0)
    assert plan.ready.shape == (6, 2, 24, 4)
    rank, phases = {(x, y): x + 3 * y for x in range(3) for y in range(2)}, list[set[Edge]]()
    for a, b in ((1, 1), (-1, 1), (-1, -1), (1, -1)):
        ways = [(x, y, tag, to) for x, y in rank for tag, to in enumerate(((x + a, y), (x, y + b))) if to in rank]
        for phase in range(len(phases), len(phases) + 6):
            phases.append({Edge(phase, rank[x, y], rank[to], 65536, tag) for x, y, tag, to in ways})
    assert [{e for e in plan.edges if e.phase == phase} for phase in range(24)] == phases
    assert (plan.phases, plan.receives_first) == (24, True)


@pytest.mark.parametrize(("fields", "lines"), table_of("calibrate/plans")["lines"])
def test_the_plan_says_only_what_differs(fields: dict[str, Any], lines: list[str]) -> None:
    written = exchange_plan(workload(**fields), 1, seed=0).text().splitlines()
    assert [line for line in written if line.split()[0] in ("receive", "interior")] == lines


def test_the_text_of_a_plan() -> None:
    """Of all that it can hold; each buffer begins at a multiple of 4096 B, at its sender and at its receiver."""
    first = Edge(0, 0, 1, 4096, 0), Edge(0, 0, 2, 4097, 1), Edge(0, 1, 0, 100, 0)
    second = Edge(1, 2, 0, 5000, 2), Edge(1, 0, 1, 1, 0)
    ready, shares = np.zeros((3, 5, 2, 8)), (((0, 1),), ((1, 0), (0, 0)))
    plan = ExchangePlan(3, 2, 4, (*first, *second), ready, True, shares, 6, 0.25)
    assert plan.text() == "\n".join([*table_of("calibrate/plans")["text"], ""])


def test_threads_in_a_grid_own_the_sides_they_touch() -> None:
    # Threads 0 1 along x, and 2 3 above them in y: -x is that of 0 and 2, and what they send is received by the
    # neighbour's threads 1 and 3, which touch +x. Every thread touches -z and +z.
    plan = exchange_plan(workload(pattern="halo3d", grid=[2, 2, 2], threads=4, thread_grid=[2, 2, 1]), 1, seed=0)
    both = tuple((n, n) for n in range(4))
    assert plan.shares == (
        ((0, 1), (2, 3)), ((1, 0), (3, 2)), ((0, 2), (1, 3)), ((2, 0), (3, 1)), both, both
    )  # fmt: skip
    lines = plan.text().splitlines()
    assert [line for line in lines if line.startswith("share 1 ")] == ["share 1 1 0", "share 1 3 2"]
    assert exchange_plan(halo(), 1, seed=0).shares == ()


@pytest.mark.parametrize("pattern", ["halo3d", "halo3d26"])
@pytest.mark.parametrize("transports", [1, 2, 4, 16, 32])
def test_messages_wait_for_the_partitions_that_the_engine_names(pattern: str, transports: int) -> None:
    # 4 × 2 × 2 threads of 4 partitions: faces of 4 or 8 threads, edges of 2 or 4, corners of one
    extra = {"edge": "4 KiB", "corner": "1 KiB"} if pattern == "halo3d26" else {}
    threads: Any = {"threads": 16, "partitions_per_thread": 4, "thread_grid": [4, 2, 2]}
    what = workload(pattern=pattern, grid=[2, 2, 2], **threads, **extra)
    of = layout(what).pattern(what)
    engine = messages(what, Approach(MANY, transports), of, contexts=8)
    shares, theta = exchange_plan(what, 1, seed=0).shares, what.partitions_per_thread
    steps, sizes = engine.pattern.steps, [engine.sizes[k] for k in engine.pattern.classes[0]]
    for d, step in enumerate(of.steps):
        # As `bench/exchange/workers.c` splits them: the partitions of the owners in order, a bin after the other.
        owned = [thread * theta + k for thread, _ in shares[d] for k in range(theta)]
        count = math.gcd(transports, len(owned))
        own = [n for n in range(len(engine.needs)) if steps[n % len(steps)] == step]
        assert sorted(engine.needs[n] for n in own) == [*map(tuple, np.split(np.array(owned), count))]
        assert {sizes[n % len(steps)] for n in own} == {of.buffers(what)[of.classes[0][d]] / count}


@pytest.mark.parametrize(("fields", "named"), table_of("calibrate/plans")["refused"])
def test_what_cannot_be_performed_is_refused(fields: dict[str, Any], named: str) -> None:
    with pytest.raises(PreadyError, match=named):
        exchange_plan(workload(**fields), 1, 0)


def step() -> Workload:
    """A halo that computes, then a ring that does not, in as many partitions of its own."""
    return load("tests/data/calibrate/step.toml")


def test_a_step_is_its_exchanges_in_order() -> None:
    faces, ring, again = step_plan(step(), 3, seed=5).exchanges
    assert [p.partitions_per_thread for p in (faces, ring, again)] == [2, 1, 1]
    # two ranks along x and y, both wrapping around: four neighbours each, by direction
    assert sorted(e[3:] for e in faces.edges if e.sender == 3) == [(4096, 2), (4096, 3), (65536, 0), (65536, 1)]
    assert ring.edges == tuple(Edge(0, r, (r + 1) % 4, 1024 if r == 1 else 32768, 0) for r in range(4))
    assert {e.bytes for e in again.edges} == {8192}
    assert [p.ready.shape for p in (faces, ring, again)] == [(4, 3, 1, 4), (4, 3, 1, 2), (4, 3, 1, 2)]
    lines = step_plan(step(), 3, seed=5).text.splitlines()
    assert [line[:18] for line in lines if line.startswith("ex")] == ["exchange 4 2 2 1 3", *["exchange 4 2 1 1 3"] * 2]
    assert lines.count("end") == 3
    with pytest.raises(PreadyError, match=r"exchanges\[2\]: 4294967296 B for a neighbour"):
        step_plan(step().changed(**{"exchanges[2].buffer": "4 GiB"}), 1, 0)


def test_each_exchange_draws_as_the_engine_draws_for_it() -> None:
    what, seed, iterations = step(), 5, 6
    plan = step_plan(what, iterations, seed)
    for number, (part, one) in enumerate(zip(what.parts, plan.exchanges, strict=True)):
        for rank in range(4):
            drawn = drawn_times(part, iterations, exchange_seed(seed, number), rank=rank)
            assert np.array_equal(one.ready[rank, :, 0], drawn)
    # the engine says itself how long ranks computed: until the last partition, the mean of the ranks
    runs = run_step(Runs(ideal(), Step.on_all_ranks(what), Rows(0, seed)).plans([BULK] * 3), iterations)
    for run, one in zip(runs, plan.exchanges, strict=True):
        computed = one.ready[:, :, 0].max(axis=2).mean(axis=0)
        assert run.causes_s["compute"] == pytest.approx(computed, abs=2e-9)  # the kernel counts nanoseconds


RANKS = 4
Started = tuple[Launcher, Built]


@pytest.fixture(scope="module", params=sorted(LIBRARIES))
def started(request: pytest.FixtureRequest) -> Started:
    prefix = home_of(request.param)
    built = benchmark(prefix, request)
    words = (str(prefix / "bin" / "mpiexec"), *LIBRARIES[request.param][1], "-n", str(RANKS))
    return Launcher(words, environment={"OMP_WAIT_POLICY": "passive"}), built


Points = list[dict[str, Any]]


def performed(
    started: Started, out: Path, *plans: tuple[ExchangePlan | StepPlan, Points], patience_s: float = 60.0
) -> Outcome:
    """Points of several plans, in one start of the ranks."""
    (launcher, built), folder = started, out / "plans"
    steps = [(plan if isinstance(plan, StepPlan) else StepPlan((plan,)), points) for plan, points in plans]
    each = [Point.of("exchange", plan=step.write(folder), **p) for step, points in steps for p in points]
    return measure(
        each, launcher, out / "raw.jsonl", 300.0, built=built, folder=folder, point_budget_s=0.1, patience_s=patience_s
    )


AS_TODAY = ("single", "blocking", "persistent")
"""One message for a buffer, whatever is asked for."""


def ways_in(*transports: int) -> list[dict[str, Any]]:
    """Every way to perform an exchange, those that split buffers in so many messages each."""
    return [{"approach": w, "transport": t} for w in EXCHANGE_WAYS for t in transports[: 1 if w in AS_TODAY else None]]


@pytest.mark.thorough
@pytest.mark.parametrize("pattern", ["halo3d", "sweep3d"])
def test_every_way_performs_it_and_every_byte_is_right(started: Started, tmp_path: Path, pattern: str) -> None:
    plan = exchange_plan(workload(pattern=pattern, grid=[2, 2]), 2, seed=0)
    assert performed(started, tmp_path, (plan, ways_in(4))).failures == {}


@pytest.mark.thorough
def test_every_way_performs_buffers_of_parts_that_differ(started: Started, tmp_path: Path) -> None:
    """Threads in a grid own the sides they touch; what makes no sense is refused."""
    grid = workload(pattern="halo3d26", grid=[2, 2], threads=4, thread_grid=[2, 2, 1], edge="4 KiB", corner="1 KiB")
    mixed = ["many.4_single.1_part.2", "rma-many-active.2_persistent.1_rma-single-passive.2", "part.4_part.1_part.2"]
    cases: list[tuple[Workload, Points]] = [
        (step(), [{"approach": "single"}, *({"ways": ways} for ways in mixed)]),
        (grid, [*ways_in(1, 2), {"approach": "many", "transport": 4}]),  # edges along z belong to one thread
        (workload(pattern="halo3d", grid=[2, 1]), [{"approach": "single"}]),
    ]
    outcome = performed(started, tmp_path, *((step_plan(what, 2, seed=0), ways) for what, ways in cases))
    assert sorted(outcome.failures.values()) == [
        "the exchange has 2 ranks, the launcher started 4",
        "transport = 4 does not divide what threads own of each buffer",
    ]
    assert outcome.measured == sum(len(ways) for _, ways in cases) - 2


@pytest.mark.thorough
def test_other_partitions_at_the_receiver(started: Started, tmp_path: Path) -> None:
    plans = []
    for received in (2, 8):
        pairs = [[1], [0], [3], [2]]
        what = workload(pattern="neighbours", neighbour_list=pairs, receive_partitions=received)
        ways = [{"approach": "part", "transport": t} for t in (1, 2, 4)]
        ways += [{"approach": way, "transport": 2} for way in ("single", "many", "rma-single-active")]
        plans.append((exchange_plan(what, 2, seed=0), ways))
    assert performed(started, tmp_path, *plans, patience_s=20.0).failures == {}


TO_1, TO_0 = [[1], [], [], []], [[], [0], [], []]


@pytest.mark.thorough
@pytest.mark.alone
@pytest.mark.parametrize(
    ("lists", "size", "way", "waits"),
    [(TO_1, "1 KiB", "single", True), (TO_1, "1 KiB", "boundary", False), (TO_0, "1 MiB", "boundary", True),
     (TO_0, "64 KiB", "boundary-tested", False)],
)  # fmt: skip
def test_what_moves_while_the_interior_is_computed(
    started: Started, tmp_path: Path, lists: list[list[int]], size: str, way: str, waits: bool
) -> None:
    """Rank 0 computes 400 ms longer, nine tenths of it behind its sends. What it sends comes once the boundary is
    computed; a large message to it waits until it is in MPI, or tests."""
    late = 0.4
    rows = np.full((1 + RANKS, 2), 0.01)
    rows[0] += late
    np.savetxt(tmp_path / "times.txt", rows)
    trace = {"model": "trace", "file": str(tmp_path / "times.txt"), "unit": "s"}
    fields = {"partitions_per_thread": 1, "neighbour_list": lists, "arrivals": trace, "buffer": size}
    what = workload(pattern="neighbours", interior="90 %", compute={"time": "10 ms"}, **fields)
    rounds = [{"approach": way, "round": n} for n in range(5)]
    assert performed(started, tmp_path, (exchange_plan(what, 1, 0), rounds)).failures == {}
    lines = read(tmp_path / "raw.jsonl").points.values()
    begun, _, ended = np.median([line["record"]["lists"]["ranks_s"][0][3:6] for line in lines], axis=0)
    assert (ended - begun > late / 2) == waits
