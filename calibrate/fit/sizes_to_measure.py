"""Which message sizes to measure: before anything is known, and after a first fit.

A threshold is known as well as the two sizes around it are close, so sizes lie densely where
libraries put thresholds (256 B to 256 KiB) and pairwise around powers of two (8192 and 8193: most
limits are "up to 2^k"). An overhead or a gap is seen best where the rest of the message costs
least: at a segment's small end. G is seen best at its large end. A geometric ladder serves both.
"""

from __future__ import annotations

from pready.calibrate.fit.results import Estimate, Fit

LARGEST = 4 << 20  # bytes of the largest message
DENSE = (256, 256 << 10)
"""Where eager, buffered and rendezvous limits are found."""
PER_THRESHOLD = 3
"""Sizes to put inside each threshold's interval."""


def default_sizes() -> list[int]:
    """Sizes to start with, in bytes, increasing: 4 per octave where thresholds are, 2 elsewhere; 2^k + 1 beside 2^k."""
    found: set[int] = set()
    for k in range(LARGEST.bit_length()):
        dense = DENSE[0] <= 1 << k < DENSE[1]
        per_octave = 4 if dense else 2 if k >= 2 else 1
        found.update(round(2 ** (k + i / per_octave)) for i in range(per_octave))
        if dense and k >= 10:
            found.add((1 << k) + 1)
    return sorted(size for size in found if size <= LARGEST)


def refine_sizes(fit: Fit) -> list[int]:
    """The most informative sizes to measure next, in bytes, increasing; may be empty.

    Inside each threshold's interval (bisecting it until it is one byte wide), and, for a parameter
    whose interval is wider than ±10 %, where that parameter is seen best: L, g, o_s and o_r just
    above the segment's start, G towards its end.
    """
    found: set[int] = set()
    for threshold in fit.thresholds:
        low, high = max(threshold.low, 1.0), max(threshold.high, 1.0)
        found.update(round(low * (high / low) ** (i / (PER_THRESHOLD + 1))) for i in range(1, PER_THRESHOLD + 1))
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
