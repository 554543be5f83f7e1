"""Sliders for a notebook: η, change of iteration time and verdict of a changing workload."""

from __future__ import annotations

import html
from importlib import import_module
from typing import Any

from pready.api import MachineOrName, WorkloadOrFile, as_machine, as_workload
from pready.files.extra import need
from pready.model.advice.summary import outcome
from pready.model.common.errors import PreadyError
from pready.model.common.units import format_size
from pready.model.machine.contention_by_library import contention
from pready.model.machine.machine import Machine
from pready.model.workload.arrivals import Drawn
from pready.model.workload.workload import Workload

KIB, LARGEST = 2.0**10, 2.0**26
MOST_THREADS, MOST_PARTITIONS = 128, 64
SPREADS = (0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.04, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3)


def explore(machine: MachineOrName, workload: WorkloadOrFile, *, library: str | None = None, seed: int = 0) -> Any:
    """Sliders over buffer, threads, partitions per thread and spread of arrivals, with the prediction below.

    Parameters
    ----------
    machine, workload, library, seed
        As of `pready.predict`.

    Returns
    -------
    An ``ipywidgets`` box to show in a notebook.

    Raises
    ------
    PreadyError
        ipywidgets is not installed, a name is unknown, or the step has several exchanges.
    """
    need("ipywidgets", "pready.explore", extra="notebook")
    widgets = import_module("ipywidgets")
    on, what = for_sliders(machine, workload)
    sliders = {
        name: widgets.SelectionSlider(options=some, value=here, description=said, continuous_update=False)
        for name, (said, some, here) in choices(on, what).items()
    }
    shown = widgets.HTML()

    def update(_: object = None) -> None:
        shown.value = answer(on, what, {name: s.value for name, s in sliders.items()}, library=library, seed=seed)

    for slider in sliders.values():
        slider.observe(update, names="value")
    update()
    return widgets.VBox([*sliders.values(), shown])


def for_sliders(machine: MachineOrName, workload: WorkloadOrFile) -> tuple[Machine, Workload]:
    """Both, read; a step of several exchanges is refused."""
    on, what = as_machine(machine), as_workload(workload)
    if what.exchanges is not None:
        raise PreadyError("sliders over several exchanges per step", valid="one of its parts, or pready.sweep")
    return on, what


def choices(machine: Machine, workload: Workload) -> dict[str, tuple[str, list[tuple[str, Any]], Any]]:
    """By field: label of the slider, choices with their texts, and the current value."""
    most = min(MOST_THREADS, machine.threads.barrier.threads[-1], contention(machine).threads[-1])
    sizes = _with(workload.buffer, [KIB * 2**i for i in range(int(LARGEST / KIB).bit_length())])
    threads = _with(workload.threads, [t for t in (1, 2, 4, 8, 16, 32, 64, 128) if t <= most])
    parts = _with(workload.partitions_per_thread, [2**i for i in range(MOST_PARTITIONS.bit_length())])
    out: dict[str, tuple[str, list[tuple[str, Any]], Any]] = {
        "buffer": ("buffer", [(format_size(s), s) for s in sizes], workload.buffer),
        "threads": ("threads", [(str(t), t) for t in threads], workload.threads),
        "partitions_per_thread": ("partitions", [(str(p), p) for p in parts], workload.partitions_per_thread),
    }
    arrivals = workload.arrivals
    if isinstance(arrivals, Drawn) and workload.thread_time > 0:
        here = 0.0 if arrivals.spread is None else arrivals.spread
        own = "as in the file" if arrivals.spread is None else f"{100 * here:g} %"
        some = sorted({(s, f"{100 * s:g} %") for s in SPREADS if s > 0 and s != here} | {(here, own)})
        out["arrivals.spread"] = ("spread", [(said, s) for s, said in some], here)
    return out


def _with(here: float, some: list[Any]) -> list[Any]:
    return sorted({here, *some})


def answer(
    machine: Machine, workload: Workload, chosen: dict[str, Any], *, library: str | None = None, seed: int = 0
) -> str:
    """HTML of the prediction with other fields, or of the error."""
    n = int(chosen["threads"]) * int(chosen["partitions_per_thread"])  # whole bytes per partition
    fields = {**chosen, "buffer": f"{max(1, round(float(chosen['buffer']) / n)) * n} B"}
    if fields.get("arrivals.spread") == getattr(workload.arrivals, "spread", None) or not fields.get("arrivals.spread"):
        fields.pop("arrivals.spread", None)
    try:
        found = outcome(machine, workload.changed(**fields), library=library, seed=seed)
    except PreadyError as error:
        return f"<p>{html.escape(str(error))}</p>"
    best = found.best
    parts = f"{best.transport_partitions} × {best.vcis} VCI{'s' * (best.vcis > 1)}"
    return (
        f"<p style='font-size:large'><b>{found.verdict}</b>: {html.escape(best.name)}, {parts}</p>"
        f"<p>η = {best.eta:.2f}× ({best.eta_low:.2f}-{best.eta_high:.2f}), "
        f"iteration time {-best.speedup_percent:+.1f} % ({-best.speedup_high_percent:+.1f} to "
        f"{-best.speedup_low_percent:+.1f} %)</p>"
    )
