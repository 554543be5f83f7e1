"""The engine equals the message-by-message oracle, for every pattern and approach."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from close import close
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_once import EITHER, any_of, between, divisors, order_of, several
from plain_ranks import Plain
from pready.model.approach import BY_KEY, Approach

from pready.model import machine as machines
from pready.model.arrival_models import Gaussian, Laggard, NoArrivals, Normal, Uniform
from pready.model.engine import CAUSES, prepared
from pready.model.engine.simulate import run
from pready.model.files import validated
from pready.model.sizes import Sizes
from pready.model.workload import ComputeTime, Workload


def shares(most: float) -> st.SearchStrategy[float]:
    """None, or so much that what times are rounded to does not decide who is first."""
    return st.floats(0, most).map(lambda share: share if share > 1e-9 else 0.0)


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
        lambda n, p: Normal(model="normal", spread=n, partitions=p),
        shares(0.5),
        any_of("together", "in turn"),
    ),
    st.builds(lambda n: Gaussian(model="gaussian", epsilon=n), shares(0.1)),
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
    machines.SizeCurve, {"sizes": ["8 B", "1 MiB"], "time": ["1 us", "5 us"], "source": "assumed", "why": "t"}, "test"
)


def _with_terms_of_exchanges(draw: st.DrawFn, machine: machines.Machine) -> machines.Machine:
    def value(x: Any) -> Any:
        return machine.progress.model_copy(update={"value": x})

    def maybe(x: Any) -> Any:
        return x if draw(EITHER) else None

    own = {name: maybe(value(x)) for name, x in (("flush", 7e-7), ("window", 1e-7))}
    first, *others = machine.inter.segments
    first = first.model_copy(update={"L": value(draw(any_of(first.L.value, 1.3e-6)))})
    return machine.model_copy(
        update={
            "one_sided": machine.one_sided.model_copy(update=own),
            "inter": machine.inter.model_copy(update={"segments": (first, *others)}),
            "active_message": maybe(CURVE),
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
            "sender_progress": machine.progress.model_copy(update={"value": "hardware"}),
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
            grid = (draw(between(1, 5)), draw(between(2, 5)))
            blocks = draw(between(1, 3))
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


def compare(case, iterations):
    plan = prepared(**case)
    if plan.numbers["overrun"][0]:
        return
    expected = Plain(case["machine"], plan).run(iterations)
    out = run(plan, iterations, record=True)
    ends = np.array([[e.end for e in row.ranks] for row in expected])
    close(out.ends_s, ends, rtol=1e-12, atol=0)
    if out.received_s is not None:
        received = np.array([[e.received for e in row.ranks] for row in expected])
        close(out.received_s, received, rtol=1e-12, atol=0)
    early, tied = (np.array([getattr(e, name) for e in expected]) for name in ("early", "tied"))
    found = out.arrived_early * out.messages / iterations
    assert (found > early - tied - 1e-6).all() and (found < early + tied + 1e-6).all()
    for cause in CAUSES:
        parts = np.array([np.mean([e.causes[cause] for e in row.ranks]) for row in expected])
        close(out.causes_s[cause], parts, rtol=0, atol=1e-12 * ends.max())


@settings(max_examples=1500, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(cases(("pt2pt", "halo3d", "halo3d26", "neighbours")), st.integers(1, 3))
def test_plain(case, iterations):
    compare(case, iterations)
