"""One exchange from rest: a rank sends to its peers, which are all in step, and nothing went before.

This is how `pready.model.timeline` sees an exchange, in the engine's kernel: many of them side by side, each with
arrivals of its own. Exchange i has two ranks: one that sends, with the arrivals of rank 0 in iteration first + i, and
one that receives all of it, with those of rank 1. A rank that is in step with its peers receives what it sends.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from pready.model.approach import Approach
from pready.model.costs import Costs
from pready.model.engine.pattern import Kind, Pattern
from pready.model.engine.plan import Priced, priced
from pready.model.evaluate import setting_of
from pready.model.machine import Machine
from pready.model.workload import Workload


def alone(
    machine: Machine,
    workload: Workload,
    approach: Approach,
    by_peer: Sequence[Costs],
    exchanges: int,
    *,
    seed: int = 0,
    firsts: Sequence[int] = (0,),
) -> Priced:
    """A plan of exchanges from rest, for one iteration of `run`, `run_all` or `means_s`.

    Means of a simulation are over the exchanges: `communication_s` is T of Eq. 1, `to_join_s` the time from the
    sender's last ready partition until its threads have met, `spread_s` that from its first to its last; `ends_s`, if
    recorded, has every exchange. Two-way, an exchange is over when the sender's own sends are complete, too.

    Parameters
    ----------
    by_peer
        Costs of a message to each peer in the order in which they are sent, of shape () or (rows,); of any peer if
        there is one.
    exchanges
        Of each row, side by side.
    firsts
        By row: the iteration whose arrivals the first exchange has.
    """
    sizes = [float(np.ravel(c.size)[0]) for c in by_peer]
    peers = setting_of(machine, workload).peers
    each = sizes * (peers if len(sizes) == 1 else 1)
    kinds = list(dict.fromkeys(each))
    of_class = [by_peer[sizes.index(size)] for size in kinds]
    pattern = _pattern(tuple(kinds.index(size) for size in each), exchanges)
    seeds = [seed] * len(firsts)
    return priced(machine, workload, approach, pattern, kinds, of_class, seeds=seeds, firsts=firsts)


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
