"""The Prediction: time, η, the four metrics, uncertainty and advice, the same from every engine."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from pready.model.approach.interfaces import Approach, baseline
from pready.model.common.arrays import Array
from pready.model.result.break_even import Range
from pready.model.result.forms import rendered, to_pandas, to_polars
from pready.model.result.interval import interval

Verdict = Literal["port", "do not port", "undecided"]
Certainty = Literal["certain", "likely", ""]
Source = Literal["measured", "literature", "assumed", "not given", "given"]
"""Where an input comes from: a machine's value, or whether the workload states it."""
LeverKind = Literal["machine", "unknown"]


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
    late_s: float = 0.0
    """Waiting for late neighbours, at the machine's values; part of `time_s`."""
    probability: float | None = None
    """That it saves enough: share of the draws; None: nothing was drawn, and ends of intervals are the value."""
    best_in: float | None = None
    """Share of the draws in which no other way that was drawn saves more."""
    unmeasured: str = ""
    """Its calls that nobody measured in this library over this fabric."""

    def with_draws(self, time_s: Array, eta: Array, speedup_percent: Array) -> ApproachPrediction:
        """The row with the intervals of draws, widened to hold its values."""

        def ends(drawn: Array, value: float) -> tuple[float, float]:
            low, high = interval(drawn)
            return min(low, value), max(high, value)

        (t0, t1), (e0, e1) = ends(time_s, self.time_s), ends(eta, self.eta)
        s0, s1 = ends(speedup_percent, self.speedup_percent)
        at_time = replace(self, time_low_s=t0, time_high_s=t1, eta_low=e0, eta_high=e1)
        return replace(at_time, speedup_low_percent=s0, speedup_high_percent=s1)

    def moved(self, first: Pair, every: Pair) -> ApproachPrediction:
        """The row of some draws as all draws would have it: both pairs are today's row and another way's, by some draws
        and by all."""
        (_, way), (today, moved) = first, every
        ends = "speedup_low_percent", "speedup_percent", "speedup_high_percent"
        low, middle, high = sorted(getattr(self, x) + getattr(moved, x) - getattr(way, x) for x in ends)
        made = replace(self, speedup_low_percent=low, speedup_percent=middle, speedup_high_percent=high)
        by = moved.eta / way.eta
        made = replace(made, eta=by * self.eta, eta_low=by * self.eta_low, eta_high=by * self.eta_high)
        by = today.time_s / made.eta / self.time_s
        return replace(
            made, time_s=by * self.time_s, time_low_s=by * self.time_low_s, time_high_s=by * self.time_high_s
        )

    def beside(self, today: ApproachPrediction) -> ApproachPrediction:
        """The row beside a drawn baseline: the iteration is what its saving means and, if it was not drawn
        itself, the time what its η means."""
        before = today.iteration_s + today.begin_per_iteration_s
        made = replace(self, iteration_s=before * (1 - self.speedup_percent / 100) - self.begin_per_iteration_s)
        if self.probability is not None or not self.eta:
            return made
        time = today.time_s / self.eta
        return replace(made, time_s=time, time_low_s=time, time_high_s=time)

    def within(self, most: ApproachPrediction, today: ApproachPrediction) -> ApproachPrediction:
        """The row with no more than any library could save: what fewer draws say, or the machine's values, may lie
        above; and ranks that share an adapter are lucky in the order of their messages."""
        if self.speedup_percent <= most.speedup_percent and self.eta <= most.eta:
            return self
        saves, eta = min(self.speedup_percent, most.speedup_percent), min(self.eta, most.eta)
        made = replace(self, speedup_percent=saves, speedup_low_percent=min(self.speedup_low_percent, saves))
        made = replace(made, eta=eta, eta_low=min(self.eta_low, eta), time_s=today.time_s / eta)
        return replace(made, time_high_s=max(self.time_high_s, made.time_s)).beside(today)

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


Pair = tuple[ApproachPrediction, ApproachPrediction]
NOTHING_HIDDEN = "after the join the exchange takes longer than one send: none of it is hidden"


