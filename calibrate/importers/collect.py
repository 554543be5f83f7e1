"""Files, and folders of them, as one import: all that can be used, and the names of the rest with the reason."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from pready.calibrate.importers import Imported, ImportFormatError, runs_of
from pready.calibrate.importers.benchmarks import together, why_one_node
from pready.calibrate.importers.disagreement import placed_by_words, taken
from pready.calibrate.importers.measured import Measured
from pready.calibrate.importers.plausible import contradictions
from pready.calibrate.importers.text import LARGEST_FILE
from pready.calibrate.importers.unnamed import RECIPE
from pready.model.common.errors import PreadyError
from pready.model.machine.machine import Fabric
from pready.model.toml.reading import read_bytes

AS_INTRA = "two ranks on two nodes; this file goes to --intra, with files from between nodes beside it"
REASON = 90
"""Most characters of a reason for not using a file."""
DEEPEST = 6
"""Folders within a folder that are looked into: ReFrame and Ramble keep a run's output four or five down."""
MOST_FILES = 10_000  # of a folder


def collected(
    paths: Sequence[Path], *, one_node: bool = False, fabric: Fabric | None = None, take: Sequence[str] = ()
) -> tuple[Imported, list[str], list[Path]]:
    """What the files say together, notes on files that were left out, and the files that were used.

    Parameters
    ----------
    paths
        Files, which all have to be readable, and folders, of which what can be read is used.
    one_node
        Whether the two ranks shall have been on one node.
    take
        Texts of which one has to be in a run's file, heading, command or test, for it to be used; none: all are.

    Raises
    ------
    ImportFormatError
        A file that cannot be used, or a folder in which none can; runs that are of two machines, libraries or
        placements; figures that contradict each other; one line.
    """
    runs: list[Measured] = []
    notes: list[str] = []
    left: list[str] = []
    for path in paths:
        if path.is_dir():
            _folder(path, runs, notes, left)
        else:
            _file(path, runs, notes)
    runs = list(taken(runs, take))

    def leave(source: str, problem: str, valid: str) -> None:
        """Leave a file out of its folder; raise where it was named, or where no other file is left."""
        if Path(source) in paths or all(run.source == source for run in runs):
            raise ImportFormatError(problem, valid=valid, source=source)
        runs[:] = [run for run in runs if run.source != source]
        left.append(_left(Path(source).name, problem))

    for source in dict.fromkeys(run.source for run in runs):
        own = [run for run in runs if run.source == source]
        on_hosts = [run for run in runs if not run.memory]
        if not one_node and (why := why_one_node(own, take)):
            leave(source, f"the two ranks were on one node: {why}", AS_INTRA)
        elif not one_node and (wrong := [each for run in own for each in contradictions([run], fabric)]):
            leave(*wrong[0])
        elif Path(source) in paths:
            continue
        elif on_hosts and all(run.memory for run in own):
            leave(source, f"buffers were in the memory of {own[0].memory} GPUs", "")
        elif own[0].quoted and not take:
            leave(source, f"within a document; --take {own[0].test.name} takes it", RECIPE)
    while True:
        made = together(runs, notes, take, one_node=one_node)
        wrong = [] if one_node else contradictions(made.runs, fabric)
        if not wrong:
            break
        for source, problem, valid in wrong:
            leave(source, problem, valid)
    placed_by_words(made.runs, take, one_node=one_node, valid=AS_INTRA)
    used = dict.fromkeys(Path(run.source) for run in made.runs)
    return made, [f"not used: {name}" for name in left], [*used]


def _file(path: Path, runs: list[Measured], notes: list[str]) -> None:
    found, said = runs_of(read_bytes(path, LARGEST_FILE), str(path))
    runs += found
    notes += said


def _files(folder: Path, deep: int = 0) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        if not path.is_dir() or path.is_symlink():
            yield path
        elif deep < DEEPEST:
            yield from _files(path, deep + 1)


def _folder(folder: Path, runs: list[Measured], notes: list[str], left: list[str]) -> None:
    """Read the files in it that can be."""
    files, before = list(_files(folder)), len(runs)
    if len(files) > MOST_FILES:
        problem = f"has {len(files)} files"
        raise ImportFormatError(problem, valid=f"at most {MOST_FILES}: a folder of results", source=str(folder))
    for path in files:
        try:
            _file(path, runs, notes)
        except PreadyError as error:
            left.append(_left(path.relative_to(folder), error.problem))
    if len(runs) == before:
        problem = f"no file in it can be used: {'; '.join(left[:20]) or 'it is empty'}"
        raise ImportFormatError(problem, valid=RECIPE, source=str(folder))


def _left(path: Path | str, reason: str) -> str:
    return f"{path} ({reason if len(reason) <= REASON else f'{reason[: REASON - 1]}…'})"
