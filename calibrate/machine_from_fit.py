"""From a fit and probes to a Machine: every value with its interval and what it was measured by.

What was not measured is filled in as ``assumed``, with the reason; nothing is filled in silently.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

import numpy as np

from pready.calibrate import send_completion
from pready.calibrate.fit import Estimate, Fit, Segment, TakenLock
from pready.calibrate.from_records import Probes, Record, Sample, cores_per_rank
from pready.calibrate.library_names import profile_of
from pready.calibrate.rig import on_rig
from pready.calibrate.terms_from_exchanges import WIDEST, refined
from pready.model.arrays import Array
from pready.model.errors import PreadyError
from pready.model.files import validated
from pready.model.machine import FORMAT, Machine, load
from pready.model.machine_threads import Barrier, Contention
from pready.model.units import Unit, format_exact, format_time
from pready.model.version import VERSION

PROGRESSES_BELOW = 2 / 3
"""Share of a rendezvous left after the receiver's computation, below which it moved meanwhile.

What moved leaves the waking of a thread, up to half the time of a 16 KiB message at 1 Gbit/s; what did not leaves
all but the burst of a shaped link, three quarters of 64 KiB there.
"""
PARALLEL_ABOVE = 1.5
"""Rate of separate communicators over a shared one, from which threads reach contexts of their own."""
REFERENCE = "meluxina"
"""Profile whose curves over threads stand in for unmeasured ones."""
BORROWED_CONTENTION = f"contention as on {REFERENCE}"
TOO_SMALL_TO_OVERLAP = 8192
"""Bytes; below, calls take as long as the transfer, and nothing can be hidden."""
CONTAINED = 1e-12
"""Seconds of a handshake whose cost is in L already; positive, because it still has to be answered."""
FAST_BELOW = 0.5
"""Time per byte over that of large messages, below which messages fit into the bucket of a shaped link."""
BURST_SHOWS = 2.0
"""A link counts as shaped if large messages are early by more than this multiple of the smallest's time."""
UNSURE = 2.0
"""Factor within which larger messages are assumed to cost a CPU what smaller ones do."""
UNSEEN = 0.1
"""Of what a segment's messages take: how much more the largest may take than the smallest, and be said to take less."""
TOO_FAST = 0.5
"""Of a message's time by the segment before, what the next one cannot say of it."""
NARROWEST = 1e-3
"""An interval reaching zero or below is cut off at this share of its value: a cost stays positive."""


@dataclass(frozen=True)
class Described:
    """A machine, and what a reader of the fit should know besides."""

    machine: Machine
    notes: tuple[str, ...]


def describe(
    fit: Fit, probes: Probes, about: Record, *, name: str, when: date, description: str = "", tool: str = VERSION
) -> Described:
    """The Machine that was measured.

    Parameters
    ----------
    fit, probes
        From `pready.calibrate.fit.fit` and `pready.calibrate.from_records.probes`.
    about
        The environment record.
    name, description
        As the machine file shall say.

    Raises
    ------
    PreadyError
        No measured time grows with the message size.
    """
    notes = list(fit.notes)
    where = f"{about.get('launcher', '')}, {_library_line(about)}".strip(", ")
    fit = asking_as_seen(where_lines_meet(fit, notes), probes, notes)
    segments, burst = [_segment(fit, k, notes, where) for k in range(len(fit.segments))], _burst(fit, notes)
    if burst:
        without_unseen_gaps(fit, segments)
    segments = _with_rendezvous(fit, probes, segments, notes)
    last = fit.segments[-1]
    link = fit.in_flight.G_link if fit.in_flight is not None else last.G_stream
    data: dict[str, Any] = {
        "format": FORMAT,
        "name": name,
        "description": description or where,
        "created": when,
        "created_by": f"pready {tool} calibrate",
        "library": _library(probes, about),
        **({"fabric": "tcp"} if on_rig(str(about.get("launcher", ""))) else {}),
        "progress": _progress(probes.exposed_share, "receiver"),
        "sender_progress": _progress(probes.exposed_share_sender, "sender"),
        "contexts": _contexts(fit),
        "inter": {
            "segments": segments,
            "link_bandwidth": _reciprocal(link, _link_known_by(fit)),
            **burst,
            **(_UNEVEN if burst else {}),
            **send_completion.of_path(probes.completion),
        },
        "threads": {
            "pready": _pready(probes, notes),
            "vci_poll": _assumed(1e-7, Unit.TIME, "not measured: one poll of an idle progress engine", 5.0),
            "barrier": _barrier(probes, notes),
            "contention": _contention(fit, probes, cores_per_rank(about), notes),
            **_contention_of_puts(probes, cores_per_rank(about), notes),
        },
        "matching": {
            "base": _exact(0.0, Unit.TIME, "contained in o_r, which was measured with matching"),
            "per_entry": _per_entry(fit),
        },
        "one_sided": {
            "put": _assumed(max(fit.segments[0].o_s.value, 1e-9), Unit.TIME, "not measured: as a send's o_s", 2.0),
            "epoch": _assumed(
                max(2 * fit.segments[0].o_s.value, 2e-9), Unit.TIME, "not measured: twice a send's o_s per window", 3.0
            ),
        },
        "memory": {f"copy_{c}": _copy(probes, c) for c in ("hot", "cold")},
        "requests": {"setup": _setup(probes)},
        "begin": _begin(probes),
    }
    data = refined(data, probes.exchanges, active_messages=probes.early_send is False, cores=cores_per_rank(about))
    return Described(validated(Machine, data, "calibration"), tuple(dict.fromkeys(notes)))


