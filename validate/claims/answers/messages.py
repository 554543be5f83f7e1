"""Checks on what benchmarks of messages measure: a ping-pong, a window of messages, messages to many ranks, a buffer in
partitions, a broadcast. All ranks are in MPI; all messages are ready at once unless a thread is late."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from pready.calibrate.fit.windows import ANSWER
from pready.model.approach.interfaces import BY_KEY, SINGLE, Approach
from pready.model.common import units
from pready.model.common.errors import PreadyError
from pready.model.engine.layout import Layout
from pready.model.timeline.costs import costs
from pready.model.timeline.rules import polled
from pready.model.toml.provenance import Strict
from pready.model.workload.exchange import Count, Placement
from pready.model.workload.workload import Workload
from pready.validate.claims.computed_once import Lab, MachineTable

Lists = Sequence[Sequence[int]]
NONBLOCKING = "many"
"""MPI_Isend or MPI_Start for each message by its thread, and one MPI_Waitall: Isend's interface, or persistent's."""


class PingPong(Strict):
    """One message there and one back, of each of so many pairs of ranks of two nodes, which run side by side."""

    machine: MachineTable
    size: units.Size
    pairs: Count = 1
    placement: Placement | None = None


class Window(Strict):
    """A window of messages that one answer follows (osu_bw, osu_mbw_mr), or of Netgauge's PRTT(n, 0, s); both ways
    nobody answers: each rank ends when it has sent and received (osu_bibw)."""

    machine: MachineTable
    size: units.Size
    messages: Count = 64
    pairs: Count = 1
    """Pairs of ranks, all senders on one node and all receivers on another."""
    both_ways: bool = False
    of: Literal["bandwidth", "time_s"] = "bandwidth"
    """Bytes per second of all pairs together, or the time until the answer is there."""
    answer: units.Size = ANSWER


class Fan(Strict):
    """One rank sends a message to each of several ranks of another node; they all send one back."""

    machine: MachineTable
    size: units.Size
    peers: Count


class Partitions(Strict):
    """A buffer in messages of one size, sent back to back by some threads through one VCI."""

    machine: MachineTable
    buffer: units.Size
    partition: units.Size
    threads: Count
    interface: str


class Broadcast(Strict):
    """A buffer from one rank to all others, a message to each, one of its threads being late."""

    machine: MachineTable
    buffer: units.Size
    ranks: Annotated[int, Field(ge=2)]
    threads: Count
    late_by: units.Time
    interface: str
    radix: Count | None = None
    """2: a binomial tree; absent: linear, from the root to all."""
    of: Literal["last", "median"] = "last"
    """When the last rank has ended, or half of the ranks have."""


class Tested(Strict):
    """Time that a broadcast takes longer where MPI_Parrived is called for each partition."""

    machine: MachineTable
    buffer: units.Size
    ranks: Annotated[int, Field(ge=2)]
    threads: Count


class ThreadsPingPong(Strict):
    """Threads that each send a message and wait for its answer, all through one VCI."""

    machine: MachineTable
    threads: Count
    size: units.Size = 4.0


class ThereAndBack(Strict):
    """Messages that one thread sends to one rank, which sends as many back when it has all of them."""

    machine: MachineTable
    messages: Count
    bytes: units.Size


def ping_pong(a: PingPong, lab: Lab) -> float:
    """Seconds: half of the round trip.

    Of several pairs, none of which waits for another: what one alone takes, or what an adapter needs for a message of
    each, the longer of both (asymptotic bounds, Denning and Buzen 1978, https://doi.org/10.1145/356733.356735).
    """
    alone, k = _last(lab, a.machine, 1, a.size, Approach(SINGLE), [[1], []]), a.pairs
    if k == 1:
        return alone
    lists: Lists = [*([k + i] for i in range(k)), *([[]] * k)]
    one, two = (_last(lab, a.machine, 1, n * a.size, _approach(NONBLOCKING, n), lists, k, a.placement) for n in (1, 2))
    return max(alone, two - one)


def window(a: Window, lab: Lab) -> float:
    """Bytes per second, or seconds."""
    k = a.pairs
    there: Lists = [[k + i] for i in range(k)]
    back: Lists = [[i] for i in range(k)] if a.both_ways else [[]] * k
    approach = Approach(BY_KEY[NONBLOCKING], a.messages)
    time = _last(lab, a.machine, 1, a.messages * a.size, approach, [*there, *back], k)
    if not a.both_ways:
        time += ping_pong(PingPong(machine=a.machine, size=f"{a.answer:.17g} B"), lab)  # type: ignore[arg-type]
    return time if a.of == "time_s" else (1 + a.both_ways) * k * a.messages * a.size / time


def fan(a: Fan, lab: Lab) -> float:
    """Seconds: half of the time until the last message is back."""
    n = a.peers
    # The one rank has a node of its own; idle ranks fill it.
    out: Lists = [[n + i for i in range(n)], *([[]] * (2 * n - 1))]
    back: Lists = [*([[]] * n), *([[0]] * n)]
    return 0.5 * sum(_last(lab, a.machine, 1, a.size, Approach(SINGLE), lists, n) for lists in [out, back])


def time_per_message(a: Partitions, lab: Lab) -> float:
    """Seconds: of the whole buffer over its number of messages."""
    n = round(a.buffer / a.partition)
    if a.threads * (n // a.threads) != n:
        raise PreadyError(f"{n} messages by {a.threads} threads", valid="a multiple of the threads")
    return _last(lab, a.machine, a.threads, a.buffer, _approach(a.interface, n), [[1], []]) / n


def broadcast_time(a: Broadcast, lab: Lab) -> float:
    """Seconds, from when the late thread is ready until the last rank has everything."""
    late = {"arrivals": {"model": "laggard", "delay": f"{a.late_by:.17g} s", "late": "thread"}}
    shape = _shape(a.threads, 1, a.buffer) | late | {"pattern": "bcast", "radix": a.radix or a.ranks}
    way = (_approach(a.interface, a.threads),)
    runs = lab.ranks(a.machine, Workload.model_validate(shape), 1, Layout((a.ranks,)))
    end = np.median(lab.ends(runs, way)) if a.of == "median" else lab.means(runs, way).ends[0]
    return float(end) - a.late_by


def tested(a: Tested, lab: Lab) -> float:
    """Seconds: what a receiver's tests add."""
    workload = Workload.model_validate(_shape(a.threads, 1, a.buffer))
    cost = costs(lab.sampler(a.machine), workload, a.buffer / a.threads).rows(lab.draw)
    return float(polled(cost, a.threads))


def threads_ping_pong(a: ThreadsPingPong, lab: Lab) -> float:
    """Seconds: half of the round trip over the messages of a direction."""
    n = a.threads
    return _last(lab, a.machine, n, n * a.size, _approach("per-thread", n), [[1], []]) / n


def there_and_back(a: ThereAndBack, lab: Lab) -> float:
    """Seconds: half of the time."""
    return _last(lab, a.machine, 1, a.messages * a.bytes, _approach(NONBLOCKING, a.messages), [[1], []])


def _shape(threads: int, per_thread: int, buffer: float) -> dict[str, Any]:
    return {"threads": threads, "partitions_per_thread": per_thread, "buffer": f"{buffer:.17g} B"}


def _approach(interface: str, messages: int) -> Approach:
    return BY_KEY[interface].into(messages)


def _last(
    lab: Lab,
    machine: MachineTable,
    threads: int,
    buffer: float,
    approach: Approach,
    lists: Lists,
    ranks_per_node: int = 1,
    placement: Placement | None = None,
) -> float:
    """When the last rank has ended one exchange that all began at 0, of a partition for each message."""
    neighbours = tuple(map(tuple, lists))
    shape = threads, approach.transport_partitions // threads, buffer
    layout = Layout((len(lists),), ranks_per_node=ranks_per_node if ranks_per_node > 1 else None)
    runs = lab.ranks(machine, _to(neighbours, shape, placement), 1, layout)
    return float(lab.means(runs, (approach,)).ends[0])


@lru_cache(maxsize=1024)  # draws of a machine ask for the same
def _to(
    neighbours: tuple[tuple[int, ...], ...], shape: tuple[int, int, float], placement: Placement | None
) -> Workload:
    lists = {"pattern": "neighbours", "neighbour_list": [*map(list, neighbours)], "placement": placement}
    return Workload.model_validate(_shape(*shape) | lists)
