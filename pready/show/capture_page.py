"""A captured run as one HTML page that needs nothing else."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from pready.calibrate.capture.found import Step
from pready.calibrate.capture.records import Run
from pready.calibrate.capture.summary import communication_matrix, most_reclaimable, summarise
from pready.model.units import format_size, format_time
from pready.show import capture_figures
from pready.validate.report.page import style_sheet


def html(run: Run, step: Step | None, no_step: str, title: str) -> str:
    """The page.

    Parameters
    ----------
    step, no_step
        What repeats; or why nothing was found.
    """
    made = Environment(
        loader=PackageLoader("pready.show", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"time": format_time, "size": format_size}
    summary = summarise(run)
    finishes = most_reclaimable(run)
    run_s = summary.run_s or 1.0
    return made.get_template("capture.html").render(
        title=title,
        style=style_sheet(),
        summary=summary,
        run_s=run_s,
        command=next((p.command for p in run.processes), ""),
        step=step,
        no_step=no_step,
        finishes=finishes,
        heat_map=Markup("") if finishes is None else capture_figures.heat_map(finishes, "heat"),
        distribution=Markup("") if finishes is None else capture_figures.distribution(finishes, "distribution"),
        reclaimable=capture_figures.reclaimable(summary.regions, run_s, "reclaimable"),
        matrix=capture_figures.matrix(communication_matrix(run), "matrix"),
    )
