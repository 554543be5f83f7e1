"""Inputs that are one of several: what nobody excluded by a measurement, with the weights of each.

What was measured on the machine is no alternative, and congestion is none either: SST simulates it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from pready.model.machine.machine import Machine
from pready.model.machine.rma import Puts
from pready.model.machine.transports import ANSWERS, SAYS
from pready.model.timeline.costs import SHARING
from pready.model.timeline.sampling import Alternative
from pready.model.workload.edges import HALOS
from pready.model.workload.workload import Workload

AS_SAID: Mapping[Literal["literature", "assumed", "not given"], float] = {
    "literature": 0.9,
    "assumed": 0.75,
    "not given": 0.75,
}
"""Weight of what a file says, by its source; what else it could be shares the rest. A judgement: nobody has counted how
often such statements hold on another machine."""


def alternatives(
    machine: Machine, parts: Sequence[Workload], of_a_node: int = 1, rest: bool = False
) -> list[Alternative]:
    """All that concern a machine and the exchanges of a step, which are from `rest` or not; `of_a_node`: as many ranks
    can be simulated on a node."""
    grids = [] if rest else [*_grids(parts)]
    return [*_progress(machine), *_puts(machine), *_ranks(machine, parts, of_a_node), *_choices(machine, parts), *grids]


def _made(
    name: str,
    source: Literal["measured", "literature", "assumed", "not given"],
    options: Sequence[str],
    said: Sequence[str],
    measure: str = "",
) -> Iterator[Alternative]:
    if source == "measured":
        return
    first, others = AS_SAID[source], len(options) - 1
    weights = first, *[(1 - first) / others] * others
    yield Alternative(name, tuple(options), weights, source, tuple(said), measure)


def _progress(machine: Machine) -> Iterator[Alternative]:
    now = machine.progress
    # By the adapter or by a thread: the same, but that a thread takes in puts, too.
    options = (now.value, "thread" if now.value == "on-call" else "on-call")
    said = [ANSWERS[o].replace("answers", "answered") + " each rendezvous" for o in options]  # type: ignore[index]
    yield from _made("who answers a rendezvous", now.source, options, said, "overlap")


def _puts(machine: Machine) -> Iterator[Alternative]:
    now = machine.one_sided.puts
    first: Puts = "adapter" if now is None else now.value
    options = first, *(p for p in SAYS if p != first)
    said = {
        "adapter": "the adapter moved puts",
        "processor": "the target's processor took puts in",
        "deferred": "puts waited for their synchronisation",
    }
    source = "assumed" if now is None else now.source
    yield from _made("how puts move", source, options, [said[o] for o in options], "approach")


def _ranks(machine: Machine, parts: Sequence[Workload], of_a_node: int) -> Iterator[Alternative]:
    """How many ranks share a node, simulated where they can be, else charged; and which of its adapters they use."""
    if any(w.path == "intra" for w in parts):
        return
    stated, n = any(w.ranks_per_node or w.node_grid for w in parts), of_a_node if of_a_node > 1 else SHARING
    if not stated:
        name = "ranks per node" if of_a_node > 1 else "share of an adapter"
        yield from _made(name, "not given", ("1", str(n)), ("each rank had an adapter", f"{n} ranks shared a node"))
    share = not stated or any(w.ranks_of_a_node for w in parts)
    if (
        share
        and machine.adapter is not None
        and machine.adapter.rails.value > 1
        and not any(w.placement for w in parts)
    ):
        said = "ranks of a node used its adapters in turn", "ranks of a node all used one of its adapters"
        yield from _made("placement", "not given", ("in turn", "packed"), said)


def _choices(machine: Machine, parts: Sequence[Workload]) -> Iterator[Alternative]:
    """Fields of two values that the workload does not state."""
    if all("receiver" not in w.model_fields_set and w.consume is None and w.pattern != "bcast" for w in parts):
        said = {"waiting": "receivers waited in MPI", "computing": "receivers computed meanwhile"}
        now = parts[0].receiver
        options = now, "computing" if now == "waiting" else "waiting"
        yield from _made("receiver", "not given", options, [said[o] for o in options])
    orders = [order(w) for w in parts]
    if now_order := next((o for o in orders if o), ""):
        other = "in turn" if now_order == "together" else "together"
        said_of = [f"a thread's partitions became ready {o}" for o in (now_order, other)]
        yield from _made("arrivals.partitions", "not given", (now_order, other), said_of)
    if machine.progress.value == "on-call" and any(w.consume is not None for w in parts):
        said_of = ["messages came while a receiver's threads work", "nothing came while all threads of a receiver work"]
        yield from _made("progress while receivers work", "assumed", ("yes", "no"), said_of)


def _grids(parts: Sequence[Workload]) -> Iterator[Alternative]:
    for threads in {w.threads for w in parts if _arranged(w)}:
        grids = [*map(list, arrangements(threads))]
        said = ["each thread filled a part of every face", *(f"threads were {g} in space" for g in grids)]
        yield from _made("thread_grid", "not given", ("shared", *map(str, grids)), said)


def arrangements(threads: int) -> list[tuple[int, int, int]]:
    """Threads along x, y, z as slabs, of the loop that is outside, and as blocks that are near to cubes."""
    able = [n for n in range(1, threads + 1) if threads % n == 0]
    three = [(threads // y // z, y, z) for z in able for y in able if threads // z % y == 0]
    return [*dict.fromkeys([(1, 1, threads), min(three, key=lambda of: (sum(of), of))])]


def _arranged(workload: Workload) -> bool:
    """May threads each send what they touch, though the workload does not say so?"""
    said = workload.thread_grid is not None or workload.consume is not None or workload.receive_partitions is not None
    return workload.pattern in HALOS and workload.threads > 1 and not said and not workload.on_gpu


def with_grid(workload: Workload, option: int) -> Workload:
    """The workload with its threads so arranged, if it does not say how."""
    if not _arranged(workload):
        return workload
    grids = arrangements(workload.threads)
    return workload.model_copy(update={"thread_grid": grids[option - 1]})


def order(workload: Workload) -> str:
    """When a thread's partitions become ready, if the workload does not state it; else ""."""
    arrivals = workload.arrivals
    now = getattr(arrivals, "partitions", None)
    if now is None or "partitions" in arrivals.model_fields_set or workload.partitions_per_thread == 1:
        return ""
    return str(now)


def with_order(workload: Workload, other: str) -> Workload:
    """The workload with that order, if it does not state it."""
    if not order(workload):
        return workload
    arrivals = workload.arrivals.model_copy(update={"partitions": other})
    return workload.model_copy(update={"arrivals": arrivals})
