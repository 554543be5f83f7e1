"""Files, and folders of them, as one import: all that can be used, and the names of the rest with the reason."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pready.calibrate.importers import Imported, ImportFormatError, combine, import_benchmark
from pready.model.common.errors import PreadyError

AS_INTRA = "two ranks on two nodes; this file goes to --intra, with files from between nodes beside it"
REASON = 90
"""Most characters of a reason for not using a file."""


def collected(paths: Sequence[Path], *, one_node: bool = False) -> tuple[Imported, list[str], list[Path]]:
    """What the files say together, notes on files that were left out, and the files that were used.

    Parameters
    ----------
    paths
        Files, which all have to be readable, and folders, of which what can be read is used.
    one_node
        Whether the two ranks shall have been on one node.

    Raises
    ------
    ImportFormatError
        A file that cannot be used, or a folder in which none can; one line.
    """
    found: list[tuple[Path, Imported]] = []
    notes: list[str] = []
    for path in paths:
        if path.is_dir():
            inside, told = _folder(path, one_node)
            found += inside
            notes += told
            continue
        read = import_benchmark(path)
        if read.one_node and not one_node:
            problem = f"the two ranks were on one node: {read.one_node}"
            raise ImportFormatError(problem, valid=AS_INTRA, source=str(path))
        found.append((path, read))
    return combine(*(read for _, read in found)), notes, [path for path, _ in found]


def _folder(folder: Path, one_node: bool) -> tuple[list[tuple[Path, Imported]], list[str]]:
    found: list[tuple[Path, Imported]] = []
    left: list[str] = []
    reads: list[tuple[Path, Imported]] = []
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        if path.is_dir():
            left.append(f"{path.name}/ (a folder: import it by itself)")
            continue
        try:
            read = import_benchmark(path)
            if read.one_node and not one_node:
                raise ImportFormatError("two ranks on one node; --intra takes it")
        except PreadyError as error:
            left.append(_left(path, error))
        else:
            reads.append((path, read))
    for path, read in sorted(reads, key=lambda each: bool(each[1].memory)):  # the hosts' memory before GPUs'
        try:
            combine(*(r for _, r in found), read)
        except PreadyError as error:
            left.append(_left(path, error))
        else:
            found.append((path, read))
    if not found:
        raise ImportFormatError(
            f"no file in it can be used: {'; '.join(left) or 'it is empty'}",
            valid="output of OSU, IMB PingPong or Netgauge LogGP",
            source=str(folder),
        )
    return found, [f"not used: {name}" for name in left]


def _left(path: Path, error: PreadyError) -> str:
    reason = error.problem if len(error.problem) <= REASON else f"{error.problem[: REASON - 1]}…"
    return f"{path.name} ({reason})"
