"""Ranks that share a node: its adapter is one server, and what stays within it passes it by."""

import math
from functools import partial
from typing import Any

import numpy as np
import pytest
from close import close
from machines import ideal, with_adapter
from on_ranks import prepared, simulate
from plain_ranks import Plain, as_many_are_early, ends_of

from pready.model.approach.interfaces import BULK, BY_KEY, MANY, PART, Approach
from pready.model.engine.layout import layout, of_a_step
from pready.model.engine.pattern import adapters_of, as_grid, nodes_of
from pready.model.engine.plan import Plan
from pready.model.engine.simulate import run_step
from pready.model.machine import machine as machines
from pready.model.machine.machine import Machine
from pready.model.toml.reading import validated
from pready.model.workload.workload import Workload


def workload(**fields: Any) -> Workload:
    return validated(Workload, {"threads": 4, "buffer": "1 MiB", "pattern": "halo3d", **fields}, "w")


def with_nodes(machine: Machine, intra: Machine | None = None) -> Machine:
    return machine.model_copy(update={"intra": (intra or machine).inter})


def equals_plain(machine: Machine, plan: Plan, iterations: int) -> None:
    """Every rank ends every iteration as the oracle says."""
    expected = Plain(machine, plan).run(iterations)
    (out,) = run_step([plan], iterations, record=True)
    close(out.ends_s, ends_of(expected), rtol=1e-12)
    as_many_are_early(out.means["early"] * out.messages / iterations, expected)


NOISY = {"model": "normal by thread", "spread": 0.1}
ACROSS = [[r + 8] for r in range(8)] + [[r] for r in range(8)]
"""Two nodes of eight ranks; each rank and one on the other node send to each other."""


def across(machine: Machine, approach: Approach, ranks_per_node: int | None) -> float:
    w = workload(pattern="neighbours", neighbour_list=ACROSS)
    out = simulate(machine, w, approach, grid=(16,), neighbours=ACROSS, iterations=1, ranks_per_node=ranks_per_node)
    return out.time_s


@pytest.mark.parametrize("profile", ["meluxina", "hpc3", "niagara"])
def test_eight_ranks_in_step_take_eight_times_as_long(profile: str) -> None:
    machine = with_nodes(machines.load(profile))
    one, eight = (across(machine, BULK, n) for n in (None, 8))
    # What is not on the adapter happens once: handshake, L and CPU of eight ranks at the same time.
    each, shared = float(prepared(machine, workload(), BULK, grid=(2, 1, 1)).costs[0].link), machine.adapter
    if shared is not None:  # of one rail
        each = shared.gap.value + (1 << 20) / shared.rate.value
    assert eight - one == pytest.approx(7 * each, rel=1e-3)


def test_a_rank_keeps_its_own_pace_through_the_adapter_of_its_node() -> None:
    """Eight messages to as many ranks of another node: their sender needs g for each, the adapter a tenth of it."""
    slow = with_nodes(ideal(L=1e-6, o_s=1e-7, o_r=0.0, g=1e-5, G=1e-10, link=1e10))
    machine = with_adapter(slow, "10 GB/s", "1 us")
    to: list[list[int]] = [[8 + i for i in range(8)], *([[]] * 15)]
    w = validated(Workload, {"threads": 1, "buffer": "100 B", "pattern": "neighbours", "neighbour_list": to}, "w")
    for ranks_per_node in (None, 8):
        out = simulate(machine, w, BULK, grid=(16,), neighbours=to, iterations=1, ranks_per_node=ranks_per_node)
        assert out.time_s == pytest.approx(1e-7 + 7 * (1e-5 + 1e-8) + 1e-6 + 1e-8, rel=0.01)


def test_what_stays_within_a_node_is_on_its_own_path() -> None:
    slow, fast = ideal(G=1e-9, link=1e9, L=1e-6), ideal(G=1e-10, link=1e10, L=1e-7)
    machine, w = with_nodes(slow, fast), workload()
    within = simulate(machine, w, BULK, grid=(4, 2, 1), iterations=3, ranks_per_node=8)
    alone = simulate(machine, w.model_copy(update={"path": "intra"}), BULK, grid=(4, 2, 1), iterations=3)
    np.testing.assert_allclose(within.last_end_s, alone.last_end_s, rtol=1e-12)


