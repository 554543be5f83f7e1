"""The Prediction: time, η, the four metrics, uncertainty and advice, the same from every engine."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Literal

from pready.model.break_even import Range
from pready.model.forms import rendered, to_pandas, to_polars
from pready.model.interfaces import Approach, baseline

Verdict = Literal["port", "do not port", "undecided"]


@dataclass(frozen=True)
class ApproachPrediction:
    """What one approach costs. Times in seconds after the sender's last partition is ready.

    `low` and `high` bound 95 % of the draws of parameters and arrivals. `eta` is the baseline's
    time over this one's, on the same draws.
    """

    approach: Approach
    messages: int
    """Per rank and exchange."""
    time_s: float
    time_low_s: float
    time_high_s: float
    eta: float
    eta_low: float
    eta_high: float
    iteration_s: float
    """A whole iteration: the computation, and what of the exchange it does not hide."""
    speedup_percent: float
    """By how much of the baseline's a run of the workload's iterations is shorter, beginning included
    (marts2024 IV.A.2 without)."""
    speedup_low_percent: float
    speedup_high_percent: float
    overhead: float
    perceived_bandwidth_bytes_per_s: float
    availability: float
    early_bird_percent: float
    """Eq. 4 of temucin2022, by the clock: the time before the join over the whole exchange's, whether
    or not anything moved in it."""
    arrived_early_percent: float
    """Share of the messages that had arrived when the sender's threads met."""
    begin_s: float = 0.0
    """Of a rank, once, before the first iteration: what is set up, and what its first use takes longer."""
    begin_per_iteration_s: float = 0.0
    """That over the workload's iterations."""
    needs: str = ""
    """What would have to exist for it; empty: it can be had."""

    @property
    def gain(self) -> float:
        """η with what beginning takes: by it approaches are ranked."""
        return self.eta * self.time_s / (self.time_s + self.begin_per_iteration_s)

    @property
    def name(self) -> str:
        """The interface's name."""
        return self.approach.name

    @property
    def key(self) -> str:
        """What users and files call the interface."""
        return self.approach.interface.key

    @property
    def transport_partitions(self) -> int:
        """Of the approach."""
        return self.approach.transport_partitions

    @property
    def vcis(self) -> int:
        """Of the approach."""
        return self.approach.vcis

    @property
    def available(self) -> bool:
        """Can it be had as it is?"""
        return not self.needs

    def to_dict(self) -> dict[str, Any]:
        """Plain data, flat; the keys are part of the public interface."""
        return {
            "name": self.name,
            "key": self.key,
            "transport_partitions": self.transport_partitions,
            "vcis": self.vcis,
            **{f.name: getattr(self, f.name) for f in fields(self) if f.name != "approach"},
            "available": self.available,
        }


@dataclass(frozen=True)
class Advice:
    """What to do, and why."""

    verdict: Verdict
    best: ApproachPrediction
    """What is advised, or would be if anything were."""
    min_gain: float
    """Share of an iteration that a port has to save to be worth it."""
    here: Range | None
    """Of `pays`, what holds the workload's buffer, else the next larger."""
    pays: list[Range]
    """Buffers per peer for which `best` saves that much, parameters at their values; empty also where nobody asked."""
    certain: list[Range]
    """Parts of them: for which it does so with 95 % certainty, as a verdict "port" asks for."""
    from_iterations: int | None
    """Number of iterations from which `best` saves that much in spite of what beginning takes; None: never."""
    settings: list[str]
    because: str
    warnings: list[str] = field(default_factory=list)

    @property
    def break_even_bytes(self) -> float | None:
        """Where `best` starts to pay at or above the workload's buffer: 0 from the smallest on, None nowhere."""
        return None if self.here is None else self.here.low

    def to_dict(self) -> dict[str, Any]:
        """Plain data, flat; the keys are part of the public interface."""
        row = self.best
        return {
            "verdict": self.verdict,
            "approach": row.name,
            "transport_partitions": row.transport_partitions,
            "vcis": row.vcis,
            "eta": row.eta,
            "eta_low": row.eta_low,
            "eta_high": row.eta_high,
            "min_gain_percent": 100 * self.min_gain,
            "break_even_bytes": self.break_even_bytes,
            "pays_bytes": [r.to_list() for r in self.pays],
            "certain_bytes": [r.to_list() for r in self.certain],
            "from_iterations": self.from_iterations,
            "settings": self.settings,
            "because": self.because,
            "warnings": self.warnings,
        }


