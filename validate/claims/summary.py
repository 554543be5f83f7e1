"""Claims in numbers and in words: how many agree, how far off the others are, what the documents quote."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from pready.validate.claims.model_error import by_class, misses, spreads
from pready.validate.claims.result import ClaimKind, ClaimResult, Shown, Status

STATUSES: tuple[Status, ...] = ("off", "ok", "out of scope")
"""The order of tables: what needs a reader first."""
NAMES: dict[ClaimKind, tuple[str, str]] = {
    "fabrics": ("measurements on", "real machine"),
    "papers": ("checked claims of", "paper"),
}
DIGITS, MOST_DIGITS = 4, 10


def counts(claims: Iterable[ClaimResult]) -> dict[Status, int]:
    """How many claims have each status."""
    found = dict.fromkeys(STATUSES, 0)
    for claim in claims:
        found[claim.status] += 1
    return found


def by_source(claims: Iterable[ClaimResult]) -> dict[str, list[ClaimResult]]:
    """Claims of each machine, then of each paper, in the order of `STATUSES`, otherwise as they came."""
    grouped: dict[str, list[ClaimResult]] = {}
    for claim in sorted(claims, key=lambda c: (c.of, c.source, STATUSES.index(c.status))):
        grouped.setdefault(claim.source, []).append(claim)
    return grouped


def value(shown: Shown, unit: str = "", digits: int = DIGITS) -> str:
    """An expected or computed value as a table shows it, with its unit."""
    if shown is None:
        return "-"
    if isinstance(shown, bool):
        return "yes" if shown else "no"
    text = number(shown, digits) if isinstance(shown, (int, float)) else shown
    return text if unit in ("", "1") else f"{text}\N{NO-BREAK SPACE}{unit}"


def number(x: float, digits: int) -> str:
    """`digits` significant digits, whole numbers in full; an exponent only where zeros would have to be counted."""
    if abs(x) < 1e7 and x == int(x):
        return f"{int(x)}"
    if not 1e-4 <= abs(x) < 1e7:
        return f"{x:.{digits}g}"
    return np.format_float_positional(x, precision=digits, unique=False, fractional=False, trim="-")


def pair(of: ClaimResult, unit: str) -> tuple[str, str]:
    """Expected and computed value, with enough digits to show a difference."""
    digits = DIGITS
    if of.status == "off":
        while digits < MOST_DIGITS and value(of.expected, "", digits) == value(of.got, "", digits):
            digits += 1
    return value(of.expected, unit, digits), value(of.got, unit, digits)


def status(claim: ClaimResult) -> str:
    """The status in words: "known off" where somebody has looked into it, "weak" where no wrong machine turns it."""
    if claim.weak:
        return "weak"
    return "known off" if claim.known_off and claim.status == "off" else claim.status


def able_to_fail(claims: Iterable[ClaimResult]) -> tuple[int, int]:
    """Independent claims that a wrong machine could turn: how many are ok, of how many."""
    asked = [c for c in claims if c.basis == "independent" and not c.weak]
    return sum(c.status == "ok" for c in asked), len(asked)


def deviation(expected: Shown, got: Shown) -> float | None:
    """Got over expected, minus 1; None where that means nothing."""
    numbers = (float, int)
    if isinstance(expected, bool) or isinstance(got, bool):
        return None
    if not isinstance(expected, numbers) or not isinstance(got, numbers) or expected == 0 or not math.isfinite(got):
        return None
    return got / expected - 1


def short_id(claim: ClaimResult) -> str:
    """A claim's identifier where its paper or machine is known."""
    return claim.id.removeprefix(f"{claim.source}/")


def _known(claims: Sequence[ClaimResult]) -> str:
    known = sum(status(c) == "known off" for c in claims)
    return f" ({known} of them for a reason that is known)" if known else ""


def headline(claims: Sequence[ClaimResult]) -> list[str]:
    """How many agree, and of those that count how many: what no wrong machine turns says nothing."""
    found, weak = counts(claims), sum(c.weak for c in claims)
    checked, sources = found["ok"] + found["off"], len({c.source for c in claims})
    what, one = NAMES[claims[0].of]
    scope = f"; {found['out of scope']} are out of scope" if found["out of scope"] else ""
    said = [
        f"{found['ok']} of {checked} {what} {sources} {one}{'s' * (sources != 1)} agree, "
        f"{found['off']} do not{_known(claims)}{scope}."
    ]
    ok, able = able_to_fail(claims)
    if able or weak:
        more = f"; {weak} more agree{'s' * (weak == 1)} whatever the machine (weak)" if weak else ""
        said.append(f"Independent and able to fail: ok {ok} of {able}{more}.")
    return said


def figures(claims: Sequence[ClaimResult]) -> dict[str, Any]:
    """What the documents quote of the claims of one kind.

    Returns
    -------
    ``sources``, ``checked``, ``ok``, ``off``, ``out_of_scope``, ``weak``: numbers of claims; ``can_fail`` and
    ``can_fail_ok``: independent ones that a wrong machine turns. Of real machines also ``error_percent``, the median
    error; ``inside_percent``, the share of measured values inside the interval of the machine's values;
    ``model_error_percent``, of each factor of the model's own error; ``by_class``, the share inside with the error that
    the other machines tell; and ``by_quantity``.
    """
    found = counts(claims)
    ok, able = able_to_fail(claims)
    out: dict[str, Any] = {
        "sources": len({c.source for c in claims}),
        "checked": found["ok"] + found["off"],
        "ok": found["ok"],
        "off": found["off"],
        "out_of_scope": found["out of scope"],
        "weak": sum(c.weak for c in claims),
        "can_fail": able,
        "can_fail_ok": ok,
    }
    measured = [c for c in claims if c.of == "fabrics" and deviation(c.expected, c.got) is not None]
    if measured:
        out |= _errors(measured)
        quantities = dict.fromkeys(c.quantity for c in measured)
        found_off = misses(measured)
        if len({m.machine for m in found_off}) > 1:
            out["model_error_percent"] = {of: round(100 * half, 1) for of, half in spreads(found_off).items()}
            out["by_class"] = {
                name: {
                    "measurements": of["claims"],
                    "inside_with_error_percent": round(100 * of["held"], 1),
                    "median_half_width_percent": round(100 * of["wide"]),
                }
                for name, of in by_class(found_off).items()
            }
        out["by_quantity"] = {q: _errors([c for c in measured if c.quantity == q]) for q in quantities}
    return out


def _errors(claims: Sequence[ClaimResult]) -> dict[str, Any]:
    """Errors of claims that are numbers, and how many lie inside their intervals."""
    errors = [abs(deviation(c.expected, c.got) or 0.0) for c in claims]
    wide = [c for c in claims if c.low is not None and c.high is not None]
    inside = [c.low <= c.expected <= c.high for c in wide]  # type: ignore[operator]
    return {
        "measurements": len(claims),
        "within": sum(c.status == "ok" for c in claims),
        "error_percent": round(100 * float(np.median(errors)), 1),
        "error_p90_percent": round(100 * float(np.percentile(errors, 90)), 1),
        "inside_percent": round(100 * float(np.mean(inside))) if inside else None,
    }
