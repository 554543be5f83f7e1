"""How well a fit predicts sizes that it has not seen: cross-validation of the ping-pong."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pready.calibrate.fit import Observations, fit
from pready.model.common.arrays import Array
from pready.model.common.errors import PreadyError

FOLDS = 3


@dataclass(frozen=True)
class HeldOut:
    """Predicted over measured time minus 1, for every size held out of the fit that predicts it."""

    size: Array
    error: Array

    @property
    def median(self) -> float:
        """Median of the absolute errors."""
        return float(np.median(np.abs(self.error)))

    @property
    def worst(self) -> tuple[float, float]:
        """Size and error where the prediction is furthest off."""
        i = int(np.argmax(np.abs(self.error)))
        return float(self.size[i]), float(self.error[i])


def held_out(observed: Observations, seed: int = 0, folds: int = FOLDS, draws: int = 50) -> HeldOut:
    """Cross-validation: leave out every `folds`-th ping-pong size, fit the rest, predict those left out; `folds` times.

    The smallest and the largest size always stay in: a fit is no extrapolation.

    Raises
    ------
    PreadyError
        No ping-pong, or fewer than three sizes per fold.
    """
    curve = observed.ping_pong
    if curve is None or len(curve) < 3 * folds:
        raise PreadyError(f"{0 if curve is None else len(curve)} ping-pong sizes", valid=f"at least {3 * folds}")
    inner = np.arange(1, len(curve) - 1)
    sizes: list[Array] = []
    errors: list[Array] = []
    for k in range(folds):
        out = inner[inner % folds == k]
        left = np.delete(curve.at, out)
        # The other curves stay whole: it is the time of a message that is predicted.
        part = fit(replace(observed, ping_pong=curve.only(left)), np.random.default_rng(seed), draws=draws)
        measured = np.array([np.median(curve.repeats[i]) for i in out])
        sizes.append(curve.at[out])
        errors.append(np.asarray(part.time(curve.at[out]) / measured - 1))
    order = np.argsort(np.concatenate(sizes))
    return HeldOut(np.concatenate(sizes)[order], np.concatenate(errors)[order])
