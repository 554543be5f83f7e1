"""What the engine keeps of each exchange of all ranks, from one rank's start to its last message."""

from dataclasses import dataclass

import numpy as np

from pready.model.common.arrays import Array, Wholes
from pready.model.engine import _kernel
from pready.model.engine.plan import Plan
from pready.model.engine.simulate import run_step


@dataclass(frozen=True)
class Recorded:
    """One exchange; times in seconds after the run's begin.

    By rank: when it was done with what came before, began to compute, when its threads had met and the exchange was
    over. `sender`, `receiver`, `left`: of each message, and when it begins to leave its sender's adapter.
    """

    iteration: int
    step: int
    before: Array
    start: Array
    join: Array
    end: Array
    sender: Wholes
    receiver: Wholes
    left: Array


def record(plan: Plan, first: int, iterations: int, cores: int) -> list[Recorded]:
    """The exchanges of all iterations after the first ones, in the order in which they are done."""
    (run,) = run_step([plan], first + iterations, cores=cores, record=True, keep_from=first)
    assert run.ends_s is not None
    before, out = run.ends_s[first - 1] if first else np.zeros(run.ends_s.shape[1]), list[Recorded]()
    for n, (ranks, sent) in enumerate(run.records):
        start, join, end = (ranks[:, _kernel.RANK_FIELDS.index(name)] for name in ("start", "join", "end"))
        k, step = divmod(n, plan.steps)
        to = plan.pattern.tables[step * len(plan.pattern.tables) // plan.steps].receivers
        at = np.nonzero(np.broadcast_to((to >= 0)[:, :, None], sent.shape))
        out.append(Recorded(k, step, before, start, join, end, at[0], to[at[:2]], sent["left"][at]))
        before = end
    return out
