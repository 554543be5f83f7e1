"""Pictures: labels do not overlap, colours show on white and on black, SVG text is text."""

import html
import re
from functools import cache
from pathlib import Path
from types import SimpleNamespace as Of
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from command_line import out as printed
from command_line import refused
from matplotlib.figure import Figure
from readable import check_readable

import pready
from pready.cli import main
from pready.model.advice.predict import predict
from pready.model.approach.interfaces import BY_KEY, Approach
from pready.model.engine.runs import ALONE
from pready.model.engine.simulate import exchanges_from_rest
from pready.model.machine import machine as machines
from pready.model.result.prediction import Prediction
from pready.model.workload import workload as workloads
from pready.show.figures import prediction_pictures as of_prediction
from pready.show.figures.colours import COLOURS, NEUTRAL, rules
from pready.show.figures.eta_over_size import Sure, eta_over_size
from pready.show.figures.files import pictures_of
from pready.show.figures.svg import svg
from pready.show.tables.answer import as_one, decision, of_exchange

pytestmark = pytest.mark.usefixtures("predicted_once")

MELUXINA = machines.load("meluxina")


@cache
def predicted(example: str) -> tuple[workloads.Workload, Prediction]:
    what = workloads.load(f"examples/{example}.toml")
    return what, predict(MELUXINA.progressing("thread"), what, draws=4, engine="timeline")


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["size", "exchange"])
@pytest.mark.parametrize("example", ["halo3d", "laggard", "slow-link"])
def test_every_examples_pictures_can_be_read(kind: str, example: str) -> None:
    check_readable(of_prediction.figure(kind, MELUXINA, *predicted(example)))


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


def test_pictures_of_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """One exchange of many ranks is not drawn alone; a step of several has no picture."""
    monkeypatch.setattr(of_prediction, "figure", lambda *_: Figure())
    sizes = ["Over buffer sizes"]
    pages = {"laggard": [*sizes, "One exchange alone, bulk above"], "bcast": sizes, "stencil-unequal": []}
    for name, titles in pages.items():
        what = workloads.load(f"examples/{name}.toml")
        made: Any = Of(exchanges=what.exchanges or ())
        assert [title for title, _ in pictures_of(MELUXINA, what, made)] == titles


def given_to(monkeypatch: pytest.MonkeyPatch, kind: str, fields: dict[str, Any], **made: Any) -> Any:
    """What the function that draws a kind of picture is given for examples/laggard.toml: 4 threads, 4 MiB."""
    for name in ("eta_over_size", "exchanges"):
        monkeypatch.setattr(of_prediction, name, lambda *given: given)
    what = workloads.load("examples/laggard.toml").changed(**fields)
    of = {"machine": "M", "library": "mpich-release", "exchanges": (), "engine": "engine", "seed": 3, "ranks": (2,)}
    advice = Of(min_gain=0.025, pays=[Of(low=1.0, high=2.0)], best=made.get("advised"))
    prediction: Any = Of(**of | {"advice": advice} | made)
    return of_prediction.figure(kind, MELUXINA, what, prediction)


def way(key: str, count: int = 1, vcis: int = 1, **more: Any) -> Any:
    approach = Approach(BY_KEY[key], count, vcis)
    return Of(approach=approach, transport_partitions=count, vcis=vcis, name=key, available=True, **{"eta": 1.4} | more)


def test_lines_are_of_the_best_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    """The advised one, then three more: by η, but puts last; what is sent today and what nobody has are none."""
    best, joined, kept = way("many", 4, 2), way("many-joined", 2, eta=2.0), way("persistent", eta=3.0)
    puts, more = way("rma-many-active", 4, eta=8.0), way("rma-single-active", eta=7.0)
    missing = Of(**vars(way("part", eta=9.0)) | {"available": False})
    rows = [way("single", eta=9.0), more, puts, missing, joined, way("many", 2, eta=9.0), kept]

    def over_sizes(ways: Any, sizes: Any, exchanges: int) -> Any:
        return [6.0, *((a, len(sizes), exchanges) for a in ways[1:])]

    runs = Of(over_sizes=over_sizes)
    monkeypatch.setattr(of_prediction, "metrics", Of(eta=lambda today, time: time if today == 6.0 else None))
    monkeypatch.setattr(of_prediction, "best_per_interface", lambda _: rows)
    monkeypatch.setattr(of_prediction, "runs_of", lambda *_, draws: [runs, draws])
    monkeypatch.setattr(of_prediction, "_sure", lambda *given: given[-2:])
    title, sizes, lines, here, sure = given_to(monkeypatch, "size", {"buffer": "8 MiB"}, advised=best)
    assert title == "laggard on M (mpich-release), 4 threads, 8 MiB"
    assert [sizes[0], sizes[-1], here] == pytest.approx([256, 2**27, 2**23])  # 16 times this buffer
    wanted = {"many, 4 messages on 2 VCIs": best, "persistent, 1 message": kept, "many-joined, 2 messages": joined}
    wanted["rma-many-active, 4 messages"] = puts
    assert lines == {name: (row.approach, 145, ALONE) for name, row in wanted.items()}
    assert [*lines] == [*wanted]
    assert sure == (sizes, lines["many, 4 messages on 2 VCIs"])


