"""What no library could exceed, by any way to send: a message costs its bytes at the cable's best rate, and a latency.

After the last of one rank's partitions is ready at r_N, its exchange then lasts max over i of (r_i + bytes not ready
before r_i / rate) - r_N + L: Eq. 3 of gillis2023 (https://doi.org/10.1145/3605573.3605599) for one late partition. That
is the recurrence with all other costs 0 and a message for each partition, ports, adapters and iterations included.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields

import numpy as np

from pready.model.approach.interfaces import BOUND, Approach
from pready.model.common.arrays import Array
from pready.model.machine.path import NetworkPath
from pready.model.timeline.costs import Costs
from pready.model.workload.arrivals import Laggard, Measured, NoArrivals
from pready.model.workload.workload import Workload


def bound_of(workload: Workload, partitions: int, *, in_turn: bool) -> Approach:
    """The bound as a way, in as many messages as there are times when partitions are ready.

    Parameters
    ----------
    partitions
        What divides the user partitions of every buffer.
    in_turn
        May a thread's partitions be ready one after the other, though the workload does not say so?
    """
    of, relays = workload.arrivals, workload.consume is not None or workload.pattern == "bcast"
    if workload.consume is not None:
        partitions = math.gcd(partitions, workload.receive_partitions or 0)
    if in_turn or relays:
        return BOUND.into(partitions)
    if isinstance(of, NoArrivals):
        return BOUND.into(1)
    together = of.late == "thread" if isinstance(of, Laggard) else getattr(of, "partitions", "in turn") == "together"
    if together and not (isinstance(of, Measured) and of.model == "trace"):
        partitions //= workload.partitions_per_thread
    return BOUND.into(partitions)


def tried(path: NetworkPath, least: float, most: float) -> list[float]:
    """Sizes between two, in bytes, among which a byte is cheapest: their ends, and where segments begin."""
    return [least, *(s.from_ for s in path.segments if least < s.from_ < most), most]


def least_costs(some: Sequence[Costs], size: float, gap: Array) -> Costs:
    """The least that messages of a class cost, for one of `size` bytes.

    Parameters
    ----------
    some
        Costs of the sizes in which ways may send, as `tried`.
    gap
        The adapter's between two messages, in seconds, which nobody waits for behind the last.
    """

    def per_byte(of: str, less: Array | float = 0.0) -> Array:
        each = [(getattr(c, of) - less) / c.size for c in some]
        return np.asarray(size * np.maximum(np.minimum.reduce(np.broadcast_arrays(*each)), 0.0))

    free = np.zeros(())
    on_cable, first = per_byte("link"), some[0]
    costs = dict.fromkeys((f.name for f in fields(Costs)), free)
    costs |= {"contention": np.zeros_like(first.contention), "waiting": np.zeros_like(first.waiting)}
    costs |= {"size": np.asarray(float(size)), "link": on_cable, "stream": on_cable, "shared": per_byte("shared", gap)}
    costs["barrier"] = np.asarray(1e-12)  # no exchange takes no time, whose ratio to others would be none
    wire = np.minimum.reduce(np.broadcast_arrays(*(c.wire for c in some)))
    return Costs(**{**costs, "wire": wire, "on_call": np.zeros((), np.bool_)})
