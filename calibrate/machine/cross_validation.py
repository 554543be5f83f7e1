"""How well a fit predicts sizes that it has not seen: cross-validation of the ping-pong."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pready.calibrate.fit import Observations, fit
from pready.model.common.arrays import Array
from pready.model.common.errors import PreadyError

FOLDS, DRAWS = 3, 50


@dataclass(frozen=True)
class HeldOut:
    """Predicted over measured time minus 1, for every size held out of the fit that predicts it."""

    size: Array
    error: Array

    @property
    def median(self) -> float:
        return float(np.median(np.abs(self.error)))

    @property
    def worst(self) -> tuple[float, float]:
        """Size and error where the prediction is furthest off."""
        i = int(np.argmax(np.abs(self.error)))
        return float(self.size[i]), float(self.error[i])


def held_out(observed: Observations, seed: int = 0) -> HeldOut:
    """Cross-validation: leave out every third ping-pong size, fit the rest, predict those left out; three times.

    The smallest and the largest size always stay in: a fit is no extrapolation.

    Raises
    ------
    PreadyError
        No ping-pong, or fewer than nine sizes.
    """
    curve = observed.ping_pong
    if curve is None or len(curve) < 3 * FOLDS:
        raise PreadyError(f"{0 if curve is None else len(curve)} ping-pong sizes", valid=f"at least {3 * FOLDS}")
    inner, measured = np.arange(1, len(curve) - 1), np.array(list(curve.medians.values()))
    error = np.zeros(len(curve))
    for k in range(FOLDS):
        out = inner[inner % FOLDS == k]
        # The other curves stay whole: it is the time of a message that is predicted.
        left = replace(observed, ping_pong=curve.only(np.delete(curve.at, out)))
        part = fit(left, np.random.default_rng(seed), draws=DRAWS)
        error[out] = part.time(curve.at[out]) / measured[out] - 1
    return HeldOut(curve.at[inner], error[inner])
