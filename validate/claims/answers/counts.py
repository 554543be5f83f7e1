"""Checks that count: communicators, VCIs, messages. Exact, whatever the machine costs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod
from typing import Annotated, Literal

from pydantic import Field

from pready.model.approach.libraries import mpich_6314_messages
from pready.model.approach.vcis import communicators_27_point
from pready.model.common import units
from pready.model.toml.provenance import Strict
from pready.validate.claims.computed_once import Lab, MachineTable

Count = Annotated[int, Field(ge=1)]


class Threads(Strict):
    """Threads of a rank along x, y, z."""

    threads: tuple[Count, Count, Count]


class Communicators(Threads):
    """How many communicators a 27-point exchange needs, as a number or as a multiple."""

    by: Literal["formula", "counting"]
    """The formula as printed, or going through every thread and direction."""
    per: Literal["rank", "thread", "hardware context"] = "rank"
    machine: MachineTable | None = None
    """The machine whose contexts `per` = "hardware context" counts."""


class Channels(Threads):
    """How the threads of a rank express their parallelism, and on which adapter."""

    mechanism: Literal["one communicator", "communicators", "tags", "endpoints"]
    machine: MachineTable


class Patches(Threads):
    """One cubic patch per thread, `cells` along each side, exchanging a layer of ghost cells."""

    cells: Count
    of: Literal["bytes", "messages"]


class Messages(Strict):
    """The two sides' partition counts and the aggregation size."""

    library: Literal["mpich-6314"]
    sender_partitions: Count
    receiver_partitions: Count
    buffer: units.Size
    aggregate: units.Offset = 0.0


def communicators(a: Communicators, lab: Lab) -> float:
    """Communicators that expose all parallelism of a 27-point exchange (zambre2021 6.1)."""
    needed = communicators_27_point(*a.threads) if a.by == "formula" else sum(1 for _ in leaving(a.threads))
    if a.per == "thread":
        return needed / prod(a.threads)
    if a.per == "hardware context":
        assert a.machine is not None
        return needed / lab.machine(a.machine).contexts.value
    return float(needed)


def leaving(threads: tuple[int, ...]) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Every thread (by number) and direction of a 27-point exchange whose message leaves the rank."""
    for step in product((-1, 0, 1), repeat=len(threads)):
        for n, at in enumerate(product(*map(range, threads))):
            if not all(0 <= i + s < size for i, s, size in zip(at, step, threads, strict=True)):
                yield n, step


def threads_sharing_a_context(a: Channels, lab: Lab) -> float:
    """The largest number of threads that share one hardware context.

    With communicators, each thread and direction has one of its own, spread round-robin over the
    contexts as they are created (zambre2021 5.3 and 6.1); tags and endpoints need one per thread.
    """
    contexts, threads = lab.machine(a.machine).contexts.value, prod(a.threads)
    if a.mechanism == "one communicator":
        return float(threads)
    owners: dict[int, set[int]] = {}
    if a.mechanism == "communicators":
        for c, (thread, _) in enumerate(leaving(a.threads)):
            owners.setdefault(c % contexts, set()).add(thread)
    else:
        for thread in range(threads):
            owners.setdefault(thread % contexts, set()).add(thread)
    return float(max(map(len, owners.values())))


def kept_inside(a: Patches, lab: Lab) -> float:
    """Percent of all patches' messages that stay inside a rank, by bytes or by number: threads need not send them."""

    def weight(threads: tuple[int, ...]) -> int:
        cells = 1 if a.of == "messages" else a.cells
        return sum(prod(1 if s else cells for s in step) for _, step in leaving(threads))

    return 100 * (1 - weight(a.threads) / (prod(a.threads) * weight((1, 1, 1))))


def messages_on_the_wire(a: Messages, lab: Lab) -> float:
    """Messages that one partitioned exchange becomes."""
    return float(mpich_6314_messages(a.sender_partitions, a.receiver_partitions, a.buffer, a.aggregate))
