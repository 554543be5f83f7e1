"""A folder with a prediction: one HTML page that needs nothing else, and the data behind it."""

from __future__ import annotations

import json
import shlex
import sys
from importlib import resources
from pathlib import Path

from markupsafe import Markup

from pready.files.writing import make_folder, write_text
from pready.model.approach.libraries import library
from pready.model.machine.machine import Machine
from pready.model.machine.writing import dumps
from pready.model.result.prediction import ApproachPrediction, Prediction
from pready.model.version import RELEASED
from pready.model.workload import supported_by
from pready.model.workload.workload import Workload
from pready.show.figures.colours import in_the_dark
from pready.show.figures.files import prediction_pictures
from pready.show.pages.templates import template
from pready.show.tables.answer import headline, how_sure, where_it_pays
from pready.show.tables.machine import value_rows
from pready.show.tables.prediction import best_per_interface, change, sensitivity_row

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
    """Write the page and its data.

    Parameters
    ----------
    file
        The workload file, ``-`` for standard input.
    picture
        A kind that the page has beside the usual ones.
    """
    data = json.dumps(prediction.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)
    text, files = json.dumps(prediction.workload, indent=1, ensure_ascii=False), [DATA, MACHINE]
    if file != "-":
        text = Path(file).read_text(encoding="utf-8-sig")
        write_text(folder / WORKLOAD, text)
        files.append(WORKLOAD)
    pictures = prediction_pictures(machine, workload, prediction, picture)
    rows = best_per_interface(prediction)
    css = resources.files("pready.validate.report") / "templates" / "report.css"
    html = template("prediction.html").render(
        p=prediction,
        best=prediction.advised,
        because=prediction.advice.because[:1].upper() + prediction.advice.because[1:],
        rows=[*(r for r in rows if r.available), *(r for r in rows if not r.available)],
        eta=_eta,
        change=change,
        headline=headline(prediction),
        how_sure=how_sure(prediction.advice),
        pays=where_it_pays(prediction),
        library=library(prediction.library),
        machine=machine,
        values=value_rows(machine),
        beyond=supported_by.beyond(workload, "timeline"),
        pictures=[(title, Markup(svg)) for title, svg in pictures],
        sensitivity=[sensitivity_row(lever) for lever in prediction.sensitivity],
        files=files,
        workload_text=text,
        command=shlex.join(["pready", *sys.argv[1:]]),
        released=RELEASED,
        css=Markup(css.read_text(encoding="utf-8") + in_the_dark("figure ")),
    )
    write_text(folder / DATA, data + "\n")
    write_text(folder / MACHINE, dumps(machine))
    write_text(folder / PAGE, html)


def _eta(row: ApproachPrediction) -> str:
    return f"{row.eta:.2f}× ({row.eta_low:.2f}-{row.eta_high:.2f})"
