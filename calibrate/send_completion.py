"""When a send is complete: at once, when the system has taken it, or when the receiver has acknowledged it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pready.calibrate.records import Value
from pready.model.units import Unit, format_exact

LATE_S = 0.05
"""For so long a receiver stays outside MPI."""
LATE_SIZES = (64, 256, 1 << 10, 16 << 10, 256 << 10)
"""Bytes of what is sent to one that does."""
BEFORE = 0.9
"""A send that is complete in less than this share of the time was not waiting for it."""


@dataclass(frozen=True)
class SendCompletion:
    """Of one message size; seconds, medians.

    `late` is the time of a send whose receiver stayed outside MPI for `LATE_S`, None where that was not measured.
    """

    send: float
    received: float
    late: float | None = None

    @property
    def waits(self) -> bool | None:
        """Is the send complete only when its receiver is inside MPI? None: not known."""
        if self.late is None or self.send > LATE_S / 2:
            return None
        return self.late > BEFORE * LATE_S

    def acknowledged(self, unclear: float) -> bool:
        """Not before the message is received, wherever the receiver is, as far as times can be told apart."""
        return self.waits is True and self.send > min(BEFORE * self.received, self.received - unclear)


def of_records(records: Iterable[Mapping[str, Any]]) -> dict[int, SendCompletion]:
    """By message size, in order; of those that were measured with the receiver inside MPI."""
    awake: dict[int, tuple[float, float]] = {}
    late: dict[int, float] = {}
    for r in records:
        size = int(r["parameters"]["bytes"])
        if r["parameters"]["late_s"] > 0:
            late[size] = float(r["median_s"])
        else:
            awake[size] = float(r["median_s"]), float(r["also"]["received"]["median_s"])
    return {size: SendCompletion(*awake[size], late.get(size)) for size in sorted(awake)}


def points(largest: int) -> Iterable[dict[str, Value]]:
    """Parameters of what is to be measured."""
    for size in LATE_SIZES:
        yield {"bytes": size, "late_s": 0.0}
        yield {"bytes": size, "late_s": LATE_S, "max_repeats": 12}
    yield {"bytes": largest, "late_s": 0.0, "max_repeats": 12}


def of_path(found: Mapping[int, SendCompletion]) -> dict[str, Any]:
    """`acknowledged_from` and `send_buffer` of a machine's path, where they are."""
    known = {size: c for size, c in found.items() if c.waits is not None}
    # Of small messages the receiver's word takes as long as the message: whoever is first is noise.
    unclear = min((c.received for c in found.values()), default=0.0) / 2
    acknowledged = [size for size in known if all(c.acknowledged(unclear) for s, c in known.items() if s >= size)]
    if acknowledged:
        size = min(acknowledged)
        why = f"sends of {size} B to a receiver that was outside MPI for {LATE_S * 1e3:g} ms were late, too"
        return {"acknowledged_from": {"value": format_exact(size, Unit.SIZE), "source": "measured", "why": why}}
    if not any(c.waits for c in known.values()):
        return {}
    size = max(found)
    left = max(1 - found[size].send / found[size].received, 0.0)
    why = f"{left:.0%} of {size} B was still to be received when its send was complete"
    return {"send_buffer": {"value": format_exact(round(size * left), Unit.SIZE), "source": "measured", "why": why}}
