"""The engine equals the plain recurrence, for every pattern and approach."""

import math
from itertools import permutations, product
from random import Random
from typing import Any

import numpy as np
import pytest
from close import close
from hypothesis import given
from hypothesis import strategies as st
from made_once import EITHER, any_of, between, divisors, generated, some_of
from on_ranks import prepared
from plain_ranks import Plain, as_many_are_early, ends_of, run_as_plain
from workloads import workload_of

from pready.model.approach.interfaces import BULK, BY_KEY, MANY, SINGLE, Approach
from pready.model.engine.runs import Job, Length, sums_of
from pready.model.engine.simulate import CAUSES, run_step, together
from pready.model.machine import machine as machines
from pready.model.machine.path import SizeCurve
from pready.model.toml.reading import validated
from pready.model.workload.arrivals import Gaussian, Laggard, NoArrivals, Normal, Uniform
from pready.model.workload.exchange import ComputeTime
from pready.model.workload.sizes import Sizes
from pready.model.workload.workload import Workload

LEAST = 1e-3
"""Of the compute time, 1 us at least: threads then lie a nanosecond apart, hardly ever within the picosecond in which
rounding decides which message is first."""


def shares(most: float) -> st.SearchStrategy[float]:
    """None, or so much that what times are rounded to does not decide who is first."""
    return st.floats(0, most).map(lambda share: share if share > LEAST else 0.0)


arrival_models = st.one_of(
    st.just(NoArrivals()),
    st.builds(lambda n: Laggard(model="laggard", late_by=n), shares(0.1)),
    st.builds(lambda n: Laggard(model="laggard", late_by=n, late="thread"), shares(0.1)),
    st.builds(lambda n, p: Uniform(model="uniform", up_to=n, partitions=p), shares(0.1), any_of("together", "in turn")),
    st.builds(
        lambda n, p: Normal(model="normal by thread", spread=n, partitions=p),
        shares(0.5),
        any_of("together", "in turn"),
    ),
    st.builds(lambda n: Gaussian(model="normal by partition", epsilon=n), shares(0.1)),
)


INTRA = [machines.load(name).inter for name in ("meluxina", "hpc3")]
"""Paths within a node: any will do, as long as they are others than between nodes."""
GRIDS = {1: (1, 1, 1), 2: (1, 1, 2), 3: (1, 1, 3), 4: (1, 2, 2), 8: (2, 2, 2)}
FEW = sorted((g for g in product(range(1, 5), repeat=3) if 1 < math.prod(g) <= 24), key=math.prod)
"""Ranks of a halo: more than a vector has lanes, and axes on which some are no neighbours."""
FEW_OF_A_SWEEP = ((1, 2), (2, 2), (1, 4), (2, 3), (3, 2), (4, 2), (3, 3))
PROFILES = sorted(machines.profiles())
SHARES = (8, 700, 9000, 50000)
BY_DIRECTION = tuple((b, b, b) for b in SHARES for _ in range(16)) + tuple(product(SHARES, repeat=3))
"""Bytes of a partition to each of three directions, as often the same to all three of them."""
TERMS = some_of("put", "setup", "answers")
SHAPE = some_of("sizes", "thread grid", "nodes", "box")
PACKS: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    ({}, {}, {"pack": "1 GB/s"}, {"pack": "1 GB/s", "packed_by": "threads"}, {"pack": "30 GB/s"})
)
PROGRESS = any_of(*product(("hardware", "thread", "on-call"), (1, 2, 3, 64)))


def _times(n: int, shares: tuple[int, int, int]) -> tuple[float, float, float]:
    x, y, z = shares
    return float(n * x), float(n * y), float(n * z)


CURVE = validated(
    SizeCurve, {"sizes": ["8 B", "1 MiB"], "time": ["1 us", "5 us"], "source": "assumed", "why": "t"}, "test"
)


def _with_terms_of_exchanges(draw: st.DrawFn, machine: machines.Machine) -> machines.Machine:
    there = draw(TERMS)

    def value(x: Any) -> Any:
        return None if x is None else machine.progress.model_copy(update={"value": x})

    def maybe(name: str, x: Any) -> Any:
        return x if name in there else None

    own = {"put": maybe("put", CURVE), "puts": value(draw(any_of(None, "adapter", "processor", "deferred")))}
    first, *others = machine.inter.segments
    first = first.model_copy(update={"L": value(draw(any_of(first.L.value, 1.3e-6)))})
    if "answers" in there:  # one protocol answered by somebody else than the others
        of, which = value(draw(any_of(None, "hardware", "thread", "on-call"))), draw(between(1, 7))
        others = [
            s if s.handshake is None or not which >> i & 1 else s.model_copy(update={"progress": of})
            for i, s in enumerate(others)
        ]
    progress, contexts = draw(PROGRESS)
    return machine.model_copy(
        update={
            "progress": value(progress),
            "contexts": machine.contexts.model_copy(update={"value": contexts}),
            "one_sided": machine.one_sided.model_copy(update=own),
            "inter": machine.inter.model_copy(update={"segments": (first, *others)}),
            "library": machine.library.model_copy(update={"global_progress": value(draw(any_of(None, False, True)))}),
            "requests": machines.Requests.model_construct(setup=value(maybe("setup", 1.1e-7))),
        }
    )


