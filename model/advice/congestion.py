"""The most loaded link of a network: a lower bound of the time of an exchange, which predictions leave out.

Ranks lie on nodes in linear order, one per node unless the workload says more; messages within a node load no cable.
On a tapered fat tree the uplinks of an edge switch share its traffic evenly, the best that any routing can do; on a
torus each message goes the shorter way around, axis by axis, as in merlin. Bytes over the link's rate bound the time of
an exchange from below, with or without late ranks. It leaves out latency, blocking and unequal spread over parallel
links, which `pready sst run` has: a warning refers to it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pready.model.common.arrays import Array
from pready.model.common.errors import PreadyError
from pready.model.common.units import format_time
from pready.model.engine.ranks.layout import layout
from pready.model.engine.ranks.pattern import Pattern
from pready.model.machine.machine import Machine, Network
from pready.model.result.prediction import ApproachPrediction
from pready.model.workload.workload import Workload

Ranks = NDArray[np.int64]

WORTH_A_WORD = 0.1
"""Share of the gain lost to congestion from which on a warning is given."""
MOST_FLOWS = 30_000_000
"""Largest number of pairs of ranks."""


@dataclass(frozen=True)
class Flows:
    """Sender, receiver and bytes of one exchange; arrays of shape (pairs,)."""

    source: Ranks
    destination: Ranks
    size: Array


@dataclass(frozen=True)
class Bound:
    """Shortest time of an exchange on the most loaded link between switches, and on a node's own cable, in seconds."""

    link: float
    where: str
    cable: float


def flows(workload: Workload, ranks: Pattern, buffers: tuple[float, ...]) -> Flows:
    """One exchange of a halo, of pairs, or of listed neighbours, from node to node.

    Parameters
    ----------
    buffers
        Bytes for a neighbour by class of the pattern.
    """
    to = ranks.receivers
    if ranks.name == "pt2pt" and not workload.both_ways:
        to[1::2] = -1
    source, direction = np.nonzero(to >= 0)
    profile = np.zeros(ranks.ranks, np.int64) if ranks.rank_profile is None else ranks.rank_profile
    moved = Flows(source, to[source, direction], np.array(buffers)[ranks.classes[profile[source], direction]])
    if ranks.node is None:
        return moved
    a, b = ranks.node[moved.source], ranks.node[moved.destination]
    away = a != b
    return Flows(a[away], b[away], moved.size[away])


def torus_loads(extents: tuple[int, ...], moved: Flows) -> Array:
    """Bytes on every link of a torus, shape (axes, 2 directions, nodes), one cable each way between neighbours.

    Axis by axis from the first, the shorter way around; halfway around goes upwards.
    """
    strides = np.cumprod([1, *extents[:-1]])
    out = np.zeros((len(extents), 2, math.prod(extents)))
    at = moved.source.copy()
    for axis, (n, stride) in enumerate(zip(extents, strides, strict=True)):
        goal = moved.destination // stride % n
        up = (goal - at // stride % n) % n
        backwards = 2 * up > n
        left = np.where(backwards, n - up, up)
        by = np.where(backwards, -1, 1)
        while (going := left > 0).any():
            np.add.at(out[axis], (backwards[going].astype(np.int64), at[going]), moved.size[going])
            place = at // stride % n
            at = np.where(going, at + ((place + by) % n - place) * stride, at)
            left = left - going
    return out


def uplink_loads(nodes_per_switch: int, uplinks: float, moved: Flows) -> Array:
    """Bytes on each link out of and into the edge switches of a fat tree, shape (2, switches)."""
    a, b = moved.source // nodes_per_switch, moved.destination // nodes_per_switch
    away, switches = a != b, int(max(a.max(), b.max())) + 1
    ways = [np.bincount(s[away], moved.size[away], switches) for s in (a, b)]
    return np.array(ways) / uplinks


def bound(machine: Machine, workload: Workload) -> Bound | None:
    """The bound for one exchange on the machine's network.

    None without a network, for ranks on one node, for a sweep (its waves meet no other traffic), and for neighbours
    that are only counted.

    Raises
    ------
    PreadyError
        More ranks than the network has nodes, or more pairs of ranks than `MOST_FLOWS`.
    """
    network = machine.network
    if network is None or workload.path == "intra" or workload.pattern == "sweep3d":
        return None
    if workload.pattern == "neighbours" and workload.neighbour_lists is None:
        return None
    placed = layout(workload)
    ranks = placed.pattern(workload)
    nodes = ranks.ranks if ranks.node is None else int(ranks.node.max()) + 1
    if network.nodes is not None and nodes > network.nodes:
        raise PreadyError(
            f"network = {network.title} is too small for {nodes} nodes", valid="fewer ranks, or more per node"
        )
    if ranks.ranks * ranks.directions > MOST_FLOWS:
        raise PreadyError(f"{ranks.ranks} ranks with {ranks.directions} neighbours", valid=f"{MOST_FLOWS} pairs")
    moved = flows(workload, ranks, placed.buffers(workload, ranks))
    if len(moved.size) == 0:
        return None
    per_byte = _link(machine)
    cable = max(np.bincount(r, moved.size).max() for r in (moved.source, moved.destination)) * per_byte
    loads, where = _loads(network, moved)
    return Bound(float(loads.max()) * per_byte, where, float(cable))


def _loads(network: Network, moved: Flows) -> tuple[Array, str]:
    if network.extents is not None:
        return torus_loads(network.extents, moved), "a link of the torus"
    assert network.nodes_per_switch is not None
    return uplink_loads(network.nodes_per_switch, network.uplinks, moved), "the links out of a switch"


def _link(machine: Machine) -> float:
    """Seconds per byte of a cable with many messages in flight."""
    large = machine.inter.segments[-1].G_link
    return 1 / machine.inter.link_bandwidth.value if large is None else large.value


def share_taken(bulk: float, time: float, link: float) -> float:
    """Share of the gain η − 1 = bulk / time − 1 that is lost if a link is busy for `link` of each exchange; in seconds.

    Bulk takes at least `link`, so x = max(0, link − bulk) longer, and the approach as much, since both wait for the
    same traffic. (bulk + x) / (time + x) − 1 is time / (time + x) of the gain. SST on a torus and on tapered fat trees
    adds the same to both within 15 % (tests).
    """
    x = max(0.0, link - bulk)
    return x / (time + x) if bulk > time else 0.0


def warnings(machine: Machine, workload: Workload, bulk: ApproachPrediction, advised: ApproachPrediction) -> list[str]:
    """A warning of congestion, which a prediction leaves out: none or one line."""
    network = machine.network
    try:
        found = bound(machine, workload)
    except PreadyError as error:
        return [f"congestion is not estimated: {error}"]
    if found is None or network is None:
        return []
    taken = share_taken(bulk.time_s, advised.time_s, found.link)
    if taken < WORTH_A_WORD:
        return []
    return [
        f"congestion: on {network.title}, each exchange keeps {found.where} busy for at least "
        f"{format_time(found.link)} (bulk is predicted to take {format_time(bulk.time_s)}), which may take "
        f"{100 * taken:.0f} % of the gain; `pready sst run --topology {network.sst_name}` simulates it"
    ]
