"""Whether the two ranks of a result were on one node: such times say nothing of the network."""

from __future__ import annotations

from pready.calibrate.fit.observations import Curve

FASTEST_S = 0.75e-6
"""No fabric delivers a small message sooner: 0.9 to 1.1 us on InfiniBand and TofuD, 0.15 to 0.7 us within a node."""
SMALL = 8
"""Bytes of a small message."""


def of_times(ping_pong: Curve | None, hint: str) -> str:
    """Why the ranks were on one node; empty if they were on two, or nothing tells.

    Parameters
    ----------
    ping_pong
        Half round trips.
    hint
        What a command line, or processes that waited, say of it.
    """
    medians = {} if ping_pong is None else ping_pong.medians
    fastest = min((time for size, time in medians.items() if size <= SMALL), default=float("inf"))
    if fastest >= FASTEST_S:
        return hint if "command line" in hint else ""
    told = f"a small message took {fastest * 1e6:.2g} us, and no network delivers one sooner than 0.75 us"
    return f"{told}; {hint}" if hint else told
