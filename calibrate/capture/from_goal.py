"""The step of a GOAL trace: exchanges between stretches of computing; when threads finish is given, not in the trace.

A rank's exchange is what it sends until it computes again after a message that it received (of a rank that receives
nothing, after one that it sent). Partitions, among which it computes without having received, are one exchange.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from pready.calibrate.capture.from_mpip import NEEDED
from pready.calibrate.capture.patterns import recognise, recognise_sweep
from pready.calibrate.capture.repetition import LONGEST_STEP, Repetition, repetition
from pready.calibrate.capture.step import Exchange, Step
from pready.calibrate.importers.goal import Goal, Operation
from pready.model.common.errors import PreadyError


@dataclass
class _Group:
    """One exchange of one rank: bytes and messages by peer, and ticks of computing by CPU since the one before."""

    sent: dict[int, tuple[int, int]] = field(default_factory=dict)
    compute: dict[int, int] = field(default_factory=dict)
    chained: bool = False
    """A send waits for a receive of the same exchange."""


def step_of_goal(goal: Goal, source: str, *, threads: int | None, steps: int | None, spread: str | None) -> Step:
    """The step of all ranks, with the mean of its computing.

    Parameters
    ----------
    threads, spread
        Threads of a rank, and how far apart they finish: no GOAL file has them.
    steps
        Divide the whole trace by so many steps; default: what repeats.

    Raises
    ------
    PreadyError
        Something is not given, nothing is sent or repeats, or operations wait for each other in a circle.
    """
    given = {"threads": threads, "spread": spread}
    lacking = [NEEDED[name] for name, value in given.items() if value is None]
    if threads is None or lacking:
        raise PreadyError("a GOAL trace has no threads", valid="; ".join(lacking), source=source)
    found = [_groups(operations, rank, source) for rank, operations in enumerate(goal.ranks)]
    lead = max(range(len(found)), key=lambda r: len(found[r]))
    if not found[lead]:
        raise PreadyError("no rank sends messages to another one", valid="a trace with sends", source=source)
    sweep = recognise_sweep([[g.sent for g in of] for of in found]) if steps is None else None
    count, exchanges = 1, [found]
    if steps is not None:
        count = steps
    elif sweep is not None:
        count = sweep.times
    elif len(found[lead]) > 1:
        main = _repetition(found[lead], source)
        if len({len(of) for of in found}) != 1:
            raise PreadyError(
                "ranks send in different numbers of exchanges", valid="--iterations N, steps of the run", source=source
            )
        count = main.times
        exchanges = [[of[main.first + j : main.stop : main.period] for of in found] for j in range(main.period)]
    ns = 1e-9 / goal.ticks_per_ns
    made = [
        Exchange(
            name="" if len(exchanges) == 1 else f"exchange {number}",
            pattern=sweep or recognise([_of_a_step(of, count) for of in some]),
            times=np.array([[_compute(of) * ns / count] for of in some]),
            exchange_s=0.0,
            quick_s=0.0,
            in_mpi_s=0.0,
            serial_s=0.0,
            overlapped=False,
            collectives=0.0,
            region="",
        )
        for number, some in enumerate(exchanges, 1)
    ]
    compute = sum(e.compute_s for e in made)
    return Step(tuple(made), len(found), 1, threads, count, compute, 1.0, True, tuple(_notes(made, exchanges)))


def _repetition(groups: Sequence[_Group], source: str) -> Repetition:
    step = repetition([tuple(sorted(g.sent.items())) for g in groups])
    step = step or repetition([tuple(sorted(g.sent)) for g in groups])
    if step is not None:
        return step
    raise PreadyError(
        f"{len(groups)} exchanges of a rank do not repeat within {LONGEST_STEP}",
        valid="--iterations N, steps of the run",
        source=source,
    )


def _of_a_step(groups: Sequence[_Group], steps: int) -> dict[int, tuple[int, int]]:
    sums: dict[int, tuple[int, int]] = {}
    for group in groups:
        for peer, (size, count) in group.sent.items():
            before = sums.get(peer, (0, 0))
            sums[peer] = before[0] + size, before[1] + count
    return {peer: (max(1, round(size / steps)), max(1, round(count / steps))) for peer, (size, count) in sums.items()}


def _compute(groups: Sequence[_Group]) -> int:
    """Ticks of the busiest CPU."""
    cpus = {cpu for g in groups for cpu in g.compute}
    return max((sum(g.compute.get(cpu, 0) for g in groups) for cpu in cpus), default=0)


def _notes(made: Sequence[Exchange], exchanges: Sequence[Sequence[Sequence[_Group]]]) -> list[str]:
    said = ["a GOAL trace has no threads: their number and spread are as given"]
    most = max(e.pattern.messages for e in made)
    if most > 1:
        said.append(f"up to {most} messages per neighbour count as one")
    if any(g.chained for some in exchanges for of in some for g in of):
        said.append(
            "sends wait for receives of the same exchange (a tree, a collective): the workload sends them at once"
        )
    if not sum(e.compute_s for e in made):
        said.append("nothing is computed between messages: give compute.time in the file")
    return said


def _groups(operations: Sequence[Operation], rank: int, source: str) -> list[_Group]:
    """The exchanges of a rank in order; messages to itself do not count."""
    groups: list[_Group] = []
    current = _Group()
    listens = any(o.kind == "recv" and o.peer != rank for o in operations)
    ends = "recv" if listens else "send"
    # The last exchange, from 1, whose messages an operation waits for; computing since then clears it.
    received = [0] * len(operations)
    for at in _order(operations, rank, source):
        operation = operations[at]
        received[at] = max((received[n] for n in operation.needs), default=0)
        here = len(groups) + 1
        match operation.kind:
            case "calc":
                if current.sent and received[at] == here and operation.size:
                    groups.append(current)
                    current = _Group()
                current.compute[operation.cpu] = current.compute.get(operation.cpu, 0) + operation.size
                if operation.size:
                    received[at] = 0
            case "send" if operation.peer != rank:
                current.chained |= received[at] == here and listens
                size, count = current.sent.get(operation.peer, (0, 0))
                current.sent[operation.peer] = size + operation.size, count + 1
        if operation.kind == ends and operation.peer != rank:
            received[at] = len(groups) + 1
    if current.sent:
        groups.append(current)
    return groups


def _order(operations: Sequence[Operation], rank: int, source: str) -> list[int]:
    """Operations in an order that keeps requirements, else that of the text."""
    left = [len(o.needs) + len(o.needs_begun) for o in operations]
    needed_by: list[list[int]] = [[] for _ in operations]
    for at, operation in enumerate(operations):
        for before in (*operation.needs, *operation.needs_begun):
            needed_by[before].append(at)
    ready = [at for at, n in enumerate(left) if not n]
    order = []
    while ready:
        at = heapq.heappop(ready)
        order.append(at)
        for after in needed_by[at]:
            left[after] -= 1
            if not left[after]:
                heapq.heappush(ready, after)
    if len(order) < len(operations):
        raise PreadyError(
            f"{len(operations) - len(order)} operations of rank {rank} wait for each other",
            valid="requirements without a circle",
            source=source,
        )
    return order
