"""The benchmarks that are read, what each says of a machine, and their figures from all files as one."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from pready.calibrate.fit.observations import Curve, Observations
from pready.calibrate.importers import one_node
from pready.calibrate.importers.text import ImportFormatError, Provenance
from pready.model.common.errors import shown

Kind = Literal["ping_pong", "stream", "both_ways", "pair_rates", "threaded", "puts", "put_streams", "unused", "trains"]
DEFAULT_WINDOW = 64
"""Messages of a window unless `-W` was given, which osu_bw's output does not say."""


@dataclass(frozen=True)
class Test:
    """A benchmark.

    Attributes
    ----------
    name
        As its program, or its suite and title, are called.
    kind
        What its figures are.
    quantity
        The column that is read.
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


_PAIRS = "several pairs at once"
_GETS = "as no approach gets data"
TESTS = {
    test.name: test
    for test in (
        Test("osu_latency", "ping_pong"),
        Test("osu_latency_persistent", "ping_pong", stands_in="persistent requests"),
        Test("osu_multi_lat", "ping_pong", stands_in=_PAIRS),
        Test("osu_bw", "stream", "rate"),
        Test("osu_bibw", "both_ways", "rate", 2),
        Test("osu_mbw_mr", "pair_rates", "messages"),
        Test("osu_latency_mt", "threaded"),
        Test("osu_partitioned_latency", "unused", stands_in="as it says no cost of its own"),
        Test("osu_put_latency", "puts"),
        Test("osu_put_bw", "put_streams", "rate"),
        Test("osu_get_latency", "unused", stands_in=_GETS),
        Test("osu_get_bw", "unused", "rate", stands_in=_GETS),
        Test("IMB PingPong", "ping_pong"),
        Test("IMB PingPing", "ping_pong", stands_in="both ranks send at once"),
        Test("IMB Multi-PingPong", "ping_pong", stands_in=_PAIRS),
        Test("IMB Uniband", "pair_rates", "messages"),
        Test("IMB Biband", "both_ways", "rate", 2),
        Test("IMB PingPongMT", "threaded"),
        Test("IMB Unidir_Put", "puts"),
        Test("IMB Unidir_Put, aggregate", "put_streams"),
        Test("IMB Unidir_Get", "unused", stands_in=_GETS),
    )
}
TRAINS = Test("Netgauge LogGP", "trains")


@dataclass(frozen=True)
class Beside:
    """Measurements that LogGP has no curve for: times of messages or calls by size, unless it says otherwise.

    Attributes
    ----------
    pair_rates
        Messages per second by size, by number of process pairs (osu_mbw_mr with several pairs: processes, not
        threads, so no contention curve).
    threaded
        Half round trips between threads that all wait in MPI, by how many send and how many receive.
    puts
        One MPI_Put with its synchronisation, by the latter's name.
    put_streams
        Time per put of a window of them, by its synchronisation.
    both_ways
        Time per pair of messages, one each way, of windows of them (osu_bibw).
    """

    pair_rates: Mapping[int, Curve] = field(default_factory=dict)
    threaded: Mapping[tuple[int, int], Curve] = field(default_factory=dict)
    puts: Mapping[str, Curve] = field(default_factory=dict)
    put_streams: Mapping[str, Curve] = field(default_factory=dict)
    both_ways: Curve | None = None


@dataclass(frozen=True)
class Measured:
    """One run of a benchmark, in SI units.

    Attributes
    ----------
    test, source, version
        What it is, the file, and the suite's version ("" where the file does not say).
    key
        Pairs, threads or synchronisation, where the kind has several curves.
    values
        Size, and seconds of a message or messages per second.
    window
        Messages of a window with an answer; 0: none.
    memory
        Where the buffers were: "CUDA" and the like; empty: the hosts' memory.
    command, one_node, nodes, settings
        What its command says (`command.py`).
    trains
        Of Netgauge, in place of values.
    """

    test: Test
    source: str
    version: str = ""
    key: Hashable = None
    values: tuple[tuple[float, float], ...] = ()
    window: int = 0
    memory: str = ""
    command: str = ""
    one_node: str = ""
    nodes: int | None = None
    settings: tuple[str, ...] | None = None
    trains: Observations | None = None

    @property
    def kind(self) -> tuple[Kind, Hashable]:
        """The curve that it belongs to; of one pair, a rate is a stream."""
        if self.test.kind == "pair_rates" and self.key == 1:
            return "stream", None
        return self.test.kind, self.key


@dataclass(frozen=True)
class Imported:
    """All runs of some files as one machine's observations.

    Attributes
    ----------
    runs
        Those that are used.
    observations
        The parameters that the files determine, and nothing else.
    provenance
        Files, formats, versions, notes.
    beside
        Measurements that the fit does not use.
    one_node
        Why the two ranks must have been on one node; empty if nothing says so.
    window
        Messages of the windows that `observations.stream` is of, each with an answer; 0: it has none.
    memory
        Where the buffers were: "CUDA" and the like; empty: the hosts' memory.
    """

    runs: tuple[Measured, ...]
    observations: Observations
    provenance: Provenance
    beside: Beside = field(default_factory=Beside)
    one_node: str = ""
    window: int = 0
    memory: str = ""

    @property
    def assumed(self) -> tuple[str, ...]:
        """LogGP parameters that it leaves open: `fit` gives them the interval of what is possible, and marks them."""
        return undetermined(self.observations)


def together(runs: Sequence[Measured], notes: Sequence[str] = (), only: str = "") -> Imported:
    """The runs of one machine as one: those of one memory, between two nodes, of one setting of the library.

    Parameters
    ----------
    runs, notes
        From the readers.
    only
        Text that the command of a run has to contain, to be used.

    Raises
    ------
    ImportFormatError
        Commands with different settings: two machines; two files of Netgauge's.
    """
    said = list(dict.fromkeys(notes))
    if only:
        runs = [run for run in runs if only in run.command]
        if not runs:
            raise ImportFormatError(f"no run's command contains {shown(only)}", valid="part of a command in the files")
    runs = _alike(runs, said)
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
            said.append(
                f"{some[0].test.name} stands in for a message alone: at most as long ({some[0].test.stands_in})"
            )
        elif others := sorted({run.test.name for run in some} - {run.test.name for run in own}):
            said.append(f"not used beside {own[0].test.name}: {', '.join(others)}")
        own = own or [run for run in some if run.test == some[0].test]
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
    trains = next((run.trains for run in used if run.trains is not None), Observations())
    ping_pong, stream = fields.pop("ping_pong", None), fields.pop("stream", None)
    observed = replace(trains, ping_pong=ping_pong, stream=stream)
    tests = ", ".join(dict.fromkeys(run.test.name for run in used or runs))
    if ping_pong is None and trains.prtt_1 is None:
        said.append(f"{tests} alone does not determine how long one message takes; add osu_latency")
    said += explain(observed, tests)
    versions = ", ".join(dict.fromkeys(run.version for run in used if run.version))
    sources = ", ".join(dict.fromkeys(run.source for run in used or runs))
    window = max((run.window for run in used if run.kind[0] == "stream"), default=0)
    why = one_node.of_times(ping_pong, next((run.one_node for run in used if run.one_node), ""))
    memory = next((run.memory for run in used if run.memory), "")
    about = Provenance(sources, tests, versions, tuple(said))
    return Imported(tuple(used), observed, about, Beside(**fields), why, window, memory)


def combine(first: Imported, *others: Imported) -> Imported:
    """Several files of one machine as one, such as osu_latency's and osu_bw's.

    Raises
    ------
    ImportFormatError
        As `together`; buffers in hosts' memory and in GPUs'.
    """
    every = (first, *others)
    for other in others:
        if other.memory != first.memory:
            memory, before = (
                f"in the memory of {x.memory} GPUs" if x.memory else "on the hosts" for x in (other, first)
            )
            valid = f"{before}, as in {first.provenance.source}"
            raise ImportFormatError(f"buffers were {memory}", valid=valid, source=other.provenance.source)
    notes = [note for each in every for note in each.provenance.notes if "alone does not determine" not in note]
    notes = [note for note in notes if "stands in for" not in note and not note.startswith("not used beside")]
    return together([run for each in every for run in each.runs], notes)


def _alike(runs: Sequence[Measured], said: list[str]) -> list[Measured]:
    """The runs of hosts' memory, between nodes, if there are both; and of one setting."""
    kept = list(runs)
    devices = list(dict.fromkeys(run.memory for run in kept if run.memory))
    if devices and all(run.memory for run in kept):
        said.append(f"buffers were in the memory of GPUs ({', '.join(devices)}): a machine of messages between GPUs")
    elif devices:
        said.append(f"only buffers in the hosts' memory were used, not those of GPUs ({', '.join(devices)})")
        kept = [run for run in kept if not run.memory]
    local: Callable[[Measured], bool] = lambda run: bool(run.one_node) and "waited" not in run.one_node  # noqa: E731
    if any(map(local, kept)) and not all(map(local, kept)):
        said.append("only runs between two nodes were used, not those whose command lines ask for one node")
        kept = [run for run in kept if not local(run)]
    settings = {run.settings: run for run in kept if run.settings is not None}
    if len(settings) > 1:
        first, second, *_ = settings
        told = [" ".join(sorted(set(a) - set(b))) or "none" for a, b in ((first, second), (second, first))]
        raise ImportFormatError(
            f"commands with other settings of the library, {shown(told[0])} and {shown(told[1])}: two machines",
            valid="--command TEXT, which takes the runs whose command contains it, such as "
            + repr(next(t for t in told[::-1] if t != "none").split(" ", 1)[-1]),
            source=settings[second].source,
        )
    return kept


def undetermined(observations: Observations) -> tuple[str, ...]:
    """The LogGP parameters that these observations leave open."""
    sender, receiver = observations.prtt_n_delay is not None, observations.receive is not None
    known = {
        "o_s": sender,
        "o_r": receiver,
        "g": observations.prtt_n is not None or observations.stream is not None,
        "L": sender and receiver,
    }
    return tuple(name for name, there in known.items() if not there)


def explain(observations: Observations, format: str) -> tuple[str, ...]:
    """One note, if any: the parameters that a file leaves open, and what says them."""
    open_ = undetermined(observations)
    if not open_:
        return ()
    more = "osu_bw says g and bounds o_s and o_r; " if "g" in open_ else ""
    return (f"{format} alone does not determine {', '.join(open_)} ({more}Netgauge or pready calibrate says all)",)
