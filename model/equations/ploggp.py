"""LogGP of a partitioned send: what it takes where bandwidth, latency, overheads and gaps are all there is.

After PLogGP, the LogGP of partitions by which Temuçin et al. choose how many messages to aggregate partitions into ("A
Dynamic Network-Native MPI Partitioned Aggregation Over InfiniBand Verbs", IEEE CLUSTER 2023). Only their abstract was
read: what stands here is LogGP (Alexandrov et al., https://doi.org/10.1145/215399.215427) of n messages, of which all
but the last are ready D earlier; it may differ from theirs in detail.

Limits: L = o = g = 0 is Eq. 2 and 3 of gillis2023; n = 1 is one message.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pready.model.common.arrays import Array
from pready.model.equations.domain import nonnegative, positive


def one_message(L: ArrayLike, o_s: ArrayLike, o_r: ArrayLike, G: ArrayLike, size: ArrayLike) -> Array:
    """T_b = o_s + G M + L + o_r, seconds after the last partition is ready."""
    send, receive, each = nonnegative(o_s=o_s, o_r=o_r, G=G)
    (m,) = positive(size=size)
    return np.asarray(send + each * m + np.asarray(L, np.float64) + receive)


def messages(
    L: ArrayLike,
    o_s: ArrayLike,
    o_r: ArrayLike,
    g: ArrayLike,
    G: ArrayLike,
    size: ArrayLike,
    count: ArrayLike,
    delay: ArrayLike,
) -> Array:
    """T_p = o_s + max((n - 1) max(g, G M/n) - D, 0) + G M/n + L + o_r, of n messages, the last one late by D."""
    send, receive, gap, each, late = nonnegative(o_s=o_s, o_r=o_r, g=g, G=G, delay=delay)
    m, n = positive(size=size, count=count)
    one = each * m / n
    before = np.maximum((n - 1) * np.maximum(gap, one) - late, 0.0)
    return np.asarray(send + before + one + np.asarray(L, np.float64) + receive)