def where_lines_meet(fit: Fit, notes: list[str]) -> Fit:
    """Segments whose border was found too early begin where their line meets the one before.

    Of 8 KiB a bucket's line said less than nothing; from 10 KB on it is above the line of smaller messages.
    """

    segments = list(fit.segments)
    for k in range(1, len(segments)):
        (fixed, slope), (above, steeper) = _line(segments[k - 1]), _line(segments[k])
        at = segments[k].from_bytes
        if above + steeper * at < TOO_FAST * (fixed + slope * at) and steeper > slope:
            meets = float(np.ceil((fixed - above) / (steeper - slope)))
            ends = segments[k + 1].from_bytes if k + 1 < len(segments) else np.inf
            if meets < ends:
                notes.append(f"the line from {at:g} B is used from {meets:g} B on: below, it says too little")
                segments[k] = replace(segments[k], from_bytes=meets)
    return replace(fit, segments=tuple(segments))


def _line(s: Segment) -> tuple[float, float]:
    """Seconds of a message of no bytes, and of each further byte."""
    return s.L.value + s.o_s.value + s.o_r.value, s.G.value


def _step(fit: Fit, k: int) -> float:
    """How far a segment's line lies above the one before, where it begins; 0 for the first."""
    if k == 0:
        return 0.0
    at = fit.segments[k].from_bytes
    before, after = (fixed + slope * at for fixed, slope in map(_line, fit.segments[k - 1 : k + 1]))
    return after - before


def stall_bracket(probes: Probes) -> tuple[int, int] | None:
    """The largest size that moves by itself, and the smallest above it that waits for a computing rank.

    None if all sizes move: then no message needs an answer before it moves, or progress needs no rank.
    """
    waits = {
        size: max(probes.exposed_share.get(size, 0.0), probes.exposed_share_sender.get(size, 0.0)) >= PROGRESSES_BELOW
        for size in {*probes.exposed_share, *probes.exposed_share_sender}
        if size > TOO_SMALL_TO_OVERLAP
    }
    moving = max((size for size, stalled in waits.items() if not stalled), default=TOO_SMALL_TO_OVERLAP)
    stalled = [size for size in waits if size > moving]
    return (moving, min(stalled)) if stalled else None


def stalls_from(probes: Probes, thresholds: Sequence[float]) -> float | None:
    """The size from which a transfer waits for a computing rank, if there is one.

    Such messages need an answer before they move: a rendezvous, whether or not its latency shows in a
    ping-pong. A threshold of the fit between the last size that moves and the first that waits is
    taken as the limit, else the only power of two there, as libraries have it by default; else all between are taken
    to wait, which advises the less.
    """
    bracket = stall_bracket(probes)
    if bracket is None:
        return None
    moving, stalled = bracket
    powers = [2.0**k for k in range(stalled.bit_length()) if moving < 2**k]
    defaults = powers if len(powers) == 1 else []
    return next((t for t in (*thresholds, *defaults) if moving < t <= stalled), moving + 1.0)


