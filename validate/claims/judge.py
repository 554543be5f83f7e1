"""From a claim to its result: sweep, comparison, reduction, verdict."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from pready.model.common import units
from pready.model.common.errors import PreadyError, shown
from pready.model.timeline.own_error import Factor
from pready.validate.claims.checks import Answer, answer
from pready.validate.claims.computed_once import STEP, Lab
from pready.validate.claims.form import Bounds, Claim, Reduction, Relation, Stated, Tolerance, merged
from pready.validate.claims.result import ClaimKind, ClaimResult, Shown, Status

UNEXPLAINED = "nobody has looked into this yet"
SIZES = ("size", "partition", "buffer")
"""Arguments of a check that say how much is sent, the first that it has."""
LAST_HIGH = 0.9
"""`reduce = "last high"`: the last point of the sweep that keeps this share of the maximum."""


RELATIONS: Mapping[Relation, Callable[[float, float, float], float]] = {
    "ratio": lambda a, b, unit: a / b if b else math.inf,
    "difference": lambda a, b, unit: (a - b) / unit,
    "percent less": lambda a, b, unit: 100 * (1 - a / b) if b else 0.0,
}
"""What a claim makes of our value and of the one that it compares with, in its unit."""
REDUCTIONS: Mapping[Reduction, Callable[[list[float]], Answer]] = {
    "max": max,
    "min": min,
    "mean": lambda values: sum(values) / len(values),
    "increases": lambda values: all(a < b for a, b in pairwise(values)),
    "decreases": lambda values: all(a > b for a, b in pairwise(values)),
}
"""What a claim keeps of a sweep."""


def result(source: str, claim: Claim, lab: Lab, of: ClaimKind = "papers") -> ClaimResult:
    """The claim beside the model's value."""
    common: dict[str, Any] = {
        "id": f"{source}/{claim.id}",
        "source": source,
        "of": of,
        "where": claim.where,
        "says": claim.says,
        "quantity": claim.quantity,
        "unit": claim.unit,
        "bytes": next(
            (units.parse(at, units.Unit.SIZE) for n in SIZES if isinstance(at := claim.arguments.get(n), str)), None
        ),
    }
    if claim.out_of_scope is not None:
        return ClaimResult(
            **common, expected=None, got=None, tolerance="", status="out of scope", why=claim.out_of_scope
        )
    assert claim.expected is not None
    values = computed(claim, lab)
    status = verdict(claim.expected, values, claim.tolerance)
    return ClaimResult(
        **common,
        expected=shown_expected(claim.expected),
        got=shown_values(values),
        tolerance=shown_tolerance(claim.tolerance),
        status=status,
        why=_why(claim, status),
        basis=claim.basis or "",
        known_off=claim.known_off is not None,
    )


def _why(claim: Claim, status: Status) -> str:
    """Why this tolerance; or why it is off; and whether agreement could have been otherwise."""
    parts = ["a profile's value is fitted to this place: no test of the model"] if claim.basis == "fitted" else []
    if status == "off":
        parts.append(claim.known_off or UNEXPLAINED)
    elif claim.tolerance is not None:
        parts.append(claim.tolerance.why)
    return "; ".join(parts)


def computed(claim: Claim, lab: Lab) -> list[Answer]:
    """What our model says: one value, or one for each point of a sweep that is not reduced."""
    return _reduced(claim, _computed(claim, lab))


def _computed(claim: Claim, lab: Lab) -> Iterator[tuple[Any, Answer]]:
    """The points of a sweep: the coordinate on its first axis, and our value there."""
    assert claim.check is not None
    for coordinates, here in claim.points():
        value = answer(claim.check, here, lab)
        if claim.than is not None:
            value = _related(claim, value, answer(claim.check, merged(here, claim.than), lab))
        elif not isinstance(value, (bool, str)):
            value = value / factor(claim.unit)
        yield coordinates[0] if coordinates else None, value


def turned(claim: Claim, lab: Lab) -> bool:
    """Is a claim off in this lab? Looks no further than the first point of a sweep that disagrees."""
    assert claim.expected is not None
    values = _computed(claim, lab)
    if claim.reduce == "every":
        return not all(_agrees(claim.expected, value, claim.tolerance) for _, value in values)
    return verdict(claim.expected, _reduced(claim, values), claim.tolerance) == "off"


def interval(claim: Claim, lab: Lab) -> tuple[float, float] | None:
    """The 95 % interval of a value over the lab's draws; None of words, and of several values."""
    found = [computed(claim, drawn) for drawn in lab.drawn()]
    if any(len(values) != 1 or isinstance(values[0], (bool, str)) for values in found):
        return None
    low, high = np.percentile([float(values[0]) for values in found], [2.5, 97.5])
    return float(low), float(high)


