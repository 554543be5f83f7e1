"""In which order the messages of an exchange leave the adapter.

Messages that are alike leave in the order of time. Where sizes differ, the order decides which message waits for which,
and must not hang on rounding: times that compete count in whole picoseconds, and payloads whose CTS arrive at about the
same time leave as they were issued. The engine's kernel has the same rule.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pready.model.arrays import Array
from pready.model.costs import Costs
from pready.model.interfaces import Interface

TICK_BEGINS = 0.1234567
"""Of a picosecond, where no message's time is."""
SAME_ROUND = 1 + 1e-6
"""A payload that may go as a round of messages ends belongs to that round, whatever the rounding."""


@dataclass(frozen=True)
class Departures:
    """The messages of an exchange in the order in which they leave the adapter."""

    goes: Array
    """From when on each may leave, shape (rows, messages)."""
    at: NDArray[np.intp] | None
    """Where each is among all that were issued, by VCI, partition and peer; None: the same order."""
    shape: tuple[int, ...]
    """(rows, VCIs, partitions, peers): how messages are arranged as they are issued."""
    alike: bool
    """Have all messages the same size?"""

    def of(self, cost: Array) -> Array:
        """A cost by peer, as `Costs.abreast` has it, of each message: shape (rows or 1, messages or 1)."""
        if self.alike:
            return cost.reshape(-1, 1)
        flat = np.broadcast_to(cost, self.shape).reshape(self.shape[0], -1)
        return flat if self.at is None else np.take_along_axis(flat, self.at, axis=1)

    def back(self, times: Array) -> Array:
        """Times in this order, as messages were issued: of `shape`, +inf where a VCI has fewer."""
        if self.at is None:
            return times.reshape(self.shape)
        out = np.full((self.shape[0], math.prod(self.shape[1:])), np.inf)
        np.put_along_axis(out, self.at, times, axis=1)
        return out.reshape(self.shape)


def departures(sent: Array, each: Costs, interface: Interface, last_ready: Array) -> Departures:
    """Messages that may leave at `sent`, shape (rows, VCIs, partitions, peers), +inf where there is none.

    Parameters
    ----------
    each
        Costs by peer.
    last_ready
        Shape (rows,): times of `sent` are counted from here, in seconds after the start of the iteration.
    """
    rows, vcis, _, peers = sent.shape
    flat, alike = sent.reshape(rows, -1), each.size.shape[-1] == 1
    asks = each.asks(interface).any(axis=(1, 2, 3))
    answered = np.logical_or(interface.two_sided_rendezvous, asks)[:, None]
    if vcis == 1 and (alike or not answered.any()):
        return Departures(flat, None, sent.shape, alike)  # one VCI issues in order
    by = flat
    if not alike and vcis == 1:
        # Messages to several peers share the cable: a round takes as long as one of the first's to each.
        long = np.maximum(peers * ((each.gap + each.link)[:, 0, 0, :1] * SAME_ROUND), 1e-12)
        by = np.where(answered, np.rint((flat - flat.min(axis=1, keepdims=True)) / long - 0.5), 0.0)
    elif not alike:
        by = np.where(answered | interface.opens, ticks(flat + last_ready[:, None]), flat)
    at = np.argsort(by, axis=1, kind="stable")[:, : int(np.isfinite(flat[0]).sum())]
    return Departures(np.take_along_axis(flat, at, axis=1), at, sent.shape, alike)


def ticks(times: Array) -> Array:
    """In whole picoseconds."""
    return np.rint(times * 1e12 + TICK_BEGINS)