def asking_as_seen(fit: Fit, probes: Probes, notes: list[str]) -> Fit:
    """The fit, without rendezvous of messages that move while a rank computes where larger ones wait for it.

    A step in the latencies of a busy machine may look like a handshake; a transfer that is over when the rank has
    computed had none to wait for.
    """
    start = stalls_from(probes, [s.from_bytes for s in fit.segments])
    if start is None or all(s.protocol != "rendezvous" or s.from_bytes >= start for s in fit.segments):
        return fit
    notes.append(f"a step in the latencies below {start:.0f} B is no rendezvous: such messages wait for no rank")
    return replace(
        fit,
        segments=tuple(
            replace(s, protocol=None) if s.protocol == "rendezvous" and s.from_bytes < start else s
            for s in fit.segments
        ),
    )


def _with_rendezvous(
    fit: Fit, probes: Probes, segments: list[dict[str, Any]], notes: list[str]
) -> list[dict[str, Any]]:
    """Segments that wait for progress are rendezvous, split where the waiting begins."""
    start = stalls_from(probes, [s.from_bytes for s in fit.segments])
    if start is None:
        return segments
    out: list[dict[str, Any]] = []
    ends = [s.from_bytes for s in fit.segments[1:]] + [float("inf")]
    for fitted, end, segment in zip(fit.segments, ends, segments, strict=True):
        if end <= start or segment["protocol"] == "rendezvous":
            out.append(segment)
            continue
        if fitted.from_bytes < start:
            out.append(segment)
        why = f"waits for progress from {start:.0f} B on; its cost is contained in L"
        shake = {"value": format_exact(CONTAINED, Unit.TIME), "source": "measured", "why": why}
        from_ = format_exact(max(fitted.from_bytes, start), Unit.SIZE)
        out.append({**segment, "from": from_, "protocol": "rendezvous", "handshake": shake})
    notes.append(f"messages from {start:.0f} B on wait for a rank that computes: rendezvous")
    return out


def _segment(fit: Fit, k: int, notes: list[str], where: str) -> dict[str, Any]:
    s = fit.segments[k]
    at = f"from {s.from_bytes:g} B"
    by = f"{_timed(fit)}, {where}"
    o_s, o_r, total = _overheads(fit, k, notes)
    latency = _latency(total, o_s, o_r)
    rest = latency.value
    per_byte = _per_byte(fit, k, notes)
    stream = s.G_stream if 0 < s.G_stream.value < per_byte.value else per_byte
    high = min(max(stream.high, stream.value), per_byte.high)
    link = Estimate(stream.value, min(stream.low, stream.value), high, s.G_stream.assumed)
    out: dict[str, Any] = {
        "from": format_exact(s.from_bytes if k else 0.0, Unit.SIZE),
        "protocol": "rendezvous" if s.protocol == "rendezvous" else "short",
        "o_s": _measured(o_s, Unit.TIME, by, notes, f"o_s {at}"),
        "o_r": _measured(o_r, Unit.TIME, by, notes, f"o_r {at}"),
        "g": _measured(s.g, Unit.TIME, by, notes, f"g {at}"),
        "G": _measured(per_byte, Unit.TIME_PER_BYTE, by, notes, f"G {at}"),
        "G_link": _measured(link, Unit.TIME_PER_BYTE, f"trains of messages, {where}", notes, f"G_link {at}"),
        # The CPU's copies are contained in G, as a ping-pong sees them; none is to be added.
        **{n: _exact(0.0, Unit.TIME_PER_BYTE, "contained in G") for n in ("O_s", "O_r")},
    }
    if s.protocol != "rendezvous":
        out["L"] = _signed(latency if k else _not_below_0(latency), f"{by}: the line's intercept less o_s and o_r")
        return out
    if rest <= 0:
        # What a shaped link lets through at once is missing in both: a handshake is the step from one line to the next.
        shaken = max(_step(fit, k), 1e-9)
        out["L"] = _signed(_moved(latency, -shaken), f"{by}: the line's intercept less o_s, o_r and the handshake")
        why, spread = f"{by}: what this line is above the one before", Estimate(shaken, NARROWEST * shaken, 2 * shaken)
        out["handshake"] = _measured(spread, Unit.TIME, why, notes, f"handshake {at}")
        return out
    # A ping-pong sees only the sum of latency and handshake. Where it exceeds the latency of the smallest
    # messages, the excess is the handshake; else request, answer and payload cross once each: thirds.
    wire = fit.segments[0].L.value
    share = 1 - wire / rest if 0 < wire < rest else 2 / 3
    shaken = max(share * rest, 1e-9)
    out["L"] = _signed(_times(latency, 1 - share), f"{by}: {1 - share:.0%} of the latency seen")
    why = f"{by}: what a rendezvous adds to the latency of the smallest messages"
    spread = Estimate(shaken, max(share * latency.low, NARROWEST * shaken), max(share * latency.high, shaken))
    out["handshake"] = _measured(spread, Unit.TIME, why, notes, f"handshake {at}")
    return out


