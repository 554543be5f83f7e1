"""Figures that contradict each other: of one curve, and of several files of one machine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from pready.calibrate.fit.observations import DEFAULT_WINDOW, Curve, Observations
from pready.calibrate.importers.benchmarks import Measured
from pready.calibrate.machine.values.intervals import LARGE, LINKS
from pready.model.common.units import format_bandwidth, format_size, format_time
from pready.model.machine.machine import Fabric

FALLS = 0.7
"""A time below this share of a smaller message's has fallen with the size."""
TOO_MANY = 3
"""Sizes at which it has, below as many slower ones: a disturbed one or two are noise."""
FASTER = 5.0
"""A stream moves at most so many times the bandwidth of one large message: of bits taken for bytes it is 8 times."""
MORE = 1.3
"""Pairs send at most so many times their number's rate of one."""
SMALL = 64  # bytes of a small message
SLOWEST_S = 1e-3
"""A small message takes less on any network of a cluster: 20 to 60 us over TCP."""
OF_A_NODE = 512
"""Pairs of two nodes at most: no node has more cores."""
NODE = 800e9
"""B/s that no node sends: eight adapters of 800 Gbit/s."""
UNTOUCHED = 1.6
"""Factor by which 1 B takes longer than 0 B where an empty message never touches its buffer."""
Wrong = tuple[str, str, str]
"""Source, problem and what would be valid."""
Why = tuple[str, str]


def contradictions(runs: Sequence[Measured], fabric: Fabric | None) -> list[Wrong]:
    """The files whose figures cannot be, by themselves or beside the others'."""
    alone, stream = (_curve(run for run in runs if run.kind[0] == kind) for kind in ("ping_pong", "stream"))
    one, streamed = _bandwidth(alone), _bandwidth(stream)
    least = [time for size, time in alone.items() if 0 < size <= SMALL]
    found = []
    for run in runs:
        match run.kind[0]:
            case "ping_pong" | "stream" as kind:
                why = (_falling(run) or _too_slow(run) if kind == "ping_pong" else None) or _too_fast(run, one, fabric)
            case "pair_rates":
                why = _pairs(run, alone, one, streamed or one)
            case "puts" | "put_streams":
                why = _puts(run, least)
            case _:
                why = None
        if why is not None:
            problem, valid = why
            found.append((run.source, f"{run.test.name}: {problem}", valid))
    return found


def _curve(runs: Iterable[Measured]) -> dict[float, float]:
    """Medians by size of all runs."""
    rows = [row for run in runs for row in run.values]
    return Curve.of([s for s, _ in rows], [[t] for _, t in rows]).medians if rows else {}


def _bandwidth(times: Mapping[float, float]) -> float:
    return max((size / time for size, time in times.items() if size >= LARGE), default=0.0)


def _falling(run: Measured) -> Why | None:
    """A time that falls as the size grows, at more than a disturbed size or two."""
    falls: list[tuple[float, float]] = []
    slowest: list[tuple[float, float]] = []
    for size, time in _curve([run]).items():
        if len(slowest) == TOO_MANY and time < FALLS * slowest[0][1]:
            falls.append((size, time))
        slowest = sorted([*slowest, (size, time)], key=lambda each: each[1])[-TOO_MANY:]
    if len(falls) < TOO_MANY:
        return None
    before, (size, time) = slowest[0], falls[-1]
    told = f"{format_size(before[0])} take {format_time(before[1])}, and {format_size(size)} {format_time(time)}"
    return f"the time falls with the size: {told}", "times that grow with the size; is it a rate, or another column?"


def _too_slow(run: Measured) -> Why | None:
    """A small message that takes longer than on any network."""
    least = min((time for size, time in run.values if size <= SMALL), default=0.0)
    valid = "the time of one message; is it that of all iterations together?"
    return (f"a small message takes {format_time(least)}", valid) if least > SLOWEST_S else None


def _too_fast(run: Measured, one: float, fabric: Fabric | None) -> Why | None:
    """More than one large message's bandwidth, or any link's."""
    most = NODE if fabric is None else 2 * LINKS[fabric][2]
    fastest = max((size / time for size, time in run.values), default=0.0)
    moves = f"{format_bandwidth(fastest)} of {'a stream' if run.kind[0] == 'stream' else 'one message'}"
    if one and fastest > FASTER * one:
        told = f"{moves}, and one message reaches {format_bandwidth(one)}"
        return told, "results of the same link, in the same unit: bits or bytes?"
    return (moves, f"at most {format_bandwidth(most)}, as such links have; bits or bytes?") if fastest > most else None


def _puts(run: Measured, message: Sequence[float]) -> Why | None:
    small = [time for size, time in run.values if 0 < size <= SMALL]
    # A put and its synchronisation cross the network; a window of puts still needs its processor's time.
    share = 0.5 if run.kind[0] == "puts" else 0.005
    if not small or not message or np.median(small) >= share * np.median(message):
        return None
    put, took = (format_time(float(np.median(times))) for times in (small, message))
    return f"a put of {put}, and a message takes {took}", "results of the same two nodes"


def _pairs(run: Measured, alone: Mapping[float, float], one: float, single: float) -> Why | None:
    pairs = int(str(run.key))
    fastest = max((size * rate for size, rate in run.values), default=0.0)
    nodes, asked = f"{pairs} pairs of many nodes, not of two", run.command and run.command.nodes
    valid = "pairs between two nodes, whose adapter they share"
    if asked and asked > 2:
        return f"{nodes}: its command asks for {asked}", valid
    if pairs > OF_A_NODE or fastest > NODE:
        return f"{nodes}: together {format_bandwidth(fastest)}", valid
    valid = "results of one machine, in one unit"
    if single and fastest > MORE * pairs * max(single, one):
        told = f"{pairs} pairs move {format_bandwidth(fastest)}, and one {format_bandwidth(max(single, one))}"
        return f"faster by more than their number: {told}", valid
    # A pair's window of messages and its answer take at least one message's time.
    off = [rate * alone[size] / (pairs * DEFAULT_WINDOW) for size, rate in run.values if size in alone]
    if off and float(np.median(off)) > MORE * max(run.window, DEFAULT_WINDOW) / DEFAULT_WINDOW:
        return f"{pairs} pairs send more messages than their windows allow", valid
    return None


def without_untouched(observed: Observations, notes: list[str]) -> Observations:
    """The observations without empty messages that never touched their buffer, with a note: far faster than 1 B."""
    curve = observed.ping_pong
    medians = {} if curve is None else curve.medians
    small = [time for size, time in medians.items() if 0 < size <= 8]
    if curve is None or 0.0 not in medians or not small or min(small) <= UNTOUCHED * medians[0.0]:
        return observed
    told = f"0 B take {format_time(medians[0.0])}, and 1 B {format_time(min(small))}"
    notes.append(f"{told}: an empty message never touched its buffer, and was left out")
    return replace(observed, ping_pong=curve.only(curve.at[curve.at > 0]))
