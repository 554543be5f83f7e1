"""Predictions of what the benchmark measures."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pready.model.arrays import Replaced
from pready.model.evaluate import Evaluation, interval
from pready.model.interfaces import Approach
from pready.model.metrics import speedup_percent
from pready.model.prediction import ApproachPrediction
from pready.model.rules import Setting
from pready.model.timeline import run


@dataclass
class Completed(Evaluation):
    """An evaluation whose figures are medians over the repeats, not means: medians are what is measured."""

    receivers_meet: bool = True
    """As of `Setting`: False where one thread receives, for want of cores."""

    @property
    def setting(self) -> Setting:
        """What the timeline needs besides times and costs."""
        return replace(super().setting, receivers_meet=self.receivers_meet)

    def median_time(self, approach: Approach, **replaced: Replaced) -> float:
        """Median over the repeats, with some costs replaced."""
        line = run(self.ready, replace(self.costs(approach), **replaced), approach, self.setting)
        return float(np.median(line.end[self._nominal_rows]))

    def predict(self, approach: Approach) -> ApproachPrediction:
        """As its base, in medians."""
        end, bulk = self.timeline(approach).end, self.timeline(self.workload.baseline).end
        nominal = self._nominal_rows
        time, eta = float(np.median(end[nominal])), float(np.median(bulk[nominal]) / np.median(end[nominal]))
        drawn, drawn_bulk = (np.median(x[nominal.stop :].reshape(self.draws, -1), axis=1) for x in (end, bulk))
        (low, high), (eta_low, eta_high) = interval(drawn, time), interval(drawn_bulk / drawn, eta)
        until_ready = float(np.median(self.ready[nominal].max(axis=1)))
        saved = [
            float(speedup_percent(until_ready + b, until_ready + t))
            for b, t in zip((time * eta, *drawn_bulk), (time, *drawn), strict=True)
        ]
        saved_low, saved_high = interval(np.array(saved[1:]), saved[0])
        return replace(
            super().predict(approach),
            time_s=time,
            time_low_s=low,
            time_high_s=high,
            eta=eta,
            eta_low=eta_low,
            eta_high=eta_high,
            iteration_s=until_ready + time,
            speedup_percent=saved[0],
            speedup_low_percent=saved_low,
            speedup_high_percent=saved_high,
        )
