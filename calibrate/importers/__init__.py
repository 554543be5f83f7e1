"""Results of benchmarks that users already have, as observations in SI units; and the machine that they describe.

    text.py          bytes to lines, tokens to numbers       benchmarks.py   the benchmarks that are read; runs as one
    columns.py       what a column is, by its name           formats/        titles of suites, and files of other shapes
    tables.py        any table of sizes and figures          collect.py      files and folders
    command.py       what a run was, by its command          to_machine.py   from runs to a machine
    plausible.py     figures that contradict each other

Every fault of a file is an ImportFormatError, one line.
"""

from __future__ import annotations

from pathlib import Path

from pready.calibrate.importers import formats, tables
from pready.calibrate.importers.benchmarks import Imported, Measured, together
from pready.calibrate.importers.columns import WOULD_DO
from pready.calibrate.importers.text import LARGEST_FILE, ImportFormatError, text_of
from pready.model.toml.reading import read_bytes

__all__ = ["ImportFormatError", "Imported", "import_benchmark", "read", "runs_of"]

formats.load()


def runs_of(data: bytes, source: str = "input") -> tuple[list[Measured], list[str]]:
    """The runs of benchmarks in a file, and notes.

    Raises
    ------
    ImportFormatError
        It has none, or one that is not as its header says.
    """
    text = text_of(data, source)
    for each in formats.WHOLE_FILES:
        if each.recognised(text):
            made = each.read(text, source)
            if not isinstance(made, str):
                return made
            text = made
    runs, notes = tables.measured(text, source)
    if not runs:
        valid = f"results of OSU, IMB or Netgauge LogGP, or a table of {WOULD_DO}"
        raise ImportFormatError("is no benchmark output that can be read", valid=valid, source=source)
    return runs, notes


def read(data: bytes, source: str = "input") -> Imported:
    """The runs in a file as one machine's."""
    return together(*runs_of(data, source))


def import_benchmark(path: str | Path) -> Imported:
    """The runs in the file at `path` as one machine's."""
    return read(read_bytes(Path(path), LARGEST_FILE), str(path))
