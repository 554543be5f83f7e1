"""The time between messages of a stream, from windows of messages that one answer follows (osu_bw, osu_mbw_mr).

A window of n messages and its answer take n times what the benchmark calls the time of a message:

    n each(s) = t(s) + (n - 1) gap(s) + t(4)

where t is half a round trip: the last message arrives t(s) after it was posted, and then 4 bytes go back (OMB 5.6,
osu_bw.c). Left in, the two latencies make small messages look a third slower than they follow each other.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pready.calibrate.fit.observations import Curve, Observations

ANSWER = 4.0
"""Bytes of an answer."""


def without_answers(observed: Observations, window: int) -> tuple[Observations, str]:
    """The observations with gaps in place of the time per message of a window (0: no answers), and a note."""
    stream, ping_pong = observed.stream, observed.ping_pong
    if window < 2 or stream is None:
        return observed, ""
    if ping_pong is None:
        return observed, f"the gap holds a share of the window's answer, 1/{window}: no ping-pong says how long it is"
    one_way = list(ping_pong.medians.values())
    waited = np.interp(stream.at, ping_pong.at, one_way) + np.interp(ANSWER, ping_pong.at, one_way)
    gaps = [(window * each - wait) / (window - 1) for each, wait in zip(stream.repeats, waited, strict=True)]
    if any((gap <= 0).any() for gap in gaps):
        why = f"{window} messages would take no longer than one: other nodes than the ping-pong's, or a longer window"
        return observed, f"the gap holds a share of the window's answer, which was not taken out: {why}"
    note = f"the gap is without its share of the window's answer, for windows of {window} messages"
    return replace(observed, stream=Curve(stream.at, tuple(gaps))), note