@st.composite
def cases(
    draw: st.DrawFn, patterns: tuple[str, ...] = ("pt2pt", "halo3d", "halo3d26", "sweep3d", "neighbours")
) -> dict[str, Any]:
    machine = _with_terms_of_exchanges(draw, machines.load(draw(any_of(*PROFILES))))
    threads, theta = draw(any_of(1, 2, 3, 4, 8)), draw(any_of(1, 2, 3))
    n = threads * theta
    interface = draw(any_of(*BY_KEY.values()))
    pattern, shape = draw(any_of(*patterns)), draw(SHAPE)
    halo = pattern in ("halo3d", "halo3d26")
    sizes, neighbours, blocks, thread_grid = None, None, 1, None
    neighbour_sizes, nodes, node_grid = None, None, None
    periodic: Any = True
    grid: tuple[int, ...]
    match pattern:
        case "pt2pt":
            grid = (2 * draw(between(1, 6)),)
        case "sweep3d":  # a message per rank and neighbour in 8 octants
            grid, blocks = draw(any_of(*FEW_OF_A_SWEEP)), draw(any_of(1, 1, 2))
        case "neighbours":
            ranks, at = draw(between(2, 12)), Random(draw(between(0, 9999)))
            grid = (ranks,)
            neighbours = [
                [q + (q >= r) for q in at.choices(range(ranks - 1), k=at.randint(0, 4))] for r in range(ranks)
            ]
            if not any(neighbours):
                neighbours[0] = [1]
            if "sizes" in shape:
                neighbour_sizes = [[float(n * at.choice((8, 700, 50000))) for _ in row] for row in neighbours]
        case _:
            grid = draw(any_of(*FEW))
            periodic = draw(any_of(*product((False, True), repeat=3)))
            if "sizes" in shape:
                faces, edges, corner = draw(any_of(*BY_DIRECTION)), draw(any_of(*BY_DIRECTION)), draw(any_of(*SHARES))
                sizes = Sizes(_times(n, faces), _times(n, edges), float(n * corner))
    if halo and "thread grid" in shape:
        thread_grid = draw(any_of(*sorted({*permutations((1, 1, threads)), *permutations(GRIDS[threads])})))
    transports = draw(any_of(*divisors(n))) if interface.splits else 1
    ranks = math.prod(grid)
    if "nodes" in shape and pattern != "sweep3d" and not interface.one_by_one:  # refused of others: see test_nodes.py
        nodes = draw(any_of(*divisors(ranks)))
        if halo and "box" in shape:
            node_grid = draw(any_of(*product(*map(divisors, grid))))
            nodes = math.prod(node_grid)
        machine = machine.model_copy(update={"intra": draw(any_of(*INTRA))})
    interior, packs = (draw(any_of(None, None, 0.25, 0.8, 1.0)), draw(PACKS)) if pattern != "sweep3d" else (None, {})
    workload = Workload(
        interior=interior,
        **packs,
        threads=threads,
        partitions_per_thread=theta,
        buffer=f"{n * draw(any_of(8, 1000, 9000, 40000, 300000))} B",  # type: ignore[arg-type]
        pattern=pattern,
        neighbours=4 if pattern == "neighbours" else None,
        receiver=draw(any_of("waiting", "computing")),
        compute=ComputeTime(time=draw(any_of("1 us", "10 us", "1 ms"))),
        arrivals=draw(arrival_models),
    )
    return {
        "machine": machine,
        "workload": workload,
        "approach": Approach(interface, transports, draw(any_of(1, 2, 3, 8))),
        "grid": grid,
        "periodic": periodic,
        "sizes": sizes,
        "neighbours": neighbours,
        "neighbour_sizes": neighbour_sizes,
        "ranks_per_node": nodes,
        "node_grid": node_grid,
        "blocks": blocks,
        "thread_grid": thread_grid,
        "seed": draw(any_of(0, 1, 2**64 - 1)),
    }


def compare(case: dict[str, Any], iterations: int, **options: Any) -> None:
    out, expected = run_as_plain(case, iterations, **options)
    if out.received_s is not None:
        received = np.array([[e.received for e in row] for row in expected])
        close(out.received_s, received, rtol=1e-12, atol=0)
    as_many_are_early(out.means["early"] * out.messages / iterations, expected)
    close(sum(out.causes_s.values()), out.mean_s, rtol=1e-12, atol=1e-15 * ends_of(expected).max())


