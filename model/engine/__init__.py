"""Many ranks, iteration after iteration: the recurrence of every rank in vectors, without an event queue.

`simulate` runs the ranks of a pattern (`ranks/pattern.py`), each with arrivals of its own, through the seven steps of
`pready.model.timeline.recurrence`; pairs are a pattern, too (`alone.py`). `plan.py` turns a Machine, a Workload and an
Approach into the numbers of the C++ `kernel/`, `evaluate.py` puts approaches side by side. Why that is exact, and where
its assumptions end: docs/theory/engine.md.
"""

from pready.model.engine.ranks.pattern import Pattern, pattern
from pready.model.engine.simulate import prepared, simulate
from pready.model.engine.simulation import CAUSES, Simulation

__all__ = ["CAUSES", "Pattern", "Simulation", "pattern", "prepared", "simulate"]
