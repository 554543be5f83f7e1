"""PLogGP beside the other answers: LogGP's time of an approach's messages, with a user's numbers."""

from __future__ import annotations

from dataclasses import dataclass

from pready.model.approach.interfaces import Approach
from pready.model.common.units import format_time
from pready.model.equations import ploggp
from pready.model.machine.machine import Machine
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
