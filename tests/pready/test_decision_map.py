"""The map of verdicts: a cell says what the table says, in its place."""

import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle
from readable import check_readable

from pready.model.common.errors import PreadyError
from pready.show.figures.decision_map import FILLS, decision_map
from pready.whatif.table import Table


def row(buffer: str, threads: int, verdict: str, percent: float, *, best: bool = True) -> dict[str, object]:
    said = {"buffer": buffer, "threads": threads, "verdict": verdict}
    return said | {"speedup_percent": percent, "key": "many", "best": best}


ROWS = [
    row("64KiB", 2, "do not port", 0.04),
    row("64KiB", 4, "undecided", 0.9),
    row("1024KiB", 2, "port", 1.25),
    row("1024KiB", 4, "port", 12.0),
    row("1024KiB", 4, "port", 99.0, best=False),
    row("16384KiB", 2, "do not port", -0.01),
    row("16384KiB", 4, "port", 3.0),
]


def test_a_cell_says_what_its_row_says() -> None:
    figure = decision_map("title", Table(("threads", "buffer"), ROWS), 0.01, ("1024KiB", "4"))
    check_readable(figure)
    (axes,) = figure.axes
    assert [t.get_text() for t in axes.get_xticklabels()] == ["64 KiB", "1 MiB", "16 MiB"]  # more values: along x
    assert [t.get_text() for t in axes.get_yticklabels()] == ["2", "4"]
    cells = {p.get_xy(): p for p in axes.patches if isinstance(p, Rectangle) and p.get_fill()}
    said = {(t.get_position()[0] - 0.5, t.get_position()[1] - 0.5): t.get_text() for t in axes.texts}
    best = [r for r in ROWS if r["best"]]
    assert len(cells) == len(said) == len(best)
    for number, of in enumerate(best):
        at = (number // 2, number % 2)
        assert to_hex(cells[at].get_facecolor()).upper() == FILLS[str(of["verdict"])][0].upper()
        assert cells[at].get_hatch() == FILLS[str(of["verdict"])][1]
    assert said[1, 1] == "12 %\nmany"
    assert said[0, 0] == said[2, 0] == "0 %"  # no minus before zero
    (frame,) = (p for p in axes.patches if isinstance(p, Rectangle) and not p.get_fill())
    assert frame.get_xy() == (1, 1)


def test_a_map_fits_a_page() -> None:
    many = [row(f"{n + 1}KiB", t, "port", 2.0) for n in range(25) for t in (1, 2)]
    with pytest.raises(PreadyError, match="25 values of buffer does not fit a page"):
        decision_map("title", Table(("buffer", "threads"), many), 0.01)
