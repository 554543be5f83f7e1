"""Many ranks, iteration after iteration: the recurrence of every rank, without an event queue.

`plan.py` compiles a Machine, a Workload and an Approach into what the C++ `kernel/` takes; `runs.py` simulates ways to
send on machines in rows, of which the first has every value as it stands; `simulate.py` simulates every rank of a
workload. The kernel's seven steps (`kernel/recurrence.hpp`), why that is exact, and where its assumptions end:
docs/theory/engine.md.
"""

from pready.model.engine.pattern import Pattern, pattern
from pready.model.engine.simulate import CAUSES, Simulation, simulate

__all__ = ["CAUSES", "Pattern", "Simulation", "pattern", "simulate"]
