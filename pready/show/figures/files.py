"""Picture files: checked before the work, drawn after it.

Matplotlib is imported when a picture is drawn: it is an extra, and takes half a second.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pready.files.extra import need
from pready.files.writing import check_writable, write_text, write_with
from pready.model.engine.simulate import Simulation
from pready.model.machine.machine import Machine
from pready.model.result.prediction import Prediction
from pready.model.workload.workload import Workload
from pready.whatif.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SUFFIXES = (".svg", ".png", ".pdf")


def check(path: Path) -> None:
    """Refuse a picture's path before any work. Raises PreadyError: a path that cannot be written, another suffix than
    those of `SUFFIXES`, or no Matplotlib."""
    check_writable(path, SUFFIXES)
    need("matplotlib", "a picture")


def save(path: Path, figure: Figure) -> None:
    """Write a figure; the same figure gives the same bytes."""
    from pready.show.figures.style import svg

    if path.suffix.lower() == ".svg":
        write_text(path, svg(figure))
    else:
        write_with(path, lambda p: figure.savefig(p, dpi=150))


def draw_prediction(path: Path, machine: Machine, workload: Workload, prediction: Prediction) -> None:
    """Draw η over sizes."""
    from pready.show.figures.prediction_pictures import over_sizes

    save(path, over_sizes(machine, workload, prediction))


def draw_table(path: Path, table: Table, min_gain: float) -> None:
    """Draw a sweep or a comparison."""
    from pready.show.figures import whatif_pictures

    save(path, whatif_pictures.figure(table, min_gain))


def draw_idle_waves(path: Path, title: str, simulation: Simulation) -> None:
    """Draw iteration times by rank."""
    from pready.show.figures.idle_waves import idle_waves

    save(path, idle_waves(title, simulation))
