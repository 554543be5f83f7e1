"""Files, and folders of them, as one machine's observations; the names of files that cannot be used, with why."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import shorten

from pready.calibrate.fit.observations import Curve, Observations
from pready.calibrate.importers import netgauge, own_csv, reframe, sections
from pready.calibrate.importers.disagreement import named, placed_by_words, refuse_disagreeing, refuse_two, taken
from pready.calibrate.importers.measured import Measured
from pready.calibrate.importers.plausible import contradictions
from pready.calibrate.importers.text import LARGEST_FILE, ImportFormatError, NotUsedError, text_of
from pready.calibrate.importers.unnamed import RECIPE, in_a_document, quoted, refusal
from pready.calibrate.other_tools import tool_of
from pready.model.common.errors import PreadyError
from pready.model.machine.machine import Fabric
from pready.model.toml.reading import read_bytes

FASTEST_S = 0.75e-6
"""No fabric delivers a small message sooner: 0.9 to 1.1 us on InfiniBand and TofuD, 0.15 to 0.7 us within a node."""
SMALL = 8
"""Bytes of a small message."""
AS_INTRA = "two ranks on two nodes; this file goes to --intra, with files from between nodes beside it"
REASON = 90
"""Most characters of a reason for not using a file."""


@dataclass(frozen=True)
class Imported:
    """All runs of some files as one machine's observations: also messages per second of so many pairs of processes at
    once, and how many messages the windows of `observations.stream` have, each with an answer (0: it has none)."""

    runs: tuple[Measured, ...]
    observations: Observations
    pair_rates: Mapping[int, Curve]
    window: int
    notes: tuple[str, ...]


def runs_of(data: bytes, source: str = "input", take: Sequence[str] = ()) -> tuple[list[Measured], list[str]]:
    """The runs of benchmarks in a file, and notes; without `take` none of a document's."""
    if (tool := tool_of(Path(source), data)) is not None:
        told = f"is of {tool.name}, which records {tool.records}"
        raise ImportFormatError(told, valid=tool.instead, source=source)
    text = text_of(data, source)
    of = next((each for each in (own_csv, netgauge, reframe) if each.recognised(text)), sections)
    runs, notes = of.read(text, source)
    if not runs:
        raise refusal(text, source)
    if of is sections and not take and in_a_document(text, source):
        together(runs)  # that they are of two machines is said first
        raise quoted(runs[0])
    return runs, notes


def collected(
    paths: Sequence[Path], *, one_node: bool = False, fabric: Fabric | None = None, take: Sequence[str] = ()
) -> tuple[Imported, list[str], list[Path]]:
    """What the files say together, notes on files that were left out, and the files that were used.

    Files all have to be of a test that is known; of folders, what can be read is used. `one_node`: the two ranks shall
    have been on one. `take`: texts of which one has to be in a run's file, heading, command or test; none: all are.
    """
    runs, notes, left = list[Measured](), list[str](), list[str]()
    for path in paths:
        some, why = list[Measured](), list[str]()
        for file in _files(path):
            try:
                found, said = runs_of(read_bytes(file, LARGEST_FILE), str(file), take)
            except PreadyError as error:
                if file == path and not (isinstance(error, NotUsedError) and len(paths) > 1):
                    raise
                why.append(_left(str(file.relative_to(path.parent if file == path else path)), error.problem))
            else:
                some += found
                notes += said
        if not some and path.is_dir():
            problem = f"no file in it can be used: {'; '.join(why[:20]) or 'it is empty'}"
            raise ImportFormatError(problem, valid=RECIPE, source=str(path))
        runs, left = [*runs, *some], [*left, *why]
    if not runs:
        problem = f"no file can be used: {'; '.join(left[:20])}"
        raise ImportFormatError(problem, valid="osu_latency's or PingPong's output beside them")
    runs = list(taken(runs, take))
    while not one_node and (wrong := next(_unfit(runs, fabric, chosen=bool(take)), None)) is not None:
        source, problem, valid = wrong
        if Path(source) in paths or all(run.source == source for run in runs):
            raise ImportFormatError(problem, valid=valid, source=source)
        runs = [run for run in runs if run.source != source]
        left.append(_left(Path(source).name, problem))
    made = together(runs, notes, one_node=one_node, chosen=bool(take))
    placed_by_words(made.runs, take, one_node=one_node, valid=AS_INTRA)
    return made, [f"not used: {name}" for name in left], [*dict.fromkeys(Path(run.source) for run in made.runs)]


def together(
    runs: Sequence[Measured], notes: Sequence[str] = (), *, one_node: bool = False, chosen: bool = False
) -> Imported:
    """The runs of one machine as one; an ImportFormatError if they are of two machines, libraries or placements, or
    disagree. `one_node`: their ranks shall have been on one. `chosen`: somebody chose these runs."""
    said = list(dict.fromkeys(notes))
    runs = _alike(runs, said, any_place=one_node or chosen)
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
    between = (run.command.one_node is False or named(run, "placements") == "between nodes" for run in runs)
    if not one_node and not any(between):
        said.append("no file says where the ranks ran: taken as two nodes; those of one node go to --intra")
    rates = {pairs: curve for (kind, pairs), curve in curves.items() if kind == "pair_rates"}
    window = max((run.window for run in runs if run.kind == "stream"), default=0)
    return Imported(tuple(runs), observed, rates, window, tuple(said))


def _alike(runs: Sequence[Measured], said: list[str], *, any_place: bool) -> Sequence[Measured]:
    """The runs of hosts' memory, and of one placement, if there are both."""
    of_hosts = [run for run in runs if not run.on_gpus] or runs
    if any(run.on_gpus for run in of_hosts):
        said.append("buffers were in the memory of GPUs, not of hosts: the machine is of such messages")
    elif len(of_hosts) < len(runs):
        said.append("only buffers in the hosts' memory were used, not those of GPUs")
    local = [] if any_place else [run for run in of_hosts if run.hint]
    if not 0 < len(local) < len(of_hosts):
        return of_hosts
    names = ", ".join(dict.fromkeys(run.test.name for run in local))
    said.append(f"only runs between two nodes were used, not {len(local)} of {names}: {local[0].hint}")
    return [run for run in of_hosts if not run.hint]


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


def _unfit(runs: Sequence[Measured], fabric: Fabric | None, *, chosen: bool) -> Iterator[tuple[str, str, str]]:
    """Files that cannot be of messages between two nodes, alone or beside the others, and why."""
    for source in dict.fromkeys(run.source for run in runs):
        own = [run for run in runs if run.source == source]
        if why := why_one_node(own, chosen=chosen):
            yield source, f"the two ranks were on one node: {why}", AS_INTRA
        for run in own:
            yield from contradictions([run], fabric)
    yield from contradictions(_alike(runs, [], any_place=chosen), fabric)


def _files(path: Path) -> list[Path]:
    """A file, or those of a folder and of the folders in it; not hidden ones."""
    if not path.is_dir():
        return [path]
    return sorted(f for f in path.rglob("*") if f.is_file() and "/." not in f"/{f.relative_to(path)}")


def _left(name: str, reason: str) -> str:
    return f"{name} ({shorten(reason, REASON, placeholder='…')})"
