"""One exchange from rest: a rank sends to its peers, which are all in step, and nothing went before.

Many of them are simulated side by side, each with arrivals of its own. Exchange i has two ranks: one that sends, with
the arrivals of rank 0 in iteration first + i, and one that receives all of it, with those of rank 1. A rank that is in
step with its peers receives what it sends.

Means of such a simulation are over the exchanges: `communication_s` is T of Eq. 1, `to_join_s` the time from the
sender's last ready partition until its threads have met, `spread_s` that from its first to its last; `ends_s`, if
recorded, has every exchange. Two-way, an exchange is over when the sender's own sends are complete, too.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from pready.model.engine.ranks.pattern import Kind, Pattern


def alone(sends: tuple[float, ...], exchanges: int) -> Pattern:
    """The pattern of so many exchanges side by side, of so many bytes for each peer."""
    kinds = [*dict.fromkeys(sends)]
    return _pattern(tuple(map(kinds.index, sends)), exchanges)


@lru_cache(maxsize=16)  # the same for all approaches of a comparison
def _pattern(classes: tuple[int, ...], exchanges: int) -> Pattern:
    """Senders, each with messages of these classes, and as many receivers."""
    peers, several = len(classes), np.arange(exchanges)
    to_each = np.repeat(several, peers)
    starts, none = several * peers, np.full(exchanges, exchanges * peers)
    return Pattern(
        name="neighbours",
        grid=(2 * exchanges, 1, 1),
        periodic=(False, False, False),
        steps=((1, 0, 0),) * peers,
        classes=np.array([classes, (0,) * peers], np.int64),
        kinds=(Kind(),) * (max(classes) + 1),
        present=np.repeat(np.array([[True], [False]]), peers, axis=1),
        out_start=np.concatenate([starts, none, none[:1]]),
        out_rank=to_each + exchanges,
        in_start=np.concatenate([np.zeros(exchanges, np.int64), starts, none[:1]]),
        in_rank=to_each,
        in_slot=np.tile(np.arange(peers), exchanges),
        sources=peers,
        rank_profile=np.repeat([0, 1], exchanges),
        alone=exchanges,
    )
