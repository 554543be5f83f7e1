"""The result of a sweep or a comparison: rows for files, terminals, pandas and polars."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from pready.model.result.forms import rendered, to_pandas, to_polars


@dataclass(frozen=True)
class Table:
    """Rows of points in order, flat dictionaries with the same keys."""

    varied: tuple[str, ...]
    """Names of the varied fields, the first columns."""
    rows: list[dict[str, Any]] = field(repr=False)
    notes: tuple[str, ...] = ()
    """Notes on how the points were made."""

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    def to_dicts(self) -> list[dict[str, Any]]:
        """The rows as plain data."""
        return [dict(row) for row in self.rows]

    def to_pandas(self) -> Any:
        """The rows as a data frame.

        Raises
        ------
        PreadyError
            pandas is not installed.
        """
        return to_pandas(self.rows)

    def to_polars(self) -> Any:
        """The rows as a polars data frame."""
        return to_polars(self.rows)

    def _repr_html_(self) -> str:
        return rendered(self, "html")
