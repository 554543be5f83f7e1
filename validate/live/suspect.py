"""Which term of the model an error points at: the least surprising change that would explain it.

A measurement on the model: leave a cost out, and see how much of the predicted time it makes. The measured time then
says by which factor it would have to be wrong. How surprising that is, the calibration says, which measured that cost
in isolation: the factor's logarithm over the relative half-width of its interval.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pready.model.approach import Approach
from pready.model.machine import Barrier, Machine, SizeCurve, Wake
from pready.model.values import Array, Value
from pready.validate.live.as_measured import Completed
from pready.validate.result import CaseResult

CLEAR = 0.07
"""Relative error of time or η from which a case has a suspect."""
LARGEST = 4.0
"""A cost that would have to be wrong by more than this factor is no explanation."""

SURPRISING = 8.0
"""Half-widths of its interval by which no cost is off: then it is not that one."""
SUREST = 0.02
"""Relative half-width that no interval is taken to be below: the same cost, at another moment."""


@dataclass(frozen=True)
class Term:
    """A cost by its name, the timeline's costs that it is, and the measurement that isolates it."""

    name: str
    costs: tuple[str, ...]
    of: Callable[[Machine], Value[Any] | Barrier | Wake | SizeCurve | None]

    def uncertainty(self, machine: Machine) -> float:
        """Relative half-width of its interval."""
        found = self.of(machine)
        if found is None:
            return SUREST
        if isinstance(found, Wake):
            return max(found.within / max(*found.time, found.within), SUREST)
        if not isinstance(found, Value):
            return max(found.interval, SUREST)
        if found.interval is None or found.value == 0:
            return SUREST
        low, high = found.interval
        return max(float(high - low) / 2 / abs(float(found.value)), SUREST)


TERMS = (
    Term("link bandwidth", ("stream", "link", "drain"), lambda m: m.inter.segments[-1].G),
    Term("cold caches after a pause", ("cold",), lambda m: m.cold),
    Term("waking up to send", ("wake",), lambda m: m.threads.wake),
    Term("the threads' barrier", ("barrier",), lambda m: m.threads.barrier),
    Term("message overhead", ("hold", "put"), lambda m: m.inter.segments[0].o_s),
    Term("receive overhead", ("receive", "unmatched"), lambda m: m.inter.segments[0].o_r),
    Term("MPI_Pready", ("pready",), lambda m: m.threads.pready),
    Term("the active message", ("active", "copy_out"), lambda m: m.active_message),
    Term("RMA synchronisation", ("epoch", "flush", "window", "control"), lambda m: m.one_sided.epoch),
    Term("the shaped link's bucket", ("credit",), lambda m: m.inter.burst),
)


def suspect(evaluation: Completed, approach: Approach, case: CaseResult) -> str:
    """The suspected term in words; empty where the case is predicted well enough."""
    if abs(case.error) < CLEAR and abs(case.eta_error) < CLEAR:
        return ""
    if case.measured_s > 0 and abs(case.error) < case.spread:
        return f"the measurement itself: its spread is {case.spread:.0%}"
    if abs(case.error) < CLEAR:
        return "the time of bulk, not of this approach"
    found: list[tuple[float, str]] = []
    for term in TERMS:
        without = {f: _zero(evaluation, approach, f) for f in term.costs}
        share = case.predicted_s - evaluation.median_time(approach, **without)
        if abs(share) < 1e-3 * case.predicted_s:
            continue
        factor = 1 + (case.measured_s - case.predicted_s) / share
        if 1 / LARGEST <= factor <= LARGEST:
            isolated = term.of(evaluation.machine)
            why = f" (measured: {isolated.why})" if isolated is not None else ""
            surprise = abs(np.log(factor)) / term.uncertainty(evaluation.machine)
            if surprise > SURPRISING:
                continue
            found.append((surprise, f"{term.name} would have to be {factor:.2g} times as long{why}"))
    if found:
        return min(found)[1]
    if approach.interface.windows_per_thread and case.threads > 1:
        return "no term: threads wait inside MPI for their windows, and take turns where they have no core each"
    if approach.interface.one_sided:
        return (
            "no cost: between two calls of the sender, puts move as far as the system buffers them, "
            "which the model takes as so many bytes"
        )
    return "no term of the model"


def _zero(evaluation: Completed, approach: Approach, field: str) -> Array:
    return np.zeros(np.shape(getattr(evaluation.costs(approach), field)))
