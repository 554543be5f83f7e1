"""The normal distribution and Student's, where one value is asked for; SciPy's import takes as long as a prediction."""

from __future__ import annotations

import math
from functools import cache

Z95 = 1.959963984540054
"""Half-width of a 95 % interval in standard deviations."""


def below(z: float) -> float:
    """The probability of a standard normal draw below `z`."""
    return 0.5 * math.erfc(-z / math.sqrt(2.0))


@cache
def student95(freedom: int) -> float:
    """Half-width of Student's 95 % interval in standard deviations.

    Of one and two degrees of freedom in closed form; of more by Cornish and Fisher's expansion to the third order
    (Abramowitz and Stegun 26.7.5), within 1 %.
    """
    if freedom == 1:
        return math.tan(0.475 * math.pi)
    if freedom == 2:
        return 0.95 * math.sqrt(2 / (1 - 0.95**2))
    z = Z95
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return math.fsum(t / freedom**n for n, t in enumerate(terms))
