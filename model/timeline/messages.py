"""The messages of an exchange: what one of a size costs, and what a rank sends, as the plain recurrence has them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from pready.model.timeline.costs import Completes

NEVER = -math.inf


@dataclass(frozen=True)
class Kind:
    """Messages of one size: what the steps take, in seconds."""

    cold: float
    """What its thread takes longer to queue for its VCI, having computed."""
    hold: float
    """Of the VCI's lock."""
    half: float
    """Of a handshake; 0 where none is needed."""
    busy: float
    """The NIC, until the next message may leave."""
    stream: float
    """From its first byte to its last, alone."""
    wire: float
    service: float
    """To receive it, the search of a queue aside."""
    returned: float
    """From its arrival until its sender knows that it was received."""
    ack: float
    """From its arrival until its sender knows that it is there."""
    asks: bool
    """Does it wait for its receiver's answer?"""
    completes: Completes
    """When its send is complete."""
    inside: bool = False
    """Does it stay within a node, past the NIC?"""

    @property
    def travel(self) -> float:
        """From its departure until all of it is there."""
        return self.stream + self.wire


@dataclass
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
    """In the order in which they leave."""
    acknowledged: float = NEVER
    notify: float = NEVER
    """Its targets may know that its epoch is over."""

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
    marked: float
    """The last partition is marked."""
    through: float
    """The first thread has marked all of its partitions."""


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
