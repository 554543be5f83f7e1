"""Predictions of what the benchmark measures."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pready.model.approach import BULK, Approach
from pready.model.evaluate import Evaluation, interval
from pready.model.prediction import ApproachPrediction
from pready.model.timeline import Timeline, run
from pready.model.values import Replaced


class Completed(Evaluation):
    """An evaluation whose exchanges last until both sides are done, so not before the sender's threads have joined.

    Its figures are medians over the repeats instead of means, because medians are what is measured.
    """

    def timeline(self, approach: Approach) -> Timeline:
        """The approach's timeline, its end not before the join."""
        return _completed(super().timeline(approach))

    def median_time(self, approach: Approach, **replaced: Replaced) -> float:
        """Median over the repeats, with some costs replaced."""
        line = run(self.ready, replace(self.costs(approach), **replaced), approach, self.setting)
        return float(np.median(_completed(line).end[self._nominal_rows]))

    def predict(self, approach: Approach) -> ApproachPrediction:
        """As its base, in medians."""
        end, bulk = self.timeline(approach).end, self.timeline(BULK).end
        nominal = self._nominal_rows
        time, eta = float(np.median(end[nominal])), float(np.median(bulk[nominal]) / np.median(end[nominal]))
        drawn, drawn_bulk = (np.median(x[nominal.stop :].reshape(self.draws, -1), axis=1) for x in (end, bulk))
        (low, high), (eta_low, eta_high) = interval(drawn, time), interval(drawn_bulk / drawn, eta)
        return replace(
            super().predict(approach),
            time_s=time,
            time_low_s=low,
            time_high_s=high,
            eta=eta,
            eta_low=eta_low,
            eta_high=eta_high,
        )


def _completed(line: Timeline) -> Timeline:
    return replace(line, end=np.maximum(line.end, line.join))
