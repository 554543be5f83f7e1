"""Exchanges from rest one by one: their times, and their messages by the plain recurrence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from pready.model.approach.interfaces import Approach
from pready.model.common.arrays import Array, Replaced
from pready.model.engine.shared_draws import SharedDraws
from pready.model.engine.simulate import run as run_plan
from pready.model.timeline import plain_run
from pready.model.timeline.costs import Costs
from pready.model.timeline.plain_run import Alone, Jobs
from pready.model.timeline.recurrence import Ranks
from pready.model.timeline.rules import Setting, setting_of
from pready.model.workload import draws

SENDER, RECEIVER = 0, 1


class FromRest(SharedDraws):
    """What can be said of each exchange from rest."""

    @cached_property
    def ready(self) -> Array:
        """When the sender's partitions are ready, shape (1 + iterations, N_part); row 0 has no spread."""
        return self._drawn_times(SENDER)

    def _drawn_times(self, rank: int) -> Array:
        drawn = draws.draw(self.workload, self.iterations, self._own_seed(), rank=rank)
        return np.concatenate([np.full((1, drawn.shape[1]), self.workload.thread_time), drawn])

    @cached_property
    def _receiver_ready(self) -> Array | None:
        """The receiver's own ready times, as `ready`; None if it waits in MPI."""
        return self._drawn_times(RECEIVER) if self.workload.receiver_computes else None

    @property
    def setting(self) -> Setting:
        """What an exchange depends on besides times and costs."""
        return setting_of(self.machine, self.workload)

    def costs_by_peer(self, approach: Approach) -> list[Costs]:
        """Costs of the approach's messages to each peer, parameters at their values."""
        if self.jobs(approach) is None:
            sizes = [approach.message_size(b) for b in self.workload.sends]
        else:
            of = self._placed.parts(approach)
            sizes = [of.sizes[c] for c in of.pattern.classes[0].tolist()]
        return [self._value(size, inside=False) for size in sizes]

    def jobs(self, approach: Approach) -> Jobs | None:
        """Of the approach's messages, where the parts of threads differ."""
        if self.workload.weights is None:
            return None
        made = self._at_values(approach, 1).plan
        if made.sent == approach or made.mapping is None:
            return None
        mapping = made.mapping
        return Jobs(mapping.partitions, mapping.vcis, mapping.issuers, mapping.waiting)

    @cached_property
    def _pairs(self) -> dict[Approach, Ranks]:
        """The ranks of exchanges one by one, made once for all of them."""
        return {}

    def _alone(
        self, approach: Approach, times: Sequence[float], join: float | None, theirs: Sequence[float] | None
    ) -> Alone:
        if approach not in self._pairs:
            jobs = self.jobs(approach)
            sent = approach if jobs is None else replace(approach, transport_partitions=1)
            self._pairs[approach] = plain_run.pair(self.costs_by_peer(approach), sent, self.setting, jobs)
        return plain_run.alone(self._pairs[approach], times, join, receiver_times=theirs)

    def exchange(self, approach: Approach, row: int) -> Alone:
        """The exchange from rest with the arrivals of this row of `ready`, message by message."""
        theirs = self._receiver_ready
        return self._alone(approach, self.ready[row].tolist(), None, None if theirs is None else theirs[row].tolist())

    def steps(self, approach: Approach, times: Sequence[float], receiver_join: float | None = None) -> Alone:
        """An exchange from rest with given ready times, message by message.

        Parameters
        ----------
        times
            When the sender's partitions are ready, seconds after the start of the iteration.
        receiver_join
            When the receiver enters MPI, likewise. Absent: it waits there.
        """
        return self._alone(approach, times, receiver_join, None)

    def each(self, approach: Approach, **replaced: Replaced) -> Array:
        """Communication time of every exchange from rest, shape (iterations,), the machine at its values."""
        made = self._at_values(approach, self.iterations, **replaced).plan
        ends = run_plan(made, 1, record=True).ends_s
        assert ends is not None
        return np.asarray(ends[0] - self.ready[1:].max(axis=1))

    def each_drawn(self, approach: Approach) -> Array:
        """The same of the first `per_draw`, at the values, then with each draw, shape (1 + draws, per_draw)."""
        out, ready = [], draws.draw(self.workload, self.per_draw, self._own_seed(), rank=SENDER)
        for draw in range(self.draws_made + 1):
            ends = run_plan(self._at_draws(approach, range(draw, draw + 1)).plan, 1, record=True).ends_s
            assert ends is not None
            out.append(ends[0] - ready.max(axis=1))
        return np.array(out)
