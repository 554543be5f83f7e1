"""The same run as text for LogGOPSim: GOAL, a list of operations per rank and what each requires.

LogGOPSim (Hoefler, Schneider, Lumsdaine, 2010, https://doi.org/10.1145/1851476.1851564) simulates LogGOPS
with an event queue, in whole nanoseconds. It carries time along a dependency only within one CPU of a
rank, so a rank's threads are one sequence here: compute until a transport partition is ready, send
it to every neighbour, compute until the next one is. This is what one VCI does.

What remains different, and cannot be expressed in GOAL:

- A rank has one CPU: the overhead of a message that arrives delays the rank's next compute and send,
  and no message is received while it computes. Here threads compute while the master receives, and
  between two transport partitions that queue as many messages are received, whether or not they have come.
  (GOAL's ``cpu`` labels do not help: no time passes from one to another, so threads could not join.)
- A rank's receives are posted after its last send, as its threads are one sequence. Here threads that have
  marked their last partition have joined, and the rank receives while their messages queue for the VCI.

  Of 10 us of compute and 48 messages of o = 100 ns per iteration, LogGOPSim makes 20.3 us, the engine 20.1, of 6
  messages both 12.1: tests/model/engine/test_engine_goal.py replays the text rule by rule, with every
  nanosecond of the critical path.
- G is paid at both ends, one message after the other, and not once on the way; here once, and again by what finds the
  receiver's port taken.
- G is a whole number of nanoseconds per byte.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TextIO

import numpy as np

from pready.model import abilities, arrivals
from pready.model.approach import Approach
from pready.model.engine.plan import Plan
from pready.model.engine.simulate import prepared
from pready.model.errors import PreadyError
from pready.model.machine import Machine
from pready.model.timeline import Setting, marked_by_threads
from pready.model.values import Array
from pready.model.workload import Workload

NS = 1e9
LARGEST = 20_000_000
"""Messages of one file: above it, LogGOPSim's own text parser needs more memory than most machines."""


@dataclass(frozen=True)
class Flags:
    """What LogGOPSim is to be called with for the same costs, in whole nanoseconds."""

    L: int
    o: int
    g: int
    G: int
    O: int  # noqa: E741
    S: int

    def __str__(self) -> str:
        return f"-L {self.L} -o {self.o} -g {self.g} -G {self.G} -O {self.O} -S {self.S}"


def export_goal(
    out: TextIO,
    machine: Machine,
    workload: Workload,
    approach: Approach,
    *,
    grid: Sequence[int],
    iterations: int,
    seed: int = 0,
    periodic: bool | Sequence[bool] = True,
    blocks: int = 1,
    sizes: tuple[float, float, float] | None = None,
    neighbours: Sequence[Iterable[int]] | None = None,
    thread_grid: tuple[int, int, int] | None = None,
) -> Flags:
    """Write a run as GOAL text; arguments as of `simulate`.

    Returns
    -------
    The flags that come closest to the machine: o is the mean of o_s (with contention and copy) and
    of the receive's cost, rounded.

    Raises
    ------
    PreadyError
        An approach that GOAL cannot express (RMA, active messages, rendezvous, several VCIs), a
        sweep, sizes of edges and corners, a thread grid, or a file that would be too large.
    """
    abilities.check(workload, "goal")
    for name, given in (("sizes of edges and corners", sizes), ("thread_grid", thread_grid)):
        if given is not None:
            raise PreadyError(f"{name} have no GOAL export", valid="one size, and all threads for every neighbour")
    plan = prepared(
        machine, workload, approach, grid=grid, seed=seed, periodic=periodic, blocks=blocks, neighbours=neighbours
    )
    interface = approach.interface
    refused = {
        "RMA": interface.one_sided,
        "an active message": interface.active_message,
        "a receiver's flag": interface.two_sided_rendezvous,
        "a rendezvous that depends on progress": any(c.handshake > 0 for c in plan.costs),
        f"{len(plan.members)} VCIs": len(plan.members) > 1,
    }
    for what, there in refused.items():
        if there:
            raise PreadyError(
                f"GOAL cannot express {what} ({approach.name})", valid="eager two-sided messages on one VCI"
            )
    if workload.pattern == "sweep3d":
        raise PreadyError("pattern = 'sweep3d' has no GOAL export", valid="halo3d, halo3d26, pt2pt, neighbours")
    count = plan.pattern.edges * plan.transports * iterations
    if count > LARGEST:
        raise PreadyError(f"GOAL text of {count} messages", valid=f"at most {LARGEST} messages")
    out.write(f"num_ranks {plan.pattern.ranks}\n\n")
    for rank in range(plan.pattern.ranks):
        out.write(f"rank {rank} {{\n")
        out.writelines(f"{line}\n" for line in _rank(plan, rank, iterations))
        out.write("}\n\n")
    return flags(plan)


