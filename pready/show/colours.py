"""Colours of pictures: for who sees few of them, on white and on black."""

from __future__ import annotations

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Okabe and Ito's, told apart by the colour-blind."""

LIGHTER = ("#58AEE0", "#EE8A4A", "#3FC39C", "#DFA0C3", "#E0B040", "#8CC8F0")
"""The same in the dark, where the first are hard to see."""

LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 2)))
"""For who sees no colours."""

NEUTRAL = "#808080"
"""Seen on white and on black."""

ON_MAP = "#1A1A1A"
"""On the shades of a map, which are the same in the light and in the dark."""


def in_the_dark(within: str = "") -> str:
    """Style rules of an SVG by which `COLOURS` become `LIGHTER`; programs that know no rules show the former.

    Parameters
    ----------
    within
        A selector of what holds the picture, with a blank behind it; empty: the picture is a file of its own.
    """
    rules = [
        f'{within}[style*="{what}: {colour.lower()}"] {{ {what}: {lighter} !important }}'
        for colour, lighter in zip(COLOURS, LIGHTER, strict=True)
        for what in ("fill", "stroke")
    ]
    return "@media (prefers-color-scheme: dark) {\n" + "\n".join(rules) + "\n}"
