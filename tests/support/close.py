"""NumPy's own comparison takes longer than what some tests compare: it is asked only where values differ."""

from typing import Any

import numpy as np


def close(found: Any, expected: Any, *, rtol: float = 1e-7, atol: float = 0.0) -> None:
    """As `np.testing.assert_allclose`, in a tenth of its time where all is well."""
    a, b = np.asarray(found), np.asarray(expected)
    with np.errstate(invalid="ignore"):  # of infinities, NumPy decides
        well = a.shape == b.shape and np.less_equal(np.abs(a - b), atol + rtol * np.abs(b)).all()
    if not well:
        np.testing.assert_allclose(found, expected, rtol=rtol, atol=atol)
