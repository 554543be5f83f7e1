"""The benchmarks that are read, what each says of a machine, and their figures from all files as one."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from pready.calibrate.fit.observations import Beside, Curve, Observations
from pready.calibrate.importers.command import Command
from pready.calibrate.importers.text import ImportFormatError
from pready.model.common.errors import shown

Kind = Literal["ping_pong", "stream", "both_ways", "pair_rates", "threaded", "puts", "put_streams", "unused", "trains"]
FASTEST_S = 0.75e-6
"""No fabric delivers a small message sooner: 0.9 to 1.1 us on InfiniBand and TofuD, 0.15 to 0.7 us within a node."""
SMALL = 8
"""Bytes of a small message."""


@dataclass(frozen=True)
class Test:
    """A benchmark: a program, or a title of a suite.

    Attributes
    ----------
    messages
        Messages that a figure of it counts: 2 where both ranks send.
    stands_in
        Why its figures are only an upper bound of its kind's, used where no other test of that kind is; of what is
        not used, why. Empty: they are the kind's.
    """

    name: str
    kind: Kind
    quantity: Literal["time", "rate", "messages"] = "time"
    messages: int = 1
    stands_in: str = ""


@dataclass(frozen=True)
class Measured:
    """One run of a benchmark, in SI units; what a file does not say is empty.

    Attributes
    ----------
    key
        Pairs, threads or synchronisation, where the kind has several curves.
    values
        Size, and seconds of a message or messages per second; Netgauge has trains in their place.
    window
        Messages of a window with an answer; 0: none.
    memory
        Where the buffers were: "CUDA" and the like; empty: the hosts' memory.
    waiting
        What processes that waited beside the two ranks say of their places.
    """

    test: Test
    source: str
    version: str = ""
    key: Hashable = None
    values: tuple[tuple[float, float], ...] = ()
    window: int = 0
    memory: str = ""
    command: Command | None = None
    waiting: str = ""
    trains: Observations | None = None

    @property
    def kind(self) -> tuple[Kind, Hashable]:
        """The curve that it belongs to; of one pair, a rate is a stream."""
        return ("stream", None) if (self.test.kind, self.key) == ("pair_rates", 1) else (self.test.kind, self.key)

    @property
    def local(self) -> bool:
        """Whether its command asks for one node."""
        return self.command is not None and bool(self.command.one_node)

    @property
    def hint(self) -> str:
        """What says that its ranks were on one node."""
        return f"its command line asks for one node: {self.said[:60]}" if self.local else self.waiting

    @property
    def said(self) -> str:
        """Its command."""
        return "" if self.command is None else self.command.text


@dataclass(frozen=True)
class Imported:
    """All runs of some files as one machine's observations.

    Attributes
    ----------
    sources, tests, version
        Files, benchmarks and their suites' versions, for a reader.
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
    sources: str
    tests: str
    version: str
    notes: tuple[str, ...]
    one_node: str = ""
    window: int = 0


