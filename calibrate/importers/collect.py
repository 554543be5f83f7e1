"""Files, and folders of them, as one import: all that can be used, and the names of the rest with the reason."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

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
MOST_FILES = 10_000  # of a folder


class Read(NamedTuple):
    path: Path
    runs: list[Measured]
    notes: list[str]


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
        found += _folder(path, left, one_node, only) if path.is_dir() else [_read(path, one_node, only)]
    while True:
        made = together([run for each in found for run in each.runs], [n for each in found for n in each.notes], only)
        # What cannot be by itself first: beside it, others would not fit.
        each_alone = [[run for run in each.runs if run in made.runs] for each in found]
        alone = [wrong for runs in each_alone for wrong in contradictions(runs, fabric)]
        wrong = [] if one_node else alone or contradictions(made.runs, fabric)
        if not wrong:
            return made, [f"not used: {name}" for name in left], [each.path for each in found]
        for source, problem, valid in wrong:
            if Path(source) in paths or {str(each.path) for each in found} <= {source for source, _, _ in wrong}:
                raise ImportFormatError(problem, valid=valid, source=source)
            left.append(_left(Path(source), problem))
        found = [each for each in found if str(each.path) not in {source for source, _, _ in wrong}]


def _read(path: Path, one_node: bool, only: str) -> Read:
    runs, notes = runs_of(read_bytes(path, LARGEST_FILE), str(path))
    mine = [run for run in runs if only in run.said]
    why = together(mine).one_node if mine else ""
    if why and not one_node:
        raise ImportFormatError(f"the two ranks were on one node: {why}", valid=AS_INTRA, source=str(path))
    return Read(path, runs, notes)


def _files(folder: Path, deep: int = 0) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        if not path.is_dir() or path.is_symlink():
            yield path
        elif deep < DEEPEST:
            yield from _files(path, deep + 1)


def _folder(folder: Path, left: list[str], one_node: bool, only: str) -> list[Read]:
    """The files in it that can be used together."""
    files = list(_files(folder))
    if len(files) > MOST_FILES:
        problem = f"has {len(files)} files"
        raise ImportFormatError(problem, valid=f"at most {MOST_FILES}: a folder of results", source=str(folder))
    found: list[Read] = []
    for path in files:
        try:
            found.append(_read(path, one_node, only))
        except PreadyError as error:
            said = "two ranks on one node; --intra takes it" if error.valid == AS_INTRA else error.problem
            left.append(_left(path.relative_to(folder), said))
    of_hosts = [each for each in found if not all(run.memory for run in each.runs)]
    for each in found if of_hosts else []:
        if each not in of_hosts:
            gpus = f"buffers were in the memory of {each.runs[0].memory} GPUs"
            left.append(_left(each.path.relative_to(folder), gpus))
    if not found:
        problem = f"no file in it can be used: {'; '.join(left[:20]) or 'it is empty'}"
        raise ImportFormatError(problem, valid="output of OSU, IMB or Netgauge LogGP", source=str(folder))
    return of_hosts or found


def _left(path: Path, reason: str) -> str:
    return f"{path} ({reason if len(reason) <= REASON else f'{reason[: REASON - 1]}…'})"
