"""Approaches over many buffer sizes, the machine's parameters at their values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pready.model.approach.interfaces import Approach
from pready.model.common.arrays import Array
from pready.model.engine.from_rest import FromRest
from pready.model.engine.other_exchanges import Draws, Placed
from pready.model.engine.plan import Priced, listed_price
from pready.model.equations import metrics
from pready.model.timeline.costs import Costs
from pready.model.timeline.sampling import Sampler
from pready.model.timeline.setup_cost import begin

SAMPLES = 16
"""Exchanges from rest per size, where many sizes are looked at."""


class ManySizes(FromRest):
    """What an `Evaluation` says of buffers other than its workload's."""

    seed: int
    number: int
    rest: bool
    _over: dict[tuple[Approach, float, int], tuple[float, float]]

    if TYPE_CHECKING:

        @property
        def _alike(self) -> bool: ...
        def _means(
            self, own: Sequence[tuple[Priced, Draws]], sampler: Sampler | None, iterations: int
        ) -> list[Array]: ...

    def gain_over_sizes(self, approach: Approach, sizes: Sequence[float], samples: int = SAMPLES) -> Array:
        """η of one approach for several buffer sizes, shape (len(sizes),), parameters at their values.

        Sizes are bytes per peer and need not be whole numbers of partitions; edges and corners that have
        sizes of their own keep them. From rest, each is the mean of so many exchanges.
        """
        bulk, fine = ([m[0] for m in self._over_sizes(a, sizes, samples)] for a in (self.workload.baseline, approach))
        return metrics.eta(bulk, fine)

    def saved_over_sizes(self, approach: Approach, sizes: Sequence[float]) -> Array:
        """Share of an iteration that one approach saves for several buffer sizes, likewise."""
        bulk, fine = ([m[1] for m in self._over_sizes(a, sizes, SAMPLES)] for a in (self.workload.baseline, approach))
        return metrics.speedup_percent(bulk, fine) / 100

    def _over_sizes(self, approach: Approach, sizes: Sequence[float], samples: int) -> list[tuple[float, float]]:
        """Mean times of an exchange's communication and of an iteration."""
        wanted = [(a, float(s), samples) for a in (self.workload.baseline, approach) for s in sizes]
        self._prepare_sizes([w[:2] for w in dict.fromkeys(wanted) if w not in self._over], samples)
        return [self._over[approach, float(s), samples] for s in sizes]

    def _prepare_sizes(self, wanted: Sequence[tuple[Approach, float]], samples: int) -> None:
        """Simulate approaches at buffer sizes."""
        sampler = Sampler(self.machine)
        alike: dict[tuple[Approach, object], list[tuple[float, Placed, list[Costs]]]] = {}
        for approach, size in wanted:
            there = self.workload.at_buffer(size)
            layout = None
            if self._placed.layout is not None:
                layout = replace(self._placed.layout, sizes=there.sizes, neighbour_sizes=there.neighbour_sizes)
            here = Placed(self.machine, there, layout, self.number)
            price, of = listed_price(sampler, there), here.parts(approach)
            by_class = [price(size, inside) for size, inside in zip(of.sizes, of.inside, strict=True)]
            # One plan at several prices, as long as protocols and arrivals are the same.
            rate = getattr(there.arrivals, "delay_rate", None)
            kind = (*(c.protocol(approach.interface) for c in by_class), there.thread_time, rate and size)
            alike.setdefault((approach, kind), []).append((size, here, by_class))
        iterations = (1 if self._alike else samples) if self.rest else self.per_draw
        own = []
        for (approach, _), some in alike.items():
            n, (_, here, first) = len(some), some[0]
            draws = Draws([0] * n, [self.seed] * n, iterations, [0] * n)
            rows = [Costs.stack([c[k] for *_, c in some], 1) for k in range(len(first))]
            own.append((here.priced(approach, rows, draws), draws))
        for (approach, _), some, times in zip(alike, alike.values(), self._means(own, None, iterations), strict=True):
            for (size, *_), (exchange, iteration) in zip(some, times.tolist(), strict=True):
                once = float(begin(sampler, self.workload.model_copy(update={"buffer": size}), approach))
                self._over[approach, size, samples] = exchange, iteration + once / self.workload.iterations
