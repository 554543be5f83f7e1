"""``pready explore``: a notebook with sliders over a workload, opened in Jupyter."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import click

from pready.commands import options
from pready.files.writing import write_text
from pready.model.common.errors import PreadyError
from pready.notebook import for_sliders

OPENERS = ("voila", "jupyterlab", "notebook")
"""Packages that open a notebook; the first that is installed is taken. Voilà runs its cells at once."""


@click.command()
@options.workload()
@options.machine()
@options.library()
@options.seed("Of arrivals and parameter draws.")
@click.option("--output", "-o", metavar="FILE.ipynb", help="[default: the workload's name, in this folder]")
@click.option("--no-open", is_flag=True, help="Write the notebook only.")
def explore(workload: str, machine: str, library: str | None, seed: int, output: str | None, no_open: bool) -> None:
    """A notebook with sliders: buffer, threads, partitions and spread of WORKLOAD, with the verdict below them.

    Opened by Voilà, JupyterLab or Jupyter Notebook, whichever is installed first in this order.
    """
    if workload == "-":
        raise PreadyError("WORKLOAD = '-'", valid="a file, which the notebook reads again")
    for_sliders(machine, workload)
    path = Path(output or f"explore-{Path(workload).stem}.ipynb")
    if path.suffix != ".ipynb":
        raise PreadyError(f"-o = {str(path)!r}", valid="a file that ends in .ipynb")
    write_text(path, notebook(workload, machine, library, seed))
    click.echo(f"written: {path}")
    if no_open:
        return
    found = next((p for p in OPENERS if find_spec(p)), None)
    if found is None:
        raise PreadyError("no Jupyter is installed", valid=f"{sys.executable} -m pip install jupyterlab ipywidgets")
    raise SystemExit(subprocess.run([sys.executable, "-m", str(found), str(path)], check=False).returncode)


def notebook(workload: str, machine: str, library: str | None, seed: int) -> str:
    """The notebook's text (nbformat 4.5): one line of prose, one cell."""
    absolute = str(Path(workload).resolve())
    on = str(Path(machine).resolve()) if Path(machine).is_file() else machine
    code = f"import pready\n\npready.explore({on!r}, {absolute!r}, library={library!r}, seed={seed})"
    said = f"# {Path(workload).stem}: is it worth porting?\n\nRun the cell (Shift-Enter), then move the sliders."
    cells = [
        {"cell_type": "markdown", "id": "question", "metadata": {}, "source": said},
        {"cell_type": "code", "id": "sliders", "metadata": {}, "source": code, "outputs": [], "execution_count": None},
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return json.dumps(
        {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}, indent=1
    )
