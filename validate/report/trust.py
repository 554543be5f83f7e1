"""How far to trust the model, in a few figures, which the documents quote."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pready.validate.fabrics.model_error import held_by_others, misses, model_error
from pready.validate.report.summary import able_to_fail, counts, deviation
from pready.validate.result import ClaimResult


def figures(claims: Sequence[ClaimResult]) -> dict[str, Any]:
    """Of the claims of one kind.

    Returns
    -------
    ``sources``, ``checked``, ``ok``, ``off``, ``out_of_scope``, ``weak``: numbers of claims; ``can_fail`` and
    ``can_fail_ok``: independent ones that a wrong machine turns. Of real machines also ``error_percent``, the median
    error; ``inside_percent``, the share of measured values inside the predicted 95 % interval; ``model_error_percent``,
    by which the model itself is off beyond it, and ``inside_with_error_percent``, the share inside with that of the
    other machines; and ``by_quantity``.
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
            out["model_error_percent"] = round(100 * model_error(found_off), 1)
            out["inside_with_error_percent"] = round(100 * held_by_others(found_off))
        out["by_quantity"] = {q: _errors([c for c in measured if c.quantity == q]) for q in quantities}
    return out


def _errors(claims: Sequence[ClaimResult]) -> dict[str, Any]:
    """Of claims that are numbers."""
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
