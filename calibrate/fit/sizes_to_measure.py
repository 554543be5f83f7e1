"""Which message sizes to measure: before anything is known, and after a first fit.

A threshold is known as well as the two sizes around it are close, so sizes lie densely where
libraries put thresholds (256 B to 256 KiB) and pairwise around powers of two (8192 and 8193: most
limits are "up to 2^k"). An overhead or a gap is seen best where the rest of the message costs
least: at a segment's small end. G is seen best at its large end. A geometric ladder serves both.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from pready.calibrate.fit.results import Estimate, Fit

SMALLEST, LARGEST = 1, 4 << 20
_DENSE = (256, 256 << 10)  # where eager, buffered and rendezvous limits are found


def default_sizes(measurement: Literal["ping_pong", "prtt"] = "ping_pong", *, largest: int = LARGEST) -> list[int]:
    """Sizes to start with, in bytes, increasing.

    Parameters
    ----------
    measurement
        "ping_pong" ladders of 4 sizes per octave where thresholds are, 2 elsewhere, and
        2^k + 1 beside 2^k; "prtt" has 3 per octave there and 1 above (its trains cost 16 times as
        much).
    largest
        Leaves out larger ones.
    """
    steps, sparse = (4, 2) if measurement == "ping_pong" else (3, 1)
    exponents = np.arange(0, int(np.log2(LARGEST)) + 1)
    found: set[int] = set()
    for k in exponents:
        dense = _DENSE[0] <= 2**k < _DENSE[1]
        per_octave = steps if dense else sparse if 2**k >= 4 else 1
        found.update(round(2 ** (k + i / per_octave)) for i in range(per_octave))
        if dense and measurement == "ping_pong" and 2**k >= 1024:
            found.add(int(2**k) + 1)
    return sorted(size for size in found if SMALLEST <= size <= min(LARGEST, largest))


def refine_sizes(fit: Fit, *, per_threshold: int = 3) -> list[int]:
    """The most informative sizes to measure next, in bytes, increasing; may be empty.

    Inside each threshold's interval (bisecting it until it is one byte wide), and, for a parameter
    whose interval is wider than ±10 %, where that parameter is seen best: L, g, o_s and o_r just
    above the segment's start, G towards its end.

    Parameters
    ----------
    fit
        The fit so far.
    per_threshold
        How many sizes to put inside each threshold's interval.
    """
    found: set[int] = set()
    for threshold in fit.thresholds:
        low, high = max(threshold.low, 1.0), max(threshold.high, 1.0)
        found.update(round(low * (high / low) ** (i / (per_threshold + 1))) for i in range(1, per_threshold + 1))
    ends = [s.from_bytes for s in fit.segments[1:]] + [float(fit.sizes[-1])]
    for segment, end in zip(fit.segments, ends, strict=True):
        start = max(segment.from_bytes, float(fit.sizes[0]), 1.0)
        reach = max(end / start, 1.0)
        for name in ("L", "g", "o_s", "o_r"):
            if _wide(getattr(segment, name)):
                found.update(round(start * min(2.0, reach) ** (i / 6)) for i in range(1, 6))
        if _wide(segment.G):
            found.update(round(start * reach ** (1 - i / 8)) for i in range(1, 4))
    return sorted(found - {int(size) for size in fit.sizes} - {0})


def _wide(estimate: Estimate) -> bool:
    return not estimate.assumed and estimate.half_width > 0.1 * abs(estimate.value)
