"""η of one approach over buffer sizes, of exchanges from rest."""

from __future__ import annotations

from collections.abc import Sequence

from pready.model.approach.interfaces import Approach
from pready.model.common.arrays import Array
from pready.model.engine.evaluate import Evaluation
from pready.model.engine.many_sizes import SAMPLES
from pready.model.machine.machine import Machine
from pready.model.workload.workload import Workload


def gain_over_sizes(
    machine: Machine,
    workload: Workload,
    approach: Approach,
    sizes: Sequence[float],
    seed: int = 0,
    samples: int = SAMPLES,
) -> Array:
    """η of one approach for several buffer sizes at once, of exchanges from rest; see `Evaluation.gain_over_sizes`."""
    return Evaluation(machine, workload, seed, draws=0, alone=True).gain_over_sizes(approach, sizes, samples)
