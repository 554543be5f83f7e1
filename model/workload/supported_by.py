"""Which engine can simulate what of a workload, one row each; an engine that cannot names those that can."""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import dataclass
from typing import Literal

from pready.model.common.errors import PreadyError
from pready.model.workload.workload import Workload

Simulator = Literal["timeline", "engine", "sst"]
ASKED_BY: dict[Simulator, str] = {
    "timeline": "pready.predict(engine='timeline')",
    "engine": "pready predict",
    "sst": "pready sst run",
}


@dataclass(frozen=True)
class Need:
    """A feature that a workload may use."""

    name: str
    asked: Callable[[Workload], bool]
    able: Set[Simulator] = frozenset()


NEEDS = (
    Need("sizes in a neighbour_list that differ from rank to rank", lambda w: not w.in_step, {"engine"}),
    Need("sizes in a neighbour_list", lambda w: w.neighbour_sizes is not None, {"timeline", "engine"}),
    Need("pairs that send both ways (both_ways)", lambda w: w.both_ways, {"timeline", "engine"}),
    Need("a baseline other than nonblocking (today)", lambda w: w.today != "nonblocking", {"timeline", "engine"}),
    Need(
        "a sweep among several exchanges of a step",
        lambda w: w.exchanges is not None and any(p.pattern == "sweep3d" for p in w.parts),
    ),
    Need("a GPU that computes (compute.device)", lambda w: w.on_gpu),
    Need("computing apart from what is sent (interior)", lambda w: w.interior is not None, {"timeline", "engine"}),
    Need("packing (pack)", lambda w: w.pack is not None, {"timeline", "engine"}),
    Need(
        "partitions or work at the receiver (receive_partitions, consume)",
        lambda w: w.receive_partitions is not None or w.consume is not None,
        {"timeline", "engine"},
    ),
    Need("a broadcast", lambda w: w.pattern == "bcast", {"engine"}),
    Need(
        "a broadcast among several exchanges of a step",
        lambda w: w.exchanges is not None and any(p.pattern == "bcast" for p in w.parts),
    ),
    Need(
        "a broadcast of ranks that share a node (ranks_per_node)",
        lambda w: w.ranks_of_a_node is not None and w.pattern == "bcast",
    ),
    Need("several exchanges per step", lambda w: w.exchanges is not None, {"timeline", "engine"}),
    Need(
        "a sweep of ranks that share a node (ranks_per_node)",
        lambda w: w.ranks_of_a_node is not None and w.pattern == "sweep3d",
    ),
    Need(
        "blocking sends (today) of ranks that share a node (ranks_per_node)",
        lambda w: w.ranks_of_a_node is not None and w.baseline.interface.one_by_one,
    ),
    Need("ranks that share a node (ranks_per_node)", lambda w: w.ranks_of_a_node is not None, {"engine", "sst"}),
)


def _lacking(workload: Workload, engine: Simulator) -> Need | None:
    for need in NEEDS:
        if engine not in need.able and (need.asked(workload) or any(map(need.asked, workload.parts))):
            return need
    return None


def beyond(workload: Workload, engine: Simulator) -> str | None:
    """The first need of a workload or of one of its exchanges that an engine does not meet; None: it meets all."""
    need = _lacking(workload, engine)
    return None if need is None else need.name


def check(workload: Workload, engine: Simulator) -> None:
    """Refuse a workload that an engine cannot simulate.

    Raises
    ------
    PreadyError
        Names the feature, and the engines that can simulate the whole workload.
    """
    if workload.today == "pipeline":
        blocks = workload.captured.blocks if workload.captured is not None else None
        raise PreadyError(
            f"this is a pipeline{f' of {blocks} blocks' if blocks else ''}: not predicted",
            valid='pattern = "sweep3d" with grid and blocks, if octants follow one another; one block alone as "pt2pt"',
        )
    need = _lacking(workload, engine)
    if need is not None:
        raise PreadyError(
            f"{need.name}: not simulated by {ASKED_BY[engine]}",
            valid=" or ".join(said for e, said in ASKED_BY.items() if _lacking(workload, e) is None)
            or "a workload without it",
        )


def refuse_broadcast(workload: Workload, by: str) -> None:
    """Refuse a broadcast where messages are performed or shown one by one: it is predicted only. So is packing.

    Raises
    ------
    PreadyError
        One of its exchanges is one.
    """
    if any(part.pack is not None for part in workload.parts):
        raise PreadyError(f"{by} with pack", valid="a workload without pack, or pready predict")
    if any(part.pattern == "bcast" for part in workload.parts):
        raise PreadyError(f"{by} of pattern = 'bcast'", valid="pready predict, simulate or sweep")
