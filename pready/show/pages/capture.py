"""A captured run as one HTML page that needs nothing else."""

from __future__ import annotations

from markupsafe import Markup

from pready.calibrate.capture.files import Run
from pready.calibrate.capture.run_summary import communication_matrix, most_reclaimable, summarise
from pready.calibrate.capture.step import Step
from pready.show.figures import capture as figures
from pready.show.pages.templates import template
from pready.validate.report.page import style_sheet


def html(run: Run, step: Step | None, no_step: str, title: str) -> str:
    """The page.

    Parameters
    ----------
    step, no_step
        What repeats, or why nothing was found.
    """
    summary = summarise(run)
    finishes = most_reclaimable(run)
    run_s = summary.run_s or 1.0
    return template("capture.html").render(
        title=title,
        style=style_sheet(),
        summary=summary,
        run_s=run_s,
        command=next((p.command for p in run.processes), ""),
        step=step,
        no_step=no_step,
        finishes=finishes,
        heat_map=Markup("") if finishes is None else figures.heat_map(finishes, "heat"),
        distribution=Markup("") if finishes is None else figures.distribution(finishes, "distribution"),
        reclaimable=figures.reclaimable(summary.regions, run_s, "reclaimable"),
        matrix=figures.matrix(communication_matrix(run), "matrix"),
    )
