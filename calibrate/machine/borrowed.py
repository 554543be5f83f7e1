"""The path of a machine of which too few message sizes were timed for a fit: another machine's, made to measure.

The shape is that of a shipped profile; its times are multiplied so that they meet what was timed. Every value is
assumed, with an interval as wide as that leaves it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pready.calibrate.fit import Observations
from pready.calibrate.machine.estimates import BANDWIDTH, PER_BYTE, SIGNED_TIME, TIME, assumed
from pready.calibrate.machine.team_costs import REFERENCE
from pready.model.machine.machine import Machine, load
from pready.model.machine.path import NetworkPath, Segment

FEWEST = 3
"""Sizes from which on a fit is made."""
KNOWN, UNKNOWN = 3.0, 10.0
"""Factors of the interval of each value: with a size timed, and with none."""
FIELDS = {"L": SIGNED_TIME, "o_s": TIME, "o_r": TIME, "g": TIME, "G": PER_BYTE, "handshake": TIME}


class Borrowed(NamedTuple):
    """An assumed path, and a note on it."""

    path: NetworkPath
    note: str


def borrowed(observed: Observations) -> Borrowed | None:
    """The reference's path, made to measure; None: enough sizes were timed for a fit."""
    known, reference = {}, load(REFERENCE)
    if observed.ping_pong is not None:
        known = observed.ping_pong.medians
    elif observed.prtt_1 is not None:
        known = {size: time / 2 for size, time in observed.prtt_1.medians.items()}
    if len(known) >= FEWEST:
        return None
    ratios = [time / one_way(reference, size) for size, time in known.items()]
    scale = float(np.exp(np.mean(np.log(ratios)))) if ratios else 1.0
    factor = KNOWN if ratios else UNKNOWN
    sizes = f"{len(known)} message size{'s' * (len(known) != 1)}"
    why = f"{sizes} timed, at least {FEWEST} are needed: as on {REFERENCE}, times {scale:.3g}"

    def segment(s: Segment) -> Segment:
        made = {
            name: assumed(kind, getattr(s, name).value * scale, why, factor)
            for name, kind in FIELDS.items()
            if getattr(s, name) is not None and getattr(s, name).value > 0
        }
        return s.model_copy(update={"G_link": None, "O_s": None, "O_r": None, "O_r_beyond": None, **made})

    path = NetworkPath(
        segments=tuple(map(segment, reference.inter.segments)),
        link_bandwidth=assumed(BANDWIDTH, reference.inter.link_bandwidth.value / scale, why, factor),
    )
    return Borrowed(path, f"{why}, each value within a factor of {factor:g}; measure more sizes (running again does)")


def one_way(machine: Machine, size: float) -> float:
    """Seconds of one message that meets an idle network."""
    s = machine.inter.segment(size)
    handshake = 0.0 if s.handshake is None else s.handshake.value
    return float(s.o_s.value + handshake + s.L.value + s.G.value * size + s.o_r.value)
