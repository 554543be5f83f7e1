"""A topology beside one router: what congestion does to the gain of each approach."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import t as student

from pready.model.common.arrays import Array
from pready.model.result.prediction import Prediction
from pready.model.result.verdict import MIN_GAIN
from pready.sst.job import Setup
from pready.sst.results import Times
from pready.sst.simulate import kept_or_not, prediction, simulated


@dataclass(frozen=True)
class Beside:
    """One approach on a topology and on one router, with the same draws."""

    name: str
    transport_partitions: int
    time_alone_s: float
    """On one router, where only the ports are shared."""
    time_s: float
    eta_alone: float
    eta: float
    half: float | None
    """Half of the 95 % interval of the change of η, over iterations; None of one iteration."""

    @property
    def change(self) -> float:
        """Change of η from one router to here; below 0 congestion takes some of the gain."""
        return self.eta - self.eta_alone

    @property
    def told(self) -> bool:
        """Can the change be told from 0, and is it worth a word?"""
        return self.half is not None and abs(self.change) > max(self.half, MIN_GAIN)

    @property
    def said(self) -> str:
        """The change with its interval; empty where it cannot be told from 0."""
        if self.half is None or not self.told:
            return ""
        return f"{self.change:+.2f} ({self.change - self.half:+.2f} to {self.change + self.half:+.2f})"


def beside(alone: Sequence[Times], here: Sequence[Times], rows: Prediction, one_router: Prediction) -> list[Beside]:
    """The approaches of two predictions of the same draws, bulk first, with the times that they were made of."""
    # The same iterations: what late threads do to both is no difference.
    changes = [_errors(here[0], b) - _errors(alone[0], a) for a, b in zip(alone, here, strict=True)]
    return [
        Beside(r.name, r.transport_partitions, o.time_s, r.time_s, o.eta, r.eta, _half(change))
        for r, o, change in zip(rows.approaches, one_router.approaches, changes, strict=True)
    ]


def _errors(bulk: Times, times: Times) -> Array:
    """What each iteration adds to η, the ratio of two means: (B_i − η T_i) / mean T."""
    above, below = (t.after_ready[1:].mean(axis=1) for t in (bulk, times))
    return np.asarray((above - above.mean() / below.mean() * below) / below.mean())


def _half(values: Array) -> float | None:
    """Student's 95 % interval of a mean, half of it."""
    n = len(values)
    return float(student.ppf(0.975, n - 1) * values.std(ddof=1) / np.sqrt(n)) if n > 1 else None


def noted(here: Prediction, rows: Sequence[Beside]) -> Prediction:
    """The prediction with a note of what congestion does to the gain of the approach that it changes most."""
    told = [r for r in rows if r.told]
    if not told:
        return here
    most = max(told, key=lambda r: abs(r.change))
    does = "takes some of the gain of" if most.change < 0 else "favours"
    said = (
        f"congestion {does} {most.name}, {most.transport_partitions} transport partitions: η {most.eta_alone:.2f} "
        f"on one router, {most.eta:.2f} here, {most.said}"
    )
    return replace(here, advice=replace(here.advice, warnings=[*here.advice.warnings, said]))


def simulate_beside(
    s: Setup, *, mpi: str | None = None, folder: Path | None = None, **options: Any
) -> tuple[Prediction, list[Beside]]:
    """As `pready.sst.simulate.simulate`, on the topology beside one router; no rows if that is one router.

    With another job beside, on the same hosts without it.
    """
    with kept_or_not(s, folder) as where:
        here = simulated(s, where, mpi=mpi, **options)
        made = prediction(s, mpi, here)
        if s.topology.name == "single":
            return made, []
        router = s.alone()
        alone = simulated(router, where / "one-router", mpi=mpi, **options)
    rows = beside([t for _, t in alone], [t for _, t in here], made, prediction(router, mpi, alone))
    return noted(made, rows), rows
