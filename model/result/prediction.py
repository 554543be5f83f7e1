"""The Prediction: time, η, the four metrics, uncertainty and advice, the same from every engine."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Literal

from pready.model.approach.interfaces import Approach, baseline
from pready.model.result.break_even import Range
from pready.model.result.forms import rendered, to_pandas, to_polars

Verdict = Literal["port", "do not port", "undecided"]
Certainty = Literal["certain", "likely", ""]
Source = Literal["measured", "literature", "assumed", "not given", "given"]
"""Where an input comes from: a machine's value, or whether the workload states it."""
LeverKind = Literal["machine", "unknown", "workload"]


ROUNDING = 1e-9
"""Seconds over the larger of two times, below which their difference is none."""


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
    """A whole iteration: the computation and the part of the exchange that it does not hide."""
    speedup_percent: float
    """How much shorter a run of the workload's iterations is than the baseline's, set-up included
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
    """Set-up cost of a rank, once before the first iteration, the longer first use included."""
    begin_per_iteration_s: float = 0.0
    """That over the workload's iterations."""
    needs: str = ""
    """What would have to exist for it; empty: available."""
    work_left_s: float = 0.0
    """What a receiver that is consuming still has to work on when everything is there; part of `time_s`."""
    transfer_s: float = 0.0
    """Of an iteration: its exchanges, without waiting for late neighbours and the work of a receiver."""

    @property
    def gain(self) -> float:
        """η with the set-up cost included; approaches are ranked by it."""
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
        """Messages per peer."""
        return self.approach.transport_partitions

    @property
    def vcis(self) -> int:
        """VCIs that the messages are spread over."""
        return self.approach.vcis

    @property
    def available(self) -> bool:
        """Is it available today?"""
        return not self.needs

    def to_dict(self) -> dict[str, Any]:
        """Plain data, flat; the keys are part of the public interface."""
        return {
            "name": self.name,
            "key": self.key,
            "transport_partitions": self.transport_partitions,
            "vcis": self.vcis,
            **{f.name: getattr(self, f.name) for f in fields(self) if f.name != "approach"},
            **availability_of(self.availability),
            "available": self.available,
        }


NOTHING_HIDDEN = "after the join the exchange takes longer than one send: none of it is hidden"


def availability_of(value: float) -> dict[str, Any]:
    """The availability as plain data: a share, or null with a reason where it is below 0."""
    hides = value >= -ROUNDING
    return {
        "availability": max(value, 0.0) if hides else None,
        "availability_reason": "" if hides else NOTHING_HIDDEN,
    }


@dataclass(frozen=True)
class Advice:
    """What to do, and why."""

    verdict: Verdict
    best: ApproachPrediction
    """The approach advised, or the best one if none is."""
    min_gain: float
    """Share of an iteration that a port has to save to be worth it."""
    here: Range | None
    """The range of `pays` that contains the workload's buffer, else the next larger."""
    pays: list[Range]
    """Buffers per peer for which `best` saves that much, parameters at their values; empty also if not asked for."""
    certain: list[Range]
    """Parts of `pays` with 95 % certainty, as for a verdict "port"."""
    as_good: list[ApproachPrediction]
    """Approaches that save as much as `best`, as far as can be told, but take more to program."""
    from_iterations: int | None
    """Number of iterations from which `best` saves that much, set-up cost included; None: never."""
    settings: list[str]
    because: str
    warnings: list[str] = field(default_factory=list)
    certainty: Certainty = ""
    """Of "port" and "do not port": likely if an input that nobody measured or published turns it, or the model's own
    error; empty: not asked for, or undecided."""
    probability: float | None = None
    """That a port saves enough: share of the draws of the machine's values; None: not asked for."""
    rests_on: dict[str, int] = field(default_factory=dict)
    """Number of the machine's values that the verdict is made of, by source."""
    turns_if: list[tuple[str, float]] = field(default_factory=list)
    """What would turn the verdict, as a clause after "if", with the percent of an iteration saved then."""
    between: tuple[float, float] | None = None
    """Least and most percent saved with any of what nobody measured otherwise; None: not asked for."""
    doubt: str = ""
    """Why there is no verdict, though the model has one: the captured run contradicts it."""
    measure_next: str = ""
    """The command that measures what is worth most to know; empty: nothing that can be measured may turn it."""

    @property
    def break_even_bytes(self) -> float | None:
        """The size from which `best` pays, at or above the workload's buffer: 0 from the smallest, None nowhere."""
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
            "speedup_percent": row.speedup_percent,
            "speedup_low_percent": row.speedup_low_percent,
            "speedup_high_percent": row.speedup_high_percent,
            "min_gain_percent": 100 * self.min_gain,
            "break_even_bytes": self.break_even_bytes,
            "pays_bytes": [r.to_list() for r in self.pays],
            "certain_bytes": [r.to_list() for r in self.certain],
            "as_good": [
                {"key": r.key, "transport_partitions": r.transport_partitions, "vcis": r.vcis} for r in self.as_good
            ],
            "from_iterations": self.from_iterations,
            "settings": self.settings,
            "because": self.because,
            "warnings": self.warnings,
            "certainty": self.certainty,
            "probability": self.probability,
            "rests_on": self.rests_on,
            "turns_if": [{"if": clause, "speedup_percent": percent} for clause, percent in self.turns_if],
            "between_percent": None if self.between is None else list(self.between),
            "measure_next": self.measure_next,
            "doubt": self.doubt,
        }


