"""A folder with a prediction's page and the data behind it."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

from pready.files.writing import make_folder, write_text
from pready.model.machine.machine import Machine
from pready.model.machine.writing import dumps
from pready.model.result.prediction import Prediction
from pready.model.workload.workload import Workload
from pready.show.figures.files import prediction_pictures
from pready.show.pages.prediction import page

PAGE, DATA, MACHINE, WORKLOAD = "index.html", "prediction.json", "machine.toml", "workload.toml"


def check(folder: Path) -> None:
    """Make the folder before any work.

    Raises
    ------
    PreadyError
        The folder cannot be made or written to.
    """
    make_folder(folder, (PAGE, DATA, MACHINE, WORKLOAD))


def write(
    folder: Path,
    machine: Machine,
    workload: Workload,
    prediction: Prediction,
    file: str,
    picture: str | None = None,
) -> None:
    """Write the page and its data; `file` is the workload file, ``-`` for standard input.

    `picture` is a kind that the page has beside the usual ones.
    """
    check(folder)
    data = json.dumps(prediction.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)
    text = json.dumps(prediction.workload, indent=1, ensure_ascii=False)
    if file != "-":
        text = Path(file).read_text(encoding="utf-8-sig")
        write_text(folder / WORKLOAD, text)
    html = page(
        machine,
        prediction,
        workload_text=text,
        pictures=prediction_pictures(machine, workload, prediction, picture),
        files=[name for name in (DATA, MACHINE, WORKLOAD) if name != WORKLOAD or file != "-"],
        command=shlex.join(["pready", *sys.argv[1:]]),
    )
    write_text(folder / DATA, data + "\n")
    write_text(folder / MACHINE, dumps(machine))
    write_text(folder / PAGE, html)