def availability_of(value: float) -> dict[str, Any]:
    """The availability as plain data: a share, or null with a reason where it is below 0."""
    hides = value >= -ROUNDING
    return {
        "availability": max(value, 0.0) if hides else None,
        "availability_reason": "" if hides else NOTHING_HIDDEN,
    }


@dataclass(frozen=True)
class Partitioned:
    """The question asked: what MPI_Psend and MPI_Pready save."""

    row: ApproachPrediction | None
    """Partitioned sends as the library has them; None: it has none, or cannot send this."""
    verdict: Verdict
    if_early: ApproachPrediction | None = None
    """If the library sent partitions early; None: it does. `needs` says which one does."""
    unknown: bool = False
    """Is it unknown whether the library sends them early?"""

    def to_dict(self) -> dict[str, Any]:
        """Plain data; the keys are part of the public interface."""

        def said(of: ApproachPrediction, **more: str) -> dict[str, Any]:
            return {n: getattr(of, n) for n in (*SAVED, "transport_partitions", "vcis")} | more

        row = {} if self.row is None else said(self.row)
        if_early = None if self.if_early is None else said(self.if_early, needs=self.if_early.needs)
        return {**row, "verdict": self.verdict, "early_unknown": self.unknown, "if_early": if_early}


SAVED = ("speedup_percent", "speedup_low_percent", "speedup_high_percent", "probability")
"""Fields of a row that say what it saves."""


@dataclass(frozen=True)
class Merged:
    """What a step saves whose exchanges of the same neighbours, with no computing between, are one."""

    exchanges: list[str]
    speedup_percent: float
    speedup_low_percent: float
    speedup_high_percent: float
    probability: float


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
    pays: list[Range] | None
    """Buffers per peer for which the verdict is "port", by the best way of each; None: not asked for, or of a step."""
    from_iterations: int | None
    """Number of iterations from which `best` saves that much, set-up cost included; None: never."""
    settings: list[str]
    because: str
    warnings: list[str] = field(default_factory=list)
    certainty: Certainty = ""
    """How sure "port" or "do not port" is: certain from a probability of 99 %, likely from 80 %; empty: undecided."""
    probability: float | None = None
    """That `best` saves enough; None: nothing was drawn."""
    best_in: dict[str, float] = field(default_factory=dict)
    """Ways that were drawn, by name, with the share of the draws in which each saves most."""
    rests_on: dict[str, float] = field(default_factory=dict)
    """Inputs with the share of the saving's variance that each explains, the largest first."""
    turns_if: list[tuple[str, float]] = field(default_factory=list)
    """What would turn the verdict, as a clause after "if", with the probability of enough saved then."""
    doubt: str = ""
    """Why there is no verdict, though the model has one: the captured run contradicts it."""
    partitioned: Partitioned | None = None
    """None: of SST, which simulates one way."""
    pays_messages: list[int] | None = None
    """Messages per neighbour with which the interface of `best` likely saves that much; None as for `pays`."""
    measure_next: str = ""
    """The command after which a verdict is least likely wrong, per minute that it takes; empty: it is certain."""
    ask: str = ""
    """A field to state, and what each of its values means; empty: none decides."""
    merged: Merged | None = None
    """Exchanges of the step sent as one; None where none can be."""
    bound: ApproachPrediction | None = None
    """What no library exceeds (`pready.model.timeline.bound`); None: not asked for."""
    never: bool = False
    """Is it certain that no library saves enough, whatever is not known of its costs?"""

    def of_bound(self, row: ApproachPrediction) -> float | None:
        """A way's saving over the bound's, medians of their draws; None where the bound saves nothing."""
        most = 0.0 if self.bound is None else self.bound.speedup_percent
        return row.speedup_percent / most if most > 0 else None

    @property
    def break_even_bytes(self) -> float | None:
        """The size from which a port pays, at or above the workload's buffer: 0 from the smallest, None nowhere."""
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
            "pays_bytes": None if self.pays is None else [r.to_list() for r in self.pays],
            "pays_messages": self.pays_messages,
            "partitioned": None if self.partitioned is None else self.partitioned.to_dict(),
            "from_iterations": self.from_iterations,
            "settings": self.settings,
            "because": self.because,
            "warnings": self.warnings,
            "certainty": self.certainty,
            "probability": self.probability,
            "best_in": self.best_in,
            "rests_on": self.rests_on,
            "turns_if": [{"if": clause, "probability": p} for clause, p in self.turns_if],
            "measure_next": self.measure_next,
            "ask": self.ask,
            "merged": None if self.merged is None else vars(self.merged),
            "bound": None if self.bound is None else {n: getattr(self.bound, n) for n in ("time_s", *SAVED)},
            "never": self.never,
            "doubt": self.doubt,
        }


