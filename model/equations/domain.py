"""Domains of formulas: refuse, never clamp."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pready.model.common.arrays import Array
from pready.model.common.errors import PreadyError


def positive(**values: ArrayLike) -> tuple[Array, ...]:
    """The values as arrays; every element must be finite and greater than 0."""
    return tuple(_checked(name, v, "finite and greater than 0", strictly=True) for name, v in values.items())


def nonnegative(**values: ArrayLike) -> tuple[Array, ...]:
    """The values as arrays; every element must be finite and at least 0."""
    return tuple(_checked(name, v, "finite and at least 0", strictly=False) for name, v in values.items())


def _checked(name: str, value: ArrayLike, valid: str, *, strictly: bool) -> Array:
    array = np.asarray(value, dtype=np.float64)
    good = np.isfinite(array) & ((array > 0) if strictly else (array >= 0))
    if not good.all():
        raise PreadyError(f"{name} = {array[~good].flat[0]:g}", valid=valid)
    return array