def flags(plan: Plan) -> Flags:
    """LogGOPSim's parameters for a plan's costs."""
    cost = plan.costs[0]
    hold = float(plan.numbers["burst_hold"][0])
    received = float(cost.receive if plan.approach.interface.matches else cost.unmatched)
    size = plan.sizes[0]
    overhead = round((hold + received) / 2 * NS)
    per_byte = round(float(cost.link) / max(size - 1, 1) * NS)
    return Flags(round(float(cost.wire) * NS), overhead, round(float(cost.gap) * NS), per_byte, 0, 2**31 - 1)


def _rank(plan: Plan, rank: int, iterations: int) -> Iterator[str]:
    hold = float(plan.numbers["burst_hold"][0])
    targets = plan.pattern.neighbours(rank)
    sources = _sources(plan, rank)
    size = max(1, round(plan.sizes[0]))
    peers = sum(t is not None for t in targets)
    barrier = float(plan.costs[0].barrier)
    number = 0
    last: list[str] = []

    def line(text: str, *requires: str) -> tuple[str, list[str]]:
        nonlocal number
        number += 1
        name = f"l{number}"
        return name, [f"{name}: {text}", *(f"{name} requires {r}" for r in requires)]

    for k in range(iterations):
        starts, marked = ready(plan, rank, k)
        if plan.approach.interface.joins:
            starts = starts + barrier
        tag = k * plan.transports
        now, previous, sends = 0.0, last, []
        for t, start in enumerate(np.sort(starts)):
            wait, lines = line(f"calc {max(0, round((start - now) * NS))}", *previous)
            yield from lines
            previous = [wait]
            for target in targets:
                if target is None:
                    continue
                send, lines = line(f"send {size}b to {target} tag {tag + t}", *previous)
                yield from lines
                previous = [send]
                sends.append(send)
            now = max(now, float(start)) + peers * hold
        join, lines = line(f"calc {max(0, round((marked + barrier - now) * NS))}", *previous)
        yield from lines
        receives = []
        for source in sources:
            for t in range(plan.transports):
                receive, lines = line(f"recv {size}b from {source} tag {tag + t}", join)
                yield from lines
                receives.append(receive)
        end, lines = line("calc 0", join, *receives)
        yield from lines
        last = [end]


def _sources(plan: Plan, rank: int) -> list[int]:
    """Who sends to a rank: on grids and among pairs whoever it sends to, in a list as it says."""
    if plan.pattern.name == "neighbours":
        begin, end = plan.pattern.in_start[rank : rank + 2]
        return [int(r) for r in plan.pattern.in_rank[begin:end]]
    return [r for r in plan.pattern.neighbours(rank) if r is not None]


def ready(plan: Plan, rank: int, iteration: int) -> tuple[Array, float]:
    """When each transport partition of a rank is ready and the last mark is set, after its start."""
    w = plan.workload
    times = arrivals.draw(w, 1, plan.seed, rank=rank, first=iteration)
    if plan.approach.interface.counts:
        setting = Setting(w.threads, w.partitions_per_thread, 1, 1, "hardware")
        last = times.max(axis=1, keepdims=True)
        times = marked_by_threads(times - last, setting, np.atleast_1d(plan.costs[0].pready)) + last
    return times.reshape(plan.transports, -1).max(axis=1), float(times.max())