def test_a_cube_of_ranks_sends_half_of_its_faces_outside() -> None:
    # 2 x 2 x 2 ranks per node of a periodic grid: each rank has three of its six neighbours on its node.
    machine = with_nodes(ideal(G=1e-10, link=1e10), ideal(G=1e-18, link=1e18))
    w = workload(grid=[4, 4, 4], node_grid=[2, 2, 2])
    plan = prepared(machine, w, BULK, **vars(layout(w)))
    inside = np.array([k.inside for k in plan.pattern.kinds])[plan.pattern.classes]
    assert inside.sum(axis=1).tolist() == [3] * len(inside)
    # Eight ranks with three faces of 1 MiB at 10 GB/s.
    out = simulate(machine, w, BULK, iterations=1, **vars(layout(w)))
    assert out.time_s == pytest.approx(24 * 2**20 / 1e10, rel=1e-6)


@pytest.mark.parametrize("pattern", ["halo3d", "halo3d26"])
@pytest.mark.parametrize(("up_to", "periodic"), [(1e-9, True), (1e-8, False), (1e-7, True), (1e-3, False)])
def test_messages_of_several_vcis_within_a_picosecond_leave_as_they_come(
    pattern: str, up_to: float, periodic: bool
) -> None:
    # Threads are ready within 0.01 ps, 0.1 ps, 1 ps, 10 ns: by number, each VCI's would go before the next one's.
    machine = with_nodes(machines.load("meluxina"), machines.load("hpc3"))
    arrivals = {"model": "uniform", "up_to": up_to}
    w = workload(pattern=pattern, buffer="32 KiB", compute={"time": "10 us"}, arrivals=arrivals)
    plan = prepared(machine, w, Approach(MANY, 4, 4), grid=(4, 4, 2), periodic=periodic, ranks_per_node=4)
    equals_plain(machine, plan, 2)


@pytest.mark.parametrize("key", ["single", "rma-single-active", "rma-many-active"])
@pytest.mark.parametrize("partitions", [1, 4])
def test_a_port_is_free_for_what_comes_from_outside(key: str, partitions: int) -> None:
    # Ranks 0 and 3 hear from the two others of their node and from each other. Only bandwidth costs, no receiver does
    # anything, and each flow has a NIC or an adapter for itself: all three take as long as one, 1 MiB at 10 GB/s. Were
    # all to come through one port, it would be three times that.
    machine = with_nodes(ideal(G=1e-10, link=1e10))
    listed = [[3], [0], [0], [0], [3], [3]]
    w, approach = workload(pattern="neighbours", neighbour_list=listed), Approach(BY_KEY[key], partitions, 1)
    run_ = partial(simulate, machine, w, approach, grid=(6,), neighbours=listed, iterations=1)
    assert run_(ranks_per_node=3).time_s == pytest.approx(2**20 * 1e-10, rel=1e-9)
    assert run_().time_s == pytest.approx(3 * 2**20 * 1e-10, rel=1e-9)


def test_ranks_far_apart_in_time_are_put_in_order_all_the_same() -> None:
    # Minutes apart, in picoseconds: nearly all the digits of a double.
    machine = with_nodes(machines.load("meluxina"))
    w = workload(buffer="64 KiB", compute={"time": "1000 s"}, arrivals={"model": "normal by thread", "spread": 0.4})
    plan = prepared(machine, w, Approach(PART, 4, 1), grid=(4, 4, 4), ranks_per_node=8)
    equals_plain(machine, plan, 2)


def test_nodes_of_a_grid() -> None:
    assert nodes_of((4, 2), 2).tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert nodes_of((4, 2), 4, (2, 2)).tolist() == [0, 0, 1, 1, 0, 0, 1, 1]
    assert nodes_of((2, 2, 2), 2, (1, 1, 2)).tolist() == [0, 1, 2, 3, 0, 1, 2, 3]
    for grid in ((4, 4, 4), (6, 2, 5), (8,), (3, 4)):
        for n in (k for k in range(1, 97) if math.prod(grid) % k == 0):
            box = as_grid(grid, n)
            if box is not None:
                np.testing.assert_array_equal(nodes_of(grid, n), nodes_of(grid, n, box))
    assert as_grid((4, 4, 4), 8) == (4, 2, 1)
    assert as_grid((4, 4, 4), 64) == (4, 4, 4)
    assert as_grid((4, 3), 6) is None


