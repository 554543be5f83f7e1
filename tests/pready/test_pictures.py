"""Pictures: labels do not overlap, colours show on white and on black, SVG text is text."""

import html
import re
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from command_line import out as printed
from command_line import refused
from matplotlib.collections import LineCollection, QuadMesh
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from readable import check_readable
from whatif_row import point

import pready
from pready.cli import main
from pready.model.advice.approach_by_name import approach_named
from pready.model.advice.predict import predict
from pready.model.approach.interfaces import BY_KEY, Approach
from pready.model.common.errors import PreadyError
from pready.model.engine import simulate
from pready.model.engine.evaluate import Evaluation
from pready.model.engine.simulation import Simulation
from pready.model.machine import machine as machines
from pready.model.result.prediction import Lever, LeverKind, Prediction
from pready.model.workload import workload as workloads
from pready.show.figures import prediction_pictures as of_prediction
from pready.show.figures.colours import COLOURS, NEUTRAL
from pready.show.figures.eta_over_size import Sure, eta_over_size
from pready.show.figures.exchanges import Exchange, exchanges
from pready.show.figures.gain_map import gain_map
from pready.show.figures.idle_waves import _planes, idle_waves
from pready.show.figures.step_savings import step_savings
from pready.show.figures.svg import svg
from pready.show.figures.tornado import tornado
from pready.show.figures.whatif_pictures import figure as whatif_figure
from pready.show.tables.answer import decision, of_exchange
from pready.whatif.table import Table

pytestmark = pytest.mark.usefixtures("predicted_once")

MELUXINA = machines.load("meluxina")


@cache
def predicted(example: str) -> tuple[workloads.Workload, Prediction]:
    what = workloads.load(f"examples/{example}.toml")
    return what, predict(MELUXINA.progressing("thread"), what, draws=4, engine="timeline")


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["size", "messages", "exchange"])
@pytest.mark.parametrize("example", ["halo3d", "laggard", "slow-link"])
def test_every_examples_pictures_can_be_read(kind: str, example: str) -> None:
    figure = of_prediction.figure(kind, MELUXINA, *predicted(example))
    check_readable(figure)
    if (kind, example) != ("exchange", "halo3d"):
        return
    # Messages are in the lane of their thread and the line of their peer.
    parted = figure.axes[1]
    blue = [p for p in parted.patches if p.get_facecolor()[:3] == pytest.approx((0, 0x72 / 255, 0xB2 / 255))]
    assert len(blue) == 32 * 6  # a bar for each message
    rows = {round(p.get_y() + p.get_height() / 2, 6) for p in blue}  # type: ignore[attr-defined]
    assert len(rows) == 8 * 6  # 8 threads, 6 peers each


@pytest.mark.parametrize("what", ["on a curve", "on a bar", "cut off", "over 'a long label'", "a legend within"])
def test_unreadable_labels_are_found(what: str) -> None:
    """Negative control of `check_readable`."""
    figure = Figure()
    axes = figure.add_subplot()
    axes.set_axis_off()
    if what == "on a curve":
        axes.plot([0, 1], [0, 1])
    elif what == "on a bar":
        axes.barh([0.5], [1.0])
    elif what.startswith("over"):
        axes.text(0.5, 0.5, "another")
    elif what == "a legend within":
        axes.plot([0, 1], [0.1, 0.9], label="x")
        axes.legend()
    axes.text(1.1 if what == "cut off" else 0.5, 0.8 if what == "a legend within" else 0.5, "a long label")
    with pytest.raises(AssertionError, match=what):
        check_readable(figure)


def said(labels: Any) -> list[str]:
    return [label.get_text() for label in labels]


def data_of(line: Any) -> Any:
    return np.asarray(line.get_data()).tolist()


def lever(name: str, kind: LeverKind, steps: tuple[str, ...], here: float, saved: tuple[float, ...]) -> Lever:
    chances = tuple(1.0 for _ in saved)
    return Lever(name, kind, "assumed", steps, here, saved, chances, 0.1, turns=False, wrong=0.0, measure="")


