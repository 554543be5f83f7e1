"""The one array type of the fit, and the one way bad input is turned away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pready.model.common.errors import PreadyError, shown

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.intp]
BoolArray: TypeAlias = NDArray[np.bool_]


def positive(values: ArrayLike, field: str, *, zero: bool = False) -> FloatArray:
    """`values` as a float vector, every entry finite and above 0 (`zero`: or equal to it).

    Raises
    ------
    PreadyError
        Not numbers, not one-dimensional, or an entry outside; names the first such entry.
    """
    valid = f"finite numbers {'at least' if zero else 'greater than'} 0"
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise PreadyError(f"{field} = {shown(values)} is not numeric", valid=valid) from None
    if array.ndim != 1:
        raise PreadyError(f"{field} has {array.ndim} dimensions", valid="1")
    bad = ~(np.isfinite(array) & (array >= 0 if zero else array > 0))
    if bad.any():
        first = int(np.argmax(bad))
        raise PreadyError(f"{field}[{first}] = {array[first]:g}", valid=valid)
    return array


def same_length(field: str, **columns: Sequence[object] | FloatArray) -> None:
    """Raises PreadyError unless all columns of `field` are equally long."""
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name}: {length}" for name, length in lengths.items())
        raise PreadyError(f"{field} has columns of different lengths ({listed})", valid="equal ones")
