"""Colours of pictures, for colour-blind readers, on white and on black."""

from __future__ import annotations

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Okabe and Ito's palette, which colour-blind readers can tell apart."""

LIGHTER = ("#58AEE0", "#EE8A4A", "#3FC39C", "#DFA0C3", "#E0B040", "#8CC8F0")
"""`COLOURS` for dark backgrounds."""

LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 2)))
"""Line styles, for readers who see no colours."""

NEUTRAL = "#808080"
"""Visible on white and on black."""

ON_MAP = "#1A1A1A"
"""Visible on a map, whose shades are the same in light and dark."""


def in_the_dark(within: str = "") -> str:
    """CSS rules that turn `COLOURS` into `LIGHTER` in dark mode; viewers without CSS show `COLOURS`.

    Parameters
    ----------
    within
        A selector of the picture's parent, ending in a blank; empty: the picture is a file of its own.
    """
    rules = [
        f'{within}[style*="{what}: {colour.lower()}"] {{ {what}: {lighter} !important }}'
        for colour, lighter in zip(COLOURS, LIGHTER, strict=True)
        for what in ("fill", "stroke")
    ]
    return "@media (prefers-color-scheme: dark) {\n" + "\n".join(rules) + "\n}"