PUTS = "the adapter moved puts", "the target's processor took puts in", "puts waited for their synchronisation"


def test_options_are_named_below_their_input_and_inputs_without_effect_below_the_axis() -> None:
    levers = [
        lever("how puts move", "unknown", PUTS, 10.7, (10.9, 1.1, -1.5)),
        lever("spread", "unknown", ("÷ 2", "× 2"), 10.7, (9.8, 10.5)),
        lever("progress", "unknown", ("hardware", "thread"), 10.7, (10.2, 10.2)),
        lever("buffer", "unknown", ("÷ 2", "× 2"), 10.7, (5.8, 17.4)),
        lever("latency", "machine", ("low", "high"), 10.7, (10.69, 10.71)),
    ]
    figure = tornado("title", levers, 1.0)
    check_readable(figure)
    (axes,) = figure.axes
    puts, *others = [label.get_text() for label in axes.get_yticklabels()]
    assert " ".join(puts.split()) == " ".join(["how puts move", *PUTS])
    assert others == ["spread\n÷ 2\n× 2", "progress\nhardware\nthread", "buffer\n÷ 2\n× 2"]
    bars = [p.get_x() + p.get_width() for p in axes.patches if p.get_y() > 2.5]  # type: ignore[attr-defined]
    assert bars == pytest.approx([10.9, 1.1, -1.5])
    assert axes.get_xlabel().endswith("too small to draw: latency")
    assert [data_of(line)[0][0] for line in axes.lines] == [10.7, 1.0]  # as it is; worth a port
    with pytest.raises(PreadyError, match="nothing to plot: no input changes the prediction"):
        tornado("title", [], 1.0)


def test_the_border_goes_around_what_is_faster() -> None:
    eta = np.array([[0.9, 0.9, 1.2], [0.9, 1.2, 1.2], [1.002, 1.2, 1.2]])  # 1.002 is written 1.00×
    figure = gain_map("title", [1024, 2048, 4096], [1, 2, 4], eta, 2048)
    check_readable(figure)
    (lines,) = (c for c in figure.axes[0].collections if isinstance(c, LineCollection))
    (mesh,) = (c for c in figure.axes[0].collections if isinstance(c, QuadMesh))
    assert np.asarray(mesh.get_array()) == pytest.approx(np.log2(eta))
    assert figure.axes[0].get_xlim() == pytest.approx((1024 / 2**0.5, 4096 * 2**0.5))
    assert [t.get_text() for t in figure.axes[0].get_yticklabels()] == ["1", "2", "4"]
    assert mesh.get_clim() == pytest.approx((-np.log2(1.2), np.log2(1.2)))  # 1 is white
    middle = np.geomspace(1024, 4096, 5)[1::2]  # borders lie halfway between the sizes asked for
    pieces = {tuple((round(float(np.log2(x)), 9), float(y)) for x, y in p) for p in lines.get_segments()}
    assert len(pieces) == 4  # three upright, one flat: a staircase
    assert {p[0][0] for p in pieces if p[0][0] == p[1][0]} == set(np.round(np.log2(middle), 9))
    assert [(p[0][1], p[1][1]) for p in pieces if p[0][0] != p[1][0]] == [(0.5, 0.5)]


