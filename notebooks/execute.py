"""Execute the notebooks in place, each in a clean kernel: ``make notebooks``."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parent
LONGEST = 300
"""Seconds that one cell may take."""


def executed(path: Path, before: str = "") -> nbformat.NotebookNode:
    """A notebook with fresh outputs and nothing in it that depends on when or where it ran.

    Parameters
    ----------
    before
        Code that runs first and is no part of the result.

    Raises
    ------
    nbclient.exceptions.CellExecutionError
        A cell raised; the message holds cell and traceback.
    """
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"  # else the kernel's debugger prints a warning
    notebook = nbformat.read(path, as_version=4)
    if before:
        notebook.cells.insert(0, nbformat.v4.new_code_cell(before))
    NotebookClient(
        notebook,
        timeout=LONGEST,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,
        resources={"metadata": {"path": str(FOLDER)}},
    ).execute()
    if before:
        notebook.cells.pop(0)
    notebook.metadata.pop("widgets", None)
    notebook.metadata["language_info"] = {"name": "python"}
    return notebook


if __name__ == "__main__":
    for found in map(Path, sys.argv[1:]) if len(sys.argv) > 1 else sorted(FOLDER.glob("*.ipynb")):
        nbformat.write(executed(found), found)
        print(found.name)
