"""Many ranks, iteration after iteration: the recurrence of every rank, without an event queue.

`plan.py` compiles a Machine, a Workload and an Approach into what the C++ `kernel/` takes; `simulation.py` runs it and
says what came of it; `evaluate.py` puts approaches side by side. The kernel's seven steps (`kernel/recurrence.hpp`),
why that is exact, and where its assumptions end: docs/theory/engine.md.
"""

from pready.model.engine.pattern import Pattern, pattern
from pready.model.engine.simulation import CAUSES, Simulation, prepared, simulate

__all__ = ["CAUSES", "Pattern", "Simulation", "pattern", "prepared", "simulate"]
