"""Colours of pictures and pages, each with its twin for dark mode.

After Okabe and Ito's palette, which colour-blind readers can tell apart, darker on white: each contrasts with its
ground by at least 4.5, as WCAG 2.1 asks of text (success criterion 1.4.3).
"""

from __future__ import annotations

GROUND = "#FFFFFF", "#15181C"
"""White, and the paper of dark mode."""

INK = "#1A1D21", "#E4E7EA"
"""Text, likewise."""

PALETTE = {
    "blue": ("#0072B2", "#58AEE0"),
    "vermilion": ("#C24E00", "#EE8A4A"),
    "green": ("#00815E", "#3FC39C"),
    "purple": ("#A8548A", "#DFA0C3"),
    "orange": ("#946400", "#E0B040"),
    "sky": ("#2178A8", "#8CC8F0"),
    "neutral": ("#6E6E6E", "#9A9A9A"),
}
"""Colours of lines, areas and labels: on white, and in dark mode."""

WORDS = {
    "green": ("#1A7F37", "#6FD08C"),
    "yellow": ("#8A6100", "#E3B341"),
    "red": ("#B3261E", "#FF8A80"),
    "dim": ("#5C6670", "#9AA4AE"),
}
"""Colours of words on a page, by the name that the terminal's style has for each."""

NEUTRAL = PALETTE["neutral"][0]

COLOURS = tuple(light for name, (light, _) in PALETTE.items() if name != "neutral")
"""Colours of lines, in order."""

LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 2)))
"""Line styles, for readers who see no colours."""


def rules() -> str:
    """CSS of both modes: variables of ground and ink, and a class for each paint of a picture, as "stroke-blue"."""

    def variables(mode: int) -> str:
        own = {"ground": GROUND, "ink": INK, **PALETTE, **{f"word-{name}": pair for name, pair in WORDS.items()}}
        return "; ".join(f"--{name}: {pair[mode]}" for name, pair in own.items())

    classes = [f".{what}-{name} {{ {what}: var(--{name}) }}" for name in PALETTE for what in ("fill", "stroke")]
    classes += [f".{name} {{ color: var(--word-{name}) }}" for name in WORDS]
    dark = f"@media (prefers-color-scheme: dark) {{ :root {{ {variables(1)} }} }}"
    return "\n".join([f":root {{ {variables(0)} }}", dark, *classes])
