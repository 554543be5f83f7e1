"""The findings of a validation: claims of papers, and cases measured or simulated."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Status = Literal["ok", "off", "out of scope"]
Kind = Literal["fabrics", "papers"]
Shown = float | bool | str | None
"""A number, a yes or no, or words such as "0.9-1.1"."""


@dataclass(frozen=True)
class Reading:
    """Another way to read a place where a paper contradicts itself, with what we get for it."""

    says: str
    expected: Shown
    got: Shown
    status: Status


@dataclass(frozen=True)
class ClaimResult:
    """One claim of a paper, or one measurement on a real machine, beside the model's value.

    `says` is the claim in our words, `tolerance` and `why` how close we ask to be and for what reason;
    for a claim out of scope `why` is the reason no model of ours can address it.
    """

    id: str
    source: str
    """The paper's or the machine's name."""
    where: str
    says: str
    quantity: str
    unit: str
    expected: Shown
    got: Shown
    tolerance: str
    status: Status
    why: str = ""
    configuration: str = ""
    readings: tuple[Reading, ...] = ()
    of: Kind = "papers"
    basis: str = ""
    """"derived": from formulas and definitions alone. "fitted": a profile holds a value taken from this very
    place, so that agreement shows the fit, not the model. "independent": neither."""
    known_off: bool = False
    """Somebody has looked into why it is off; `why` says it."""
    low: float | None = None
    """Of the predicted 95 % interval, as far as the machine's values are uncertain; None: not asked for."""
    high: float | None = None
    weak: bool = False
    """Independent, ok, and ok for every wrong machine, too: agreement that says nothing."""


@dataclass(frozen=True)
class ExchangeResult:
    """One exchange of a case's step. Times in seconds after its last partition is ready, as of `CaseResult`."""

    name: str
    approach: str
    transport_partitions: int
    vcis: int
    partitions_per_thread: int
    buffer: int
    arrivals: str
    measured_s: float
    measured_low_s: float
    measured_high_s: float
    predicted_s: float
    until_ready_s: float

    @property
    def error(self) -> float:
        """Predicted over measured time, minus 1."""
        return self.predicted_s / self.measured_s - 1


@dataclass(frozen=True)
class CaseResult:
    """One configuration, measured (or simulated by SST) and predicted.

    Times in seconds after the last partition is ready. `spread` is the measurement's own, relative:
    no prediction can be better. `eta` is bulk's time over this approach's, with the same
    arrivals; `eta_closed_form` is Eq. 3 of gillis2023 alone.
    """

    id: str
    library: str
    approach: str
    transport_partitions: int
    vcis: int
    threads: int
    partitions_per_thread: int
    buffer: int
    arrivals: str
    measured_s: float
    measured_low_s: float
    measured_high_s: float
    spread: float
    predicted_s: float
    predicted_low_s: float
    predicted_high_s: float
    eta_measured: float
    eta_measured_low: float
    eta_measured_high: float
    eta_predicted: float
    eta_predicted_low: float
    eta_predicted_high: float
    eta_closed_form: float | None = None
    until_ready_s: float = 0.0
    """From the start of an iteration to its last partition ready."""
    saving_measured: float = 0.0
    """Share of bulk's iteration that this approach saves."""
    saving_measured_low: float = 0.0
    saving_measured_high: float = 0.0
    saving_predicted: float = 0.0
    saving_predicted_low: float | None = None
    saving_predicted_high: float | None = None
    """Of its 95 % interval, which decides between "port" and "undecided"; None: not known."""
    measured_mean_s: float = 0.0
    """The mean over all repeats, as `pready predict` prints it; 0 where only the medians above are known."""
    predicted_mean_s: float = 0.0
    suspect: str = ""
    """The term of the model that the error points at, from a measurement that isolates it where there is one."""
    exchanges: tuple[ExchangeResult, ...] = ()
    """Of a step with several; where ways differ, `approach` is "each" and `transport_partitions` the most."""

    @property
    def error(self) -> float:
        """Predicted over measured time, minus 1."""
        return self.predicted_s / self.measured_s - 1

    @property
    def iteration_s(self) -> float:
        """Measured, compute included."""
        return self.until_ready_s + self.measured_s

    @property
    def mean_error(self) -> float:
        """Predicted over measured mean, minus 1; NaN where no mean is known."""
        return self.predicted_mean_s / self.measured_mean_s - 1 if self.measured_mean_s > 0 else math.nan

    @property
    def eta_error(self) -> float:
        """Predicted over measured η, minus 1."""
        return self.eta_predicted / self.eta_measured - 1


@dataclass(frozen=True)
class Failed:
    """A configuration without a time to compare with: its run went wrong."""

    id: str
    why: str


@dataclass(frozen=True)
class Check:
    """A figure over many cases against the limit it has to keep."""

    name: str
    value: float
    limit: float
    sense: Literal["at most", "at least"]
    unit: str = ""
    note: str = ""
    cases: int = 0

    @property
    def ok(self) -> bool:
        """Does it keep the limit?"""
        return self.value <= self.limit if self.sense == "at most" else self.value >= self.limit


@dataclass(frozen=True)
class Control:
    """A Machine made wrong on purpose: the same checks must reject it."""

    name: str
    says: str
    checks: tuple[Check, ...]

    @property
    def rejected(self) -> bool:
        """Does at least one check fail, as it must?"""
        return any(not c.ok for c in self.checks)


@dataclass(frozen=True)
class Comparison:
    """Predictions against measurements of one kind: `source` is "live", "sst" or "prove"."""

    source: Literal["live", "sst", "prove"]
    title: str
    cases: tuple[CaseResult, ...]
    checks: tuple[Check, ...]
    controls: tuple[Control, ...] = ()
    notes: tuple[str, ...] = ()
    about: dict[str, str] = field(default_factory=dict)
    """Versions, machine, seed, where the raw measurements lie."""
    failed: tuple[Failed, ...] = ()


@dataclass(frozen=True)
class Report:
    """All that one `pready validate` found."""

    version: str
    seed: int
    about: dict[str, str]
    claims: tuple[ClaimResult, ...] = ()
    comparisons: tuple[Comparison, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON; the keys are part of the public interface."""
        data = asdict(self)
        for comparison, plain in zip(self.comparisons, data["comparisons"], strict=True):
            for check, c in zip(comparison.checks, plain["checks"], strict=True):
                c["ok"] = check.ok
            for control, c in zip(comparison.controls, plain["controls"], strict=True):
                c["rejected"] = control.rejected
        return data
