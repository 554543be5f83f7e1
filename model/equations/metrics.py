"""The metrics of the papers, as plain formulas.

temucin2022 Eq. 1-4 (https://doi.org/10.1145/3545008.3545088), marts2024 IV.A.2, gillis2023 Eq. 1.
All take and return floats or arrays; times in seconds.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pready.model.common.arrays import Array
from pready.model.common.errors import PreadyError


def eta(t_bulk: ArrayLike, t_part: ArrayLike) -> Array:
    """η = T_b / T_p (gillis2023 Eq. 1): above 1 the pipelined pattern is faster."""
    return np.asarray(np.asarray(t_bulk) / np.asarray(t_part), dtype=np.float64)


def speedup_percent(bulk: ArrayLike, fine: ArrayLike) -> Array:
    """(BSP − FINE) / BSP · 100 of iteration times, compute included (marts2024 IV.A.2)."""
    return np.asarray((np.asarray(bulk) - np.asarray(fine)) / np.asarray(bulk) * 100, dtype=np.float64)


def overhead(t_part: ArrayLike, t_pt2pt: ArrayLike) -> Array:
    """t_part / t_pt2pt (temucin2022 Eq. 1): first MPI_Pready to last MPI_Parrived, without noise, over
    one send of the same size."""
    return np.asarray(np.asarray(t_part) / np.asarray(t_pt2pt), dtype=np.float64)


def perceived_bandwidth(size: ArrayLike, t_part_last: ArrayLike) -> Array:
    """m / t_part_last (temucin2022 Eq. 2), B/s: the whole buffer over the time of the last partition."""
    return np.asarray(np.asarray(size) / np.asarray(t_part_last), dtype=np.float64)


def application_availability(t_after_join: ArrayLike, t_pt2pt: ArrayLike) -> Array:
    """1 − t_after_join / t_pt2pt (temucin2022 Eq. 3): the share of a send that is hidden; negative
    where partitions take longer after the join than one send."""
    return np.asarray(1 - np.asarray(t_after_join) / np.asarray(t_pt2pt), dtype=np.float64)


def early_bird_percent(t_before_join: ArrayLike, t_part: ArrayLike) -> Array:
    """t_before_join / t_part · 100 (temucin2022 Eq. 4)."""
    return np.asarray(np.asarray(t_before_join) / np.asarray(t_part) * 100, dtype=np.float64)


def projected_speedup(share: float, communication_speedup: float) -> float:
    """Speedup of a run if the share of it spent communicating gets faster (temucin2022 4.8, SNAP).

    Amdahl's law: 1 / (1 − share + share / speedup).

    Raises
    ------
    PreadyError
        A share outside [0, 1] or a speedup that is not positive.
    """
    if not 0 <= share <= 1:
        raise PreadyError(f"share = {share!r}", valid="0 to 1")
    if not communication_speedup > 0:
        raise PreadyError(f"communication_speedup = {communication_speedup!r}", valid="greater than 0")
    return 1 / (1 - share + share / communication_speedup)
