"""Rows as data frames of pandas or polars, for those who have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from pready.model.errors import PreadyError

Rows = Sequence[Mapping[str, object]]


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
