"""The inverse of the normal distribution, in arithmetic that every engine can repeat.

Algorithm AS 241, PPND16 (Wichura, Applied Statistics 37(3), 1988, https://doi.org/10.2307/2347330): rational
approximations with about 16 digits. Not SciPy's, because the C++ engine draws the same numbers from the same counters,
operation by operation, and because its import takes as long as a prediction; SciPy is the oracle in the tests.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pready.model.common.errors import PreadyError

Z95 = 1.959963984540054
"""Half-width of a 95 % interval in standard deviations."""

# Coefficients of numerator and denominator, from the highest power down.
CENTRAL = (
    (2509.0809287301226727, 5226.495278852545925),
    (33430.575583588128105, 28729.085735721942674),
    (67265.770927008700853, 39307.89580009271061),
    (45921.953931549871457, 21213.794301586595867),
    (13731.693765509461125, 5394.1960214247511077),
    (1971.5909503065514427, 687.1870074920579083),
    (133.14166789178437745, 42.313330701600911252),
    (3.387132872796366608, 1.0),
)
MIDDLE = (
    (7.7454501427834140764e-4, 1.05075007164441684324e-9),
    (0.0227238449892691845833, 5.475938084995344946e-4),
    (0.24178072517745061177, 0.0151986665636164571966),
    (1.27045825245236838258, 0.14810397642748007459),
    (3.64784832476320460504, 0.68976733498510000455),
    (5.7694972214606914055, 1.6763848301838038494),
    (4.6303378461565452959, 2.05319162663775882187),
    (1.42343711074968357734, 1.0),
)
TAIL = (
    (2.01033439929228813265e-7, 2.04426310338993978564e-15),
    (2.71155556874348757815e-5, 1.4215117583164458887e-7),
    (0.0012426609473880784386, 1.8463183175100546818e-5),
    (0.026532189526576123093, 7.868691311456132591e-4),
    (0.29656057182850489123, 0.0148753612908506148525),
    (1.7848265399172913358, 0.13692988092273580531),
    (5.4637849111641143699, 0.59983220655588793769),
    (6.6579046435011037772, 1.0),
)


def inverse(p: ArrayLike) -> NDArray[np.float64]:
    """The standard normal quantile of each `p` in the open interval (0, 1)."""
    probability = np.asarray(p, dtype=np.float64)
    q = probability - 0.5
    r = np.sqrt(-np.log(np.minimum(probability, 1 - probability)))
    tail = np.where(r <= 5.0, _ratio(MIDDLE, r - 1.6), _ratio(TAIL, r - 5.0))
    central = q * _ratio(CENTRAL, 0.180625 - q * q)
    return np.where(np.abs(q) <= 0.425, central, np.copysign(tail, q))


def _ratio(coefficients: Sequence[tuple[float, float]], x: NDArray[np.float64]) -> NDArray[np.float64]:
    over, under = (np.asarray(np.polyval(c, x), dtype=np.float64) for c in zip(*coefficients, strict=True))
    return np.asarray(over / under, dtype=np.float64)


def below(z: float) -> float:
    """The probability of a standard normal draw below `z`."""
    return 0.5 * math.erfc(-z / math.sqrt(2.0))


@cache
def student95(freedom: int) -> float:
    """Half-width of Student's 95 % interval in standard deviations, by Cornish and Fisher's expansion.

    Abramowitz and Stegun 26.7.5, to the third order; within 1 % of the exact value from 3 degrees of freedom on.

    Raises
    ------
    PreadyError
        Fewer than one degree of freedom.
    """
    if freedom < 1:
        raise PreadyError(f"degrees of freedom = {freedom}", valid="at least 1")
    z = Z95
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return math.fsum(t / freedom**n for n, t in enumerate(terms))
