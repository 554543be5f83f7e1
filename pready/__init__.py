"""pready: is it worth porting MPI+threads communication to MPI 4.0 partitioned communication, and how?

>>> import pready
>>> prediction = pready.predict(pready.load_machine("meluxina"), pready.load_workload("halo3d.toml"))
>>> prediction.advice.verdict
'port'

The stages are `pready.model`, `pready.calibrate`, `pready.sst` and `pready.validate`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pready.model.rendering import render_with
from pready.model.version import VERSION as __version__

if TYPE_CHECKING:
    from pready.model.errors import PreadyError
    from pready.model.explanation import Explanation, explain
    from pready.model.machine import Machine
    from pready.model.machine import load as load_machine
    from pready.model.predict import predict
    from pready.model.prediction import Prediction
    from pready.model.workload import Workload
    from pready.model.workload import load as load_workload

__all__ = [
    "Explanation",
    "Machine",
    "PreadyError",
    "Prediction",
    "Workload",
    "__version__",
    "explain",
    "load_machine",
    "load_workload",
    "predict",
]

_HOME = {
    "Explanation": ("explanation", "Explanation"),
    "Machine": ("machine", "Machine"),
    "Prediction": ("prediction", "Prediction"),
    "PreadyError": ("errors", "PreadyError"),
    "Workload": ("workload", "Workload"),
    "explain": ("explanation", "explain"),
    "load_machine": ("machine", "load"),
    "load_workload": ("workload", "load"),
    "predict": ("predict", "predict"),
}


def __getattr__(name: str) -> Any:
    # Lazy, so that `pready --version` starts without NumPy and pydantic.
    if name not in _HOME:
        raise AttributeError(f"module 'pready' has no attribute {name!r}")
    module, attribute = _HOME[name]
    return getattr(import_module(f"pready.model.{module}"), attribute)


_SHOWN = {
    ("Prediction", "html"): ("prediction", "prediction_html"),
    ("Explanation", "plain"): ("explanation", "plain"),
    ("Explanation", "latex"): ("explanation", "latex"),
    ("Explanation", "markdown"): ("explanation", "markdown"),
}


def _render(result: object, form: str) -> str:
    module, function = _SHOWN[type(result).__name__, form]
    text: str = getattr(import_module(f"pready.show.{module}"), function)(result)
    return text


render_with(_render)
