"""Pictures as files: refused before the work is done, drawn when it is.

Matplotlib is imported only when one is drawn: it is an extra, and half a second.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pready.files.extra import need
from pready.files.writing import check_writable
from pready.model.engine import Simulation
from pready.model.machine import Machine
from pready.model.prediction import Prediction
from pready.model.workload import Workload
from pready.whatif.table import Table

if TYPE_CHECKING:  # a fit needs SciPy, a prediction does not
    from pready.calibrate.fit import Fit

SUFFIXES = (".svg", ".png", ".pdf")
KINDS = ("size", "map", "exchange", "decides")
"""Pictures of a prediction."""


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
