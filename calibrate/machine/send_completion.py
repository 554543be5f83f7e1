"""When a send is complete: once its data are copied, once its last byte has left, or once it is delivered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pready.calibrate.measure.schedule import LATE_S
from pready.model.common.units import Unit, format_exact
from pready.model.machine.path import SendCompletes

Word = Literal["copied", "left", "delivered"]

BEFORE = 0.9
"""A time below this share of another is shorter."""
SOON = 0.5
"""A send that is complete in less than this share of the time until its message is received was copied."""


@dataclass(frozen=True)
class SendCompletion:
    """Of one message size; seconds, medians: of the send and until its message is received, and of the send to a
    receiver that stays outside MPI for `LATE_S`."""

    send: float
    received: float
    late: float

    @property
    def clear(self) -> bool:
        """Is the message fast enough to tell its time from the time that the receiver is late?"""
        return self.send <= LATE_S / 2

    @property
    def waits(self) -> bool:
        """Is the send complete only when its receiver is in MPI?"""
        return self.late > BEFORE * LATE_S

    def word(self, unclear: float) -> Word:
        """When the send was complete; times that differ by less than `unclear` seconds are equal."""
        if self.send > min(BEFORE * self.received, self.received - unclear):
            return "delivered" if self.waits else "left"
        return "left" if self.waits and self.send > SOON * self.received else "copied"


def of_records(records: Iterable[Mapping[str, Any]]) -> dict[int, SendCompletion]:
    """By message size, in order; sizes that were measured with the receiver in MPI and outside."""
    awake: dict[int, tuple[float, float]] = {}
    late: dict[int, float] = {}
    for r in records:
        size = int(r["parameters"]["bytes"])
        if r["parameters"]["late_s"] > 0:
            late[size] = float(r["median_s"])
        else:
            awake[size] = float(r["median_s"]), float(r["also"]["received"]["median_s"])
    return {size: SendCompletion(*awake[size], late[size]) for size in sorted(awake.keys() & late.keys())}


def send_completes(found: Mapping[int, SendCompletion]) -> SendCompletes | None:
    """When sends are complete, from which size on; None where that is as the protocol says, or not known.

    By protocol, an eager send is complete once its data are copied, and a rendezvous, which waits for its receiver,
    once its last byte has left.
    """
    known = {size: c for size, c in found.items() if c.clear}
    if not known:
        return None
    # A small message takes as long as its acknowledgement: which of them is first is noise.
    unclear = min(c.received for c in found.values()) / 2
    words = {size: c.word(unclear) for size, c in known.items()}
    word = words[max(words)]
    same = [size for size in words if all(words[s] == word for s in words if s >= size)]
    protocol = all(words[s] == ("left" if known[s].waits else "copied") for s in same)
    if protocol:
        return None
    size = 0 if word == "copied" or same == list(words) else min(same)
    said = {
        "copied": "complete long before its message was received, and only once the receiver was in MPI",
        "left": "complete when its message had left, though the receiver was outside MPI",
        "delivered": f"late by the {LATE_S * 1e3:g} ms that its receiver was outside MPI",
    }
    shown = max(s for s in same if known[s].waits) if word == "copied" else min(same)
    why = f"a send of {format_exact(shown, Unit.SIZE)} was {said[word]}"
    start = format_exact(size, Unit.SIZE)
    return SendCompletes.model_validate({"value": word, "from": start, "source": "measured", "why": why})