def _timed(fit: Fit) -> str:
    """What the segments were read off."""
    if "send" in fit.curves:
        return "ping-pong and PRTT(n, d, s)"
    return "ping-pong and streams of messages" if "gap" in fit.curves else "ping-pong"


def _latency(total: Estimate, o_s: Estimate, o_r: Estimate) -> Estimate:
    """What of an intercept the network takes; where o_s or o_r is assumed, their whole range is L's too."""
    rest = total.value - o_s.value - o_r.value
    low, high = rest - (total.value - total.low), rest + (total.high - total.value)
    guessed = [o for o in (o_s, o_r) if o.assumed]
    low -= sum(o.high - o.value for o in guessed)
    high += sum(o.value - o.low for o in guessed)
    return Estimate(rest, low, high, assumed=bool(guessed))


def _moved(e: Estimate, by: float) -> Estimate:
    return Estimate(e.value + by, e.low + by, e.high + by, e.assumed)


def _not_below_0(e: Estimate) -> Estimate:
    return Estimate(e.value, max(e.low, min(e.value, 0.0)), e.high, e.assumed)


def _per_byte(fit: Fit, k: int, notes: list[str]) -> Estimate:
    """G; where a segment's messages are too small to show one, the smallest G that is known.

    At most what they could hide: on a shaped link all that is known may be the rate of an empty bucket.
    """
    own = fit.segments[k].G
    if own.value > 0:
        return own
    known = [s.G for s in fit.segments if s.G.value > 0]
    if not known:
        raise PreadyError("no time grows with the message size", valid="ping-pong of larger messages")
    notes.append(f"G from {fit.segments[k].from_bytes:g} B is too small to be seen; that of larger messages is taken")
    least, sizes = min(known, key=lambda e: e.value), _own_sizes(fit, k)
    fixed, falls = _line(fit.segments[k])
    middle, span = float(sizes.mean()), float(sizes.max() - sizes.min())
    hidden = UNSEEN * (fixed + falls * middle) / span if span > 0 else np.inf
    if hidden <= 0 or least.value <= hidden:
        return least
    return Estimate(hidden, 0.0, 2 * hidden, assumed=True)


def _own_sizes(fit: Fit, k: int) -> Array:
    """Of the messages that a segment was read off; of what it begins with, if there is none."""
    sizes, begins = fit.curves["time"].size, fit.segments[k].from_bytes
    ends = fit.segments[k + 1].from_bytes if k + 1 < len(fit.segments) else np.inf
    own = sizes[(sizes >= begins) & (sizes < ends)]
    return own if len(own) else np.array([begins])


