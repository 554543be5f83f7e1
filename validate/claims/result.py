"""A claim held against the model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from pready.model.timeline.own_error import Factor

Status = Literal["ok", "off", "out of scope"]
ClaimKind = Literal["fabrics", "papers"]
Shown = float | bool | str | None
"""A number, a yes or no, or words such as "0.9-1.1"."""


@dataclass(frozen=True)
class ClaimResult:
    """One claim of a paper, or one measurement on a real machine, beside the model's value.

    `says` is the claim in our words, `tolerance` and `why` how close we ask to be and for what reason;
    for a claim out of scope `why` is the reason no model of ours can address it.
    """

    id: str
    source: str  # the paper's or the machine's name
    where: str
    says: str
    quantity: str
    unit: str
    expected: Shown
    got: Shown
    tolerance: str
    status: Status
    why: str = ""
    of: ClaimKind = "papers"
    basis: str = ""
    """"derived": from formulas and definitions alone. "fitted": a profile holds a value taken from this very
    place, so that agreement shows the fit, not the model. "independent": neither."""
    known_off: bool = False  # somebody has looked into why it is off; `why` says it
    low: float | None = None
    """Low end of the predicted 95 % interval, as far as the machine's values are uncertain; None: not asked for."""
    high: float | None = None
    bytes: float | None = None  # of its message or buffer, if it has one
    steepness: dict[Factor, float] = field(default_factory=dict)
    """By how much ln of the value grows with ln of each factor of the model's own error."""
    weak: bool = False  # independent, ok, and ok for every wrong machine, too: agreement that says nothing
