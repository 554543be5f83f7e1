"""Do the launcher's hosts hold the ranks that the workload puts on a node, and has every rank a core of its own?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pready.model.common.errors import PreadyError
from pready.model.engine.layout import of_a_step
from pready.model.workload.workload import Workload
from pready.validate.prove.performed import Performed


def nodes_of(workload: Workload) -> list[int] | None:
    """The node of each rank; None where the workload puts each on one of its own."""
    if workload.ranks_of_a_node is None:
        return None
    node = of_a_step(workload)[0].pattern(workload.parts[0]).node
    return None if node is None else [int(n) for n in node]


def check(workload: Workload, hosts: Sequence[str]) -> None:
    """Compare with the host of each rank.

    Raises
    ------
    PreadyError
        Ranks of one node on two hosts, or of two nodes on one: with the ranks of each host that was found.
    """
    nodes = nodes_of(workload)
    if nodes is None or len(hosts) != len(nodes):
        return  # a launcher of other ranks is refused elsewhere
    host_of: dict[int, str] = {}
    node_on: dict[str, int] = {}
    for rank, (node, host) in enumerate(zip(nodes, hosts, strict=True)):
        if host_of.setdefault(node, host) == host and node_on.setdefault(host, node) == node:
            continue
        other = nodes.index(node) if host_of[node] != host else hosts.index(host)
        have, ran = ("the same node", "different hosts") if host_of[node] != host else ("different nodes", "one host")
        raise PreadyError(
            f"ranks {other} and {rank} are of {have} in the workload (ranks_per_node = {workload.ranks_of_a_node}), "
            f"and ran on {ran} ({_found(hosts)})",
            valid="a launcher that places ranks so, such as 'srun -m block' with as many a node, or another node_grid",
        )


def _found(hosts: Sequence[str], most: int = 4) -> str:
    by_host: dict[str, list[int]] = {}
    for rank, host in enumerate(hosts):
        by_host.setdefault(host, []).append(rank)
    said = [f"{host}: {' '.join(map(str, ranks[:8]))}{' …' * (len(ranks) > 8)}" for host, ranks in by_host.items()]
    return "; ".join(said[:most] + ["…"] * (len(said) > most))


def shared_cores(performed: Iterable[Performed]) -> str | None:
    """Why ranks that share cores are not judged; None if each has its own."""
    shared = [p for p in performed if p.ranks_here > p.cores]
    if not shared:
        return None
    return f"{_sharing(shared[0].ranks_here, shared[0].cores)}, and wait for one, which the model leaves out"


def shared_before(about: Mapping[str, Any]) -> str | None:
    """What to say of ranks that share cores before they are measured; None: each has its own, or it is not known."""
    hosts, cores = about.get("hosts", ()), int(about.get("cores_online") or 0)
    ranks = max(Counter(hosts).values(), default=0)
    if not cores or ranks <= cores:
        return None
    return f"{_sharing(ranks, cores)}: the result will be undecided; give each rank a core (fewer ranks, more nodes)"


def _sharing(ranks: int, cores: int) -> str:
    return f"{ranks} ranks share {cores} core{'s' * (cores > 1)}"