def _overheads(fit: Fit, k: int, notes: list[str]) -> tuple[Estimate, Estimate, Estimate]:
    """o_s, o_r and their sum with L, the intercept of the segment's line.

    The intercept is known best and is kept. An "overhead" above half of what the segment's smallest
    message takes is a call that waits for the link, not a busy CPU: not a lock that others find taken,
    so the overhead of the segment before is taken instead.
    """
    s = fit.segments[k]
    drawn = fit.draws["L"][:, k] + fit.draws["o_s"][:, k] + fit.draws["o_r"][:, k]
    total = Estimate.of(s.L.value + s.o_s.value + s.o_r.value, drawn)
    total = Estimate(total.value, min(total.low, total.value), max(total.high, total.value))
    if s.G.value <= 0:
        # No message gets faster by being larger. The line that takes its place is as high amid the segment's messages.
        total = _moved(total, (s.G.value - _per_byte(fit, k, []).value) * float(_own_sizes(fit, k).mean()))
    smallest = total.value + max(s.G.value, 0.0) * s.from_bytes
    o_s, o_r = s.o_s, s.o_r
    if k:
        before = _overheads(fit, k - 1, [])
        limit = 0.5 * smallest
        # A guess is a share of the intercept, which a handshake raises and a CPU does not see.
        o_s, o_r = (_as_of_smaller(b) if o.assumed else o for o, b in zip((o_s, o_r), before, strict=False))
        if o_s.value > limit or o_s.value <= 0:
            notes.append(f"o_s from {s.from_bytes:g} B is a wait for the link; that of smaller messages is taken")
            o_s = before[0]
        if o_r.value > limit or o_r.value <= 0:
            o_r = before[1]
    elif o_s.value + o_r.value > total.value:
        notes.append("o_s and o_r of the smallest messages exceed their one-way time: sending overlaps the wire")
        scale = 0.9 * total.value / (o_s.value + o_r.value)
        o_s, o_r = _times(o_s, scale), _times(o_r, scale)
    return o_s, o_r, total


def _as_of_smaller(e: Estimate) -> Estimate:
    """What larger messages are assumed to take, if it was measured of smaller ones."""
    return e if e.assumed else Estimate(e.value, e.value / UNSURE, e.value * UNSURE, assumed=True)


def _times(e: Estimate, factor: float) -> Estimate:
    return Estimate(e.value * factor, e.low * factor, e.high * factor, e.assumed)


def _signed(e: Estimate, why: str) -> dict[str, Any]:
    interval = [format_exact(min(e.low, e.value), Unit.TIME), format_exact(max(e.high, e.value), Unit.TIME)]
    source = "assumed" if e.assumed else "measured"
    why = f"no measurement tells it from o_s and o_r; {why}" if e.assumed else why
    return {"value": format_exact(e.value, Unit.TIME), "interval": interval, "source": source, "why": why}


def _measured(e: Estimate, unit: Unit, by: str, notes: list[str], label: str) -> dict[str, Any]:
    if e.assumed:
        low, high = max(e.low, NARROWEST * e.value), max(e.high, e.value)
        out: dict[str, Any] = {
            "value": format_exact(max(e.value, 0.0), unit),
            "source": "assumed",
            "why": "no measurement determines it",
        }
        if e.value > 0:
            out["interval"] = [format_exact(min(low, e.value), unit), format_exact(high, unit)]
        return out
    if e.value <= 0:
        notes.append(f"{label} came out as {e.value:.3g}, not above 0; taken as 0")
        return _exact(0.0, unit, f"{by}; not distinguishable from 0", source="measured")
    low, high = e.low, max(e.high, e.value)
    if low <= 0:
        notes.append(f"the interval of {label} reaches below 0; cut off at {NARROWEST:g} of the value")
        low = NARROWEST * e.value
    interval = [format_exact(min(low, e.value), unit), format_exact(high, unit)]
    return {"value": format_exact(e.value, unit), "interval": interval, "source": "measured", "why": by}


def _exact(value: float, unit: Unit, why: str, source: str = "assumed") -> dict[str, Any]:
    return {"value": format_exact(value, unit), "source": source, "why": why}


def _assumed(value: float, unit: Unit, why: str, factor: float) -> dict[str, Any]:
    interval = [format_exact(value / factor, unit), format_exact(value * factor, unit)]
    return {"value": format_exact(value, unit), "interval": interval, "source": "assumed", "why": why}


def _sample(s: Sample, unit: Unit, why: str) -> dict[str, Any]:
    interval = [format_exact(s.low, unit), format_exact(s.high, unit)]
    return {"value": format_exact(s.value, unit), "interval": interval, "source": "measured", "why": why}


def _link_known_by(fit: Fit) -> str:
    if fit.in_flight is not None:
        return "windows of messages in flight"
    return "streams of messages" if "gap" in fit.curves else "one message alone"


