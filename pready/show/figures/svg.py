"""A figure as SVG, with text as text, readable on white and on black."""

from __future__ import annotations

import re
from io import StringIO

from matplotlib import rc_context
from matplotlib.figure import Figure

from pready.show.figures.colours import in_the_dark

GROUND = """:root { color: #1a1a1a; background: white }
text { font-family: "DejaVu Sans", Verdana, sans-serif; fill: currentColor }
@media (prefers-color-scheme: dark) { :root { color: #e6e6e6; background: #14161a } }
"""
STYLE = f"<style>\n{GROUND}{in_the_dark()}\n</style>"


def svg(figure: Figure, *, alone: bool = True) -> str:
    """A figure as SVG. Text stays text; black becomes the reader's text colour, for dark pages.

    Parameters
    ----------
    alone
        A file with its own background. False: part of a page, which has one and the rules of `in_the_dark`.
    """
    stream = StringIO()
    with rc_context({"svg.hashsalt": "pready", "svg.fonttype": "none"}):
        figure.savefig(stream, format="svg", metadata={"Date": None}, transparent=True)
    text = stream.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"#(?:000000|262626)\b", "currentColor", text)
    head, body = text.split(">", 1)
    if "fill: currentColor" not in head:
        head += ' fill="currentColor"'
    start = '<?xml version="1.0" encoding="utf-8" standalone="no"?>\n' if alone else ""
    return f"{start}{head}>{STYLE if alone else ''}{body}"