@dataclass(frozen=True)
class Lever:
    """Sensitivity to one input: moved by itself, what the advised approach then saves of an iteration."""

    name: str
    """Of a cost term, of an unknown, or of a workload's field."""
    kind: LeverKind
    """A term whose values have intervals; what nobody measured; a field of the workload."""
    source: Source
    steps: tuple[str, ...]
    """What it is moved to: ends of intervals, steps, or of an unknown a clause after "if"."""
    here_percent: float
    """The saving with the input unmoved, in percent of the baseline's iteration."""
    speedup_percent: tuple[float, ...]
    """The saving by step; where nothing is advised, of the approach that would save most."""
    turns: bool
    """Does the input change whether a port is worth it?"""
    worth_percent: float
    """Expected value of knowing the input before deciding, in percent of an iteration."""
    measure: str
    """Measurements of ``pready calibrate`` that tell it; empty: none."""

    @property
    def swing(self) -> float:
        """Percentage points between the smallest and the largest saving."""
        some = (self.here_percent, *self.speedup_percent)
        return max(some) - min(some)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, flat; the keys are part of the public interface."""
        own = {f.name: getattr(self, f.name) for f in fields(self)}
        return own | {"steps": list(self.steps), "speedup_percent": list(self.speedup_percent)}


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
    """Grid of the simulated ranks, or their number; empty for the two ranks of the timeline."""
    network: str = ""
    """Topology that was simulated; empty: none, ranks share nothing but their ports."""
    iterations: int = 1
    """Number of simulated iterations, with the machine's parameters at their values."""
    sensitivity: list[Lever] = field(default_factory=list)
    """To each input, the largest swing first; empty also if not asked for."""
    exchanges: tuple[Prediction, ...] = ()
    """For a step of several exchanges: each with the others in bulk; iterations are whole steps. `approaches` are then
    those of the step: all in bulk, and each as advised."""
    share: float | None = None
    """Share of the run that these steps take, if the workload states it."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON; the keys are part of the public interface."""
        own = {f.name: getattr(self, f.name) for f in fields(self)}
        return own | {
            "approaches": [a.to_dict() for a in self.approaches],
            "advice": self.advice.to_dict(),
            "sensitivity": [lever.to_dict() for lever in self.sensitivity],
            "exchanges": [e.to_dict() for e in self.exchanges],
            "run_speedup_percent": self.run_speedup_percent,
        }

    @property
    def run_speedup_percent(self) -> float | None:
        """How much shorter the whole run gets with the advised approach; None without `share`."""
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
        """A polars data frame of the rows."""
        return to_polars([a.to_dict() for a in self.approaches])

    @property
    def bulk(self) -> ApproachPrediction:
        """The baseline, ``Pt2Pt single`` unless the workload states another."""
        base = baseline(self.workload["today"], self.workload["threads"], self.workload["partitions_per_thread"])
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