def _reciprocal(per_byte: Estimate, why: str) -> dict[str, Any]:
    low, high = 1 / max(per_byte.high, per_byte.value), 1 / max(min(per_byte.low, per_byte.value), 1e-15)
    e = Estimate(1 / per_byte.value, low, high, per_byte.assumed)
    return _measured(e, Unit.BANDWIDTH, why, [], "link_bandwidth")


def _library_line(about: Record) -> str:
    return " ".join(str(about.get("library", "")).split("\n")[0].split())[:80]


def _library(probes: Probes, about: Record) -> dict[str, Any]:
    out: dict[str, Any] = {"name": profile_of(str(about.get("library", ""))), "version": _library_line(about)}
    if probes.early_send is not None:
        why = "last partition delayed: partition 0 arrived " + ("early" if probes.early_send else "with the last")
        if probes.early_send and probes.early_first is False:
            why += ", except in the first iteration"
        out["early_send"] = {"value": probes.early_send, "source": "measured", "why": why}
    return out


def _progress(left_by_size: Mapping[int, float], who: str) -> dict[str, Any]:
    """Judged by the largest message: eager ones move by themselves."""
    if not left_by_size:
        return {"value": "on-call", "source": "assumed", "why": f"overlap with a computing {who} was not measured"}
    size = max(left_by_size)
    left = left_by_size[size]
    why = f"{left:.0%} of a {size} B transfer was left when the {who} had computed outside MPI"
    return {"value": "hardware" if left < PROGRESSES_BELOW else "on-call", "source": "measured", "why": why}


def _shared(fit: Fit) -> str | None:
    return next((m for m in ("one", "communicators") if m in fit.contention), None)


def _contention(fit: Fit, probes: Probes, cores: int | None, notes: list[str]) -> dict[str, Any]:
    """c(k) for sends: from bursts beside a sleeping receiver, else from message rates, else borrowed."""
    taken = _taken(probes, "one")
    most = _most_threads(probes)
    if cores == 1:
        why = "a rank has one core here: its threads take turns, and no two want a lock at once"
        if taken:
            two = next(iter(taken.values())).each.value
            why += f"; two that ran at once, the receiver asleep, paid {format_time(two)}"
        return {"threads": [1, most], "time": ["0 s", "0 s"], "source": "measured", "why": why}
    if taken:
        return _curve_of(taken, most, "threads that issue at once while the receiver sleeps, beside one alone", notes)
    mechanism = _shared(fit)
    if mechanism is None or len(fit.contention[mechanism].threads) < 2:
        notes.append(f"the message rate of several threads was not measured: {BORROWED_CONTENTION}")
        return _borrowed(load(REFERENCE).threads.contention)
    c = fit.contention[mechanism]
    relative = float((c.high[-1] - c.low[-1]) / 2 / c.time[-1]) if c.time[-1] > 0 else 0.0
    beyond = [most] if most > c.threads[-1] else []
    if beyond:
        notes.append(f"contention of more than {c.threads[-1]:g} threads taken as of these: more were not measured")
    return {
        "threads": [*(int(t) for t in c.threads), *beyond],
        "time": [format_exact(float(t), Unit.TIME) for t in (*c.time, *(c.time[-1] for _ in beyond))],
        "interval": min(relative, WIDEST),
        "source": "measured",
        "why": f"message rate over threads less that of one, mechanism {mechanism}",
    }


def _taken(probes: Probes, mechanism: str) -> Mapping[int, TakenLock]:
    """By threads, in their order."""
    return dict(sorted(probes.taken_lock.get(mechanism, {}).items()))


def _curve_of(taken: Mapping[int, TakenLock], most: int, by: str, notes: list[str]) -> dict[str, Any]:
    """c(k) as the machine file has it, carried on to `most` threads."""
    times = np.maximum.accumulate([lock.each.value for lock in taken.values()])  # more threads never queue for less
    known = [lock.each for lock in taken.values() if lock.each.value > 0]
    relative = max((each.half_width / each.value for each in known), default=0.0)
    beyond = [most] if most > max(taken) else []
    if beyond:
        notes.append(f"contention of more than {max(taken)} threads taken as of these: more were not measured")
    return {
        "threads": [1, *taken, *beyond],
        "time": ["0 s", *(format_exact(float(t), Unit.TIME) for t in (*times, *(times[-1] for _ in beyond)))],
        "interval": min(relative, WIDEST),
        "source": "measured",
        "why": by,
    }


