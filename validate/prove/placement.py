"""Do the launcher's hosts hold the ranks that the workload puts on a node, and has every thread a core of its own?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pready.calibrate.doctor.findings import cores_of
from pready.model.common.errors import PreadyError
from pready.model.engine.layout import of_a_step
from pready.model.workload.workload import Workload


def nodes_of(workload: Workload) -> list[int] | None:
    """The node of each rank; None where the workload puts each on one of its own."""
    if workload.ranks_of_a_node is None:
        return None
    node = of_a_step(workload)[0].pattern(workload.parts[0]).node
    return None if node is None else [int(n) for n in node]


def check(workload: Workload, hosts: Sequence[str]) -> None:
    """Compare with the host of each rank. Raises PreadyError: ranks of one node on two hosts, or of two nodes on one:
    with the ranks of each host that was found."""
    nodes = nodes_of(workload)
    if nodes is None:
        return
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


def check_ranks(hosts: Sequence[str], ranks: int, launcher: str) -> None:
    """Refuse a launcher that starts another number of ranks than the workload has."""
    if len(hosts) != ranks:
        raise PreadyError(
            f"launcher '{launcher}' starts {len(hosts)} ranks, the workload has {ranks}",
            valid=f"a launcher of {ranks} ranks, or a workload of {len(hosts)} (--set grid=…)",
        )


def shared_cores(about: Mapping[str, Any], threads: int) -> str:
    """Who shares cores, in words; empty: each thread of each rank has its own, or it is not known.

    Parameters
    ----------
    about
        The benchmark's environment: `hosts`, and `allowed`, the cores of each rank.
    threads
        That compute or work on what a rank receives at a time.
    """
    cores_on: dict[str, list[set[int]]] = {}
    for host, text in zip(about.get("hosts", ()), about.get("allowed", ()), strict=False):
        cores_on.setdefault(host, []).append(cores_of(text))
    for each in cores_on.values():
        together, fewest = len(set().union(*each)), min(map(len, each))
        ranks = f"{len(each)} rank{'s' * (len(each) > 1)}"
        if len(each) * threads > together:
            return _sharing(f"{ranks} of {threads} threads" if threads > 1 else ranks, together)
        if threads > fewest:
            return _sharing(f"{threads} threads of a rank", fewest)
    return ""


def _sharing(who: str, cores: int) -> str:
    return f"{who} share {cores} core{'s' * (cores > 1)}"
