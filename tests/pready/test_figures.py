"""What pictures draw of figures made by hand: every line, bar and shade in its place."""

from types import SimpleNamespace as Of
from typing import Any

import numpy as np
import pytest
from described import described
from matplotlib.figure import Figure
from readable import check_readable
from tables import table_of
from whatif_row import point

from pready.model.common.errors import PreadyError
from pready.show.figures import idle_waves, whatif_pictures
from pready.show.figures.eta_over_size import Sure, eta_over_size
from pready.whatif.table import Table

LIMITED = (idle_waves, whatif_pictures)


def what_if(rows: Any, varied: list[str], copies: int = 1) -> Figure:
    made = [point(size, f"{library}{'+' * n}", *of) | more for n in range(copies) for size, library, *of, more in rows]
    return whatif_pictures.figure(Table(tuple(varied), made), 0.01)


def waves(ends: Any, grid: Any, late: Any = ()) -> Figure:
    """Ranks that end at 1, 2, ... s; `late`: iteration, rank and seconds."""
    of = np.ones((ends, int(np.prod(grid)))) * np.arange(1, ends + 1)[:, None]
    for iteration, rank, seconds in late:
        of[iteration, rank] += seconds
    number: Any = np.arange(ends)
    causes = {"compute": 9.0 + number, "late_neighbours": 1e-3 * (number + 1), "nic": 2e-3 + 0 * number}
    run: Any = Of(pattern="halo3d", ends_s=of, grid=tuple(grid), iterations=ends, causes_s=causes)
    return idle_waves.idle_waves("title", run)


def sweep_without_times() -> Figure:
    run: Any = Of(pattern="sweep3d", ends_s=None)
    return idle_waves.idle_waves("title", run)


def strip(pays: Any, etas: Any, low: Any, high: Any) -> Figure:
    """Lines and the uncertainty of the first: η of the least and of the largest buffer, the others between."""
    sizes: Any = 2.0 ** np.arange(10, 20)
    least, most, *lines = (np.geomspace(first, last, 10) for first, last in (low, high, *etas))
    sure = Sure(least, most, pays, "1 % of an iteration")
    return eta_over_size("title", sizes.tolist(), dict(zip(("one", "other"), lines, strict=False)), 4096.0, sure)


@pytest.mark.parametrize(
    ("name", "given"), [(name, of) for name, each in table_of("pready/figures").items() for of in each]
)
def test_figures(name: str, given: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    for limit in [name for name in given if name.isupper()]:
        (of,) = (m for m in LIMITED if hasattr(m, limit))
        monkeypatch.setattr(of, limit, given.pop(limit))
    if (problem := given.pop("refused", None)) is not None:
        with pytest.raises(PreadyError, match=problem):
            globals()[name](**given)
        return
    said, figure = given.pop("said"), globals()[name](**given)
    check_readable(figure)
    assert described(figure) == said.strip("\n")
