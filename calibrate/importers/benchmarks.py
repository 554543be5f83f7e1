"""The runs of all files as one machine's observations."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pready.calibrate.fit.observations import Beside, Curve, Observations
from pready.calibrate.importers.disagreement import refuse_disagreeing, refuse_two, taken
from pready.calibrate.importers.measured import Kind, Measured
from pready.calibrate.importers.text import ImportFormatError
from pready.calibrate.importers.unnamed import quoted_in_text

FASTEST_S = 0.75e-6
"""No fabric delivers a small message sooner: 0.9 to 1.1 us on InfiniBand and TofuD, 0.15 to 0.7 us within a node."""
SMALL = 8
"""Bytes of a small message."""


@dataclass(frozen=True)
class Imported:
    """All runs of some files as one machine's observations.

    Attributes
    ----------
    tests, version
        Benchmarks and their suites' versions, for a reader.
    notes
        What was left out and why, parameters that the files cannot determine; one sentence each.
    one_node
        Why the two ranks must have been on one node; empty if nothing says so.
    window
        Messages of the windows that `observations.stream` is of, each with an answer; 0: it has none.
    """

    runs: tuple[Measured, ...]
    observations: Observations
    beside: Beside
    tests: str
    version: str
    notes: tuple[str, ...]
    one_node: str = ""
    window: int = 0


def together(
    runs: Sequence[Measured], notes: Sequence[str] = (), take: Sequence[str] = (), *, one_node: bool = False
) -> Imported:
    """The runs of one machine as one: those of one memory, of one placement, of one setting of the library.

    Parameters
    ----------
    take
        Texts of which one has to be in a run's file, heading, command or test, for the run to be used; none: all are.
    one_node
        Whether their ranks shall have been on one node.

    Raises
    ------
    ImportFormatError
        Runs that are of two machines, libraries or placements, or of one test and disagree; two files of Netgauge's.
    """
    said = list(dict.fromkeys(notes))
    runs = _alike(taken(runs, take), said, take, one_node=one_node)
    kinds: dict[tuple[Kind, Hashable], list[Measured]] = {}
    for run in runs:
        kinds.setdefault(run.kind, []).append(run)
    refuse_two(runs, one_node=one_node)
    for some in kinds.values():
        refuse_disagreeing(some)
    if not take and (quoted := next((run for run in runs if run.quoted), None)) is not None:
        raise quoted_in_text(quoted.test.name, quoted.source, quoted.line)
    fields: dict[str, Any] = {}
    for (kind, key), some in kinds.items():
        if kind == "trains":
            if len(some) > 1:
                problem = f"trains of messages are in {some[0].source} already"
                raise ImportFormatError(problem, valid="one file of Netgauge's", source=some[1].source)
            continue
        rows = [row for run in some for row in run.values]
        curve = Curve.of([size for size, _ in rows], [[value] for _, value in rows], kind)
        fields[kind] = curve if key is None else {**fields.get(kind, {}), key: curve}
        if len(some) > 1 and not key:
            said.append(f"{len(some)} runs of {some[0].test.name} agree: their medians were used")
    trains = next((run.trains for run in runs if run.trains is not None), Observations())
    observed = replace(trains, ping_pong=fields.pop("ping_pong", None), stream=fields.pop("stream", None))
    tests, version = (
        ", ".join(dict.fromkeys(filter(None, names)))
        for names in zip(*((run.test.name, run.version) for run in runs), strict=True)
    )
    if observed.ping_pong is None and trains.prtt_1 is None:
        said.append(f"{tests} alone does not determine how long one message takes; add osu_latency")
    if unknown := undetermined(observed):
        more = "osu_bw says g and bounds o_s and o_r; " if "g" in unknown else ""
        needed = f"{more}Netgauge or pready calibrate says all"
        said.append(f"{tests} alone does not determine {', '.join(unknown)} ({needed})")
    window = max((run.window for run in runs if run.kind[0] == "stream"), default=0)
    why = why_one_node(runs, take)
    return Imported(tuple(runs), observed, Beside(**fields), tests, version, tuple(said), why, window)


def _alike(runs: Sequence[Measured], said: list[str], take: Sequence[str], *, one_node: bool) -> Sequence[Measured]:
    """The runs of hosts' memory, and of one placement, if there are both."""
    devices = ", ".join(dict.fromkeys(run.memory for run in runs if run.memory))
    if devices and all(run.memory for run in runs):
        said.append(f"buffers were in the memory of GPUs ({devices}): a machine of messages between GPUs")
    elif devices:
        said.append(f"only buffers in the hosts' memory were used, not those of GPUs ({devices})")
        runs = [run for run in runs if not run.memory]
    local = [] if one_node or take else [run for run in runs if run.hint]
    if 0 < len(local) < len(runs):
        names = ", ".join(dict.fromkeys(run.test.name for run in local))
        said.append(f"only runs between two nodes were used, not {len(local)} of {names}: {local[0].hint}")
        runs = [run for run in runs if not run.hint]
    return runs


def why_one_node(runs: Sequence[Measured], take: Sequence[str] = ()) -> str:
    """Why these runs' ranks were on one node, and say nothing of the network; empty: nothing says so, or `take` says
    that they were not."""
    small = [t for run in runs if run.test.kind == "ping_pong" for size, t in run.values if size <= SMALL]
    fastest = min(small, default=FASTEST_S)
    hints = [run.hint for run in runs]
    if fastest >= FASTEST_S:
        return hints[0] if hints and all(hints) and not take else ""
    took = f"a small message took {fastest * 1e6:.2g} us, and no network delivers one sooner than 0.75 us"
    return "; ".join([took, *filter(None, hints)][:2])


def undetermined(observations: Observations) -> list[str]:
    """The LogGP parameters that these observations leave open."""
    sender, receiver = observations.prtt_n_delay is not None, observations.receive is not None
    gap = observations.prtt_n is not None or observations.stream is not None
    known = {"o_s": sender, "o_r": receiver, "g": gap, "L": sender and receiver}
    return [name for name, there in known.items() if not there]
