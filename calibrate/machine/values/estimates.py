"""Estimates as values of a machine: SI numbers with an interval, a source and a reason.

Every value is built by the type that its field has, so that one of another unit is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeVar

import numpy as np

from pready.calibrate.fit import Estimate
from pready.model.common import units
from pready.model.common.units import SI
from pready.model.machine.path import SizeCurve
from pready.model.toml.provenance import Strict, Value

Source = Literal["measured", "literature", "assumed"]
Kind = type[Value[float]]
"""A value's quantity."""
TIME: Kind = Value[units.Time]
SIGNED_TIME: Kind = Value[units.SignedTime]
PER_BYTE: Kind = Value[units.TimePerByte]
BANDWIDTH: Kind = Value[units.Bandwidth]

NARROWEST = 1e-3
"""An interval that reaches zero or below is cut off at this share of its value: a cost stays positive."""
SHORTEST_S = 1e-9
"""The least time of a cost that was measured as less."""
WIDEST = 0.95
"""The largest relative half-width of an interval, so that all of it is above 0."""

T = TypeVar("T", bound=Strict)


def with_fields(table: T, **fields: object) -> T:
    """The table with other values of some fields, checked again."""
    return type(table)(**{**dict(table), **fields})


def value(kind: Kind, e: Estimate, why: str, source: Source = "measured") -> Value[float]:
    """A value whose interval is widened to hold it."""
    ends = SI(min(e.low, e.value)), SI(max(e.high, e.value))
    return kind(value=SI(e.value), interval=ends, source=source, why=why)


def exact(kind: Kind, number: float, why: str, source: Source = "assumed") -> Value[float]:
    """A value without an interval."""
    return kind(value=SI(number), source=source, why=why)


def assumed(kind: Kind, number: float, why: str, factor: float) -> Value[float]:
    """A guess that may be so many times too large or too small."""
    return value(kind, Estimate(number, number / factor, number * factor), why, "assumed")


def positive(kind: Kind, e: Estimate, why: str, notes: list[str], label: str) -> Value[float]:
    """A value of at least 0, with a note where the estimate, or its interval, is not above 0."""
    if e.assumed:
        reason = "no measurement determines it"
        if e.value <= 0:
            return exact(kind, 0.0, reason)
        return value(kind, Estimate(e.value, max(e.low, NARROWEST * e.value), e.high), reason, "assumed")
    if e.value <= 0:
        notes.append(f"{label} came out as {e.value:.3g}, not above 0; taken as 0")
        return exact(kind, 0.0, f"{why}; not distinguishable from 0", "measured")
    if e.low <= 0:
        notes.append(f"the interval of {label} reaches below 0; cut off at {NARROWEST:g} of the value")
        e = Estimate(e.value, NARROWEST * e.value, e.high)
    return value(kind, e, why)


def between(values: Sequence[float], why: str) -> Value[float]:
    """The mean of a few measured times, with their range as the interval."""
    kept = [max(v, SHORTEST_S) for v in values]
    return value(TIME, Estimate(float(np.mean(kept)), min(kept), max(kept)), why)


def size_curve(
    times: Mapping[int, float] | Mapping[float, float], why: str, half: float = 0.0, source: Source = "measured"
) -> SizeCurve:
    """Seconds by bytes, with the relative half-width of their interval."""
    sizes = sorted(times)
    return SizeCurve(
        sizes=tuple(map(SI, sizes)),
        time=tuple(SI(times[size]) for size in sizes),  # type: ignore[index]
        interval=min(half, WIDEST),
        source=source,
        why=why,
    )