def _contention_of_puts(probes: Probes, cores: int | None, notes: list[str]) -> dict[str, Any]:
    """The same for MPI_Put where it was measured, as an entry of the file's table of threads."""
    taken = _taken(probes, "window")
    if cores == 1 or not taken:
        return {}
    by = "threads that put at once into one window while the receiver sleeps, beside one alone"
    return {"contention_put": _curve_of(taken, _most_threads(probes), by, notes)}


def _most_threads(probes: Probes) -> int:
    """As far as the file's curve of barriers goes, those of locks go, too: a team needs both."""
    return max(probes.barrier, default=load(REFERENCE).threads.barrier.threads[-1])


def _contexts(fit: Fit) -> dict[str, Any]:
    shared, own = fit.contention.get("one"), fit.contention.get("communicators")
    if shared is None or own is None or len(own.threads) < 2:
        return {
            "value": 1,
            "source": "assumed",
            "why": "communicator per thread was not compared with one communicator",
        }
    faster = shared.slowdown / own.slowdown
    most = int(own.threads[-1])
    value = most if faster > PARALLEL_ABOVE else 1
    why = f"{most} threads with a communicator each send {faster:.2g}x as fast as on one"
    return {"value": value, "source": "measured", "why": why + (" (at least as many contexts)" if value > 1 else "")}


def _barrier(probes: Probes, notes: list[str]) -> dict[str, Any]:
    points = {1: 0.0} | {t: s.value for t, s in sorted(probes.barrier.items())}
    if len(points) < 2:
        notes.append(f"no thread barrier was measured: as on {REFERENCE}")
        return _borrowed(load(REFERENCE).threads.barrier)
    times: list[float] = []
    for time in points.values():
        times.append(max([time, *times]))  # more threads never meet sooner; noise may say so
    return {
        "threads": list(points),
        "time": [format_exact(t, Unit.TIME) for t in times],
        "source": "measured",
        "why": "OpenMP barriers, medians, made non-decreasing",
    }


def _borrowed(curve: Contention | Barrier) -> dict[str, Any]:
    """A curve of the reference machine, marked as assumed here."""
    data: dict[str, Any] = {"threads": list(curve.threads), "source": "assumed"}
    data["why"] = f"not measured: as on {REFERENCE} ({curve.why})"
    data["time"] = [format_exact(t, Unit.TIME) for t in curve.time]
    return data | {"interval": 0.5} if isinstance(curve, Contention) else data


_SHARED = (
    "not measured: it takes three ranks; as four on shaped Ethernet links show it "
    "(docs/notes/2026-11-21-send-completion.md)"
)
_UNEVEN = {
    "uneven": {"value": "20 %", "interval": ["10 %", "50 %"], "source": "assumed", "why": _SHARED},
    "uneven_active": {"value": "70 %", "interval": ["30 %", "130 %"], "source": "assumed", "why": _SHARED},
}
"""Of a shaped link, which is shared by flows of TCP."""


def _burst(fit: Fit, notes: list[str]) -> dict[str, Any]:
    """The token bucket of a shaped link, where there is one, and what each message takes of it beside its payload.

    Large messages then lie on a line at the link's rate that starts below zero: what passes at once
    is missing from their time.
    """
    last = len(fit.segments) - 1
    fast = [k for k, s in enumerate(fit.segments) if s.G.value < FAST_BELOW * fit.segments[last].G.value]
    if not fast:
        return {}
    below = fast[-1]
    fixed = [sum(getattr(s, n).value for n in ("L", "o_s", "o_r")) for s in fit.segments]
    drawn = {n: fit.draws[n][:, last] - fit.draws[n][:, below] for n in ("L", "o_s", "o_r", "G")}
    sizes = -(drawn["L"] + drawn["o_s"] + drawn["o_r"]) / np.where(drawn["G"] > 0, drawn["G"], np.nan)
    if fixed[below] - fixed[last] < BURST_SHOWS * fixed[below] or not (sizes > 0).all():
        return {}
    # A size of the faster line, for a reader of the machine to find it again.
    most = fit.segments[below + 1].from_bytes - 1
    crossing = (fixed[below] - fixed[last]) / (fit.segments[last].G.value - fit.segments[below].G.value)
    e = Estimate.of(min(crossing, most), np.minimum(sizes, most))
    size = Estimate(e.value, min(e.low, e.value), max(e.high, e.value))
    notes.append(f"the link lets {size.value:.0f} B through at once after a pause: it is shaped")
    found = {"burst": _measured(size, Unit.SIZE, "where the lines of one message below and above it cross", [], "")}
    each = fit.in_flight.each if fit.in_flight is not None else None
    if each is not None and each.low > 0:
        rate = 1 / fit.segments[last].G.value
        header = Estimate(each.value * rate, each.low * rate, each.high * rate)
        found["header"] = _measured(header, Unit.SIZE, "windows of as many bytes in more messages", [], "")
    return found


