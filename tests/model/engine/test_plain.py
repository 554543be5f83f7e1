"""The engine equals the plain recurrence, for every pattern and approach."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from close import close
from hypothesis import given
from hypothesis import strategies as st
from made_once import EITHER, any_of, between, divisors, generated, order_of, several
from plain_ranks import Plain, as_many_are_early, ends_of, run_as_plain
from workloads import workload_of

from pready.model.approach.interfaces import BULK, BY_KEY, MANY, SINGLE, Approach
from pready.model.engine.plan import Priced
from pready.model.engine.simulate import prepared, run_all, run_step
from pready.model.engine.simulation import CAUSES, together
from pready.model.machine import machine as machines
from pready.model.machine.path import SendCompletes, SizeCurve
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
    st.builds(
        lambda n, p: Uniform(model="uniform", up_to=n, partitions=p),
        shares(0.1),
        any_of("together", "in turn"),
    ),
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
PROFILES = sorted(machines.profiles())
SHARE = any_of(8, 700, 9000, 50000)
SHARES = st.tuples(SHARE, SHARE, SHARE) | SHARE.map(lambda b: (b, b, b))
"""Bytes of a partition to each of three directions, and to all three of them."""


def _times(n: int, shares: tuple[int, int, int]) -> tuple[float, float, float]:
    x, y, z = shares
    return float(n * x), float(n * y), float(n * z)


CURVE = validated(
    SizeCurve,
    {"sizes": ["8 B", "1 MiB"], "time": ["1 us", "5 us"], "source": "assumed", "why": "t"},
    "test",
)
COLD = CURVE.model_copy(update={"time": (2e-6, 9e-6)})


def _with_terms_of_exchanges(draw: st.DrawFn, machine: machines.Machine) -> machines.Machine:
    def value(x: Any) -> Any:
        return machine.progress.model_copy(update={"value": x})

    def maybe(x: Any) -> Any:
        return x if draw(EITHER) else None

    own = {
        name: maybe(value(x)) for name, x in (("flush", 7e-7), ("flush_peer", 3e-7), ("window", 1e-7), ("gap", 2e-7))
    }
    own["put"] = maybe(CURVE)
    own["puts"] = maybe(value(draw(any_of("adapter", "processor", "deferred"))))
    first, *others = machine.inter.segments
    first = first.model_copy(update={"L": value(draw(any_of(first.L.value, 1.3e-6)))})
    if draw(EITHER):  # one protocol answered by somebody else than the others
        of = draw(any_of(None, "hardware", "thread", "on-call"))
        others = [
            s if s.handshake is None or draw(EITHER) else s.model_copy(update={"progress": value(of) if of else None})
            for s in others
        ]
    completes = validated(
        SendCompletes,
        {
            "value": draw(any_of("copied", "left", "delivered")),
            "from": draw(any_of("0 B", "5000 B")),
            "source": "assumed",
            "why": "t",
        },
        "test",
    )
    return machine.model_copy(
        update={
            "one_sided": machine.one_sided.model_copy(update=own),
            "inter": machine.inter.model_copy(
                update={"segments": (first, *others), "send_completes": maybe(completes)}
            ),
            "library": machine.library.model_copy(update={"global_progress": maybe(value(draw(EITHER)))}),
            "active_message": maybe(CURVE),
            "cold": maybe(COLD),
            "requests": machines.Requests.model_construct(setup=maybe(value(1.1e-7))),
        }
    )


@st.composite
def cases(
    draw: st.DrawFn,
    patterns: tuple[str, ...] = ("pt2pt", "halo3d", "halo3d26", "sweep3d", "neighbours"),
) -> dict[str, Any]:
    profile = draw(any_of(*PROFILES))
    machine = machines.load(profile)
    progress = draw(any_of("hardware", "thread", "on-call"))
    contexts = draw(any_of(1, 2, 3, 64))
    machine = machine.model_copy(
        update={
            "progress": machine.progress.model_copy(update={"value": progress}),
            "contexts": machine.contexts.model_copy(update={"value": contexts}),
            "sender_progress": machine.progress.model_copy(update={"value": draw(any_of("hardware", "on-call"))}),
        }
    )
    machine = _with_terms_of_exchanges(draw, machine)
    threads, theta = draw(any_of(1, 2, 3, 4, 8)), draw(any_of(1, 2, 3))
    n = threads * theta
    interface = draw(any_of(*BY_KEY.values()))
    transports = draw(any_of(*divisors(n)))
    approach = Approach(interface, transports if interface.splits else 1, draw(any_of(1, 2, 3, 8)))
    pattern = draw(any_of(*patterns))
    sizes, neighbours, blocks, thread_grid = None, None, 1, None
    neighbour_sizes, nodes, node_grid = None, None, None
    periodic: Any = True
    grid: tuple[int, ...]
    per_partition = draw(any_of(8, 1000, 9000, 40000, 300000))
    match pattern:
        case "pt2pt":
            grid = (2 * draw(between(1, 6)),)
        case "sweep3d":
            grid = (draw(between(1, 4)), draw(between(2, 4)))  # a message per rank and neighbour in 8 octants
            blocks = draw(between(1, 2))
        case "neighbours":
            ranks = draw(between(2, 12))
            grid = (ranks,)
            neighbours = [[q + (q >= r) for q in draw(several(between(0, ranks - 2), 0, 4))] for r in range(ranks)]
            if not any(neighbours):
                neighbours[0] = [1]
            if draw(EITHER):
                neighbour_sizes = [[float(n * draw(any_of(8, 700, 50000))) for _ in row] for row in neighbours]
        case _:
            grid = tuple(draw(several(between(1, 4), 3, 3)))
            if grid == (1, 1, 1):
                grid = (2, 1, 1)
            periodic = tuple(draw(several(EITHER, 3, 3)))
            if draw(EITHER):
                faces, edges, corner = draw(SHARES), draw(SHARES), draw(SHARE)
                sizes = Sizes(_times(n, faces), _times(n, edges), float(n * corner))
    if pattern in ("halo3d", "halo3d26") and draw(EITHER):
        thread_grid = tuple(draw(order_of(*draw(any_of((1, 1, threads), GRIDS[threads])))))
        # Transport partitions divide what every face, edge and corner has.
        if interface.splits:
            approach = Approach(interface, draw(any_of(*divisors(theta))), approach.vcis)
    ranks = math.prod(grid)
    shared = pattern != "sweep3d" and not interface.one_by_one
    if shared and draw(EITHER):  # refused of others: see test_nodes.py
        nodes = draw(any_of(*divisors(ranks)))
        if pattern in ("halo3d", "halo3d26") and draw(EITHER):
            node_grid = tuple(draw(any_of(*divisors(x))) for x in grid)
            nodes = math.prod(node_grid)
        machine = machine.model_copy(update={"intra": INTRA[draw(between(0, len(INTRA) - 1))]})
    workload = Workload(
        threads=threads,
        partitions_per_thread=theta,
        buffer=f"{n * per_partition} B",  # type: ignore[arg-type]
        pattern=pattern,
        neighbours=4 if pattern == "neighbours" else None,
        receiver=draw(any_of("waiting", "computing")),
        compute=ComputeTime(time=draw(any_of("1 us", "10 us", "1 ms"))),
        arrivals=draw(arrival_models),
    )
    return {
        "machine": machine,
        "workload": workload,
        "approach": approach,
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
    as_many_are_early(out.arrived_early * out.messages / iterations, expected)
    close(sum(out.causes_s.values()), out.mean_s, rtol=1e-12, atol=1e-15 * ends_of(expected).max())


@pytest.mark.slow
@generated(2000)
@given(cases(), st.integers(1, 3))
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
@generated(400)
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
        as_many_are_early(of.arrived_early * of.messages / iterations, mine)
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
    again = run_step(step, 5, record=True, cores=cores, chunk=64)
    ((batch,),) = run_all([([Priced(p, {}, (p.seed,)) for p in step], 5)], cores)
    for one, other, third in zip(alone, again, batch, strict=True):
        np.testing.assert_array_equal(one.ends_s, other.ends_s)
        np.testing.assert_array_equal(one.mean_s, third.mean_s)
        np.testing.assert_array_equal(one.communication_s, other.communication_s)
