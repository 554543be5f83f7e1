"""Predictions in the benchmark's statistic, the median."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pready.model.approach.interfaces import Approach
from pready.model.common.arrays import Replaced
from pready.model.engine.evaluate import Evaluation
from pready.model.equations.metrics import speedup_percent
from pready.model.result.interval import interval
from pready.model.result.prediction import ApproachPrediction


@dataclass
class Completed(Evaluation):
    """An evaluation whose figures are medians over the repeats, not means."""

    def median_time(self, approach: Approach, **replaced: Replaced) -> float:
        """Median over the repeats, with some costs replaced."""
        return float(np.median(self.each(approach, **replaced)))

    def predict(self, approach: Approach) -> ApproachPrediction:
        """As its base, in medians."""
        end, bulk = self.each(approach), self.each(self.workload.baseline)
        time, eta = float(np.median(end)), float(np.median(bulk) / np.median(end))
        medians = (np.median(self.each_drawn(a), axis=1) for a in (approach, self.workload.baseline))
        # The draws share a few of the exchanges: each as a factor of the value over those.
        drawn, drawn_bulk = (of * m[1:] / m[0] for of, m in zip((time, time * eta), medians, strict=True))
        (low, high), (eta_low, eta_high) = interval(drawn, time), interval(drawn_bulk / drawn, eta)
        until_ready = float(np.median(self.ready[1:].max(axis=1)))
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
