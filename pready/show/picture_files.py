"""Pictures as files: refused before the work is done, drawn when it is.

Matplotlib is imported only when one is drawn: it is an extra, and half a second.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from pready.files.extra import need
from pready.files.writing import check_writable
from pready.model.engine.simulate import Simulation
from pready.model.machine import Machine
from pready.model.prediction import Prediction
from pready.model.workload import Workload
from pready.whatif.table import Table

if TYPE_CHECKING:  # a fit needs SciPy, a prediction does not
    from pready.calibrate.fit import Fit

SUFFIXES = (".svg", ".png", ".pdf")
KINDS = ("size", "map", "exchange", "decides")
"""Pictures of a prediction."""
TITLES = {"size": "Over buffer sizes", "map": "Over buffer sizes and messages", "exchange": "One exchange, bulk above"}
"""Headings of those that a page shows; what decides, it has as a table."""


def check(path: Path) -> None:
    """Refuse a picture's path before the work is done.

    Raises
    ------
    PreadyError
        A path that cannot be written, another suffix than those of `SUFFIXES`, or no Matplotlib.
    """
    check_writable(path, SUFFIXES)
    need("matplotlib", "a picture")


def draw_prediction(kind: str, path: Path, machine: Machine, workload: Workload, prediction: Prediction) -> None:
    """Draw one of `KINDS`; errors as for `check`."""
    check(path)
    from pready.show import figures, prediction_figures

    figures.save(path, prediction_figures.figure(kind, machine, workload, prediction))


def draw_table(path: Path, table: Table, min_gain: float) -> None:
    """Draw a sweep or a comparison; errors as for `check`."""
    check(path)
    from pready.show import figures, whatif_figures

    figures.save(path, whatif_figures.figure(table, min_gain))


def prediction_pictures(machine: Machine, workload: Workload, prediction: Prediction) -> list[tuple[str, str]]:
    """Every picture of a prediction for a page: title and SVG; none without Matplotlib."""
    if find_spec("matplotlib") is None:
        return []
    from pready.show import prediction_figures
    from pready.show.svg import svg

    drawn = ((TITLES[k], prediction_figures.figure(k, machine, workload, prediction)) for k in TITLES)
    return [(title, svg(figure, alone=False)) for title, figure in drawn]


def draw_fit(path: Path, title: str, fit: Fit) -> None:
    """Draw measured times, the fit and its residuals; errors as for `check`."""
    check(path)
    from pready.show import figures

    figures.save(path, figures.calibration(title, fit))


def draw_idle_waves(path: Path, title: str, simulation: Simulation) -> None:
    """Draw iteration times by rank; errors as for `check`."""
    check(path)
    from pready.show import figures

    figures.save(path, figures.idle_waves(title, simulation))