def test_sizes_worth_porting_are_a_strip() -> None:
    sizes = np.array([2.0**k for k in range(10, 20)])
    pays, certain = [(0.0, 1100.0), (3000.0, 2e5), (4e5, np.inf)], [(16384.0, 65536.0), (4e5, np.inf)]
    sure = Sure(sizes / sizes, 2 * sizes / sizes, pays, certain, "1 % of an iteration")
    figure = eta_over_size("title", sizes.tolist(), {"one": 1.5 + 0 * sizes}, 4096.0, sure)
    check_readable(figure)
    strip, line = figure.axes[1], figure.axes[0].lines[1]
    assert data_of(line) == [sizes.tolist(), [1.5] * 10]
    assert figure.axes[0].collections[0].get_paths()[0].get_extents().get_points().T.tolist() == [[1024, 2**19], [1, 2]]
    assert figure.axes[0].get_ylim() == pytest.approx((0.5, 2.2))
    assert [data_of(axes.lines[-1])[0] for axes in figure.axes] == [[4096.0] * 2] * 2
    spans = [(p.get_x(), p.get_x() + p.get_width(), p.get_hatch()) for p in strip.patches]  # type: ignore[attr-defined]
    # Hatched where it may pay, filled where it pays with certainty; both end with the sizes.
    assert [s[:2] for s in spans if s[2]] == [pytest.approx(e) for e in ((1024, 1100), (3000, 2e5), (4e5, 2**19))]
    assert [s[:2] for s in spans if not s[2]] == [pytest.approx(e) for e in ((16384, 65536), (4e5, 2**19))]
    assert all(p.get_hatch() is None for p in strip.patches[len(pays) :])  # the full ones are drawn last
    # each kind is in the legend once
    assert [p.get_label() for p in (strip.patches[0], strip.patches[len(pays)])] == strip.get_legend_handles_labels()[1]
    named = [text.get_text() for text in figure.legends[0].get_texts()]
    assert named == [name for axes in figure.axes for name in axes.get_legend_handles_labels()[1]]


def test_ranks_in_a_block_are_drawn_in_a_plane() -> None:
    late = np.zeros((3, 4 * 3 * 2))
    late[0, 1 + 4 * (2 + 3 * 1)] = 5.0  # rank (1, 2, 1): as the pattern counts them, x first
    planes, names, where = _planes(late, (4, 3, 2))
    assert (names, where) == (("x", "y"), "; ranks with z = 1")
    assert _planes(late, (4, 6, 1))[2] == ""
    assert planes.shape == (3, 3, 4)
    assert planes[0, 2, 1] == 5.0
    assert planes.sum() == 5.0


def waves(ends: Any, *grid: int) -> Any:
    number = np.arange(len(ends))
    causes = {"compute": 9.0 + number, "late_neighbours": 1e-3 * (number + 1), "nic": 2e-3 + 0 * number}
    return SimpleNamespace(ends_s=np.asarray(ends), grid=grid, iterations=len(ends), causes_s=causes)


