"""A topology beside one router: how much of the gain its congestion takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from pready.model.result.prediction import Prediction
from pready.sst.simulate import Setup, simulate
from pready.sst.topology import topology

WORTH_A_WORD = 0.1
"""Share of the gain lost to congestion from which on a warning is given."""


def taken(eta_alone: float, eta_here: float) -> float | None:
    """The share of a gain η − 1 that is lost; None if there was no gain.

    1 where the approach ends below bulk. Negative where congestion slows bulk down more than the approach.
    """
    gain = eta_alone - 1
    return min(1 - (eta_here - 1) / gain, 1.0) if gain > 0 else None


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
    eta_alone_range: tuple[float, float]
    """95 % interval over resampled iterations."""
    eta_range: tuple[float, float]

    @property
    def taken(self) -> tuple[float, float, float] | None:
        """The share of the gain that congestion takes, and its interval; None where it cannot be told from 0.

        The interval takes both η at the ends of theirs that are furthest apart, so that it is rather too wide.
        """
        low_alone, high_alone = self.eta_alone_range
        low, high = self.eta_range
        found = (taken(self.eta_alone, self.eta), taken(low_alone, high), taken(high_alone, low))
        if found[0] is None or found[1] is None or found[2] is None or found[1] <= 0:
            return None
        return found[0], found[1], found[2]

    @property
    def said(self) -> str:
        """The share and its interval in per cent; empty where it cannot be told from 0."""
        if self.taken is None:
            return ""
        value, low, high = self.taken
        return f"{100 * value:.0f} % ({100 * low:.0f} to {100 * high:.0f})"


def beside(alone: Prediction, congested: Prediction) -> tuple[Beside, ...]:
    """The approaches of two predictions of the same runs."""
    return tuple(
        Beside(
            a.name,
            a.transport_partitions,
            a.time_s,
            b.time_s,
            a.eta,
            b.eta,
            (a.eta_low, a.eta_high),
            (b.eta_low, b.eta_high),
        )
        for a, b in zip(alone.approaches, congested.approaches, strict=True)
    )


def warned(prediction: Prediction, rows: Sequence[Beside]) -> Prediction:
    """The prediction with a warning if congestion takes a good part of the advised approach's gain, or of the best's.

    The best on one router: where congestion takes the whole gain, bulk is advised.
    """
    best = max(rows, key=lambda r: r.eta_alone)
    if best.taken is None or best.taken[0] < WORTH_A_WORD:
        return prediction
    said = (
        f"congestion takes {best.said} of the gain of {best.name}, {best.transport_partitions} transport "
        f"partitions: η {best.eta_alone:.2f} on one router, {best.eta:.2f} here"
    )
    return replace(prediction, advice=replace(prediction.advice, warnings=[*prediction.advice.warnings, said]))


def simulate_beside(s: Setup, **options: Any) -> tuple[Prediction, tuple[Beside, ...]]:
    """As `pready.sst.simulate.simulate`, on one router and then on the topology; no rows if that is one router."""
    if s.topology.name == "single":
        return simulate(s, **options), ()
    folder = options.pop("folder", None)
    here = {} if folder is None else {"folder": folder / "one-router"}
    alone = simulate(replace(s, topology=topology("single", s.ranks)), **options, **here)
    congested = simulate(s, folder=folder, **options)
    rows = beside(alone, congested)
    return warned(congested, rows), rows
