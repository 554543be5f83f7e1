"""Pages that need nothing else: what the terminal shows, as Rich exports it, with pictures between."""

from __future__ import annotations

from collections.abc import Iterable
from io import StringIO

from markupsafe import Markup, escape
from rich.color import Color
from rich.console import Console, RenderableType
from rich.terminal_theme import TerminalTheme

WORDS = {"red": "#B3261E", "green": "#1A7F37", "yellow": "#8A6100", "ink": "#1A1D21"}
"""Colours of words, by the name that the terminal's style has for each; each contrasts with white by at least 4.5."""

COLUMNS = 100
STYLE = """body { margin: 0 auto; max-width: 66rem; padding: 2rem; background: white; color: #1a1d21;
  font: 15px/1.5 system-ui, sans-serif }
h2 { margin-top: 2.5rem; padding-top: 0.8rem; border-top: 1px solid #e3e5e8 }
pre { overflow-x: auto; font: 0.87em/1.4 ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace }
figure { margin: 1rem 0; overflow-x: auto }
"""
HEAD = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"

_OF_NAME = {name: Color.parse(colour).get_truecolor() for name, colour in WORDS.items()}
THEME = TerminalTheme(
    (255, 255, 255), _OF_NAME["ink"], [_OF_NAME[name] for name in ("ink", "red", "green", "yellow", *["ink"] * 4)]
)
"""White, ink, and the terminal's eight colours, of which tables have three."""

Part = RenderableType | Markup
"""What the terminal shows, or HTML such as a figure."""


def page(title: str, sections: Iterable[tuple[str, Part]]) -> str:
    """A complete HTML document: no script, style, font or image comes from elsewhere. `sections`: heading, empty for
    none, and what stands below it."""
    body = "".join(
        (f"<h2>{escape(heading)}</h2>\n" if heading else "")
        + (str(part) if isinstance(part, Markup) else as_html(part))
        for heading, part in sections
    )
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{HEAD}">\n<link rel="icon" href="data:,">\n'
        f"<title>{escape(title)}</title>\n<style>\n{STYLE}</style>\n</head>\n"
        f"<body>\n<h1>{escape(title)}</h1>\n{body}</body>\n</html>\n"
    )


def as_html(shown: RenderableType, columns: int = COLUMNS) -> str:
    """What the terminal shows as preformatted HTML, for pages and notebooks."""
    console = Console(record=True, file=StringIO(), width=columns, highlight=False, emoji=False)
    console.print(shown)
    return console.export_html(theme=THEME, code_format="<pre>{code}</pre>\n", inline_styles=True)
