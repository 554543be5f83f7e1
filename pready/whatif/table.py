"""What a sweep or a comparison gives: rows, for a file, a terminal, pandas or polars."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from pready.model.forms import rendered, to_pandas, to_polars


@dataclass(frozen=True)
class Table:
    """Rows of points, in order; each a flat dictionary with the same keys."""

    varied: tuple[str, ...]
    """The columns in front, which say what was varied."""
    rows: list[dict[str, Any]] = field(repr=False)
    notes: tuple[str, ...] = ()
    """What the reader has to know of how the points were made."""

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    def to_dicts(self) -> list[dict[str, Any]]:
        """The rows, of plain data."""
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
        """Likewise, of polars."""
        return to_polars(self.rows)

    def _repr_html_(self) -> str:
        return rendered(self, "html")
