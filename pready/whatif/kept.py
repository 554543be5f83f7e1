"""Finished points in a file beside the output, one line each, by a digest of their inputs, with one of their rows."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

from pready.files.writing import check_writable, writing_to
from pready.model.toml.reading import LARGEST_DATA, TIMES_OF_JSON, read_bytes
from pready.whatif.predicted_rows import Rows

SUFFIX = ".points"


class Kept:
    """The points kept in one file; points of damaged lines are computed again. `damaged`: lines that are not as they
    were written, but for a last one that was cut."""

    def __init__(self, output: Path, suffixes: tuple[str, ...] = ()) -> None:
        check_writable(output, suffixes)
        self.path = output.with_name(output.name + SUFFIX)
        check_writable(self.path)
        self._rows: dict[str, Rows] = {}
        self._ends, self.damaged = True, 0
        if not self.path.exists():
            return
        text = read_bytes(self.path, LARGEST_DATA, TIMES_OF_JSON).decode("utf-8", "replace")
        self._ends = not text or text.endswith("\n")
        for line in text.splitlines(keepends=True):
            try:
                value = json.loads(line)
                key, rows = value["point"], value["rows"]
                if value["digest"] != _digest(key, rows):
                    raise ValueError
                self._rows[key] = rows
            except (ValueError, KeyError, TypeError, RecursionError):
                self.damaged += line.endswith("\n") and not line.isspace()

    def __len__(self) -> int:
        return len(self._rows)

    def count(self, keys: Iterable[str]) -> int:
        """How many of these points are finished."""
        return sum(key in self._rows for key in keys)

    def get(self, key: str) -> Rows | None:
        """A point's rows, if it is finished."""
        return self._rows.get(key)

    def add(self, key: str, rows: Rows) -> None:
        """Keep a finished point."""
        line = json.dumps({"point": key, "rows": rows, "digest": _digest(key, rows)}, allow_nan=False) + "\n"
        with writing_to(self.path), self.path.open("a", encoding="utf-8") as stream:
            stream.write(line if self._ends else "\n" + line)
        self._ends = True
        self._rows[key] = rows


def _digest(key: str, rows: Rows) -> str:
    return hashlib.sha256(json.dumps([key, rows]).encode()).hexdigest()[:16]
