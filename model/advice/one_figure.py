"""η as the answer to four questions, the one that counts first; and PLogGP's times behind the third."""

from __future__ import annotations

from dataclasses import dataclass

from pready.model.advice.predict import Engine, evaluator
from pready.model.approach.interfaces import Approach
from pready.model.common.units import format_time
from pready.model.equations import ploggp
from pready.model.equations.closed_form import closed_form
from pready.model.machine.machine import Machine
from pready.model.workload import supported_by
from pready.model.workload.workload import Workload


@dataclass(frozen=True)
class LogGp:
    """What LogGP alone says of an exchange of two ranks, in seconds (`equations/ploggp.py`)."""

    bulk_s: float
    way_s: float
    messages: int
    delay_s: float
    best: int
    """Of the divisors of the partitions, the number of messages that takes least: what PLogGP is for."""
    best_s: float

    @property
    def eta(self) -> float:
        """One message's time over the approach's."""
        return self.bulk_s / self.way_s

    @property
    def text(self) -> str:
        """In a line."""
        n, best = self.messages, self.best
        first = f"T_b = o_s + G M + L + o_r = {format_time(self.bulk_s)}"
        second = f"T_p of {n} message{'s' * (n > 1)}, the last late by D = {format_time(self.delay_s)}: "
        least = f"least with {best}: {format_time(self.best_s)}"
        return f"{first}; {second}{format_time(self.way_s)}, η = {self.eta:.4g}×; {least}"


def loggp_of(machine: Machine, workload: Workload, approach: Approach, delay: float) -> LogGp:
    """PLogGP beside the equations: parameters of the workload's path by message size, `delay` in seconds."""
    path, size = machine.path(workload.path), float(workload.buffer)

    def time(count: int) -> float:
        s = path.segment(size / count)
        parameters = s.L.value, s.o_s.value, s.o_r.value, s.g.value, s.G.value
        return float(ploggp.messages(*parameters, size, count, delay))

    one = path.segment(size)
    bulk = float(ploggp.one_message(one.L.value, one.o_s.value, one.o_r.value, one.G.value, size))
    counts = [n for n in range(1, workload.n_partitions + 1) if workload.n_partitions % n == 0]
    best = min(counts, key=time)
    n = approach.messages
    return LogGp(bulk, bulk if n == 1 else time(n), n, delay, best, time(best))


@dataclass(frozen=True)
class Figures:
    """η as the answer to four questions, of which the first decides."""

    counts: float
    """Waiting for late neighbours included: what `predict` shows."""
    alone: float | None
    """One exchange alone, of two ranks that are in step; None if the timeline does not simulate the workload."""
    bandwidth: float
    """Bandwidth alone: the closed form, Eq. 4."""
    loggp: LogGp
    """LogGP of the approach's messages between two ranks, the last one late: PLogGP."""
    neighbours: bool
    """Are there late neighbours? Else the first two are one."""

    @property
    def text(self) -> str:
        """In a line."""
        first = "one exchange of two ranks" if not self.neighbours else "waiting for late neighbours included"
        alone = f"one exchange alone {self.alone:.2f}×; " if self.neighbours and self.alone is not None else ""
        without = f"LogGP {self.loggp.eta:.2f}× (PLogGP); bandwidth alone {self.bandwidth:.3g}× (Eq. 4)"
        return f"η: {self.counts:.2f}×, {first} (this counts); {alone}{without}"


def figures_of(
    machine: Machine,
    workload: Workload,
    approach: Approach,
    seed: int,
    engine: Engine | None,
    delay: float | None = None,
) -> Figures:
    """η of an approach by each question; arguments as of `explain`.

    `delay` is D of the closed form and of PLogGP, in seconds: absent, the mean of what `predict` draws.
    """
    by_default = evaluator(machine, workload, seed, None if engine == "timeline" else engine, draws=0)[0]
    alone = None
    if by_default.rest:
        alone = by_default
    elif supported_by.beyond(workload, "timeline") is None:
        alone = evaluator(machine, workload, seed, "timeline", draws=0)[0]
    late = by_default.delay if delay is None else delay
    rate = late / workload.partition_size
    form = closed_form(workload.threads, workload.partitions_per_thread, rate, by_default.bandwidth)
    counts = by_default.gains([approach])[0].eta
    by_itself = None if alone is None else alone.gains([approach])[0].eta
    beside = loggp_of(machine, workload, approach, late)
    return Figures(counts, by_itself, form.eta, beside, neighbours=not by_default.rest)