def test_a_part_has_whole_nodes() -> None:
    def part(**nodes: Any) -> tuple[Any, Any]:
        (some,) = of_a_step(workload(grid=[12, 12, 12], **nodes), some=True)
        return some.grid, some.node_grid

    assert part(node_grid=[3, 2, 1]) == ((6, 4, 3), (3, 2, 1))
    assert part(ranks_per_node=12) == ((12, 3, 3), (12, 1, 1))
    assert part(node_grid=[1, 1, 2]) == ((3, 3, 4), (1, 1, 2))
    assert part(ranks_per_node=18) == ((12, 12, 12), None)


def test_one_part_stands_for_all_exchanges_of_a_step() -> None:
    halo, pairs, tree = ({"pattern": name, "buffer": "1 KiB"} for name in ("halo3d", "pt2pt", "bcast"))
    for exchanges, some in (([halo], 3), ([halo, pairs], 4), ([pairs, halo], 4), ([pairs, tree], 12)):
        step = Workload.model_validate({"threads": 1, "grid": [12] * 3, "exchanges": exchanges})
        assert {of.grid for of in of_a_step(step, some=True)} == {(some,) * 3}
        assert {of.grid for of in of_a_step(step)} == {(12,) * 3}


SLOW_RANKS = ideal(L=1e-9, o_s=1e-9, o_r=1e-9, g=0.0, G=1e-10, link=1e10)


@pytest.mark.parametrize(("rate", "rails", "as_many"), [("10 GB/s", 1, 8), ("20 GB/s", 1, 4), ("20 GB/s", 2, 4)])
def test_what_ranks_share_of_the_adapter_is_its_own_rate(rate: str, rails: int, as_many: float) -> None:
    """A rank's 10 GB/s for each of eight through 20 GB/s: all are through it after 8/2 messages' time; on two rails of
    10 GB/s four ranks each take four messages' time."""
    machine = with_adapter(with_nodes(SLOW_RANKS), rate, rails=rails)
    one, eight = (across(machine, BULK, n) for n in (None, 8))
    assert eight == pytest.approx(as_many * one, rel=0.01)


def test_small_messages_of_many_ranks_are_the_adapters_gap_apart() -> None:
    machine = with_adapter(with_nodes(ideal(L=1e-6, g=1e-9, G=1e-12, link=1e12)), "1 TB/s", gap="3 us")
    one, eight = (across(machine, BULK, n) for n in (None, 8))
    assert eight - one == pytest.approx(7 * (3e-6 + (1 << 20) / 1e12), rel=1e-2)


def test_ranks_of_a_node_use_its_adapters_in_turn() -> None:
    node = np.array([0, 1, 2, 2, 0, 1, 3, 2, 0])  # their first, second and third, wherever they stand
    assert adapters_of(node, 2).tolist() == [0, 2, 4, 5, 1, 3, 6, 4, 0]
    assert adapters_of(node, 3).tolist() == [0, 3, 5, 6, 1, 4, 8, 7, 2]
    assert adapters_of(node, 1).tolist() == node.tolist()


@pytest.mark.parametrize("rails", [1, 2, 3])
@pytest.mark.parametrize("key", ["many", "part", "rma-many-active"])
def test_rails_and_gaps_equal_the_plain_recurrence(key: str, rails: int) -> None:
    machine = with_adapter(with_nodes(machines.load("meluxina")), "30 GB/s", "200 ns", rails)
    w = workload(arrivals=NOISY, compute={"time": "1 ms"})
    approach = BY_KEY[key].into(4)
    plan = prepared(machine, w, approach, grid=(4, 2, 2), ranks_per_node=4)
    equals_plain(machine, plan, 3)
