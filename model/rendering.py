"""How a result shows itself in a notebook: asked for here, told from above, since the model draws nothing.

`pready` fills this in when it is imported, which it always is before anything in this folder.
"""

from __future__ import annotations

from collections.abc import Callable

Renderer = Callable[[object, str], str]
"""Takes a result and a form ("plain", "html", "latex", "markdown"), returns its text."""

_found: list[Renderer] = []


def render_with(renderer: Renderer) -> None:
    """From now on, results are shown by `renderer`."""
    _found[:] = [renderer]


def rendered(result: object, form: str) -> str:
    """The text of a result in a form.

    Raises
    ------
    LookupError
        Nobody has said how.
    """
    if not _found:
        raise LookupError(f"nothing renders {type(result).__name__} as {form}")
    return _found[0](result, form)