def without_unseen_gaps(fit: Fit, segments: Sequence[dict[str, Any]]) -> None:
    """Leave out a gap that is not distinguishable from 0 of messages that a bucket's rate paces.

    It is the intercept of a line whose messages take hundreds of microseconds each: of 19 us (0 to 348) four messages
    paid 75, and gained nothing.
    """
    slowest = fit.segments[-1].G.value
    for s, data in zip(fit.segments, segments, strict=True):
        if s.G.value >= FAST_BELOW * slowest and s.g.low <= 0 < s.g.value and not s.g.assumed:
            data["g"] = _exact(0.0, Unit.TIME, "not distinguishable from 0 beside the link's rate", source="measured")


def _pready(probes: Probes, notes: list[str]) -> dict[str, Any]:
    if probes.pready is None:
        reasons = sorted(set(probes.unsupported.values()))[:1]
        notes.append(": ".join(["MPI_Pready was not measured", *reasons]))
        return _assumed(1e-7, Unit.TIME, "not measured: an atomic decrement under contention", 3.0)
    s = probes.pready
    return _measured(
        Estimate(s.value, s.low, s.high), Unit.TIME, "partitions marked by a team of threads", notes, "pready"
    )


def _setup(probes: Probes) -> dict[str, Any]:
    """What a persistent send saves; where it did not, or was not measured, nothing."""
    s = probes.setup
    if s is None:
        return _exact(0.0, Unit.TIME, "not measured: a persistent send is taken to save nothing")
    low, value, high = (max(x, 0.0) for x in (s.low, s.value, s.high))
    return _sample(Sample(value, low, high), Unit.TIME, "ping-pongs with MPI_Isend, less those with MPI_Start")


def _begin(probes: Probes) -> dict[str, Any]:
    """What is set up once; of what was not measured, the reference's."""
    reference = load(REFERENCE).begin
    assert reference is not None
    out: dict[str, Any] = {}
    for name in type(reference).model_fields:
        unit = Unit.TIME_PER_BYTE if name == "registration" else Unit.TIME
        if name in probes.begin:
            why = "windows of 4 MiB and of 1 KiB" if name == "registration" else "set up, and used twice"
            out[name] = _sample(probes.begin[name], unit, why)
            continue
        known = getattr(reference, name)
        interval = [format_exact(end, unit) for end in known.interval]
        value = format_exact(known.value, unit)
        why = f"not measured, as on {REFERENCE}: {known.why}"
        out[name] = {"value": value, "interval": interval, "source": "assumed", "why": why}
    return out


def _per_entry(fit: Fit) -> dict[str, Any]:
    cost = fit.matching.get("posted")
    if cost is None:
        return _assumed(1e-9, Unit.TIME, "not measured: a list search in cache", 5.0)
    return _measured(cost.per_entry, Unit.TIME, "matching against posted receives", [], "per_entry")


def _copy(probes: Probes, cache: str) -> dict[str, Any]:
    found: Mapping[str, Sample] = probes.copy_bandwidth
    if cache in found:
        return _sample(found[cache], Unit.BANDWIDTH, f"memcpy, {cache} cache")
    return _assumed(5e9, Unit.BANDWIDTH, "not measured: one core's copy bandwidth", 3.0)
