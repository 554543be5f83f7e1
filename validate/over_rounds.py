"""The rounds of a measurement: their median, and the range around it."""

from __future__ import annotations

from typing import Any

import numpy as np

from pready.model.common.arrays import Array


def over_rounds(times: Array, iterations: Array, bulk: Array, bulk_iterations: Array) -> dict[str, Any]:
    """Time, η and saving of an approach beside bulk: the measured fields of a `pready.validate.result.CaseResult`.

    Parameters
    ----------
    times, bulk
        Shape (rounds,): seconds after the last partition was ready, of the approach and of bulk.
    iterations, bulk_iterations
        Shape (rounds,): seconds of a whole iteration.
    """
    eta, etas = float(np.median(bulk) / np.median(times)), bulk / times
    saving, savings = float(1 - np.median(iterations) / np.median(bulk_iterations)), 1 - iterations / bulk_iterations
    return {
        "measured_s": float(np.median(times)),
        "measured_low_s": float(times.min()),
        "measured_high_s": float(times.max()),
        # A ratio of medians may lie beyond all ratios.
        "eta_measured": eta,
        "eta_measured_low": float(min(etas.min(), eta)),
        "eta_measured_high": float(max(etas.max(), eta)),
        "saving_measured": saving,
        "saving_measured_low": float(min(savings.min(), saving)),
        "saving_measured_high": float(max(savings.max(), saving)),
    }
