"""The messages of an exchange and what a rank sends, as the plain recurrence has them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

NEVER = -math.inf


def ticks(time: float) -> float:
    """In whole picoseconds, from where no message's time is: rounding alone must not decide an order."""
    return float(round(time * 1e12 + 0.1234567))


@dataclass(slots=True)
class Message:
    """One message at every step; absolute seconds."""

    direction: int
    transport: int
    """Its transport partition, or its number where threads own parts of faces."""
    vci: int
    ready: float
    issued: float
    goes: float
    """The protocol lets the payload go."""
    left: float = math.nan
    arrived: float = math.nan


@dataclass
class Sent:
    """What one rank sends in an exchange; absolute seconds."""

    first: float
    """Its first partition is ready."""
    last: float
    """Its last one is."""
    join: float
    """Its threads have met."""
    issued: float
    done: float
    """Its sends are complete."""
    nic: float
    """Its NIC is free again."""
    messages: list[Message] = field(default_factory=list)
    """In the order in which they leave, which is known when the others are."""
    acknowledged: float = NEVER
    notify: float = NEVER
    """Its targets may know that its epoch is over."""

    @cached_property
    def towards(self) -> dict[int, list[Message]]:
        """By direction, in that order."""
        out: dict[int, list[Message]] = {}
        for m in self.messages:
            out.setdefault(m.direction, []).append(m)
        return out

    @property
    def early(self) -> int:
        """Messages that have arrived when its threads have met."""
        return sum(m.arrived <= self.join for m in self.messages)


@dataclass(frozen=True)
class Ready:
    """When what a rank sends is ready, in seconds after its start."""

    transports: list[float]
    first: float
    last: float
    through: list[float]
    """By VCI, where each thread completes its own messages: all partitions are ready of the first of those that make
    progress for it."""
    joined: float | None = None
    """When the threads have met that have filled them; None: a barrier after the last."""

    def join(self, barrier: float) -> float:
        """When the threads have met."""
        return self.last + barrier if self.joined is None else self.joined


@dataclass
class State:
    """What one exchange leaves to the next: when each rank may begin, and its NIC, or its node's, is free."""

    start: list[float]
    nic: list[float]
    adapters: list[float]

    @staticmethod
    def at_rest(ranks: int) -> State:
        """All ranks in step, and every NIC free."""
        return State([0.0] * ranks, [NEVER] * ranks, [NEVER] * ranks)
