"""The results of each exchange of a step, and the one that is off most."""

from __future__ import annotations

import numpy as np

from pready.model.common.units import format_time
from pready.model.workload.workload import Workload
from pready.validate.live.suspect import beside_terms
from pready.validate.prove.design import Way
from pready.validate.prove.expected import Expectation
from pready.validate.prove.performed import Performed
from pready.validate.result import CaseResult, ExchangeResult


def exchanges_of(
    workload: Workload, way: Way, expected: Expectation, performed: Performed
) -> tuple[ExchangeResult, ...]:
    """Predicted and measured, each with the others in their ways; none where the workload has one alone."""
    if not performed.exchanges:
        return ()
    return tuple(
        ExchangeResult(
            name=part.name,
            approach=approach.interface.key,
            transport_partitions=approach.transport_partitions,
            vcis=approach.vcis,
            partitions_per_thread=part.partitions_per_thread,
            buffer=int(part.buffer),
            arrivals=part.arrivals.model,
            measured_s=float(np.median(seen.communication_s)),
            measured_low_s=float(seen.communication_s.min()),
            measured_high_s=float(seen.communication_s.max()),
            predicted_s=predicted_s,
            until_ready_s=seen.computing_s,
        )
        for part, approach, seen, predicted_s in zip(
            workload.parts, way.approaches, performed.exchanges, expected.exchanges_s, strict=True
        )
    )


def suspect_in_step(case: CaseResult) -> str:
    """The exchange that is off most in seconds; empty where the step is predicted well enough."""
    plain = beside_terms(case)
    if plain is not None:
        return plain
    worst = max(case.exchanges, key=lambda e: abs(e.predicted_s - e.measured_s))
    return (
        f"exchange '{worst.name}' is off most: {format_time(worst.predicted_s)} predicted, "
        f"{format_time(worst.measured_s)} measured"
    )
