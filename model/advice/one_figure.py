"""η as the answer to three questions; the one that counts comes first."""

from __future__ import annotations

from dataclasses import dataclass

from pready.model.advice.loggp import loggp_of
from pready.model.advice.predict import Engine, evaluator
from pready.model.approach.interfaces import Approach
from pready.model.equations.closed_form import closed_form
from pready.model.machine.machine import Machine
from pready.model.workload.workload import Workload


@dataclass(frozen=True)
class Figures:
    """η as the answer to three questions, of which the first decides."""

    counts: float
    """Waiting for late neighbours included: what `predict` shows."""
    alone: float
    """One exchange alone, of two ranks that are in step."""
    bandwidth: float
    """Bandwidth alone: the closed form, Eq. 4."""
    loggp: float
    """LogGP of the approach's messages between two ranks, the last one late: PLogGP."""
    neighbours: bool
    """Are there late neighbours? Else the first two are one."""

    @property
    def text(self) -> str:
        """In a line."""
        first = "one exchange of two ranks" if not self.neighbours else "waiting for late neighbours included"
        alone = f"one exchange alone {self.alone:.2f}×; " if self.neighbours else ""
        without = f"LogGP {self.loggp:.2f}× (PLogGP); bandwidth alone {self.bandwidth:.3g}× (Eq. 4)"
        return f"η: {self.counts:.2f}×, {first} (this counts); {alone}{without}"


def figures_of(machine: Machine, workload: Workload, approach: Approach, seed: int, engine: Engine | None) -> Figures:
    """η of an approach by each question; arguments as of `explain`."""
    by_default = evaluator(machine, workload, seed, None if engine == "timeline" else engine, draws=0)[0]
    as_one = by_default.rest or workload.pattern == "bcast"  # which has no exchange of two ranks in it
    alone = by_default if as_one else evaluator(machine, workload, seed, "timeline", draws=0)[0]
    rate = by_default.delay / workload.partition_size
    form = closed_form(workload.threads, workload.partitions_per_thread, rate, by_default.bandwidth)
    both = [of.gains([approach])[0].eta for of in (by_default, alone)]
    beside = loggp_of(machine, workload, approach, by_default.delay)
    return Figures(both[0], both[1], form.eta, beside.eta, neighbours=not by_default.rest)
