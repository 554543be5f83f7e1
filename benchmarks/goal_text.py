"""The same run as text for LogGOPSim: GOAL, a list of operations per rank and what each requires.

LogGOPSim (Hoefler, Schneider, Lumsdaine, 2010, https://doi.org/10.1145/1851476.1851564) simulates LogGOPS with an event
queue, in whole nanoseconds; a link above 1 GB/s is written in parts of one, as the first line of the file says. It
carries time along a dependency only within one CPU of a rank, so a rank's threads are one sequence here: compute until
a transport partition is ready, send it to every neighbour, compute until the next one is: what one VCI does. GOAL
cannot express that

- threads compute while the master receives: there, what arrives delays the rank's next compute and send. Of 10 us of
  compute and 48 messages of o = 100 ns LogGOPSim makes 20.3 us, the engine 19.6, of 6 messages both 12.1
  (tests/model/engine/test_export_goal.py replays the text rule by rule);
- a thread that sends receives when it has sent: there, the CPU receives what arrives between two sends;
- the adapter moves bytes: G is paid by the CPU at both ends. Of ranks in step whose messages keep the link busy for
  longer than L + 2 o, each after the first takes L + 2 o - g longer there. With G = 0 both agree
  (docs/archive/loggopsim.md).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TextIO

import numpy as np
from on_ranks import prepared

from pready.model.approach.interfaces import Approach
from pready.model.common.arrays import Array
from pready.model.engine.pattern import Pattern
from pready.model.engine.plan import Plan, drawn_times
from pready.model.machine.machine import Machine
from pready.model.workload.workload import Workload

NS = 1e9
BYTES_STOP_SENDS = (
    "LogGOPSim's CPU takes in every byte (G), and sends and computes nothing meanwhile; the engine's does not"
)
EXACT = 500
"""Ticks that a byte takes at least, where it can: rounding then changes G by a thousandth at most."""
LARGEST_FLAG = 2**31 - 1
"""LogGOPSim keeps its parameters in 32 bits."""


@dataclass(frozen=True)
class Flags:
    """What LogGOPSim is to be called with for the same costs, in whole ticks."""

    L: int
    o: int
    g: int
    G: int
    O: int  # noqa: E741
    S: int
    ticks_per_ns: int = 1
    """In what LogGOPSim calls a nanosecond, and its times are."""

    def __str__(self) -> str:
        return f"-L {self.L} -o {self.o} -g {self.g} -G {self.G} -O {self.O} -S {self.S}"


def export_goal(
    out: TextIO, machine: Machine, workload: Workload, approach: Approach, *, grid: Sequence[int], iterations: int
) -> Flags:
    """Write a run of one exchange per iteration as GOAL text; arguments as of `simulate`.

    Returns
    -------
    The flags that come closest to the machine: o + O m is the mean of o_s (with the copy) and of the
    receive's cost, a line through the sizes that there are. Every message is eager there.
    """
    plan = prepared(machine, workload, approach, grid=grid)
    given = _flags(plan)
    unit = "ns" if given.ticks_per_ns == 1 else f"1/{given.ticks_per_ns} ns"
    out.write(f"// times in {unit}; LogGOPSim {given}\n")
    if given.G:
        out.write(f"// {BYTES_STOP_SENDS}\n")
    out.write(f"num_ranks {plan.pattern.ranks}\n\n")
    messages = _messages(plan.pattern)
    for rank in range(plan.pattern.ranks):
        out.write(f"rank {rank} {{\n")
        _write_rank(out, plan, messages, rank, iterations, given.ticks_per_ns * NS)
        out.write("}\n\n")
    return given


def _flags(plan: Plan) -> Flags:
    """LogGOPSim's parameters for the costs of a plan."""
    size = np.array([max(s - 1, 1) for s in plan.messages.sizes])  # LogGOPSim pays for all bytes but one
    hold, received = plan.kinds[0, :, 0], np.array([float(c.receive) for c in plan.costs])
    o, per_byte = _line(size, (hold + received) / 2)
    gap = float(np.mean([float(c.gap) for c in plan.costs]))
    wire = float(np.mean([float(c.wire) for c in plan.costs]))
    G = float(sum(float(c.link) for c in plan.costs) / size.sum())
    ticks = 1
    matters = G * size.max() > (wire + o + gap) / EXACT
    while matters and 0 < G * NS * ticks < EXACT and 10 * ticks * NS * max(wire, o, gap) < LARGEST_FLAG:
        ticks *= 10
    L, o_, g, G_, O_ = (round(x * NS * ticks) for x in (wire, o, gap, G, per_byte))
    return Flags(L, o_, g, G_, O_, LARGEST_FLAG, ticks)


def _line(x: Array, y: Array) -> tuple[float, float]:
    """Intercept and slope, neither below 0; a mean where all x are the same."""
    if np.ptp(x) == 0:
        return float(y.mean()), 0.0
    slope = max(0.0, float(np.polyfit(x, y, 1)[0]))
    return max(0.0, float((y - slope * x).mean())), slope


Messages = list[list[tuple[int, int]]]
"""By rank: with whom, and of which class."""


def _messages(of: Pattern) -> tuple[Messages, Messages]:
    """What ranks send and what they receive."""
    to = of.receivers
    sent: Messages = [[] for _ in range(of.ranks)]
    received: Messages = [[] for _ in range(of.ranks)]
    for rank, d in np.argwhere(to >= 0).tolist():
        peer, kind = int(to[rank, d]), int(of.classes[of.profile[rank], d])
        sent[rank].append((peer, kind))
        received[peer].append((rank, kind))
    return sent, received


def _write_rank(
    out: TextIO, plan: Plan, messages: tuple[Messages, Messages], rank: int, iterations: int, ticks: float
) -> None:
    """A rank's operations; `ticks` per second."""
    number = 0
    last: list[str] = []
    sent, received = messages
    count, barrier = plan.approach.messages, float(plan.costs[0].barrier)

    def operation(text: str, *requires: str) -> str:
        nonlocal number
        number += 1
        out.write(f"l{number}: {text}\n")
        out.writelines(f"l{number} requires {r}\n" for r in requires)
        return f"l{number}"

    for k in range(iterations):
        starts, marked = _ready(plan, rank, k)
        if plan.approach.interface.joins:
            starts = starts + barrier
        now, previous = 0.0, last
        for t in np.argsort(starts, kind="stable").tolist():
            start = float(starts[t])
            previous = [operation(f"calc {max(0, round((start - now) * ticks))}", *previous)]
            for target, c in sent[rank]:
                size = max(1, round(plan.messages.sizes[c]))
                previous = [operation(f"send {size}b to {target} tag {k * count + t}", *previous)]
            now = max(now, start) + sum(float(plan.kinds[0, c, 0]) for _, c in sent[rank])
        join = operation(f"calc {max(0, round((marked + barrier - now) * ticks))}", *previous)
        done = []
        for source, c in received[rank]:
            size = max(1, round(plan.messages.sizes[c]))
            done += [operation(f"recv {size}b from {source} tag {k * count + t}", join) for t in range(count)]
        last = [operation("calc 0", join, *done)]


def _ready(plan: Plan, rank: int, iteration: int) -> tuple[Array, float]:
    """When each transport partition of a rank is ready, and the last of them, after its start."""
    w = plan.workload
    times = drawn_times(w, 1, plan.seed, rank=rank, first=iteration)
    return times.reshape(plan.approach.messages, -1).max(axis=1), float(times.max())