@dataclass(frozen=True)
class Lever:
    """One input moved by itself, and what the advised approach then saves of an iteration."""

    name: str
    """A cost term's, or what a workload says."""
    kind: Literal["machine", "workload"]
    steps: tuple[str, str]
    """Where it goes, in words; a machine's values go to the ends of their intervals."""
    here_percent: float
    """What is saved with the input as it is, in percent of the baseline's iteration."""
    speedup_percent: tuple[float, float]
    """The same at either end."""
    eta: tuple[float, float]
    turns: bool
    """Is it worth a port with the input at one of the three, and not at another?"""

    @property
    def swing(self) -> float:
        """Percentage points between the least and the most that is saved."""
        some = (self.here_percent, *self.speedup_percent)
        return max(some) - min(some)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, flat; the keys are part of the public interface."""
        low, high = self.speedup_percent
        return {
            "name": self.name,
            "kind": self.kind,
            "low_step": self.steps[0],
            "high_step": self.steps[1],
            "speedup_low_percent": low,
            "speedup_high_percent": high,
            "eta_low": self.eta[0],
            "eta_high": self.eta[1],
            "turns": self.turns,
        }


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
    """One exchange of a rank ("timeline"), many ranks iteration after iteration ("engine"), or SST ("sst")."""
    ranks: tuple[int, ...] = ()
    """Grid of ranks that were simulated, or their number; empty: none but the two of an exchange."""
    network: str = ""
    """Topology that was simulated; empty: none, the ranks' own ports are all that is shared."""
    iterations: int = 1
    """Simulated, with the machine's parameters at their values."""
    decides: list[Lever] = field(default_factory=list)
    """Inputs by how much they move what is saved, the first moves it most; empty also where nobody asked."""
    exchanges: tuple[Prediction, ...] = ()
    """Of a step with several: what each could gain while the others are sent in bulk; iterations are whole steps.
    `approaches` are then of the step: all in bulk, and each as advised."""
    share: float | None = None
    """Of the whole run, what these steps take, if the workload says."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON; the keys are part of the public interface."""
        own = {f.name: getattr(self, f.name) for f in fields(self)}
        return own | {
            "approaches": [a.to_dict() for a in self.approaches],
            "advice": self.advice.to_dict(),
            "decides": [lever.to_dict() for lever in self.decides],
            "exchanges": [e.to_dict() for e in self.exchanges],
            "run_speedup_percent": self.run_speedup_percent,
        }

    @property
    def run_speedup_percent(self) -> float | None:
        """By how much the whole run gets shorter if what is advised is ported; None where `share` is not known."""
        return None if self.share is None else self.share * self.advised.speedup_percent

    def to_pandas(self) -> Any:
        """A row per approach as a pandas data frame.

        Raises
        ------
        PreadyError
            pandas is not installed.
        """
        return to_pandas([a.to_dict() for a in self.approaches])

    def to_polars(self) -> Any:
        """Likewise, of polars."""
        return to_polars([a.to_dict() for a in self.approaches])

    @property
    def bulk(self) -> ApproachPrediction:
        """The baseline: what the application does today, ``Pt2Pt single`` unless it says otherwise."""
        base = baseline(self.workload["today"], self.workload["threads"])
        return next(p for p in self.approaches if p.approach == base)

    @property
    def advised(self) -> ApproachPrediction:
        """The row of `approaches` that the advice names."""
        return self.advice.best

    def __repr__(self) -> str:
        best = self.advised
        said = f"{self.advice.verdict}, {best.name} {best.eta:.2f}×"
        return f"<Prediction {self.workload['name']} on {self.machine}: {said}>"

    def _repr_html_(self) -> str:
        return rendered(self, "html")
