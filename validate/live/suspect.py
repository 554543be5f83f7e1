"""Which term of the model an error points at: the least surprising change that would explain it.

A measurement on the model: leave a cost out, and see how much of the predicted time it makes. The measured time then
says by which factor it would have to be wrong. How surprising that is, the calibration says, which measured that cost
in isolation: the factor's logarithm over the relative half-width of its interval.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np

from pready.model.arrays import Replaced
from pready.model.costs import Costs
from pready.model.interfaces import Approach
from pready.model.machine import Machine, Wake
from pready.model.machine_path import SizeCurve
from pready.model.machine_threads import Barrier, Contention
from pready.model.terms import by_name, canonical, without
from pready.model.values import Value
from pready.model.workload import Workload
from pready.validate.result import CaseResult

CLEAR = 0.07
"""Relative error of time or η from which a case has a suspect."""
LARGEST = 4.0
"""A cost that would have to be wrong by more than this factor is no explanation."""

SURPRISING = 8.0
"""Half-widths of its interval by which no cost is off: then it is not that one."""
SUREST = 0.02
"""Relative half-width that no interval is taken to be below: the same cost, at another moment."""


Measured = Value[Any] | Barrier | Contention | SizeCurve | Wake
"""What a calibration says of one parameter."""


def uncertainty(found: Measured) -> float:
    """Relative half-width of its interval."""
    if isinstance(found, Wake):
        return max(found.within / max(*found.time, found.within), SUREST)
    if isinstance(found, (Barrier, Contention, SizeCurve)):
        return max(found.interval, SUREST)
    if found.interval is None or found.value == 0:
        return SUREST
    low, high = found.interval
    return max(float(high - low) / 2 / abs(float(found.value)), SUREST)


def behind(names: set[str], machine: Machine, size: float) -> Iterator[Measured]:
    """The machine's values of some `canonical` names; of segments, those of messages of `size` bytes."""
    segment = f"inter.segments[{machine.inter.segments.index(machine.inter.segment(size))}]."
    for label, value in machine.values():
        if canonical(label) in names and (label.startswith(segment) or "[" not in label):
            assert isinstance(value, (Value, Barrier, Contention, SizeCurve, Wake))
            yield value


class Predicting(Protocol):
    """Predictions of what is measured, with some costs replaced."""

    machine: Machine
    workload: Workload

    def costs(self, approach: Approach) -> Costs:
        """Of the approach's messages."""

    def median_time(self, approach: Approach, **replaced: Replaced) -> float:
        """Seconds after the last partition is ready."""


def beside_terms(case: CaseResult) -> str | None:
    """What is to say without looking for a term: nothing of a case that is predicted well enough; None: look."""
    if abs(case.error) < CLEAR and abs(case.eta_error) < CLEAR:
        return ""
    if case.measured_s > 0 and abs(case.error) < case.spread:
        return f"the measurement itself: its spread is {case.spread:.0%}"
    if abs(case.error) < CLEAR:
        return "the time of bulk, not of this approach"
    return None


def suspect(evaluation: Predicting, approach: Approach, case: CaseResult) -> str:
    """The suspected term in words; empty where the case is predicted well enough."""
    plain = beside_terms(case)
    if plain is not None:
        return plain
    found: list[tuple[float, str]] = []
    size = approach.message_size(evaluation.workload.buffer)
    for name, terms in by_name().items():
        replaced = without(evaluation.costs(approach), terms)
        share = case.predicted_s - evaluation.median_time(approach, **replaced)
        if abs(share) < 1e-3 * case.predicted_s:
            continue
        factor = 1 + (case.measured_s - case.predicted_s) / share
        if 1 / LARGEST <= factor <= LARGEST:
            isolated = list(behind({v for t in terms for v in t.values}, evaluation.machine, size))
            least_sure = max(isolated, key=uncertainty, default=None)
            why = f" (measured: {least_sure.why})" if least_sure is not None else ""
            surprise = abs(np.log(factor)) / (SUREST if least_sure is None else uncertainty(least_sure))
            if surprise > SURPRISING:
                continue
            found.append((surprise, f"{name} would have to be {factor:.2g} times as long{why}"))
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
