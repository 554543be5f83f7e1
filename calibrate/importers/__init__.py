"""Results of benchmarks that users already have, as observations in SI units; and the machine that they describe.

    text.py          bytes to lines, tokens to numbers       benchmarks.py     the benchmarks that are read; runs as one
    sections.py      tables below a suite's title            disagreement.py   runs that are not of one machine
    command.py       what a run was, by its command          plausible.py      figures that contradict each other
    formats/         suites, and files of other shapes       collect.py        files and folders
    unnamed.py       what does not name itself               to_machine.py     from runs to a machine

Nothing is guessed: what does not name its test is refused. Every fault of a file is an ImportFormatError, one line.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pready.calibrate.importers import formats, sections
from pready.calibrate.importers.benchmarks import Imported, together
from pready.calibrate.importers.measured import Measured
from pready.calibrate.importers.text import LARGEST_FILE, ImportFormatError, text_of
from pready.calibrate.importers.unnamed import in_a_document, refusal
from pready.calibrate.other_tools import tool_of
from pready.model.toml.reading import read_bytes

__all__ = ["ImportFormatError", "Imported", "import_benchmark", "read", "runs_of"]

formats.load()


def runs_of(data: bytes, source: str = "input") -> tuple[list[Measured], list[str]]:
    """The runs of benchmarks in a file, and notes.

    Raises
    ------
    ImportFormatError
        It does not name its test, or is not as its suite prints it.
    """
    if (tool := tool_of(Path(source), data)) is not None:
        told = f"is of {tool.name}, which records {tool.records}"
        raise ImportFormatError(told, valid=tool.instead, source=source)
    text = text_of(data, source)
    for each in formats.WHOLE_FILES:
        if each.recognised(text):
            return each.read(text, source)
    runs, notes = sections.measured(text, source)
    if not runs:
        raise refusal(text, source)
    quoted = in_a_document(text, source)
    return [replace(run, quoted=quoted) for run in runs], notes


def read(data: bytes, source: str = "input") -> Imported:
    """The runs in a file as one machine's."""
    return together(*runs_of(data, source))


def import_benchmark(path: str | Path) -> Imported:
    """The runs in the file at `path` as one machine's."""
    return read(read_bytes(Path(path), LARGEST_FILE), str(path))
