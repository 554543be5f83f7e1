"""A FIFO server of jobs, as a running maximum."""

from __future__ import annotations

import numpy as np

from pready.model.common.arrays import Array


def fifo_starts(arrivals: Array, service: Array) -> Array:
    """When a FIFO server starts each job.

    Parameters
    ----------
    arrivals
        In the order in which they are served, along the last axis.
    service
        At least 0, of each job; or of all of them, with a last axis of 1.

    Returns
    -------
    start_i = max(arrival_i, start_{i-1} + service_{i-1}), unrolled: s_i + max_{j ≤ i}(arrival_j − s_j) with s_i the
    service of all before i.
    """
    n = arrivals.shape[-1]
    if n == 1:
        return arrivals
    if service.shape[-1] == 1:
        before = np.arange(n) * service
    else:
        before = np.zeros(service.shape)
        np.cumsum(service[..., :-1], axis=-1, out=before[..., 1:])
    starts = arrivals - before
    np.maximum.accumulate(starts, axis=-1, out=starts)
    starts += before
    return starts
