"""The Prediction: time, η, the four metrics, uncertainty and advice, the same from every engine."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from pready.model.rendering import rendered

Verdict = Literal["port", "do not port", "undecided"]


@dataclass(frozen=True)
class ApproachPrediction:
    """What one approach costs. Times in seconds after the sender's last partition is ready.

    `low` and `high` bound 95 % of the draws of parameters and arrivals. `eta` is the bulk approach's
    time over this one's, on the same draws.
    """

    name: str
    key: str
    transport_partitions: int
    vcis: int
    messages: int
    time_s: float
    time_low_s: float
    time_high_s: float
    eta: float
    eta_low: float
    eta_high: float
    speedup_percent: float
    overhead: float
    perceived_bandwidth_bytes_per_s: float
    availability: float
    early_bird_percent: float
    """Eq. 4 of temucin2022, by the clock: the time before the join over the whole exchange's, whether
    or not anything moved in it."""
    arrived_early_percent: float
    """Share of the messages that had arrived when the sender's threads met."""
    available: bool
    """Can the library do it as it is?"""


@dataclass(frozen=True)
class Advice:
    """What to do, and why. `break_even_bytes` is where the approach starts to pay around or above
    the workload's buffer size; 0 if it pays from the smallest buffer on, None if it never does."""

    verdict: Verdict
    approach: str
    transport_partitions: int
    vcis: int
    eta: float
    eta_low: float
    eta_high: float
    break_even_bytes: float | None
    settings: list[str]
    because: str
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Prediction:
    """The result of `pready.predict`, of a simulation or of an SST run."""

    version: str
    seed: int
    machine: str
    library: str
    workload: dict[str, Any]
    closed_form: dict[str, float]
    approaches: list[ApproachPrediction]
    advice: Advice
    engine: str = "timeline"
    """One exchange of two ranks ("timeline"), many ranks iteration after iteration ("engine"), or SST ("sst")."""
    ranks: tuple[int, ...] = ()
    """Grid of ranks that were simulated, or their number; empty: none but the two of an exchange."""
    network: str = ""
    """Topology that was simulated; empty: none, the ranks' own ports are all that is shared."""
    iterations: int = 1
    """Simulated, with the machine's parameters at their values."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON; the keys are part of the public interface."""
        return asdict(self)

    @property
    def bulk(self) -> ApproachPrediction:
        """The baseline, ``Pt2Pt single``."""
        return next(a for a in self.approaches if a.key == "single")

    @property
    def advised(self) -> ApproachPrediction:
        """The row of `approaches` that the advice names."""
        a = self.advice
        return next(
            p
            for p in self.approaches
            if p.available and (p.name, p.transport_partitions, p.vcis) == (a.approach, a.transport_partitions, a.vcis)
        )

    def __repr__(self) -> str:
        a = self.advice
        return f"<Prediction {self.workload['name']} on {self.machine}: {a.verdict}, {a.approach} {a.eta:.2f}×>"

    def _repr_html_(self) -> str:
        return rendered(self, "html")
