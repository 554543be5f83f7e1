"""The size from which messages wait for a computing rank, a rendezvous, and when its two sides make progress."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pready.calibrate.fit import Fit
from pready.calibrate.machine.values.estimates import TIME, exact, with_fields
from pready.calibrate.machine.values.observations_of import Probes
from pready.model.common.units import SI
from pready.model.machine.path import Progress, Segment
from pready.model.toml.provenance import Value

MOVES_BELOW = 2 / 3
"""A transfer of which less than this share is left after the computation has moved meanwhile.

One that has moved leaves the time in which a thread wakes up, up to half the time of a 16 KiB message at 1 Gbit/s; one
that has not leaves nearly all.
"""
TOO_SMALL_TO_OVERLAP = 8192
"""Bytes; the calls of smaller messages take as long as the transfer, and nothing can be hidden."""
CONTAINED = 1e-12
"""Seconds of a handshake whose cost is in L already; positive, because it still has to be answered."""


def stall_bracket(probes: Probes) -> tuple[int, int] | None:
    """The largest size that moves by itself, and the smallest above it that waits for a computing rank.

    None if all sizes move: then no message needs a CTS before it moves, or progress needs no rank.
    """
    shares = probes.exposed_share
    moving = max([TOO_SMALL_TO_OVERLAP, *(size for size, share in shares.items() if share < MOVES_BELOW)])
    stalled = [size for size in shares if size > moving]
    return (moving, min(stalled)) if stalled else None


def stalls_from(probes: Probes, thresholds: Sequence[float]) -> float | None:
    """The size from which a transfer waits for a computing rank, if there is one.

    Such messages are rendezvous, whether or not the handshake shows in a ping-pong. The limit is a threshold of the fit
    between the last size that moves and the first that waits, else the only power of two there, as libraries have it
    by default; else all sizes between are taken to wait, which promises the least.
    """
    bracket = stall_bracket(probes)
    if bracket is None:
        return None
    moving, stalled = bracket
    powers = [2.0**k for k in range(stalled.bit_length()) if moving < 2**k]
    defaults = powers if len(powers) == 1 else []
    return next((t for t in (*thresholds, *defaults) if moving < t <= stalled), moving + 1.0)


def without_eager_handshakes(fit: Fit, probes: Probes, notes: list[str]) -> Fit:
    """The fit, without rendezvous of messages that move while a rank computes where larger ones wait for it.

    A step in the latencies of a busy machine may look like a handshake; a transfer that is over when the rank has
    computed had none.
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


def with_rendezvous(probes: Probes, segments: Sequence[Segment], notes: list[str]) -> list[Segment]:
    """Segments that wait for progress as rendezvous, split where the waiting begins."""
    start = stalls_from(probes, [s.from_ for s in segments])
    if start is None:
        return list(segments)
    out: list[Segment] = []
    ends = [s.from_ for s in segments[1:]] + [float("inf")]
    for s, end in zip(segments, ends, strict=True):
        if end <= start or s.protocol == "rendezvous":
            out.append(s)
            continue
        if s.from_ < start:
            out.append(s)
        why = f"waits for progress from {start:.0f} B on; its cost is contained in L"
        shake = exact(TIME, CONTAINED, why, "measured")
        out.append(with_fields(s, from_=SI(max(s.from_, start)), protocol="rendezvous", handshake=shake))
    notes.append(f"messages from {start:.0f} B on wait for a rank that computes: rendezvous")
    return out


def progress(left_by_size: Mapping[int, float]) -> Value[Progress]:
    """When a rendezvous moves, by the largest message: eager ones move by themselves."""
    if not left_by_size:
        why = "overlap with a computing receiver was not measured"
        return Value[Progress](value="on-call", source="assumed", why=why)
    size = max(left_by_size)
    left = left_by_size[size]
    why = f"{100 * left:.0f} % of a {size} B transfer was left when the receiver had computed outside MPI"
    return Value[Progress](value="hardware" if left < MOVES_BELOW else "on-call", source="measured", why=why)