def test_ranks_in_a_row_are_drawn_as_far_as_they_are_behind_the_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two iterations of five ranks; one is 20 us late, then another 10 us: 16 us behind the mean, then 8 us."""
    ends, late = [[1, 1, 1, 1, 1 + 20e-6], [2, 2, 2, 2 + 10e-6, 2]], [[-4, -4, -4, -4, 16], [-2, -2, -2, 8, -2]]
    figure = idle_waves("title", waves(ends, 5, 1, 1))
    check_readable(figure)
    rows, times, bar = figure.axes
    (image,) = rows.images
    assert np.asarray(image.get_array()) == pytest.approx(np.array(late), abs=1e-6)
    assert [*image.get_extent()] == [-0.5, 4.5, 0.5, 2.5]
    assert image.get_clim() == pytest.approx((-16, 16))
    assert (image.origin, bar.get_ylabel(), rows.get_xlabel()) == ("lower", "behind the mean (us)", "rank")
    stacked = [band.get_paths()[0].get_extents().get_points().T.tolist() for band in times.collections]
    assert stacked == [[[1, 2], [0, 2]], [[1, 2], [1, 4]]]  # ms, one on the other; computing is left out
    assert times.get_ylabel() == "mean over ranks (ms)"
    assert said(times.legend_.get_texts()) == ["NIC", "late neighbours"]  # type: ignore[union-attr]
    monkeypatch.setattr("pready.show.figures.idle_waves.MOST_COLUMNS", 4)
    thinned = idle_waves("title", waves(ends, 5, 1, 1)).axes[0]
    assert np.asarray(thinned.images[0].get_array()) == pytest.approx(np.array(late)[:, ::2], abs=1e-6)
    assert [*thinned.images[0].get_extent()] == [-1, 5, 0.5, 2.5]  # ranks 0, 2 and 4
    assert thinned.get_xlabel() == "rank (one of 2 is drawn)"


def test_of_a_block_four_iterations_are_drawn() -> None:
    ends = np.ones((6, 24))
    ends[:, 5] += 24e-6 * np.arange(1, 7)  # rank (1, 1, 0)
    figure = idle_waves("title", waves(ends, 4, 3, 2))
    *planes, _, bar = figure.axes
    assert [p.get_title() for p in planes] == [f"iteration {n}" for n in (1, 3, 4, 6)]
    assert [np.argwhere(np.asarray(p.images[0].get_array()) > 0).tolist() for p in planes] == [[[1, 1]]] * 4
    assert [float(np.asarray(p.images[0].get_array())[1, 1]) for p in planes] == pytest.approx([23, 69, 92, 138])
    assert planes[0].images[0].get_clim() == planes[3].images[0].get_clim() == pytest.approx((-138, 138))
    assert (planes[0].get_xlabel(), planes[0].get_ylabel()) == ("rank along x", "rank along y")
    assert bar.get_xlabel() == "behind the mean (us)"
    assert figure.get_suptitle() == "title; ranks with z = 0"
    with pytest.raises(PreadyError, match="sweep3d has no times by rank"):
        idle_waves("title", SimpleNamespace(pattern="sweep3d", ends_s=None))  # type: ignore[arg-type]


def test_ranks_in_step_are_said_to_be() -> None:
    # One of four threads late by the same each time: both ranks end together, and there is nothing to shade.
    what = workloads.load("examples/laggard.toml")
    figure = idle_waves("title", run(what))
    check_readable(figure)
    (times,) = figure.axes
    assert not times.images
    assert figure.get_suptitle() == "title: all ranks end together"
    assert np.all(np.asarray(times.xaxis.get_major_locator()()) % 1 == 0)


def run(what: workloads.Workload) -> Simulation:
    approach = approach_named("single", what, "--approach")
    grid = (2, 1, 1) if what.pattern == "pt2pt" else (4, 4, 1)
    return simulate(MELUXINA, what, approach, grid=grid, iterations=5, record=True)


SWEPT = [  # not in order; of 3 %, the interval lies above what is worth a port, and the probability is too small
    *(point(size, "a", "many", *of) for size, *of in (("1 MiB", 1.5, 0.9), ("4 KiB", -2.0, 0.0), ("64KiB", 3.0, 0.7))),
    *(point(size, "b", "many", saves, 0.9) for size, saves in (("4 KiB", 1.5), ("64KiB", 2.5), ("1 MiB", 3.5))),
]


def drawn_lines(axes: Any) -> list[tuple[list[float], list[float], str]]:
    """Points and marks of each line, those of the axes left out."""
    lines = [(*data_of(line), line.get_marker()) for line in axes.lines]
    return [line for line in lines if line[0] and list(line[0]) != [0, 1]]


def test_the_map_is_over_threads_and_sizes_around_the_workload_s(monkeypatch: pytest.MonkeyPatch) -> None:
    what = workloads.load("examples/laggard.toml").changed(**{"compute.time": "1 ms"})  # 4 threads, 4 MiB
    seen: list[Any] = []

    def tabulated(points: Any, *_: Any, **__: Any) -> Table:
        seen.extend(points)
        return Table(("threads", "buffer"), [point("", "", "many", 1.0, 0.9) | p.label for p in points])

    monkeypatch.setattr(of_prediction, "tabulate", tabulated)
    made = predict(MELUXINA, what, draws=0, seed=3, library="mpipcl")
    (axes,) = of_prediction.figure("map", MELUXINA, what, made).axes
    sizes = [4.0**k * 2**20 for k in range(-3, 5)]
    assert [(p.workload.threads, p.workload.buffer) for p in seen] == [(t, s) for t in (1, 2, 4, 8, 16) for s in sizes]
    assert {(p.workload.threads * p.workload.thread_time, p.seed, p.library) for p in seen} == {(4e-3, 3, "mpipcl")}
    assert [p.get_xy() for p in axes.patches if not p.get_fill()] == [(4, 2)]  # type: ignore[attr-defined]


def test_messages_wait_and_travel_in_the_lane_of_their_thread() -> None:
    """Of two threads, the first is ready 2 us before the other; each sends to a peer of its own."""
    times = ({"ready": -2e-6, "left": -1e-6, "arrived": 1e-6}, {"ready": 0.0, "left": 0.0, "arrived": 2e-6})
    sent: Any = [SimpleNamespace(direction=n, transport=n, **of) for n, of in enumerate(times)]
    one = Exchange("label", np.array([-2e-6, 0.0]), sent, np.array([0, 1]), 0.5e-6, 3e-6)
    (axes,) = exchanges("title", [one]).axes
    bars: Any = [p for p in axes.patches if to_hex(p.get_facecolor()) != NEUTRAL]
    assert [(b.get_x(), b.get_width()) for b in bars] == [(-2, 1), (-1, 2), (0, 0), (0, pytest.approx(2))]
    assert [round(b.get_y() + b.get_height() / 2, 4) for b in bars] == [0.0375] * 2 + [1.3125] * 2  # lines of peers
    assert [data_of(line)[0][0] for line in axes.lines] == [0.5, 3, 0]  # joined, done, ready
    assert (axes.get_title("left"), axes.get_ylim()) == ("label: done after 3 us", (1.6, -0.6))
    assert axes.get_xlabel() == "us after the last partition is ready"


def test_each_exchange_s_saving_has_its_interval() -> None:
    rows: Any = [(n, SimpleNamespace(**point("", "", "many", p, 0.9))) for n, p in (("u", 5), ("the step", 2))]
    (axes,) = step_savings("title", rows, 1.0).axes
    assert [*map(data_of, axes.lines[:4])] == [[[1, 3], [0, 0]], [[2], [0]], [[4, 6], [1, 1]], [[5], [1]]]
    assert said(axes.get_yticklabels()) == ["the step", "u"]


def test_a_sweep_is_a_line_over_its_numbers_for_each_of_the_others() -> None:
    figure = whatif_figure(Table(("library", "buffer"), SWEPT), 0.01)
    check_readable(figure)
    (above, below), x = figure.axes, [4096.0, 65536.0, 1048576.0]
    assert drawn_lines(below) == [
        (x, [-2.0, 3.0, 1.5], "None"), (x[2:], [1.5], "o"), (x[1:2], [3.0], "o"), (x[:1], [-2.0], "x"),
        (x, [1.5, 2.5, 3.5], "None"), (x, [1.5, 2.5, 3.5], "o"),
    ]  # fmt: skip
    assert drawn_lines(above)[0][1] == pytest.approx([0.98, 1.03, 1.015])
    assert [line.get_fillstyle() for line in below.lines[1:4]] == ["full", "none", "full"]
    (eta, *_), (saved, *_) = ([b.get_paths()[0].get_extents() for b in axes.collections] for axes in figure.axes)
    assert (saved.x0, saved.x1, saved.y0, saved.y1) == (4096, 1048576, -3, 4)
    assert (eta.y0, eta.y1) == pytest.approx((0.97, 1.04))
    assert [data_of(line)[1][0] for line in below.lines[8:]] == [0, 1]  # nothing, and what is worth a port
    assert (below.get_xscale(), said(below.get_xticklabels())) == ("log", ["4 KiB", "64 KiB", "1 MiB"])
    marks = ["bulk", "port", "undecided", "do not port", "worth a port: 1 %"]
    assert said(figure.legends[0].get_texts()) == ["library a", "library b", *marks]
    assert figure.get_suptitle() == "w on m"


def test_of_every_way_the_best_of_each_interface_is_a_line_and_losses_are_cut_off() -> None:
    rows = [
        point(size, "a", key, saves, chance, best=key == "many" and saves > 4, needs="X" * (key == "part"))
        for size in ("4 KiB", "8 KiB", "16 KiB")
        for key, saves, chance in (("single", 0, None), ("many", 2, 0.9), ("many", 5, 0.5), ("part", 9, 0.9),
                                   ("persistent", -80, None), ("several", 2, None))
    ]  # fmt: skip
    above, below = (figure := whatif_figure(Table(("buffer",), rows), 0.01)).axes
    assert said(figure.legends[0].get_texts())[:4] == ["by many", "by persistent", "by several", "bulk"]
    assert [(y[0], mark) for _, y, mark in drawn_lines(below)[::2]] == [(5, "None"), (-80, "None"), (2, "None")]
    assert [(y[0], mark) for _, y, mark in drawn_lines(below)[1::2]] == [(5, "o"), (-80, "x"), (2, "o")]
    low, high = below.get_ylim()
    assert (low, high > 5, len(above.collections)) == (-high, True, 0)
    assert below.get_ylabel().endswith(f"(cut at {low:.3g} %)")
    with pytest.raises(PreadyError, match="a picture of 3 lines, one for each approach, does not fit a page"):
        whatif_figure(Table(("library",), rows), 0.01)


@pytest.mark.parametrize(("varied", "labels"), [(("library",), ["a", "b"]), ((), ["by many"])])
def test_without_an_axis_of_numbers_each_point_is_a_bar(varied: tuple[str, ...], labels: list[str]) -> None:
    rows = [point("4 KiB", "a", "many", 3.0, 0.7), point("4 KiB", "b", "many", -2.0, 0.0)][: len(labels)]
    figure = whatif_figure(Table(varied, rows), 0.01)
    check_readable(figure)
    (axes,) = figure.axes
    assert said(axes.get_yticklabels()) == labels
    bars: Any = sorted(axes.patches, key=lambda bar: -bar.get_y())  # the first on top
    assert [bar.get_y() + bar.get_height() / 2 for bar in bars] == axes.get_yticks().tolist()
    colours = [(bar.get_width(), to_hex(bar.get_facecolor())) for bar in bars]
    assert colours == [(3.0, COLOURS[4].lower()), (-2.0, NEUTRAL)][: len(labels)]
    with pytest.raises(PreadyError, match="a picture of 61 points does not fit a page"):
        whatif_figure(Table(("library",), [point("4 KiB", str(n), "many", 1.0, 0.9) for n in range(61)]), 0.01)


SEEN = {c.lower() for c in (*COLOURS, NEUTRAL)}


def colours_of(path: Path) -> set[str]:
    """Colours of what is drawn, the rules for the dark aside."""
    text = re.sub(r"<style>.*?</style>", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    return {c.lower() for c in re.findall(r"#[0-9a-fA-F]{6}\b", text)} - {"#ffffff"}  # the white of axes is clear


PREDICT, SIZES = ("predict", "examples/laggard.toml", "--plot"), "buffer=1KiB:64KiB:2x"
PICTURES: dict[str, tuple[tuple[str, ...], set[str]]] = {
    "size": ((*PREDICT, "size"), {"this buffer", "bulk", "buffer per peer", "saves 1 % of an iteration"}),
    "exchange": ((*PREDICT, "exchange"), {"on the wire", "threads joined"}),
    "sensitivity": ((*PREDICT, "sensitivity"), {"as it is"}),
    "sweep": (("sweep", "examples/laggard.toml", "--set", SIZES, "--plot"), {"bulk", "buffer"}),
    "bars": (("compare", "examples/laggard.toml", "--set", "machine=meluxina,hpc3", "--plot"), {"meluxina", "hpc3"}),
}
"""Commands, and text in their pictures that is text."""
TEXT = "{http://www.w3.org/2000/svg}text"


@pytest.mark.thorough
@pytest.mark.parametrize("kind", PICTURES)
def test_every_colour_is_one_that_is_seen_on_white_and_on_black(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "x.svg"
    assert main([*PICTURES[kind][0], str(path)]) == 0
    assert colours_of(path) <= SEEN
    assert len(colours_of(path)) > 1
    text = path.read_text(encoding="utf-8")
    assert "prefers-color-scheme: dark" in text
    said = {" ".join("".join(t.itertext()).split()) for t in ET.fromstring(text.partition("\n")[2]).iter(TEXT)}
    assert said >= PICTURES[kind][1]


def test_the_same_figure_is_the_same_bytes() -> None:
    first, again = (tornado("title", [lever("buffer", "unknown", ("÷ 2",), 10.7, (5.8,))], 1.0) for _ in range(2))
    assert svg(first) == svg(again)


@pytest.mark.thorough
@pytest.mark.parametrize("example", ["laggard", "slow-link"])
def test_the_strip_is_that_of_the_advice(example: str) -> None:
    what = workloads.load(f"examples/{example}.toml")
    prediction = predict(MELUXINA, what)
    sizes = of_prediction._sizes(what, 145)
    sure = of_prediction._sure(MELUXINA, what, prediction, sizes, np.full(145, 2.0))
    assert (sure.low <= 2.0).all()
    assert (sure.high >= 2.0).all()
    # The ends of the table's interval, as far from the line as from its η.
    best = predict(MELUXINA, what, draws=of_prediction.SURE_DRAWS).advised
    here = [np.interp(np.log(what.buffer), np.log(sizes), np.log(end)) for end in (sure.low, sure.high)]
    assert np.exp(here) == pytest.approx([2 * best.eta_low / best.eta, 2 * best.eta_high / best.eta], rel=2e-3)
    assert prediction.advice.verdict == "port"
    assert any(low <= what.buffer <= high for low, high in sure.likely)
    assert prediction.advice.break_even_bytes in [low for low, _ in sure.pays]


def test_an_exchange_of_unequal_faces_has_a_line_per_peer() -> None:
    faces = {"buffer": None, "faces": ["2 MiB", "512 KiB", "64 KiB"]}
    what = workloads.load("examples/halo3d.toml").changed(threads=4, partitions_per_thread=1, **faces)
    evaluation = Evaluation(MELUXINA, what, draws=0, alone=True)
    (one,) = evaluation.steps(Approach(BY_KEY["many"], 4, 2), [[1e-3, 1.2e-3, 1.1e-3, 1.0e-3]])
    sent = [(m.transport, m.direction) for m in one.messages]
    # As they are ready; two at once go by two VCIs, side by side. Peers share the port: the smallest are through first.
    assert sorted(sent[:12]) == [(p, d) for p in (0, 3) for d in range(6)]
    assert sent[12:] == [(p, d) for p in (2, 1) for d in (4, 5, 2, 3, 0, 1)]
    streams = one.streams
    assert min(streams[:2]) > 3 * max(streams[2:4])  # 2 MiB against 512 KiB
    assert min(streams[2:4]) > 3 * max(streams[4:])
    made = predict(MELUXINA, what, draws=0, engine="timeline")
    figure = of_prediction.figure("exchange", MELUXINA, what, made)
    assert len(figure.axes) == 2


@pytest.mark.thorough
def test_a_step_has_a_page_and_the_pictures_that_it_can_have(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    step, out = tmp_path / "step.toml", tmp_path / "step.svg"
    text = Path("examples/stencil-unequal.toml").read_text(encoding="utf-8")
    step.write_text(text.replace("share =", "iterations = 4\ntransport_partitions = [4]\nshare ="), encoding="utf-8")
    said = "--plot size of several exchanges per step; valid: --plot sensitivity, or a file with one of them"
    assert said in refused(capsys, "predict", step, "--plot", "size", out)
    folder = tmp_path / "page"
    shown = " ".join(printed(capsys, "predict", step, "--plot", "sensitivity", out, "-o", folder).split())
    assert "2 exchanges" in out.read_text(encoding="utf-8")
    page = html.unescape(re.sub("<[^>]*>", "", (folder / "index.html").read_text(encoding="utf-8")))
    made = pready.predict(step)
    lines = [line.plain for line in decision(made)]
    assert all(line in shown for line in lines)
    assert all(line in " ".join(page.split()) for line in (*lines, *map(of_exchange, made.exchanges)))
    check_readable(of_prediction.figure("step", MELUXINA, pready.load_workload(step), made))
