"""Figures that contradict each other: of one curve, and of several files of one machine."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from pready.calibrate.fit.observations import Curve, Observations
from pready.calibrate.importers.measured import Measured
from pready.calibrate.machine.values.adapter_from_pairs import SMALL
from pready.calibrate.machine.values.intervals import LARGE, LINKS
from pready.model.common.units import format_bandwidth, format_size, format_time
from pready.model.machine.machine import Fabric

FALLS = 0.7
"""A time below this share of a smaller message's has fallen with the size."""
TOO_MANY = 3
"""Sizes at which it has, below as many slower ones: a disturbed one or two are noise."""
FAR = 5.0
"""A stream moves at most so many times the bandwidth of one large message, and at least one such part of it: of bits
taken for bytes, or bytes for bits, it is 8 times."""
MORE = 1.3
"""Pairs send at most so many times their number's rate of one."""
SLOWEST_S = 1e-3
"""A small message takes less on any network of a cluster: 20 to 60 us over TCP."""
OF_A_NODE = 512
"""Pairs of two nodes at most: no node has more cores."""
NODE = 800e9
"""B/s that no node sends: eight adapters of 800 Gbit/s."""
RAILS, SLOW_NODE = 8, 50e9
"""Adapters of a node at most, as many times as pairs move what one message does; or B/s where TCP holds one back."""
UNTOUCHED = 1.6
"""Factor by which 1 B takes longer than 0 B where an empty message never touches its buffer."""
_LINK = "results of the same link, in the same unit: bits or bytes?"
Why = tuple[str, str] | None  # what cannot be, and what would be valid


def contradictions(runs: Sequence[Measured], fabric: Fabric | None) -> Iterator[tuple[str, str, str]]:
    """The files whose figures cannot be, by themselves or beside the others': source, problem and what is valid."""
    alone, stream = (_curve(run for run in runs if run.kind == kind) for kind in ("ping_pong", "stream"))
    for run in runs:
        if run.kind == "pair_rates":
            why = _pairs(run, max(_bandwidth(stream), _bandwidth(alone)))
        else:
            why = (_no_message(run) if run.kind == "ping_pong" else None) or _unlike_a_link(run, alone, fabric)
        if why is not None:
            yield run.source, f"{run.test.name}: {why[0]}", why[1]


def _curve(runs: Iterable[Measured]) -> dict[float, float]:
    """Medians by size of all runs."""
    rows = [row for run in runs for row in run.values]
    return Curve.of([s for s, _ in rows], [[t] for _, t in rows]).medians if rows else {}


def _bandwidth(times: Mapping[float, float]) -> float:
    return max((size / time for size, time in times.items() if size >= LARGE), default=0.0)


def _no_message(run: Measured) -> Why:
    """A small message slower than on any network; times that fall as the size grows, at more than a disturbed two."""
    times = dict(run.values)
    if (least := min((time for size, time in times.items() if size <= SMALL), default=0.0)) > SLOWEST_S:
        valid = "the time of one message; is it that of all iterations together?"
        return f"a small message takes {format_time(least)}", valid
    slower = {size: [s for s, t in times.items() if s < size and time < FALLS * t] for size, time in times.items()}
    falls = {size: before for size, before in slower.items() if len(before) >= TOO_MANY}
    if len(falls) < TOO_MANY:
        return None
    slow, fast = max(falls[min(falls)], key=lambda s: times[s]), min(falls, key=lambda s: times[s])
    told = f"{format_size(slow)} take {format_time(times[slow])}, and {format_size(fast)} {format_time(times[fast])}"
    return f"the time falls with the size: {told}", "times that grow with the size; were the first ones disturbed?"


def _unlike_a_link(run: Measured, alone: Mapping[float, float], fabric: Fabric | None) -> Why:
    """More or far less than one large message's bandwidth, or more than any link's."""
    times, one = dict(run.values), _bandwidth(alone)
    fastest, large = max((size / time for size, time in run.values), default=0.0), _bandwidth(times)
    moves = f"{format_bandwidth(fastest)} of {'a stream' if run.kind == 'stream' else 'one message'}"
    if one and (fastest > FAR * one or (run.kind == "stream" and large and FAR * large < one)):
        return f"{moves}, and one message reaches {format_bandwidth(one)}", _LINK
    common = [size for size in times if size in alone]
    if run.kind == "stream" and common and float(np.median([times[s] / alone[s] for s in common])) > FAR:
        at = max(common)
        told = f"a message of {format_size(at)} takes {format_time(times[at])} in a stream"
        return f"{told}, and {format_time(alone[at])} alone", _LINK
    most = NODE if fabric is None else 2 * LINKS[fabric][2]
    return (moves, f"at most {format_bandwidth(most)}, as such links have; bits or bytes?") if fastest > most else None


def _pairs(run: Measured, one: float) -> Why:
    pairs, fastest = run.pairs, max((size * rate for size, rate in run.values), default=0.0)
    nodes, valid = f"{pairs} pairs of many nodes, not of two", "pairs between two nodes, whose adapter they share"
    if run.nodes > 2:
        return f"{nodes}: its command, heading or path says {run.nodes}", valid
    if pairs > OF_A_NODE or fastest > NODE or (one and fastest > max(RAILS * one, SLOW_NODE)):
        return f"{nodes}: together {format_bandwidth(fastest)}", valid
    if one and fastest > MORE * pairs * one:
        told = f"{pairs} pairs move {format_bandwidth(fastest)}, and one {format_bandwidth(one)}"
        return f"faster by more than their number: {told}", "results of one machine, in one unit"
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
