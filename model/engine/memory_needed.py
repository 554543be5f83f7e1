"""What a comparison of approaches will need of memory, reckoned before any of it is taken."""

from __future__ import annotations

from pready.model.common.memory import refuse_beyond
from pready.model.engine.messages import owners
from pready.model.engine.pattern import Pattern
from pready.model.workload.workload import Workload

HELD = 40
"""Bytes that a plan holds for each user partition; of 20 to 190 plans of 8192 and 65536 partitions, 28 to 34."""
HELD_ON_A_GRID = 110
"""The same for each partition at a side of a grid of threads, whose messages are listed one by one: 100 to 105."""
SIMULATED = 64
"""Bytes of a simulation for each partition, rank and direction: 40 to 55 of halos of 8 and 64 ranks."""


def check_memory_of(workload: Workload, pattern: Pattern, approaches: int, at_once: int) -> None:
    """Refuse to compare so many approaches where memory has no room for their plans and `at_once` simulations.

    Raises
    ------
    PreadyError
        They need more than is available; it names threads and partitions.
    """
    n, grid = workload.n_partitions, workload.thread_grid
    held = HELD * n
    if grid is not None:
        sides = sum(len(owners(grid, step)) for step in pattern.steps)
        held = HELD_ON_A_GRID * sides * workload.partitions_per_thread
    simulated = min(at_once, approaches) * SIMULATED * n * pattern.ranks * pattern.directions
    fields = f"threads × partitions_per_thread = {workload.threads} × {workload.partitions_per_thread}"
    what = f"{fields}: comparing {approaches} approaches on {pattern.ranks} ranks"
    refuse_beyond(approaches * held + simulated, what, "fewer partitions, or a few transport_partitions")
