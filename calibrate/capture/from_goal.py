"""The step of a GOAL trace: exchanges between stretches of computing; when threads finish is given, not in the trace.

A rank's exchange is what it sends until it computes again after a message that it received (of a rank that receives
nothing, after one that it sent). Partitions, among which it computes without having received, are one exchange. Where
sends wait for receives of the same exchange (a tree, a ring, a collective), each round is one (`goal_rounds`).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence

import numpy as np

from pready.calibrate.capture.from_profiles import lacking
from pready.calibrate.capture.goal_rounds import Group, Rank, find_rounds, requirements
from pready.calibrate.capture.patterns import Sent, per_step, recognise, recognise_sweep
from pready.calibrate.capture.repetition import LONGEST_STEP, Repetition, repetition
from pready.calibrate.capture.step import Exchange, Step
from pready.calibrate.importers.goal import Goal, Operation
from pready.model.common.errors import PreadyError
from pready.model.workload.fields import MOST_EXCHANGES


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
    if threads is None or spread is None:
        options = lacking(threads=threads, spread=spread)
        raise PreadyError("a GOAL trace has no threads", valid=options, source=source)
    read = [_groups(operations, rank, source) for rank, operations in enumerate(goal.ranks)]
    found = [of.groups for of in read]
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
    chained = any(of.chained for of in read) and sweep is None
    rounds = chained and find_rounds(goal.ranks, read) and sum(_depth(some) for some in exchanges) <= MOST_EXCHANGES
    ns = 1e-9 / goal.ticks_per_ns
    made = [
        Exchange(
            name=name,
            pattern=sweep or recognise([_of_a_step(of, count) for of in sent]),
            times=np.array([[ticks * ns / count] for ticks in compute]),
        )
        for name, sent, compute in _parts(exchanges, rounds=rounds)
    ]
    notes = tuple(_notes(made, rounds=rounds, at_once=chained and not rounds))
    return Step(tuple(made), len(found), 1, threads, count, sum(e.compute_s for e in made), 1.0, notes)


def _depth(some: Sequence[Sequence[Group]]) -> int:
    """Rounds of an exchange."""
    return 1 + max((at for of in some for g in of for at in g.rounds), default=0)


def _parts(
    exchanges: Sequence[Sequence[Sequence[Group]]], *, rounds: bool
) -> Iterator[tuple[str, list[list[Sent]], list[int]]]:
    """Name of each exchange of the step, what each rank sends in it in each step, and how long it computes before."""
    for number, some in enumerate(exchanges, 1):
        exchange = "" if len(exchanges) == 1 else f"exchange {number}"
        compute, depth = [_compute(of) for of in some], _depth(some) if rounds else 1
        if depth == 1:
            yield exchange, [[g.sent for g in of] for of in some], compute
            continue
        for at in range(depth):
            name = f"{exchange}, round {at + 1}".removeprefix(", ")
            yield name, [[g.rounds.get(at, {}) for g in of] for of in some], compute if at == 0 else [0] * len(some)


def _repetition(groups: Sequence[Group], source: str) -> Repetition:
    step = repetition([tuple(sorted(g.sent.items())) for g in groups])
    step = step or repetition([tuple(sorted(g.sent)) for g in groups])
    if step is not None:
        return step
    raise PreadyError(
        f"{len(groups)} exchanges of a rank do not repeat within {LONGEST_STEP}",
        valid="--iterations N, steps of the run",
        source=source,
    )


def _of_a_step(groups: Sequence[Sent], steps: int) -> Sent:
    sums: Sent = {}
    for sent in groups:
        for peer, (size, count) in sent.items():
            before = sums.get(peer, (0, 0))
            sums[peer] = before[0] + size, before[1] + count
    return per_step(sums, steps)


def _compute(groups: Sequence[Group]) -> int:
    """Ticks of the busiest CPU."""
    cpus = {cpu for g in groups for cpu in g.compute}
    return max((sum(g.compute.get(cpu, 0) for g in groups) for cpu in cpus), default=0)


def _notes(made: Sequence[Exchange], *, rounds: bool, at_once: bool) -> list[str]:
    said = ["a GOAL trace has no threads: their number and spread are as given"]
    most = max(e.pattern.messages for e in made)
    if most > 1:
        said.append(f"up to {most} messages per neighbour count as one")
    if rounds:
        said.append("sends wait for receives (a tree, a ring, a collective): each round is an exchange of the step")
    if at_once:
        said.append(
            "sends wait for receives of the same exchange (a tree, a collective): the workload sends them at once"
        )
    if not sum(e.compute_s for e in made):
        said.append("nothing is computed between messages: give compute.time in the file")
    return said


def _groups(operations: Sequence[Operation], rank: int, source: str) -> Rank:
    """The exchanges of a rank in order; messages to itself do not count."""
    groups: list[Group] = []
    current = Group()
    listens = any(o.kind == "recv" and o.peer != rank for o in operations)
    ends = "recv" if listens else "send"
    # The last exchange, from 1, whose messages an operation waits for; computing since then clears it.
    received, part_of = [0] * len(operations), [0] * len(operations)
    chained = False
    for at in _order(operations, rank, source):
        operation = operations[at]
        received[at] = max((received[n] for n in operation.needs), default=0)
        here = len(groups) + 1
        match operation.kind:
            case "calc":
                if current.sent and received[at] == here and operation.size:
                    groups.append(current)
                    current = Group()
                current.compute[operation.cpu] = current.compute.get(operation.cpu, 0) + operation.size
                if operation.size:
                    received[at] = 0
            case "send" if operation.peer != rank:
                chained |= received[at] == here and listens
                current.send(operation.peer, operation.size)
        part_of[at] = len(groups) + 1
        if operation.kind == ends and operation.peer != rank:
            received[at] = part_of[at]
    if current.sent:
        groups.append(current)
    return Rank(groups, part_of, received, chained)


def _order(operations: Sequence[Operation], rank: int, source: str) -> list[int]:
    """Operations in an order that keeps requirements, else that of the text."""
    left, needed_by = requirements(operations)
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
