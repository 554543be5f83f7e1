"""Buffers of which the threads own parts that differ: each message is sent as if to a neighbour of its own.

A message has then a size of its own, as those in different directions have. Message t of a buffer of T in direction d
is the one message of direction d T + t of the pattern that is made here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from pready.model.approach.interfaces import Approach
from pready.model.approach.vcis import check_transport_partitions, issuing_threads, vci_members, waiting_threads
from pready.model.common.arrays import Wholes
from pready.model.common.errors import PreadyError
from pready.model.engine.ranks.mapping import Mapping
from pready.model.engine.ranks.pattern import LISTED, Pattern
from pready.model.timeline.costs import Costs
from pready.model.workload.workload import Workload

Price = Callable[[float, bool], Costs]
"""The costs of messages of so many bytes, within a node or not."""


@dataclass(frozen=True)
class Parts:
    """The messages of one approach, where they differ in size or not."""

    pattern: Pattern
    sizes: tuple[float, ...]
    """Bytes of a message by class of the pattern."""
    count: int = 1
    """Directions of the pattern for each of the workload's own."""

    def at(self, price: Price) -> list[Costs]:
        """What they cost, by class."""
        return [price(size, kind.inside) for size, kind in zip(self.sizes, self.pattern.kinds, strict=True)]


def parts(workload: Workload, approach: Approach, pattern: Pattern, buffers: tuple[float, ...]) -> Parts:
    """The messages of an approach, given whom ranks talk to and the bytes for a neighbour by class.

    Raises
    ------
    PreadyError
        Partitioned calls, whose partitions are all of one size, or transport partitions that do not divide the user
        partitions.
    """
    weights = workload.weights
    if weights is None or not approach.interface.splits:
        if weights is not None and approach.interface.partitioned:
            refuse_unlike(approach)
        return Parts(pattern, tuple(map(approach.message_size, buffers)))
    if approach.interface.partitioned:
        refuse_unlike(approach)
    check_transport_partitions(approach.transport_partitions, workload.n_partitions)
    each = np.repeat(weights, workload.partitions_per_thread).reshape(approach.messages, -1).sum(axis=1)
    made, base, weight = _of_parts(pattern, tuple(each.tolist()))
    total = float(each.sum())
    return Parts(made, tuple(buffers[b] * w / total for b, w in zip(base, weight, strict=True)), approach.messages)


def refuse_unlike(approach: Approach) -> None:
    """Say that the parts of an approach cannot differ.

    Raises
    ------
    PreadyError
        Always.
    """
    raise PreadyError(
        f"approach = '{approach.interface.key}' with thread_shares: MPI_Psend_init's partitions are all of one size",
        valid="an approach of messages or puts, such as 'many', or no thread_shares",
    )


@lru_cache(maxsize=32)
def _of_parts(of: Pattern, each: tuple[int, ...]) -> tuple[Pattern, tuple[int, ...], tuple[int, ...]]:
    """The pattern whose directions are the messages, and by its classes those of `of` and the weights."""
    count, weights = len(each), sorted(set(each), key=each.index)
    number = np.array([weights.index(w) for w in each], np.int64)
    profiles, directions = of.present.shape
    classes = (of.classes[:, :, None] * len(weights) + number).reshape(profiles, directions * count)
    made = _listed(of, count) if of.name in (*LISTED, "pt2pt") else of
    made = replace(
        made,
        steps=tuple(step for step in of.steps for _ in range(count)),
        classes=classes,
        kinds=tuple(kind for kind in of.kinds for _ in weights),
        present=np.repeat(of.present, count, axis=1),
        sources=of.sources * count,
    )
    base = tuple(c for c in range(len(of.kinds)) for _ in weights)
    return made, base, tuple(weights) * len(of.kinds)


def _profiles(of: Pattern) -> Wholes:
    """Of each rank; of a list it is else the number of neighbours."""
    if of.rank_profile is not None:
        return of.rank_profile
    return np.zeros(of.ranks, np.int64) if of.name == "pt2pt" else np.diff(of.out_start)


def _listed(of: Pattern, count: int) -> Pattern:
    """Whom each rank of a list, or of pairs, sends to and receives from, so many times."""
    if of.name == "pt2pt":
        everyone = np.arange(of.ranks)
        starts, other, slot = np.arange(of.ranks + 1), everyone ^ 1, np.zeros(of.ranks, np.int64)
        out_start, out_rank, in_start, in_rank, in_slot = starts, other, starts, other, slot
    else:
        out_start, out_rank, in_start, in_rank, in_slot = (
            of.out_start, of.out_rank, of.in_start, of.in_rank, of.in_slot,
        )  # fmt: skip
    return replace(
        of,
        name="neighbours" if of.name == "pt2pt" else of.name,
        out_start=out_start * count,
        out_rank=np.repeat(out_rank, count),
        in_start=in_start * count,
        in_rank=np.repeat(in_rank, count),
        in_slot=(in_slot[:, None] * count + np.arange(count)).ravel(),
        rank_profile=_profiles(of),
    )


def mapped_to_parts(workload: Workload, approach: Approach, count: int, directions: int, contexts: int) -> Mapping:
    """Which user partitions and threads the messages of `parts` have, in so many directions of theirs."""
    threads, each = workload.threads, workload.n_partitions // count
    bins = [tuple(range(t * each, (t + 1) * each)) for t in range(count)]
    members = vci_members(approach, threads, contexts)
    return Mapping(
        tuple(bins[m % count] for m in range(directions)),
        tuple(tuple(m for m in range(directions) if m % count in some) for some in map(set, members)),
        tuple(issuing_threads(some, count, threads, workload.partitions_per_thread) for some in members),
        tuple(tuple(waiting_threads(some, count, threads)) for some in members),
    )
