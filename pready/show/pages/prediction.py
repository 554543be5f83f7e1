"""A prediction as one HTML page that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources

from markupsafe import Markup

from pready.model.approach.libraries import library
from pready.model.machine.machine import Machine
from pready.model.result.prediction import ApproachPrediction, Prediction
from pready.model.version import RELEASED
from pready.show.figures.colours import in_the_dark
from pready.show.pages.templates import template
from pready.show.tables.answer import headline, how_sure, where_it_pays
from pready.show.tables.machine import value_rows
from pready.show.tables.prediction import best_per_interface, change, sensitivity_row


def page(
    machine: Machine,
    prediction: Prediction,
    *,
    workload_text: str,
    pictures: Sequence[tuple[str, str]],
    files: Sequence[str],
    command: str,
) -> str:
    """The page.

    Parameters
    ----------
    workload_text
        Text of the workload file.
    pictures
        Titles and SVG texts.
    files
        Names of the data files beside the page.
    command
        The command line that made it.
    """
    rows = best_per_interface(prediction)
    css = resources.files("pready.validate.report") / "templates" / "report.css"
    return template("prediction.html").render(
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
        pictures=[(title, Markup(svg)) for title, svg in pictures],
        sensitivity=[sensitivity_row(lever) for lever in prediction.sensitivity],
        files=files,
        workload_text=workload_text,
        command=command,
        released=RELEASED,
        css=Markup(css.read_text(encoding="utf-8") + in_the_dark("figure ")),
    )


def _eta(row: ApproachPrediction) -> str:
    return f"{row.eta:.2f}× ({row.eta_low:.2f}-{row.eta_high:.2f})"
