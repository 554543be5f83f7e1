"""Files, and folders of them, as one import: all that can be used, and the names of the rest with the reason."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from pready.calibrate.importers import netgauge, own_csv, sections
from pready.calibrate.importers.benchmarks import Imported, alike, together, why_one_node
from pready.calibrate.importers.disagreement import placed_by_words, taken
from pready.calibrate.importers.measured import Measured
from pready.calibrate.importers.plausible import contradictions
from pready.calibrate.importers.text import LARGEST_FILE, ImportFormatError, NotUsedError, text_of
from pready.calibrate.importers.unnamed import RECIPE, in_a_document, quoted, refusal
from pready.calibrate.other_tools import tool_of
from pready.model.common.errors import PreadyError
from pready.model.machine.machine import Fabric
from pready.model.toml.reading import read_bytes

AS_INTRA = "two ranks on two nodes; this file goes to --intra, with files from between nodes beside it"
REASON = 90
"""Most characters of a reason for not using a file."""
DEEPEST = 6
"""Folders within a folder that are looked into: ReFrame and Ramble keep a run's output four or five down."""


def runs_of(data: bytes, source: str = "input", take: Sequence[str] = ()) -> tuple[list[Measured], list[str]]:
    """The runs of benchmarks in a file, and notes; without `take` none of a document's.

    An ImportFormatError if it does not name its test, or is not as its suite prints it.
    """
    if (tool := tool_of(Path(source), data)) is not None:
        told = f"is of {tool.name}, which records {tool.records}"
        raise ImportFormatError(told, valid=tool.instead, source=source)
    text = text_of(data, source)
    if own_csv.recognised(text):
        return own_csv.read(text, source), []
    if netgauge.recognised(text):
        return netgauge.read(text, source)
    runs, notes = sections.measured(text, source)
    if not runs:
        raise refusal(text, source)
    if not take and in_a_document(text, source):
        together(runs)  # that they are of two machines is said first
        raise quoted(runs[0].test.name, source, runs[0].line)
    return runs, notes


def collected(
    paths: Sequence[Path], *, one_node: bool = False, fabric: Fabric | None = None, take: Sequence[str] = ()
) -> tuple[Imported, list[str], list[Path]]:
    """What the files say together, notes on files that were left out, and the files that were used.

    Files all have to be of a test that is known; of folders, what can be read is used. `one_node`: the two ranks shall
    have been on one. `take`: texts of which one has to be in a run's file, heading, command or test; none: all are. An
    ImportFormatError for runs of two machines, libraries or placements, and for figures that contradict each other.
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
    used = dict.fromkeys(Path(run.source) for run in made.runs)
    return made, [f"not used: {name}" for name in left], [*used]


def _unfit(runs: Sequence[Measured], fabric: Fabric | None, *, chosen: bool) -> Iterator[tuple[str, str, str]]:
    """Files that cannot be of messages between two nodes, alone or beside the others, and why."""
    for source in dict.fromkeys(run.source for run in runs):
        own = [run for run in runs if run.source == source]
        if why := why_one_node(own, chosen=chosen):
            yield source, f"the two ranks were on one node: {why}", AS_INTRA
        for run in own:
            yield from contradictions([run], fabric)
    yield from contradictions(alike(runs, [], any_place=chosen), fabric)


def _files(path: Path, deep: int = 0) -> list[Path]:
    """A file, or those of a folder and of the folders in it."""
    if deep and path.name.startswith("."):
        return []
    if not path.is_dir() or (deep and path.is_symlink()):
        return [path]
    return [file for each in sorted(path.iterdir()) for file in _files(each, deep + 1)] if deep <= DEEPEST else []


def _left(name: str, reason: str) -> str:
    return f"{name} ({reason if len(reason) <= REASON else f'{reason[: REASON - 1]}…'})"
