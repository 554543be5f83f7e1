"""A workload in the motifs' words: what of their parameters follows from it alone."""

from __future__ import annotations

import numpy as np

from pready.model.approach.interfaces import Approach
from pready.model.common.errors import PreadyError
from pready.model.engine.messages import refuse_unlike
from pready.model.machine.machine import Machine
from pready.model.timeline.rules import received_in, setting_of
from pready.model.workload.workload import Workload

MOST_SHARES = 2**31
"""Units of all user partitions together: times bytes they are whole numbers of 64 bits in the motif."""


def of_workload(w: Workload) -> dict[str, object]:
    """The motif's parameters that follow from the workload."""
    out: dict[str, object] = {}
    if w.weights is not None:
        if sum(w.weights) * w.partitions_per_thread > MOST_SHARES:
            raise PreadyError(
                f"thread_shares of {sum(w.weights)} units × {w.partitions_per_thread} partitions of a thread",
                valid=f"at most {MOST_SHARES} in all for SST",
            )
        out["shares"] = ",".join(map(str, w.weights))
    if w.consume is not None:
        out["consumers"] = w.consume.threads or w.threads
        out["receive_partitions"] = w.receive_partitions or 0
        if w.consume.time is not None:
            out["consume_ns"] = w.consume.time * 1e9
        else:
            assert w.consume.per_byte is not None
            out["consume_ns_per_byte"] = w.consume.per_byte * 1e9
    return out


def largest_message(w: Workload, approach: Approach, size: int) -> int:
    """Bytes of the largest message of a buffer of so many."""
    each = np.repeat(w.weights or (1,) * w.threads, w.partitions_per_thread).reshape(approach.messages, -1).sum(axis=1)
    return -(-size * int(each.max()) // int(each.sum()))


def check_approach(machine: Machine, w: Workload, approach: Approach) -> None:
    """Refuse an approach that cannot send the workload's parts.

    Raises
    ------
    PreadyError
        Partitioned calls with thread_shares, or partitions at the receiver that would be in several messages.
    """
    if w.weights is not None and approach.interface.partitioned:
        refuse_unlike(approach)
    received_in(approach.messages, w.n_partitions // approach.messages, setting_of(machine, w))