def steepness(claim: Claim, lab: Lab) -> dict[Factor, float]:
    """By how much ln of a value grows with ln of each factor of the model's own error; empty: no positive number."""
    out = dict[Factor, float]()
    for of, labs in lab.stepped().items():
        more, less = (computed(claim, there) for there in labs)
        if not all(len(v) == 1 and isinstance(v[0], float) and 0 < v[0] < math.inf for v in (more, less)):
            return {}
        out[of] = math.log(float(more[0]) / float(less[0])) / (2 * STEP)
    return out


def _related(claim: Claim, value: Answer, other: Answer) -> Answer:
    if isinstance(value, (bool, str)) or isinstance(other, (bool, str)):
        raise PreadyError(f"claim {claim.id}: {shown(value)} and {shown(other)} are not numbers", valid="no `than`")
    return RELATIONS[claim.relation](value, other, factor(claim.unit))


def _reduced(claim: Claim, points: Iterable[tuple[Any, Answer]]) -> list[Answer]:
    axes, values = map(list, zip(*points, strict=True))
    if claim.reduce == "every":
        return values
    numbers = [v for v in values if not isinstance(v, (bool, str))]
    if len(numbers) != len(values):
        raise PreadyError(f"claim {claim.id}: reduce = {shown(claim.reduce)} of {shown(values)}", valid="numbers")
    if claim.reduce == "last high":
        last = max(i for i, v in enumerate(numbers) if v >= LAST_HIGH * max(numbers))
        size = units.parse(axes[last], units.Unit.SIZE) if isinstance(axes[last], str) else float(axes[last])
        return [size / factor(claim.unit)]
    return [REDUCTIONS[claim.reduce](numbers)]


def factor(unit: str) -> float:
    """SI units in one `unit`; 1 for plain numbers and for percent, which the metrics are given in."""
    if unit in ("", "%", "messages", "operations", "threads", "partitions"):
        return 1.0
    found = units.measure(unit)
    if found is None:
        raise PreadyError(f"unit = {shown(unit)} is unknown", valid="none, or one of time, bytes and rates")
    return found[0]


def verdict(expected: Stated, values: Sequence[Answer], tolerance: Tolerance | None) -> Status:
    """Every value has to agree."""
    return "ok" if all(_agrees(expected, v, tolerance) for v in values) else "off"


def _agrees(expected: Stated, value: Answer, tolerance: Tolerance | None) -> bool:
    if isinstance(expected, (bool, str)) or isinstance(value, (bool, str)):
        return type(expected) is type(value) and expected == value
    assert tolerance is not None
    if isinstance(expected, Bounds):
        low = -float("inf") if expected.at_least is None else _widened(expected.at_least, tolerance)[0]
        high = float("inf") if expected.at_most is None else _widened(expected.at_most, tolerance)[1]
    else:
        low, high = _widened(expected, tolerance)
    return low <= value <= high


def _widened(expected: float, tolerance: Tolerance) -> tuple[float, float]:
    if tolerance.absolute is not None:
        return expected - tolerance.absolute, expected + tolerance.absolute
    if tolerance.relative is not None:
        return expected - tolerance.relative * abs(expected), expected + tolerance.relative * abs(expected)
    assert tolerance.factor is not None
    ends = expected / tolerance.factor, expected * tolerance.factor
    return min(ends), max(ends)


def shown_expected(expected: Stated) -> Shown:
    if not isinstance(expected, Bounds):
        return expected
    if expected.at_least is None:
        return f"at most {expected.at_most:g}"
    if expected.at_most is None:
        return f"at least {expected.at_least:g}"
    return f"{expected.at_least:g} to {expected.at_most:g}"


def shown_values(values: Sequence[Answer]) -> Shown:
    """One value as it is, several as their range or as words."""
    if len(set(values)) == 1:
        return values[0]
    numbers = [v for v in values if not isinstance(v, (bool, str))]
    if len(numbers) == len(values):
        return f"{min(numbers):.4g} to {max(numbers):.4g}"
    return ", ".join(dict.fromkeys(map(str, values)))


def shown_tolerance(tolerance: Tolerance | None) -> str:
    """``± 15 %``, ``± 0.0005``, ``a factor of 2`` or ``exact``."""
    if tolerance is None or tolerance.absolute == 0:
        return "exact"
    if tolerance.absolute is not None:
        return f"± {tolerance.absolute:g}"
    if tolerance.relative is not None:
        return f"± {100 * tolerance.relative:g} %"
    return f"a factor of {tolerance.factor:g}"
