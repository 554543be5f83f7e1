"""The suspected term of a case that is off: the least surprising change of one cost that explains the error.

Predicted again without a cost, the time shows the cost's share; the measured time then gives the factor by which the
cost would have to be wrong. Its surprise is the factor's logarithm over the relative half-width of the cost's interval,
which the calibration measured in isolation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np

from pready.model.approach.interfaces import Approach
from pready.model.common.arrays import Replaced
from pready.model.machine.machine import Machine
from pready.model.machine.path import SizeCurve
from pready.model.machine.threads import Barrier, Contention
from pready.model.timeline.costs import Costs
from pready.model.timeline.terms import by_name, canonical, without
from pready.model.toml.provenance import Value
from pready.model.workload.workload import Workload
from pready.validate.result import CaseResult

CLEAR = 0.07
"""Relative error of time or η from which a case has a suspect."""
LARGEST = 4.0
"""No cost is suspected of being wrong by more than this factor."""

SURPRISING = 8.0
"""No cost is suspected of being off by more half-widths of its interval."""
SUREST = 0.02
"""Smallest relative half-width of an interval: costs drift between two measurements."""


Measured = Value[Any] | Barrier | Contention | SizeCurve
"""One calibrated parameter."""


def uncertainty(found: Measured) -> float:
    """Relative half-width of its interval."""
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
        of_the_path = label.startswith(segment) or ("[" not in label and not label.startswith("intra."))
        if canonical(label) in names and of_the_path:
            assert isinstance(value, (Value, Barrier, Contention, SizeCurve))
            yield value


class Predicting(Protocol):
    """Predictions of the measured time, with some costs replaced."""

    machine: Machine
    workload: Workload

    def costs(self, approach: Approach) -> Costs:
        """Of the approach's messages."""

    def median_time(self, approach: Approach, **replaced: Replaced) -> float:
        """Seconds after the last partition is ready."""


def beside_terms(case: CaseResult) -> str | None:
    """The suspicion without looking for a term: empty for a case that is predicted well enough; None: look."""
    if abs(case.error) < CLEAR and abs(case.eta_error) < CLEAR:
        return ""
    if case.measured_s > 0 and abs(case.error) < case.spread:
        return f"the measurement itself: its spread is {100 * case.spread:.0f} %"
    if abs(case.error) < CLEAR:
        return "the time of bulk, not that of this approach"
    return None


def suspect(evaluation: Predicting, approach: Approach, case: CaseResult) -> str:
    """The suspected term in words; empty where the case is predicted well enough."""
    plain = beside_terms(case)
    if plain is not None:
        return plain
    found: list[tuple[float, str]] = []
    size = approach.message_size(evaluation.workload.buffer)
    for name, terms in by_name().items():
        if all(t.choice for t in terms):
            continue
        replaced = without(evaluation.costs(approach), terms)
        share = case.predicted_s - evaluation.median_time(approach, **replaced)
        if abs(share) < 1e-3 * case.predicted_s:
            continue
        factor = 1 + (case.measured_s - case.predicted_s) / share
        if 1 / LARGEST <= factor <= LARGEST:
            isolated = list(behind({v for t in terms for v in t.values}, evaluation.machine, size))
            least_sure = max(isolated, key=uncertainty, default=None)
            why = f" ({least_sure.source}: {least_sure.why})" if least_sure is not None else ""
            surprise = abs(np.log(factor)) / (SUREST if least_sure is None else uncertainty(least_sure))
            if surprise > SURPRISING:
                continue
            found.append((surprise, f"as if {name} cost {factor:.2g} times as much{why}"))
    if found:
        return min(found)[1]
    if approach.interface.windows_per_thread and case.threads > 1:
        return "no term: threads wait in MPI for their windows, and may share cores"
    return "no term of the model"