@dataclass(frozen=True)
class Lever:
    """What a saving is where one input is at either end, or is another; read from the draws."""

    name: str
    """Name of a cost term or an alternative, or the model's own error."""
    kind: LeverKind
    """A value with an interval, or one of several alternatives."""
    source: Source
    steps: tuple[str, ...]
    """Ends of intervals, or of an alternative each as a clause after "if"."""
    here_percent: float
    """The saving, in percent of the baseline's iteration."""
    speedup_percent: tuple[float, ...]
    """The saving by step."""
    probability: tuple[float, ...]
    """That the saving is enough, by step."""
    share: float
    """Share of the saving's variance that the input explains."""
    turns: bool
    """Is the verdict another at some step?"""

    def to_dict(self) -> dict[str, Any]:
        """Plain data, flat; the keys are part of the public interface."""
        own = {f.name: getattr(self, f.name) for f in fields(self)}
        return own | {name: list(own[name]) for name in ("steps", "speedup_percent", "probability")}


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
    """To each input, the largest share of the variance first; empty also if nothing was drawn."""
    exchanges: tuple[Prediction, ...] = ()
    """For a step of several exchanges: each with the others in bulk; iterations are whole steps. `approaches` are then
    those of the step: all in bulk, and each as advised."""
    share: float | None = None
    """Share of the run that these steps take, if the workload states it."""
    example: bool = False
    """Is the machine nobody's: the one that is taken where none is named?"""

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON; the keys are part of the public interface."""
        own = {f.name: getattr(self, f.name) for f in fields(self)}
        return own | {
            "approaches": [a.to_dict() | {"of_bound": self.advice.of_bound(a)} for a in self.approaches],
            "advice": self.advice.to_dict(),
            "sensitivity": [lever.to_dict() for lever in self.sensitivity],
            "exchanges": [e.to_dict() for e in self.exchanges],
            "run_speedup_percent": self.run_speedup_percent,
            "room_s": self.room_s,
        }

    @property
    def iteration_s(self) -> tuple[float, float]:
        """An iteration as it is sent today and as advised, each with its share of the set-up."""
        now, best = self.bulk, self.advised
        before = now.iteration_s + now.begin_per_iteration_s
        return before, before * (1 - best.speedup_percent / 100)

    @property
    def today_s(self) -> tuple[float, float, float] | None:
        """Of an iteration as it is sent today, with its share of the set-up: its time, its communication, and its wait
        for late neighbours; None of sweeps, whose exchanges of an iteration are many."""
        if self.workload["pattern"] == "sweep3d":
            return None
        each = [e.bulk for e in self.exchanges or (self,)]
        late = sum(min(row.late_s, row.time_s) for row in each)
        return self.iteration_s[0], sum(row.time_s for row in each) - late, late

    @property
    def room_s(self) -> float:
        """What tiling the loop, packing and the calls may cost in an iteration before what is saved is gone."""
        before, after = self.iteration_s
        return max(before - after, 0.0)

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

    def __str__(self) -> str:
        return rendered(self, "plain")

    def __repr__(self) -> str:
        best = self.advised
        said = f"{self.advice.verdict}, {best.name} {best.eta:.2f}×"
        return f"<Prediction {self.workload['name']} on {self.machine}: {said}>"

    def _repr_html_(self) -> str:
        return rendered(self, "html")