@pytest.mark.slow
@generated(560)
@given(cases(), any_of(2, 2, 3))  # in the first, all ranks begin at once
def test_engine_equals_the_plain_recurrence(case: dict[str, Any], iterations: int) -> None:
    compare(case, iterations)


@st.composite
def steps(draw: st.DrawFn) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A case, and further exchanges of the same ranks: with other arrivals, sent otherwise, in pairs."""
    case = draw(cases(("pt2pt", "halo3d", "halo3d26", "neighbours")))
    workload, others = case["workload"], []
    for _ in range(draw(between(1, 2))):
        compute = ComputeTime(time=draw(any_of("0 s", "3 us", "1 ms")))
        like = {"compute": compute, "arrivals": draw(arrival_models) if compute.time else NoArrivals()}
        other = {**case, "workload": workload.model_copy(update=like), "seed": draw(between(0, 5))}
        if draw(EITHER):
            other["approach"] = Approach(SINGLE)
        if math.prod(case["grid"]) % 2 == 0 and draw(EITHER):
            pairs = workload.model_copy(update=like | {"pattern": "pt2pt", "neighbours": None})
            lonely = {"sizes": None, "neighbours": None, "neighbour_sizes": None, "thread_grid": None}
            other = {**other, **lonely, "workload": pairs, "approach": Approach(BY_KEY["part"], workload.threads, 2)}
        others.append(other)
    return case, others


@pytest.mark.slow
@generated(112)
@given(steps(), st.integers(1, 3))
def test_several_exchanges_equal_it(step: tuple[dict[str, Any], list[dict[str, Any]]], iterations: int) -> None:
    case, others = step
    plans = [prepared(**case), *(prepared(**other) for other in others)]
    expected = Plain(case["machine"], *plans).run(iterations)
    out = run_step(plans, iterations, record=True)
    for e, of in enumerate(out):
        mine = expected[e :: len(plans)]
        ends = np.array([[x.end for x in row] for row in mine])
        assert of.ends_s is not None
        close(of.ends_s, ends, rtol=1e-12, atol=0)
        as_many_are_early(of.means["early"] * of.messages / iterations, mine)
        for cause in CAUSES:
            parts = np.array([np.mean([x.causes[cause] for x in row]) for row in mine])
            close(of.causes_s[cause], parts, rtol=0, atol=1e-12 * ends.max())
    begins = np.concatenate([np.zeros((1, ends.shape[1])), ends[:-1]])
    close(out[0].iteration_s, (ends - begins).mean(axis=1), rtol=1e-11)
    close(out[0].longest_s, (ends - begins).max(axis=1), rtol=1e-11)
    close(out[0].shortest_s, (ends - begins).min(axis=1), rtol=1e-11)
    whole = together(out, BULK)
    close(whole.mean_s, out[0].iteration_s, rtol=1e-12)


@pytest.mark.parametrize("cores", [1, 3])
def test_a_step_gives_the_same_bits_on_any_cores_and_in_one_call(cores: int) -> None:
    machine = machines.load("hpc3").model_copy(update={"intra": INTRA[0]})
    w = workload_of(buffer="64 KiB", pattern="halo3d", arrivals={"model": "normal by thread", "spread": 0.1})
    common: dict[str, Any] = {"grid": (8, 8, 4), "ranks_per_node": 4}
    many = Approach(MANY, 4, 4)
    step = [
        prepared(machine, w, many, sizes=Sizes.alike(8192.0, 64.0), seed=1, **common),
        prepared(machine, w, Approach(SINGLE), seed=2, **common),
    ]
    alone = run_step(step, 5, record=True)
    again = run_step(step, 5, record=True, cores=cores)
    ((batch,),) = sums_of([Job(step, Length(0, 5))], cores)
    for number, (one, other) in enumerate(zip(alone, again, strict=True)):
        np.testing.assert_array_equal(one.ends_s, other.ends_s)
        np.testing.assert_array_equal(one.mean_s, batch.of[0, :, number, 0])
        np.testing.assert_array_equal(one.communication_s, other.communication_s)
    early = np.average([one.means["early"] for one in alone], axis=0, weights=[one.messages for one in alone])
    np.testing.assert_allclose(together(alone, BULK).means["early"], early, rtol=1e-12)
    sweep = prepared(machine, w.model_copy(update={"pattern": "sweep3d"}), many, grid=(24, 18))
    (one,), (other,) = (run_step([sweep], 4, record=True, cores=n) for n in (1, cores))
    np.testing.assert_array_equal(one.ends_s, other.ends_s)
