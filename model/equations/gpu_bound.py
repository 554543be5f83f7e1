"""A buffer that a GPU computes in waves: bounds of its communication time, as plain formulas.

A kernel of n waves, each τ long, has an n-th of the buffer ready after each. MPI is told at the end of the kernel (the
processor synchronises with the stream, then sends), or after each wave, by a flag that a proxy thread polls or by a
counter of the NIC. Times count from the end of the kernel, in seconds; they are those of one FIFO link:

    n parts, ready at -(n - j) τ for j = 1 … n, each M / (n β') on the link:
    end = max over j of (-(n - j) τ + (n - j + 1) M / (n β')),

which is linear in j, so that the first part or the last one decides.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pready.model.common.arrays import Array
from pready.model.equations.domain import nonnegative, positive


def sent_after_kernel(synchronise: ArrayLike, overhead: ArrayLike, size: ArrayLike, bandwidth: ArrayLike) -> Array:
    """T_b = t_sync + o + M / β': the processor waits for the stream, then the whole buffer goes."""
    t, o = nonnegative(synchronise=synchronise, overhead=overhead)
    m, beta = positive(size=size, bandwidth=bandwidth)
    return np.asarray(t + o + m / beta)


def sent_by_wave(
    trigger: ArrayLike,
    overhead: ArrayLike,
    size: ArrayLike,
    bandwidth: ArrayLike,
    waves: ArrayLike,
    wave_time: ArrayLike,
) -> Array:
    """T_p = t_trigger + o + max(M / β' - (n - 1) τ, M / (n β')): each wave's part goes as soon as it is ready."""
    t, o, tau = nonnegative(trigger=trigger, overhead=overhead, wave_time=wave_time)
    m, beta, n = positive(size=size, bandwidth=bandwidth, waves=waves)
    whole = m / beta
    return np.asarray(t + o + np.maximum(whole - (n - 1) * tau, whole / n))


def through_host(bandwidth: ArrayLike, copies: ArrayLike) -> Array:
    """1 / β' = 1 / β + 1 / β_copies: a buffer is copied to the host, then sent, one after the other."""
    beta, copied = positive(bandwidth=bandwidth, copies=copies)
    return np.asarray(1 / (1 / beta + 1 / copied))
