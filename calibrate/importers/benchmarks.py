"""The runs of all files as one machine's observations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pready.calibrate.fit.observations import Curve, Observations
from pready.calibrate.importers.disagreement import placed, refuse_disagreeing, refuse_two
from pready.calibrate.importers.measured import Measured
from pready.calibrate.importers.text import ImportFormatError

FASTEST_S = 0.75e-6
"""No fabric delivers a small message sooner: 0.9 to 1.1 us on InfiniBand and TofuD, 0.15 to 0.7 us within a node."""
SMALL = 8
"""Bytes of a small message."""


@dataclass(frozen=True)
class Imported:
    """All runs of some files as one machine's observations: also messages per second of so many pairs of processes at
    once, and how many messages the windows of `observations.stream` have, each with an answer (0: it has none)."""

    runs: tuple[Measured, ...]
    observations: Observations
    pair_rates: Mapping[int, Curve]
    window: int
    notes: tuple[str, ...]


def together(
    runs: Sequence[Measured], notes: Sequence[str] = (), *, one_node: bool = False, chosen: bool = False
) -> Imported:
    """The runs of one machine as one: those of one memory, of one placement, of one setting of the library.

    `one_node`: their ranks shall have been on one node. `chosen`: somebody chose these runs. An ImportFormatError for
    runs of two machines, libraries or placements, or of one test that disagree.
    """
    said = list(dict.fromkeys(notes))
    runs = alike(runs, said, any_place=one_node or chosen)
    refuse_two(runs, one_node=one_node)
    curves: dict[tuple[str, int], Curve] = {}
    for kind, pairs in dict.fromkeys((run.kind, run.pairs) for run in runs if run.trains is None):
        some = [run for run in runs if (run.kind, run.pairs) == (kind, pairs)]
        refuse_disagreeing(some)
        rows = [row for run in some for row in run.values]
        curves[kind, pairs] = Curve.of([size for size, _ in rows], [[value] for _, value in rows], kind)
        if len(some) > 1:
            said.append(f"{len(some)} runs of {some[0].test.name} agree: their medians were used")
    netgauge = [run for run in runs if run.trains is not None]
    if len(netgauge) > 1:
        problem = f"trains of messages are in {netgauge[0].source} already"
        raise ImportFormatError(problem, valid="one file of Netgauge's", source=netgauge[1].source)
    trains = next((run.trains for run in netgauge if run.trains), Observations())
    observed = replace(trains, ping_pong=curves.get(("ping_pong", 1)), stream=curves.get(("stream", 1)))
    if not one_node and not any(_between_nodes(run) for run in runs):
        said.append("no file says where the ranks ran: taken as two nodes; those of one node go to --intra")
    rates = {pairs: curve for (kind, pairs), curve in curves.items() if kind == "pair_rates"}
    window = max((run.window for run in runs if run.kind == "stream"), default=0)
    return Imported(tuple(runs), observed, rates, window, tuple(said))


def alike(runs: Sequence[Measured], said: list[str], *, any_place: bool) -> Sequence[Measured]:
    """The runs of hosts' memory, and of one placement, if there are both."""
    if all(run.on_gpus for run in runs):
        said.append("buffers were in the memory of GPUs, not of hosts: the machine is of such messages")
    elif any(run.on_gpus for run in runs):
        said.append("only buffers in the hosts' memory were used, not those of GPUs")
        runs = [run for run in runs if not run.on_gpus]
    local = [] if any_place else [run for run in runs if run.hint]
    if 0 < len(local) < len(runs):
        names = ", ".join(dict.fromkeys(run.test.name for run in local))
        said.append(f"only runs between two nodes were used, not {len(local)} of {names}: {local[0].hint}")
        runs = [run for run in runs if not run.hint]
    return runs


def why_one_node(runs: Sequence[Measured], *, chosen: bool = False) -> str:
    """Why these runs' ranks were on one node, and say nothing of the network; empty: nothing says so, or somebody chose
    the runs although it does."""
    small = [t for run in runs if run.test.kind == "ping_pong" for size, t in run.values if size <= SMALL]
    fastest = min(small, default=FASTEST_S)
    hints = [run.hint for run in runs]
    if fastest >= FASTEST_S:
        return hints[0] if all(hints) and not chosen else ""
    took = f"a small message took {fastest * 1e6:.2g} us, and no network delivers one sooner than 0.75 us"
    return "; ".join([took, *filter(None, hints)][:2])


def _between_nodes(run: Measured) -> bool:
    return placed(run) == "between nodes" or (run.command is not None and run.command.one_node is False)
