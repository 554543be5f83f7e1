"""Results in other forms: as data frames of pandas or polars, and as a notebook shows them.

The model draws nothing: `pready` says how results are rendered when it is imported, which it always is before anything
in this folder.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from pready.model.common.errors import PreadyError

Rows = Sequence[Mapping[str, object]]
"""The rows of a data frame: columns by name."""
Renderer = Callable[[object, str], str]
"""Takes a result and a form ("plain", "html", "latex", "markdown"), returns its text."""

_renderers: list[Renderer] = []


def to_pandas(rows: Rows) -> Any:
    """Rows as a ``pandas.DataFrame``.

    Raises
    ------
    PreadyError
        pandas is not installed.
    """
    return _library("pandas").DataFrame(list(rows))


def to_polars(rows: Rows) -> Any:
    """Rows as a ``polars.DataFrame``; errors as of `to_pandas`."""
    return _library("polars").DataFrame(list(rows), infer_schema_length=None)


def _library(name: str) -> Any:
    if find_spec(name) is None:
        raise PreadyError(f"a data frame needs {name}, which is not installed: pip install {name}")
    return import_module(name)


def render_with(renderer: Renderer) -> None:
    """From now on, results are shown by `renderer`."""
    _renderers[:] = [renderer]


def rendered(result: object, form: str) -> str:
    """The text of a result in a form."""
    return _renderers[0](result, form)