def together(runs: Sequence[Measured], notes: Sequence[str] = (), only: str = "") -> Imported:
    """The runs of one machine as one: those of one memory, between two nodes, of one setting of the library.

    Parameters
    ----------
    only
        Text that the command of a run has to contain, to be used.

    Raises
    ------
    ImportFormatError
        Commands with different settings: two machines; two files of Netgauge's.
    """
    said = list(dict.fromkeys(notes))
    runs = _alike([run for run in runs if only in run.said], only, said)
    kinds: dict[tuple[Kind, Hashable], list[Measured]] = {}
    for run in runs:
        kinds.setdefault(run.kind, []).append(run)
    used: list[Measured] = []
    fields: dict[str, Any] = {}
    for (kind, key), some in kinds.items():
        if kind == "unused":
            said += [f"not used: {run.test.name}, {run.test.stands_in}" for run in some]
            continue
        own = [run for run in some if not run.test.stands_in]
        if not own:
            first = some[0].test
            said.append(f"{first.name} stands in for a message alone: at most as long ({first.stands_in})")
            own = [run for run in some if run.test == first]
        elif others := sorted({run.test.name for run in some} - {run.test.name for run in own}):
            said.append(f"not used beside {own[0].test.name}: {', '.join(others)}")
        used += own
        if kind == "trains":
            if len(own) > 1:
                problem = f"trains of messages are in {own[0].source} already"
                raise ImportFormatError(problem, valid="one file of Netgauge's", source=own[1].source)
            continue
        rows = [row for run in own for row in run.values]
        curve = Curve.of([size for size, _ in rows], [[value] for _, value in rows], kind)
        fields[kind] = curve if key is None else {**fields.get(kind, {}), key: curve}
        if len(own) > 1 and not key:
            said.append(f"{len(own)} runs of {own[0].test.name}: medians, and intervals that hold all but 5 % of them")
    ping_pong, stream = fields.pop("ping_pong", None), fields.pop("stream", None)
    trains = next((run.trains for run in used if run.trains is not None), Observations())
    observed = replace(trains, ping_pong=ping_pong, stream=stream)
    sources, tests, version = (
        ", ".join(dict.fromkeys(filter(None, names)))
        for names in zip(*((run.source, run.test.name, run.version) for run in used or runs), strict=True)
    )
    if ping_pong is None and trains.prtt_1 is None:
        said.append(f"{tests} alone does not determine how long one message takes; add osu_latency")
    if unknown := undetermined(observed):
        more = "osu_bw says g and bounds o_s and o_r; " if "g" in unknown else ""
        needed = f"{more}Netgauge or pready calibrate says all"
        said.append(f"{tests} alone does not determine {', '.join(unknown)} ({needed})")
    window = max((run.window for run in used if run.kind[0] == "stream"), default=0)
    why = _one_node(used, {} if ping_pong is None else ping_pong.medians)
    return Imported(tuple(used), observed, Beside(**fields), sources, tests, version, tuple(said), why, window)


def _alike(runs: Sequence[Measured], only: str, said: list[str]) -> Sequence[Measured]:
    """The runs of hosts' memory, between nodes, if there are both; and of one setting."""
    if only and not runs:
        raise ImportFormatError(f"no run's command contains {shown(only)}", valid="part of a command in the files")
    devices = ", ".join(dict.fromkeys(run.memory for run in runs if run.memory))
    if devices and all(run.memory for run in runs):
        said.append(f"buffers were in the memory of GPUs ({devices}): a machine of messages between GPUs")
    elif devices:
        said.append(f"only buffers in the hosts' memory were used, not those of GPUs ({devices})")
        runs = [run for run in runs if not run.memory]
    if 0 < sum(run.local for run in runs) < len(runs):
        said.append("only runs between two nodes were used, not those whose command lines ask for one node")
        runs = [run for run in runs if not run.local]
    settings = {run.command.settings: run for run in runs if run.command is not None}
    if len(settings) > 1:
        first, second, *_ = settings
        told = [" ".join(sorted(set(a) - set(b))) or "none" for a, b in ((first, second), (second, first))]
        raise ImportFormatError(
            f"commands with other settings of the library, {shown(told[0])} and {shown(told[1])}: two machines",
            valid="--command TEXT, which takes the runs whose command contains it, such as "
            + repr(next(t for t in told[::-1] if t != "none").split(" ", 1)[-1]),
            source=settings[second].source,
        )
    return runs


def _one_node(runs: Sequence[Measured], ping_pong: Mapping[float, float]) -> str:
    """Why the two ranks of runs with these half round trips were on one node, and say nothing of the network."""
    fastest = min((time for size, time in ping_pong.items() if size <= SMALL), default=FASTEST_S)
    if fastest >= FASTEST_S:
        return next((run.hint for run in runs if run.local), "")
    took = f"a small message took {fastest * 1e6:.2g} us, and no network delivers one sooner than 0.75 us"
    return "; ".join([took, *[run.hint for run in runs if run.hint][:1]])


def undetermined(observations: Observations) -> list[str]:
    """The LogGP parameters that these observations leave open."""
    sender, receiver = observations.prtt_n_delay is not None, observations.receive is not None
    gap = observations.prtt_n is not None or observations.stream is not None
    known = {"o_s": sender, "o_r": receiver, "g": gap, "L": sender and receiver}
    return [name for name, there in known.items() if not there]
