"""pready: is it worth porting MPI+threads communication to MPI 4.0 partitioned communication, and how?

>>> import pready
>>> prediction = pready.predict("meluxina", "examples/halo3d.toml")
>>> prediction.advice.verdict
'port'

Machines, workloads, libraries and approaches go by name or file, or as objects. The stages are `pready.model`,
`pready.calibrate`, `pready.sst` and `pready.validate`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from pready.model.rendering import render_with
from pready.model.version import VERSION as __version__

_HOME = {
    "Approach": "model.approach",
    "Explanation": "model.explanation",
    "Machine": "model.machine",
    "Prediction": "model.prediction",
    "PreadyError": "model.errors",
    "Simulated": "api",
    "Table": "whatif.table",
    "Workload": "model.workload",
    "compare": "api",
    "explain": "api",
    "explore": "notebook",
    "gain": "api",
    "load_machine": "model.machine:load",
    "load_workload": "model.workload:load",
    "predict": "api",
    "simulate": "api",
    "sweep": "api",
}
"""The module of each name, and the name there where it is another. For type checkers and editors: ``__init__.pyi``."""

__all__ = [
    "Approach",
    "Explanation",
    "Machine",
    "PreadyError",
    "Prediction",
    "Simulated",
    "Table",
    "Workload",
    "__version__",
    "compare",
    "explain",
    "explore",
    "gain",
    "load_machine",
    "load_workload",
    "predict",
    "simulate",
    "sweep",
]


def __getattr__(name: str) -> Any:
    # Lazy, so that `pready --version` starts without NumPy and pydantic.
    if name not in _HOME:
        raise AttributeError(f"module 'pready' has no attribute {name!r}")
    module, _, attribute = _HOME[name].partition(":")
    return getattr(import_module(f"pready.{module}"), attribute or name)


def __dir__() -> list[str]:
    return sorted(__all__)


_SHOWN = {
    ("Prediction", "html"): ("prediction", "prediction_html"),
    ("Table", "html"): ("whatif", "table_html"),
    ("Explanation", "plain"): ("explanation", "plain"),
    ("Explanation", "latex"): ("explanation", "latex"),
    ("Explanation", "markdown"): ("explanation", "markdown"),
}


def _render(result: object, form: str) -> str:
    module, function = _SHOWN[type(result).__name__, form]
    text: str = getattr(import_module(f"pready.show.{module}"), function)(result)
    return text


render_with(_render)
