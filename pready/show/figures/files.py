"""Picture files: checked before the work, drawn after it.

Matplotlib is imported when a picture is drawn: it is an extra, and takes half a second.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from pready.files.extra import need
from pready.files.writing import check_writable, write_text, write_with
from pready.model.engine.simulate import Simulation
from pready.model.machine.machine import Machine
from pready.model.result.prediction import Prediction
from pready.model.workload import supported_by
from pready.model.workload.workload import Workload
from pready.whatif.table import Table

if TYPE_CHECKING:  # a fit needs SciPy, a prediction does not
    from matplotlib.figure import Figure

    from pready.calibrate.fit import Fit

SUFFIXES = (".svg", ".png", ".pdf")
TITLES = {"size": "Over buffer sizes", "exchange": "One exchange alone, bulk above"}
"""Headings of a page's pictures, by kind."""


def check(path: Path) -> None:
    """Refuse a picture's path before any work.

    Raises
    ------
    PreadyError
        A path that cannot be written, another suffix than those of `SUFFIXES`, or no Matplotlib.
    """
    check_writable(path, SUFFIXES)
    need("matplotlib", "a picture")


def save(path: Path, figure: Figure) -> None:
    """Write a figure; the same figure gives the same bytes."""
    if path.suffix.lower() == ".svg":
        from pready.show.figures.svg import svg

        write_text(path, svg(figure))
    else:
        write_with(path, lambda p: figure.savefig(p, dpi=150))


def draw_prediction(path: Path, machine: Machine, workload: Workload, prediction: Prediction) -> None:
    """Draw η over sizes."""
    from pready.show.figures import prediction_pictures as of_prediction

    save(path, of_prediction.figure("size", machine, workload, prediction))


def draw_table(path: Path, table: Table, min_gain: float) -> None:
    """Draw a sweep or a comparison."""
    from pready.show.figures import whatif_pictures

    save(path, whatif_pictures.figure(table, min_gain))


def pictures_of(machine: Machine, workload: Workload, prediction: Prediction) -> list[tuple[str, str]]:
    """The pictures of a prediction for a page: title and SVG.

    None without Matplotlib, or of a step of several exchanges. One exchange alone is drawn if the timeline simulates
    the workload.
    """
    if prediction.exchanges or find_spec("matplotlib") is None:
        return []
    from pready.show.figures import prediction_pictures as of_prediction
    from pready.show.figures.svg import svg

    kinds = ("size",) if supported_by.beyond(workload, "timeline") else TITLES
    drawn = ((TITLES[kind], of_prediction.figure(kind, machine, workload, prediction)) for kind in kinds)
    return [(title, svg(figure, alone=False)) for title, figure in drawn]


def draw_fit(path: Path, title: str, fit: Fit) -> None:
    """Draw measured times, fit and residuals."""
    from pready.show.figures.calibration import calibration

    save(path, calibration(title, fit))


def draw_idle_waves(path: Path, title: str, simulation: Simulation) -> None:
    """Draw iteration times by rank."""
    from pready.show.figures.idle_waves import idle_waves

    save(path, idle_waves(title, simulation))
