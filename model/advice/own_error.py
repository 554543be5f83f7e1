"""The model's own error, by class of exchange: what its times were off by on real machines beside what their files
leave open (``pready validate fabrics``).

ln of the transfer time of a way has F + E. F is common to all ways of a prediction, with the least half-width of a
class; E belongs to the way's class, so that ways which send in the same class are off by the same factor.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

import numpy as np

from pready.model.approach.interfaces import Approach
from pready.model.common.arrays import Array
from pready.model.common.normal import Z95
from pready.model.timeline.sampling import Sampler
from pready.model.workload.workload import Workload

Class = Literal["one message", "stream", "shared ports", "many threads"]
HALF_WIDTH: Mapping[Class, float] = {"one message": 0.15, "stream": 0.10, "shared ports": 0.30, "many threads": 0.27}
"""Relative half-widths by which 95 % intervals have to be wider to hold 95 % of the measured values of a class."""
NAME = "the model's own error"


def class_of(workload: Workload, approach: Approach) -> Class:
    """What of real machines is most like a way of sending an exchange."""
    if approach.messages > 1:
        return "many threads" if workload.threads > 1 else "stream"
    return "shared ports" if workload.two_way or (workload.ranks_per_node or 1) > 1 else "one message"


def factor(sampler: Sampler, of: Class) -> Array:
    """By how much the transfer times of a class are off, shape (draws,)."""
    common, whole = (math.log1p(half) / Z95 for half in (min(HALF_WIDTH.values()), HALF_WIDTH[of]))
    off = common * sampler.normals(NAME)
    if whole > common:
        off = off + math.sqrt(whole**2 - common**2) * sampler.normals(f"{NAME}, {of}")
    return np.asarray(np.exp(off))
