"""A page that needs nothing else: what the terminal shows, by Rich's own HTML export, with pictures between."""

from __future__ import annotations

from collections.abc import Iterable
from io import StringIO
from typing import TYPE_CHECKING

from markupsafe import Markup, escape
from rich.console import Console, RenderableType
from rich.segment import Segment
from rich.style import Style

from pready.show.figures.colours import WORDS, rules

if TYPE_CHECKING:  # an extra
    from matplotlib.figure import Figure

COLUMNS = 100
STYLE = """:root { color-scheme: light dark; --rule: #e3e5e8 }
@media (prefers-color-scheme: dark) { :root { --rule: #2c3137 } }
.bold { font-weight: bold }
.italic { font-style: italic }
body { margin: 0 auto; max-width: 66rem; padding: 2rem; background: var(--ground); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif }
h1, h2 { line-height: 1.2 }
h2 { margin-top: 2.5rem; padding-top: 0.8rem; border-top: 1px solid var(--rule) }
pre { overflow-x: auto; font: 0.87em/1.4 ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace }
figure { margin: 1rem 0; overflow-x: auto }
figure svg { display: block; max-width: 100%; height: auto }
@media (max-width: 40rem) { body { padding: 1rem } figure svg { min-width: 40rem; max-width: none } }
"""
HEAD = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"

Part = RenderableType | Markup
"""What the terminal shows, or HTML such as a figure."""


def page(title: str, sections: Iterable[tuple[str, Part]]) -> str:
    """A complete HTML document: no script, style, font or image comes from elsewhere.

    Parameters
    ----------
    sections
        Heading, empty for none, and what stands below it.
    """
    body = "".join(
        Markup("<h2>{}</h2>\n" if heading else "").format(heading) + (part if isinstance(part, Markup) else _text(part))
        for heading, part in sections
    )
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{HEAD}">\n<link rel="icon" href="data:,">\n'
        f"<title>{escape(title)}</title>\n<style>\n{rules()}\n{STYLE}</style>\n</head>\n"
        f"<body>\n<h1>{escape(title)}</h1>\n{body}</body>\n</html>\n"
    )


def drawn(picture: Figure | str) -> Markup:
    """A picture between two parts."""
    from pready.show.figures.svg import svg

    return Markup(f"<figure>{picture if isinstance(picture, str) else svg(picture, alone=False)}</figure>\n")


def _text(shown: RenderableType) -> Markup:
    console = Console(file=StringIO(), width=COLUMNS, highlight=False, emoji=False, color_system="truecolor")
    segments = Segment.simplify(Segment.filter_control(console.render(shown)))
    return Markup("<pre>{}</pre>\n").format(Markup("").join(_classed(s.text, s.style) for s in segments))


def _classed(text: str, style: Style | None) -> str | Markup:
    """Text with its style as classes, whose colours are those of the reader's mode."""
    if style is None:
        return text
    colour = style.color.name if style.color is not None and not style.color.is_default else None
    if colour is not None and colour not in WORDS:
        raise ValueError(f"a page has no colour {colour}; valid: {', '.join(WORDS)}")
    names = [colour, *(n for n, on in (("bold", style.bold), ("dim", style.dim), ("italic", style.italic)) if on)]
    told = " ".join(filter(None, names))
    return Markup('<span class="{}">{}</span>').format(told, text) if told else text
