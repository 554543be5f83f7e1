"""Words and pictures are seen on white and on black: contrast by WCAG 2.1, computed here and in a browser."""

import json
import os
import re
import shutil
import subprocess
from html import unescape
from itertools import product
from pathlib import Path

import pytest
from matplotlib.figure import Figure
from rich.console import Group
from rich.text import Text

from pready.show.figures.colours import COLOURS, GROUND, INK, NEUTRAL, PALETTE, WORDS, rules
from pready.show.figures.svg import svg
from pready.show.pages.page import drawn, page
from pready.show.tables.answer import VERDICT_STYLE

LEAST = 4.5
"""Of text against its ground: success criterion 1.4.3."""
STYLES = [*VERDICT_STYLE.values(), "dim", "bold dim", "italic", "yellow", "default not bold"]


def contrast(one: str, other: str) -> float:
    """Of two colours as "#rrggbb": (L1 + 0.05) / (L2 + 0.05) of their relative luminances."""
    dark, light = sorted(map(luminance, (one, other)))
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    shares = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = (s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


@pytest.mark.parametrize(
    ("one", "other", "of"),
    [
        ("#000000", "#FFFFFF", 21),
        ("#777777", "#FFFFFF", 4.48),
        ("#800000", "#15181C", 1.63),
    ],  # the last: once a verdict
)
def test_contrast_is_that_of_wcag(one: str, other: str, of: float) -> None:
    assert contrast(one, other) == pytest.approx(of, abs=0.005)


def test_every_colour_contrasts_with_its_ground_in_both_modes() -> None:
    for (name, pair), mode in product([("ink", INK), *PALETTE.items(), *WORDS.items()], (0, 1)):
        assert contrast(pair[mode], GROUND[mode]) >= LEAST, (name, mode)


def picture() -> Figure:
    """Every colour of pictures as a line, an area and a word."""
    figure = Figure()
    axes = figure.subplots()
    for y, colour in enumerate((*COLOURS, NEUTRAL)):
        axes.plot([0, 1], [y, y], "o--", color=colour)
        axes.barh(y, 1, color=colour, hatch="//", edgecolor="k")
        axes.text(0, y, f"word {y}", color=colour)
    return figure


def words() -> Group:
    return Group(*(Text(f"word {style}", style=style) for style in STYLES))


def test_words_and_pictures_have_classes_and_no_colours_of_their_own() -> None:
    text = page("Title", [("Heading", words()), ("", drawn(picture()))])
    body = text.partition("</style>")[2]
    assert re.findall(r'<span class="([^"]*)">word', body) == [
        "green bold", "red bold", "yellow bold", "dim", "bold dim", "italic", "yellow",
    ]  # fmt: skip
    assert not re.search(r'style="[^"]*(?:color|#\w{6}\b)', body)
    painted = re.findall(r'class="([^"]*)" ((?:(?:fill|stroke)="#\w{6}" ?)+)', body)
    plain = {
        f"{what}-{name}": f'{what}="{pair[0].lower()}"' for name, pair in PALETTE.items() for what in ("fill", "stroke")
    }
    assert {name for names, _ in painted for name in names.split()} == {*plain}
    for names, attributes in painted:
        assert attributes.split() == [plain[name] for name in names.split()]
    left = re.sub(r' (?:fill|stroke)="#\w{6}"', "", body)
    assert not {c.lower() for c in re.findall(r"#[0-9a-fA-F]{6}\b", left)} - {"#ffffff"}  # the white of axes is clear
    for whole in (text, svg(picture())):
        assert rules() in whole
    with pytest.raises(ValueError, match="no colour magenta; valid: green, "):
        page("", [("", Text("word", style="magenta"))])


BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
SCRIPT = """
const drawing = "path, use, rect, text, tspan", out = [];
const shares = colour => (colour.match(/[\\d.]+/g) || []).map(Number);
const clear = colour => shares(colour)[3] === 0;
const hex = colour => "#" + shares(colour).slice(0, 3).map(x => Math.round(x).toString(16).padStart(2, "0")).join("");
function ground(of, style) {
  for (; of; of = of.parentElement) if (!clear(style(of).backgroundColor)) return style(of).backgroundColor;
  return "rgb(255, 255, 255)";
}
for (const [n, frame] of [...document.querySelectorAll("iframe")].entries()) {
  const inside = frame.contentDocument, style = frame.contentWindow.getComputedStyle.bind(frame.contentWindow);
  for (const of of inside.querySelectorAll("body, body *, svg *")) {
    if (of.closest("defs, clipPath, metadata, style, script")) continue;
    const own = style(of), said = [...of.childNodes].filter(c => c.nodeType === 3 && c.data.trim()), colours = [];
    const faint = Number(own.opacity) * Number(own.fillOpacity) < 1;
    if (of.matches(drawing) && !faint) for (const paint of [own.fill, own.stroke])
      if (paint.startsWith("rgb") && !clear(paint)) colours.push(paint);
    if (!of.matches(drawing) && said.length) colours.push(own.color);
    const text = said.map(c => c.data).join(" ").trim().slice(0, 40);
    for (const colour of colours) out.push([n, text || of.tagName, hex(colour), hex(ground(of, style))]);
  }
}
document.body.textContent = "FOUND" + JSON.stringify(out) + "END";
"""


@pytest.mark.thorough
@pytest.mark.skipif(BROWSER is None, reason="no browser: apt-get install chromium")
@pytest.mark.parametrize("mode", ["dark", "light"])
def test_a_browser_shows_every_word_and_line(mode: str, tmp_path: Path) -> None:
    assert BROWSER is not None
    (tmp_path / "page.html").write_text(page("Title", [("Heading", words()), ("", drawn(picture()))]), encoding="utf-8")
    (tmp_path / "picture.svg").write_text(svg(picture()), encoding="utf-8")
    frames = '<iframe src="page.html"></iframe><iframe src="picture.svg"></iframe>'
    (tmp_path / "both.html").write_text(f"{frames}<script>onload = () => {{{SCRIPT}}}</script>", encoding="utf-8")
    done = subprocess.run(
        [
            BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", "--dump-dom",
            f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=10000",
            f"--blink-settings=preferredColorScheme={0 if mode == 'dark' else 1}", f"file://{tmp_path}/both.html",
        ],
        capture_output=True, text=True, timeout=300, check=True, env={**os.environ, "HOME": str(tmp_path)},
    )  # fmt: skip
    found = json.loads(unescape(done.stdout.partition("FOUND")[2].partition("END")[0]))
    for frame in (0, 1):
        colours = {colour for n, _, colour, _ in found if n == frame}
        wanted = [INK, *PALETTE.values(), *(WORDS.values() if frame == 0 else ())]
        assert colours >= {pair[mode == "dark"].lower() for pair in wanted}
    assert {ground for *_, ground in found} == {GROUND[mode == "dark"].lower()}
    assert [row for row in found if contrast(row[2], row[3]) < LEAST] == []
