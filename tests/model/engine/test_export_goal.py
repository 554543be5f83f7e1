"""The engine against LogGOPSim: the same in bulk, and different by stated rules."""

import io

import pytest
from goal_text import Flags, export_goal
from machines import ideal
from on_ranks import simulate
from workloads import workload_of

from pready.model.approach.interfaces import PART, SINGLE, Approach
from pready.model.workload.workload import Workload

MACHINE = ideal(L=1e-6, o_s=1e-7, o_r=1e-7, g=5e-8, G=1e-18, link=1e18)
"""Whole nanoseconds, o_s = o_r, g < o, nothing per byte: what both can express."""
BULK, PART_8 = Approach(SINGLE), Approach(PART, 8, 1)
GRID, ITERATIONS = (4, 4, 4), 5
RECORDED = {("1 ms", BULK): 5208500, ("1 ms", PART_8): 5229500, ("10 us", BULK): 60500, ("10 us", PART_8): 101500}
"""LogGOPSim's ends in ns on 2026-11-20: `LogGOPSim -f run.bin -b -L 1000 -o 100 -g 50 -G 0 -O 0 -S 2147483647`."""


def workload(compute: str) -> Workload:
    late = {"model": "laggard", "late_by": 0.04, "late": "thread"}
    fields = {"threads": 8, "buffer": "8 B", "pattern": "halo3d", "receiver": "computing", "arrivals": late}
    return workload_of(compute={"time": compute}, **fields)


@pytest.mark.thorough
@pytest.mark.parametrize(("case", "end"), RECORDED.items(), ids=lambda x: str(x)[:12])
def test_it_ends_when_loggopsim_says(case: tuple[str, Approach], end: int) -> None:
    compute, approach = case
    flags = export_goal(io.StringIO(), MACHINE, workload(compute), approach, grid=GRID, iterations=ITERATIONS)
    assert (flags.L, flags.o, flags.g) == (1000, 100, 50)
    ours = simulate(MACHINE, workload(compute), approach, grid=GRID, iterations=ITERATIONS).time_s * 1e9
    # Partitions are received when the threads have joined and all is sent; LogGOPSim's CPU receives between two sends,
    # so that the last leaves later, by at most L.
    assert ours == pytest.approx(end, abs=ITERATIONS) if approach is BULK else end - ITERATIONS * 1000 < ours < end


def in_step(approach: Approach) -> tuple[str, Flags, float]:
    """Text, flags and the engine's end in ticks of 1 MiB after 1 ms on a link of 25 GB/s, all ranks in step."""
    machine = ideal(L=1e-6, o_s=1e-7, o_r=1e-7, g=5e-8, G=1 / 25e9, link=25e9)
    w = workload_of(threads=8, buffer="1 MiB", pattern="halo3d", receiver="computing")
    text = io.StringIO()
    flags = export_goal(text, machine, w, approach, grid=GRID, iterations=4)
    ours = simulate(machine, w, approach, grid=GRID, iterations=4).time_s
    return text.getvalue(), flags, ours * 1e9 * flags.ticks_per_ns


BYTES = {BULK: 503_543_200_000, PART_8: 523_702_528_000}
"""LogGOPSim's ends of four iterations in ticks on 2026-11-22: -L 100000000 -o 10000000 -g 5000000 -G 4000 -O 0."""


@pytest.mark.parametrize(("approach", "theirs"), BYTES.items(), ids=str)
def test_loggopsim_sends_nothing_while_a_message_comes_in(approach: Approach, theirs: int) -> None:
    # A rank's i-th send has left the NIC after G m, when the first byte of its neighbour's has long come, after o + L:
    # the CPU takes that in for o + G m, and sends then. From one send to the next LogGOPSim needs o + L + o + G m, the
    # engine g + G m. There the six messages begin o apart, o/i in the virtual time of i that share the port, and are
    # through 5, 2, 1, 1/2 and 1/5 o apart: the last waits 1/2 + 4/5 o for the CPU.
    text, flags, ours = in_step(approach)
    each = (1e-6 + 2 * 1e-7 - 5e-8) * 1e9 * flags.ticks_per_ns
    assert theirs - ours == pytest.approx(4 * ((6 * approach.messages - 1) * each - 1.3 * flags.o), rel=1e-4)
    assert "LogGOPSim's CPU takes in every byte" in text.splitlines()[1]
