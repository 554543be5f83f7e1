"""A figure as SVG, with text as text, readable on white and on black."""

from __future__ import annotations

import re
from io import StringIO

from matplotlib import rc_context
from matplotlib.figure import Figure

from pready.show.figures.colours import PALETTE, rules

STYLE = f"""<style>
{rules()}
:root {{ color: var(--ink); background: var(--ground) }}
text {{ font-family: "DejaVu Sans", Verdana, sans-serif }}
</style>"""
NAMES = {light.lower(): name for name, (light, _) in PALETTE.items()}
PAINT = re.compile(rf"(?:; )?\b(fill|stroke): ({'|'.join(NAMES)})\b")


def svg(figure: Figure, *, alone: bool = True) -> str:
    """A figure as SVG. Text stays text; black becomes the reader's text colour, for dark pages.

    Parameters
    ----------
    alone
        A file with its own background. False: part of a page, which has one and the `rules` of both modes.
    """
    stream = StringIO()
    with rc_context({"svg.hashsalt": "pready", "svg.fonttype": "none"}):
        figure.savefig(stream, format="svg", metadata={"Date": None}, transparent=True)
    text = stream.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"#(?:000000|262626)\b", "currentColor", text)
    text = re.sub(r'style="([^"]*)"', _classed, text)
    head, body = text.split(">", 1)
    if "fill: currentColor" not in head:
        head += ' fill="currentColor"'
    start = '<?xml version="1.0" encoding="utf-8" standalone="no"?>\n' if alone else ""
    return f"{start}{head}>{STYLE if alone else ''}{body}"


def _classed(style: re.Match[str]) -> str:
    """A style attribute whose colours of the palette are classes; viewers without CSS have them as attributes."""
    paints = PAINT.findall(style[1])
    if not paints:
        return style[0]
    left = PAINT.sub("", style[1]).removeprefix("; ")
    names = " ".join(f"{what}-{NAMES[colour]}" for what, colour in paints)
    plain = " ".join(f'{what}="{colour}"' for what, colour in paints)
    return f'class="{names}" {plain}' + (f' style="{left}"' if left else "")
