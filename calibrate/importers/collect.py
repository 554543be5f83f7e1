"""Files, and folders of them, as one import: all that can be used, and the names of the rest with the reason."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from pready.calibrate.importers import Imported, ImportFormatError, runs_of
from pready.calibrate.importers.benchmarks import Measured, together
from pready.calibrate.importers.plausible import contradictions
from pready.calibrate.importers.text import LARGEST_FILE
from pready.model.common.errors import PreadyError
from pready.model.machine.machine import Fabric
from pready.model.toml.reading import read_bytes

AS_INTRA = "two ranks on two nodes; this file goes to --intra, with files from between nodes beside it"
REASON = 90
"""Most characters of a reason for not using a file."""
DEEPEST = 6
"""Folders within a folder that are looked into: ReFrame and Ramble keep a run's output four or five down."""
MOST_FILES = 10_000

Read = tuple[Path, list[Measured], list[str]]


def collected(
    paths: Sequence[Path], *, one_node: bool = False, fabric: Fabric | None = None, only: str = ""
) -> tuple[Imported, list[str], list[Path]]:
    """What the files say together, notes on files that were left out, and the files that were used.

    Parameters
    ----------
    paths
        Files, which all have to be readable, and folders, of which what can be read is used.
    one_node
        Whether the two ranks shall have been on one node.
    fabric
        The network; None: not known.
    only
        Text that the command of a run has to contain, to be used.

    Raises
    ------
    ImportFormatError
        A file that cannot be used, or a folder in which none can; figures that contradict each other; one line.
    """
    found: list[Read] = []
    left: list[str] = []
    for path in paths:
        if path.is_dir():
            found += _folder(path, left, one_node, only)
            continue
        runs, notes = _read(path, one_node, only)
        found.append((path, runs, notes))
    given = {path for path in paths if not path.is_dir()}
    while True:
        made = _together(found, only)
        wrong = [] if one_node else contradictions(made.runs, fabric)
        if not wrong:
            break
        for source, problem, valid in wrong:
            if any(str(path) == source for path in given) or len(found) == 1:
                raise ImportFormatError(problem, valid=valid, source=source)
        for source, problem, _ in wrong:
            left.append(_left(Path(source), problem))
        found = [each for each in found if str(each[0]) not in {source for source, _, _ in wrong}]
    return made, [f"not used: {name}" for name in left], [path for path, _, _ in found]


def _together(found: Sequence[Read], only: str) -> Imported:
    runs = [run for _, some, _ in found for run in some]
    return together(runs, [note for _, _, notes in found for note in notes], only)


def _read(path: Path, one_node: bool, only: str) -> tuple[list[Measured], list[str]]:
    runs, notes = runs_of(read_bytes(path, LARGEST_FILE), str(path))
    alone = together(runs, (), only if any(only in run.command for run in runs) else "")
    if alone.one_node and not one_node:
        raise ImportFormatError(f"the two ranks were on one node: {alone.one_node}", valid=AS_INTRA, source=str(path))
    return runs, notes


def _files(folder: Path, deep: int = 0) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        if path.is_dir() and not path.is_symlink():
            if deep < DEEPEST:
                yield from _files(path, deep + 1)
        else:
            yield path


def _folder(folder: Path, left: list[str], one_node: bool, only: str) -> list[Read]:
    """The files in it that can be used together."""
    reads: list[Read] = []
    files = list(_files(folder))
    if len(files) > MOST_FILES:
        problem = f"has {len(files)} files"
        raise ImportFormatError(problem, valid=f"at most {MOST_FILES}: a folder of results", source=str(folder))
    for path in files:
        try:
            reads.append((path, *_read(path, one_node, only)))
        except PreadyError as error:
            said = "two ranks on one node; --intra takes it" if error.valid == AS_INTRA else error.problem
            left.append(_left(path.relative_to(folder), said))
    found: list[Read] = []
    for read in sorted(reads, key=lambda each: any(run.memory for run in each[1])):  # the hosts' memory before GPUs'
        memory = {bool(run.memory) for _, runs, _ in found[:1] for run in runs}
        if memory == {False} and all(run.memory for run in read[1]):
            gpus = next(run.memory for run in read[1])
            left.append(_left(read[0].relative_to(folder), f"buffers were in the memory of {gpus} GPUs"))
            continue
        found.append(read)
    if not found:
        raise ImportFormatError(
            f"no file in it can be used: {'; '.join(left[:20]) or 'it is empty'}",
            valid="output of OSU, IMB or Netgauge LogGP",
            source=str(folder),
        )
    return sorted(found, key=lambda each: each[0])


def _left(path: Path, reason: str) -> str:
    return f"{path} ({reason if len(reason) <= REASON else f'{reason[: REASON - 1]}…'})"
