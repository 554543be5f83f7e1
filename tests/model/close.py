"""NumPy's own comparison takes longer than what some tests compare: it is asked only where values differ."""

from __future__ import annotations

from typing import Any

import numpy as np


def close(found: Any, expected: Any, *, rtol: float = 1e-7, atol: float = 0.0) -> None:
    """As `np.testing.assert_allclose`, in a tenth of its time where all is well."""
    a, b = np.asarray(found), np.asarray(expected)
    if a.shape != b.shape or not np.less_equal(np.abs(a - b), atol + rtol * np.abs(b)).all():
        np.testing.assert_allclose(found, expected, rtol=rtol, atol=atol)