def test_the_interval_is_predicted_on_both_sides_of_each_border(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where log(end / η) is linear in the log of the size, so is what lies between the points."""
    sizes, asked = np.geomspace(1000, 4_096_000, 145), list[float]()

    def row(there: Any, approach: Approach) -> Any:
        assert approach.messages == 4
        asked.append(there.buffer)
        size = max(there.buffer, 1002)
        return Of(eta=2.0, eta_low=2 * (size / 1e8) ** 0.5, eta_high=2 * (1e8 / size) ** 0.25)

    def runs(_: Any, there: Any, seed: int, engine: str, draws: int) -> list[Any]:
        assert (seed, engine, draws) == (3, "engine", 32)
        return [there, []]

    monkeypatch.setattr(of_prediction, "runs_of", runs)
    monkeypatch.setattr(of_prediction, "drawn_row", row)
    what = workloads.load("examples/laggard.toml").changed(threads=3, buffer="50001 B")
    path = Of(segments=[Of(from_=start) for start in (0, 1000, 1010, 30001, 999_999, 1_024_000)])
    advice = Of(min_gain=0.025, pays=[Of(low=1.0, high=2.0)], best=way("many", 4))
    machine, made = Of(path=lambda _: path), Of(seed=3, engine="engine", advice=advice)
    eta = np.linspace(1, 2, 145)
    sure = of_prediction._sure(machine, what, made, sizes.tolist(), eta)  # type: ignore[arg-type]
    # Whole bytes of three partitions: 1 KB doubled up to twelve times, this buffer, and the sizes inside at which one
    # message or each of four begins a segment, with and without a byte of each partition.
    inside = (1010, 4000, 4040, 30001, 120004, 999_999, 1_024_000, 3_999_996)
    borders = [b - less for b in inside for less in (0, 3)]
    assert asked == sorted({-(-x // 3) * 3 for x in (*(1000 * 2**k for k in range(13)), 50001, *borders)})
    there = np.maximum(sizes, 1002)
    assert sure.low == pytest.approx(eta * (there / 1e8) ** 0.5)
    assert sure.high == pytest.approx(eta * (1e8 / there) ** 0.25)
    assert (sure.pays, sure.enough) == ([(1.0, 2.0)], "2.5 % of an iteration")


def test_an_exchange_is_drawn_with_the_thread_that_sends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two messages of four partitions each, the fourth and the first are last: of the second and third thread."""
    ready = np.array([1, 2, 3, 8, 7, 1, 1, 1], float).reshape(1, 1, 1, 8)
    shown = {"single": Of(join=1.0, messages="one", end=3.0), "many": Of(join=2.0, messages="two", end=2.0)}
    runs = Of(ready=lambda: ready, plans=lambda way: [a.interface.key for a in way])
    monkeypatch.setattr(of_prediction, "Runs", lambda machine, step, rows: runs if step.rest else None)
    monkeypatch.setattr(of_prediction, "alone", lambda key: [shown[key], None])
    fields = {"partitions_per_thread": 2}
    title, (bulk, many) = given_to(monkeypatch, "exchange", fields, advised=way("many", 2))
    said = "\none exchange alone: 1.50×; {}: 1.40×, which counts"
    assert title.endswith(said.format("waiting for late neighbours included"))
    pair = given_to(monkeypatch, "exchange", fields, advised=way("many", 2), ranks=())[0]
    assert pair.endswith(said.format("mean over the arrivals"))
    assert [bulk.thread_ready.tolist(), many.thread_ready.tolist()] == 2 * [[-6, 0, -1, -7]]
    assert [bulk.owner.tolist(), many.owner.tolist()] == [[0], [1, 2]]
    assert (bulk.label, bulk.messages, bulk.join, bulk.end) == ("Pt2Pt single, 1 message per peer", "one", 1.0, 3.0)
    assert (many.label, many.messages, many.join, many.end) == ("Pt2Pt many, 2 messages per peer", "two", None, 2.0)


SEEN = {c.lower() for c in (*COLOURS, NEUTRAL)}


def colours_of(path: Path) -> set[str]:
    """Colours of what is drawn, the rules for the dark aside."""
    text = re.sub(r"<style>.*?</style>", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    return {c.lower() for c in re.findall(r"#[0-9a-fA-F]{6}\b", text)} - {"#ffffff"}  # the white of axes is clear


PREDICT, SIZES = ("predict", "examples/laggard.toml", "--plot"), "buffer=1KiB:64KiB:2x"
PICTURES: dict[str, tuple[tuple[str, ...], set[str]]] = {
    "size": (PREDICT, {"this buffer", "bulk", "buffer per peer", "likely saves 1 % of an iteration"}),
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
    assert rules() in text
    said = {" ".join("".join(t.itertext()).split()) for t in ET.fromstring(text.partition("\n")[2]).iter(TEXT)}
    assert said >= PICTURES[kind][1]


def test_the_same_figure_is_the_same_bytes() -> None:
    sizes = [2.0**k for k in range(10, 20)]
    sure = Sure(np.ones(10), np.full(10, 2.0), [], "")
    first, again = (eta_over_size("title", sizes, {"one": np.linspace(1, 2, 10)}, 4096.0, sure) for _ in range(2))
    assert svg(first) == svg(again)
    whole, part = svg(first), svg(first, alone=False)
    assert [(text.partition(" ")[0], "<style>" in text) for text in (whole, part)] == [("<?xml", True), ("<svg", False)]


def test_an_exchange_of_unequal_faces_has_a_line_per_peer() -> None:
    faces = {"buffer": None, "faces": ["2 MiB", "512 KiB", "64 KiB"]}
    what = workloads.load("examples/halo3d.toml").changed(threads=4, partitions_per_thread=1, **faces)
    (one,) = exchanges_from_rest(MELUXINA, what, Approach(BY_KEY["many"], 4, 2), [[1e-3, 1.2e-3, 1.1e-3, 1.0e-3]])
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
    assert all(
        line in " ".join(page.split()) for line in (*lines, *(of_exchange(e, as_one(made)) for e in made.exchanges))
    )
    assert "<figure>" not in (folder / "index.html").read_text(encoding="utf-8")
    assert "No picture" not in page
