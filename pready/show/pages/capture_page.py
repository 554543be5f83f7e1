"""A captured run as one HTML page that needs nothing else."""

from __future__ import annotations

from rich.console import Group
from rich.text import Text

from pready.calibrate.capture.files import Run
from pready.calibrate.capture.run_summary import communication_matrix, most_reclaimable, summarise
from pready.calibrate.capture.step import Step
from pready.show.pages.page import Part, drawn, page
from pready.show.tables.capture import summary_view
from pready.show.tables.workload import step_view


def html(run: Run, step: Step | None, no_step: str, title: str) -> str:
    """The page.

    Parameters
    ----------
    step, no_step
        What repeats, or why nothing was found.
    """
    from pready.show.figures import capture_pictures

    summary = summarise(run)
    finishes = most_reclaimable(run)
    run_s = summary.run_s or 1.0
    command = next((p.command for p in run.processes), "")
    parts: list[tuple[str, Part]] = [("", Group(Text(command), summary_view(summary, everything=True)))]
    if step is not None or no_step:
        parts.append(("The step", Text(no_step) if step is None else step_view(step, everything=True)))
    if finishes is not None:
        times, threads = finishes.every.shape
        said = f"{finishes.name}, {threads} threads, {times} times in all ranks."
        parts += [("When threads finish", Text(said)), ("", drawn(capture_pictures.heat_map(finishes)))]
        parts.append(("", drawn(capture_pictures.distribution(finishes))))
    if any(r.reclaimable_s > 0 for r in summary.regions):
        parts.append(("Reclaimable time", drawn(capture_pictures.reclaimable(summary.regions, run_s))))
    sent = communication_matrix(run)
    if sent.any():
        parts.append(("Bytes from rank to rank", drawn(capture_pictures.matrix(sent))))
    return page(title, parts)
