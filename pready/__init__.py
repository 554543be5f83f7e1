"""pready: is it worth porting MPI+threads communication to MPI 4.0 partitioned communication, and how?

>>> import pready
>>> prediction = pready.predict("examples/halo3d.toml", "meluxina")
>>> prediction.advice.partitioned.verdict
'do not port'

Machines, workloads, libraries and approaches are names, files or objects. Parts of a prediction are here for notebooks,
too: `equations`, ways to send on the same machines (`Runs`), many ranks (`simulate_ranks`), arrivals. Stages:
`pready.model`, `pready.calibrate`, `pready.sst` and `pready.validate`.
"""

from __future__ import annotations

import ast
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from pready.model.result.forms import render_with


def __getattr__(name: str) -> Any:
    # Lazy, so that `pready --version` starts without NumPy and pydantic.
    if name == "__all__":
        return list(_offered())
    if name not in _offered():
        raise AttributeError(f"module 'pready' has no attribute {name!r}")
    module, there = _offered()[name]
    home = import_module(module)
    return getattr(home, there) if hasattr(home, there) else import_module(f"{module}.{there}")


def __dir__() -> list[str]:
    return sorted(_offered())


@cache
def _offered() -> dict[str, tuple[str, str]]:
    """Each name of ``__init__.pyi``, which type checkers and editors read: its module, and its name there."""
    stub = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    lines = [line for line in stub.body if isinstance(line, ast.ImportFrom)]
    return {of.asname or of.name: (str(line.module), of.name) for line in lines for of in line.names}


_SHOWN = {
    ("Prediction", "html"): ("prediction", "prediction_html"),
    ("Prediction", "plain"): ("prediction", "prediction_text"),
    ("Table", "html"): ("whatif", "table_html"),
    ("Explanation", "plain"): ("explanation", "plain"),
    ("Explanation", "markdown"): ("explanation", "markdown"),
}


def _render(result: object, form: str) -> str:
    module, function = _SHOWN[type(result).__name__, form]
    text: str = getattr(import_module(f"pready.show.tables.{module}"), function)(result)
    return text


render_with(_render)
