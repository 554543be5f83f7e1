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

from importlib import import_module
from typing import Any

from pready.model.result.forms import render_with

_HOME = {
    "Approach": "model.approach.interfaces",
    "Explanation": "model.advice.explanation",
    "LIBRARIES": "model.approach.libraries",
    "Layout": "model.engine.layout",
    "Machine": "model.machine.machine",
    "PreadyError": "model.common.errors",
    "Prediction": "model.result.prediction",
    "Rows": "model.engine.runs",
    "Runs": "model.engine.runs",
    "Simulated": "api",
    "Step": "model.engine.layout",
    "Table": "whatif.table",
    "Workload": "model.workload.workload",
    "__version__": "model.version:VERSION",
    "approach": "model.advice.approach_by_name",
    "communicators_27_point": "model.approach.vcis",
    "compare": "api",
    "contention": "model.machine.contention_by_library",
    "costs_that_matter": "model.advice.advise",
    "draw_arrivals": "model.engine.plan:drawn_times",
    "equations": "model.equations.gain:",
    "exchanges_from_rest": "model.engine.simulate",
    "explain": "api",
    "format_bandwidth": "model.common.units",
    "format_size": "model.common.units",
    "format_time": "model.common.units",
    "gain": "api",
    "load_machine": "model.machine.machine:load",
    "load_workload": "model.workload.workload:load",
    "predict": "api",
    "projected_speedup": "model.equations.metrics",
    "simulate": "api",
    "simulate_ranks": "model.engine:simulate",
    "speedup_percent": "model.equations.metrics",
    "sweep": "api",
    "vci_members": "model.approach.vcis",
}
"""The module of each name, with a colon and the name there if it differs (empty: the module itself). Type checkers and
editors read ``__init__.pyi``."""

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    # Lazy, so that `pready --version` starts without NumPy and pydantic.
    if name not in _HOME:
        raise AttributeError(f"module 'pready' has no attribute {name!r}")
    module, colon, attribute = _HOME[name].partition(":")
    home = import_module(f"pready.{module}")
    return home if colon and not attribute else getattr(home, attribute or name)


def __dir__() -> list[str]:
    return sorted(__all__)


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
