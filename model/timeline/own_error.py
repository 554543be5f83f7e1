"""The model's own error, embedded in its costs (Sargsyan, Huan and Najm,
https://doi.org/10.1615/Int.J.UncertaintyQuantification.2019027384).

Each drawn machine has a factor for what is paid per byte, per message of one thread, per message of threads that share
a lock, and for what ranks of a port share. So two ways that move the same bytes are off together, and small messages
are known less well than large ones. What is left is a small factor of all transfers and one of each way of sending.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

import numpy as np

from pready.model.approach.interfaces import INTERFACES, Approach
from pready.model.common.arrays import Array
from pready.model.common.normal import Z95
from pready.model.timeline.sampling import Sampler

NAME = "the model's own error"
Factor = Literal["bytes", "messages", "locks", "ports", "transfers", "ways"]
HALF_WIDTH: Mapping[Factor, float] = {
    "bytes": 0.11,
    "messages": 0.17,
    "locks": 1.34,
    "ports": 0.11,
    "transfers": 0.10,
    "ways": 0.043,
}
"""Relative upper half-widths at 95 %, by the likelihood of what was measured on real machines
(`pready.validate.claims.model_error`)."""
COSTS: tuple[Factor, ...] = ("bytes", "messages", "locks", "ports")
"""Those that are factors of costs."""


def name_of(of: Factor, way: str = "") -> str:
    """What its draws are called."""
    return f"{NAME}, {way or of}"


def sd(of: Factor) -> float:
    """Standard deviation of the logarithm of a factor."""
    return math.log1p(HALF_WIDTH[of]) / Z95


def factor(sampler: Sampler, of: Factor, way: str = "") -> Array:
    """By how much such costs are off in each row, shape (rows,), or () where nothing is drawn."""
    return np.exp(sd(of) * sampler.normals(name_of(of, way))) if sampler.draws else np.ones(())


def of_transfer(sampler: Sampler, approach: Approach) -> Array:
    """By how much the transfer of a way of sending is off beside its costs; of what no library exceeds in several
    messages, by as little as of any way."""
    ways = WAYS if approach.interface.least and approach.messages > 1 else (way(approach),)
    off = np.minimum.reduce([factor(sampler, "ways", of) for of in ways])
    return np.asarray(factor(sampler, "transfers") * off)


def way(approach: Approach) -> str:
    """Approaches that hand the same messages over in the same manner are one way of sending."""
    if approach.interface.one_sided:
        return "puts"
    return "one message" if approach.messages == 1 else f"messages, completed by {approach.interface.completes}"


WAYS = tuple(dict.fromkeys(way(i.into(n)) for i in INTERFACES for n in (1, 2)))
"""All ways of sending."""
