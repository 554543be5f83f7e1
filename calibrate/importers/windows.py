"""The time between messages of a stream, from windows of messages that one answer follows (osu_bw, osu_mbw_mr).

A window of n messages and its answer take n times what the benchmark calls the time of a message:

    n each(s) = t(s) + (n - 1) gap(s) + t(4)

where t is half a round trip: the last message arrives t(s) after it was posted, and then 4 bytes go back (OMB 5.6,
osu_bw.c). Left in, the two latencies make small messages look a third slower than they follow each other.

osu_bibw's windows have no answer, but a rank receives while it sends: messages of one way alone take at most as long,
which bounds what is assumed of a stream where none was measured.
"""

from __future__ import annotations

import numpy as np

from pready.calibrate.fit import Estimate, Fit
from pready.calibrate.fit.observations import Curve, Observations
from pready.calibrate.machine.estimates import BANDWIDTH, PER_BYTE, TIME, Kind, value, with_fields
from pready.model.common.units import SI
from pready.model.machine.machine import Machine
from pready.model.toml.provenance import Value

DEFAULT_WINDOW = 64
"""Messages of a window unless `-W` was given, which osu_bw's output does not say."""
ANSWER = 4.0
"""Bytes of an answer."""


def without_answers(observed: Observations, window: int) -> tuple[Observations, str]:
    """The observations with gaps in place of a window's time per message, and a note.

    Parameters
    ----------
    observed
        Its `stream` is of windows if `window` is not 0.
    window
        Messages of a window; 0: the stream has no answers.
    """
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
    return Observations(**{**vars(observed), "stream": Curve(stream.at, tuple(gaps))}), note


AT_LEAST = 0.5
"""Of a message's time among messages of both ways: what one takes whose rank only sends, if the two share all."""


def with_both_ways(observed: Observations, both_ways: Curve, assumed: Fit) -> Observations | None:
    """The observations with a stream whose messages take no longer than those of both ways, nor than assumed.

    Parameters
    ----------
    both_ways
        Time per pair of messages, one each way.
    assumed
        Fit without a stream, whose gaps are assumed.

    Returns
    -------
    Observations or None
        None where there is a stream of one way, or those of both ways are nowhere shorter than assumed.
    """
    if observed.ping_pong is None or observed.stream is not None or observed.prtt_n is not None:
        return None
    starts = [s.from_bytes for s in assumed.segments]
    own = [assumed.segments[int(np.searchsorted(starts, size, side="right")) - 1] for size in both_ways.at]
    gaps = [s.g.value + s.G_stream.value * size for s, size in zip(own, both_ways.at, strict=True)]
    if all(times.min() >= gap for times, gap in zip(both_ways.repeats, gaps, strict=True)):
        return None
    least = tuple(np.minimum(times, gap) for times, gap in zip(both_ways.repeats, gaps, strict=True))
    return Observations(**{**vars(observed), "stream": Curve(both_ways.at, least)})


def as_bounds(machine: Machine) -> Machine:
    """The machine with g and G_link of messages of both ways as upper bounds of those of one."""
    why = "at most as where ranks receive as they send (osu_bibw)"
    segments = []
    for s in machine.inter.segments:
        per_byte = s.G if s.G_link is None else s.G_link
        bounds = {"g": _at_most(TIME, s.g.value, why), "G_link": _at_most(PER_BYTE, per_byte.value, why)}
        segments.append(with_fields(s, from_=SI(s.from_), **bounds))
    rate = machine.inter.link_bandwidth.value
    link = value(BANDWIDTH, Estimate(rate, rate, rate / AT_LEAST), why, "assumed")
    return with_fields(machine, inter=with_fields(machine.inter, segments=tuple(segments), link_bandwidth=link))


def _at_most(kind: Kind, most: float, why: str) -> Value[float]:
    return value(kind, Estimate(most, AT_LEAST * most, most), why, "assumed")
