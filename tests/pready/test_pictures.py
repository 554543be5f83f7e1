"""Pictures and pages: labels do not overlap, colours are seen on white, SVG text is text."""

import html
import re
from functools import cache
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from command_line import out as printed
from command_line import refused
from matplotlib.figure import Figure
from readable import check_readable
from rich.text import Text

import pready
from pready.cli import main
from pready.model.advice.predict import predict
from pready.model.machine import machine as machines
from pready.model.result.prediction import Prediction
from pready.model.workload import workload as workloads
from pready.show.figures import prediction_pictures as of_prediction
from pready.show.figures.colours import COLOURS, NEUTRAL
from pready.show.figures.eta_over_size import Sure, eta_over_size
from pready.show.figures.style import svg
from pready.show.tables.answer import VERDICT_STYLE, as_one, decision, of_exchange
from pready.show.terminal.html import WORDS, as_html, page

pytestmark = pytest.mark.usefixtures("predicted_once")

MELUXINA = machines.load("meluxina")


@cache
def predicted(example: str) -> tuple[workloads.Workload, Prediction]:
    what = workloads.load(f"examples/{example}.toml")
    return what, predict(MELUXINA.progressing("thread"), what, draws=4, engine="timeline")


@pytest.mark.thorough
@pytest.mark.parametrize("example", ["halo3d", "slow-link"])
def test_every_examples_picture_can_be_read(example: str) -> None:
    check_readable(of_prediction.over_sizes(MELUXINA, *predicted(example)))


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


def contrast_with_white(colour: str) -> float:
    """(L1 + 0.05) / (L2 + 0.05) of the relative luminances: WCAG 2.1, success criterion 1.4.3."""
    shares = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = (s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares)
    return 1.05 / (0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05)


def test_every_colour_is_seen_on_white() -> None:
    assert contrast_with_white("#000000") == pytest.approx(21, abs=0.005)
    assert contrast_with_white("#777777") == pytest.approx(4.48, abs=0.005)
    for colour in (*COLOURS, NEUTRAL, *WORDS.values()):
        assert contrast_with_white(colour) >= 4.5, colour
    for style in (*VERDICT_STYLE.values(), "yellow"):
        colour = WORDS[style.split()[-1]].lower()
        assert f"color: {colour}" in as_html(Text("word", style=style))
    assert "<h2>A &amp; b</h2>\n<pre>a &lt; b" in page("Title", [("A & b", Text("a < b"))])


@pytest.mark.thorough
def test_the_interval_drawn_is_that_of_the_prediction() -> None:
    what, _ = predicted("laggard")
    made = predict(MELUXINA, what, engine="timeline")
    sizes = of_prediction._sizes(what)
    sure = of_prediction._sure(MELUXINA, what, made, sizes, np.ones(len(sizes)))
    at, row = int(np.argmin(np.abs(np.array(sizes) - what.buffer))), made.advised
    assert sure.low[at] == pytest.approx(row.eta_low / row.eta, rel=0.1)
    assert sure.high[at] == pytest.approx(row.eta_high / row.eta, rel=0.1)
    assert sure.enough == "1 % of an iteration"


PREDICT, SIZES = ("predict", "examples/laggard.toml", "--plot"), "buffer=1KiB:64KiB:2x"
PICTURES: dict[str, tuple[tuple[str, ...], set[str]]] = {
    "size": (PREDICT, {"this buffer", "bulk", "buffer per peer", "likely saves 1 % of an iteration"}),
    "sweep": (("sweep", "examples/laggard.toml", "--set", SIZES, "--plot"), {"worth a port: 1 %", "buffer"}),
    "bars": (("compare", "examples/laggard.toml", "--set", "machine=meluxina,hpc3", "--plot"), {"meluxina", "hpc3"}),
}
"""Commands, and text in their pictures that is text."""
TEXT = "{http://www.w3.org/2000/svg}text"


@pytest.mark.thorough
@pytest.mark.parametrize("kind", PICTURES)
def test_text_in_a_picture_is_text(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.svg"
    assert main([*PICTURES[kind][0], str(path)]) == 0
    assert f"wrote {path}\n" in capsys.readouterr().err
    tree = ET.fromstring(path.read_text(encoding="utf-8").partition("\n")[2])
    said = {" ".join("".join(t.itertext()).split()) for t in tree.iter(TEXT)}
    assert said >= PICTURES[kind][1]


def test_the_same_figure_is_the_same_bytes() -> None:
    sizes = [2.0**k for k in range(10, 20)]
    sure = Sure(np.ones(10), np.full(10, 2.0), [], "")
    first, again = (eta_over_size("title", sizes, {"one": np.linspace(1, 2, 10)}, 4096.0, sure) for _ in range(2))
    assert svg(first) == svg(again)
    assert [text.partition(" ")[0] for text in (svg(first), svg(first, alone=False))] == ["<?xml", "<svg"]


@pytest.mark.thorough
def test_a_step_has_a_page_and_no_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    step = tmp_path / "step.toml"
    text = Path("examples/stencil-unequal.toml").read_text(encoding="utf-8")
    step.write_text(text.replace("share =", "iterations = 4\ntransport_partitions = [4]\nshare ="), encoding="utf-8")
    said = "--plot of several exchanges per step; valid: a file with one of them"
    assert said in refused(capsys, "predict", step, "--plot", tmp_path / "step.svg")
    folder = tmp_path / "page"
    shown = " ".join(printed(capsys, "predict", step, "-o", folder).split())
    page = html.unescape(re.sub("<[^>]*>", "", (folder / "index.html").read_text(encoding="utf-8")))
    made = pready.predict(step)
    lines = [line.plain for line in decision(made)]
    assert all(line in shown for line in lines)
    lines += [of_exchange(e, as_one(made)) for e in made.exchanges]
    assert all(line in " ".join(page.split()) for line in lines)
    assert "<figure>" not in (folder / "index.html").read_text(encoding="utf-8")
    assert "No picture" not in page
