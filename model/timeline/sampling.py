"""A machine's values as draws. Each draw is one machine, the same for every approach, so that two approaches are
compared on the same machine.

Draws are a Latin hypercube (McKay, Beckman and Conover 1979, https://doi.org/10.2307/1268522): each input has one draw
in each `DRAWS`-th of its distribution. The first inputs are one on an orthogonal array (Tang 1993,
https://doi.org/10.1080/01621459.1993.10476423): each two of them have one draw in each of `LEVELS` x `LEVELS` cells.
So few points of a Sobol' sequence leave pairs of some twenty columns dependent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from pready.model.common._draws import normals, uniforms
from pready.model.common.arrays import Array, Wholes, spread
from pready.model.common.errors import PreadyError
from pready.model.machine.machine import Machine
from pready.model.machine.path import Begins, NetworkPath, PathName, SizeCurve
from pready.model.machine.threads import Contention, TeamTimes
from pready.model.toml.provenance import Value

LEVELS = 13
"""A prime number; `LEVELS` + 1 columns of its orthogonal array are balanced by pairs."""
DRAWS = LEVELS**2
"""The most draws there are: interval and verdict hardly move with the seed (`benchmarks/seeds.py`)."""
STREAM_PARAMETERS = 1 << 31
FIRST = (
    "ranks per node",
    "how puts move",
    "who answers a rendezvous",
    "receiver",
    "arrivals.partitions",
    "inter.begins",
    "one_sided.put",
    "one_sided.epoch",
    "the model's own error, bytes",
    "the model's own error, messages",
    "the model's own error, locks",
    "the model's own error, ports",
    "contention",
    "thread_grid",
)
"""Inputs that carry most of the variance: balanced by pairs."""


@dataclass(frozen=True)
class Alternative:
    """An input that is one of several, none of which was excluded by a measurement."""

    name: str
    options: tuple[str, ...]
    """The first is what the file or the workload says."""
    weights: tuple[float, ...]
    source: Literal["literature", "assumed", "not given"]
    said: tuple[str, ...]
    """Each option as a clause after "if"."""
    measure: str = ""
    """Measurements of ``pready calibrate`` that tell; empty: none does."""


class Sampler:
    """Draws of a machine's parameters.

    Parameters
    ----------
    machine
        Whose values; those with an interval are drawn from it.
    draws
        Machines, at most `DRAWS`; 0 takes every value as it stands.
    seed
        Same seed, same draws.
    lead
        Rows in front that keep every value as it stands.
    alternatives
        Inputs that are drawn besides, and with them the border of the rendezvous; absent, messages of one size follow
        one protocol on all machines.
    picks
        Which draws, of this seed's `DRAWS` and then of those of the seeds that follow; absent, the first.
    """

    def __init__(
        self,
        machine: Machine,
        draws: int = 0,
        seed: int = 0,
        lead: int = 0,
        alternatives: Sequence[Alternative] | None = None,
        picks: Sequence[int] = (),
    ) -> None:
        if not 0 <= draws <= DRAWS:
            raise PreadyError(f"draws = {draws}", valid=f"0 to {DRAWS}")
        self.machine, self.draws, self.seed, self.lead = machine, draws, seed, lead
        self._picks = np.asarray(picks, np.int64)
        self.alternatives: Mapping[str, Alternative] = {a.name: a for a in alternatives or ()}
        self._borders = alternatives is not None
        self._normals: dict[str, Array] = {}
        self._sharing: dict[tuple[str, int], Array] = {}
        self._alike: dict[tuple[object, ...], dict[str, Array]] = {}

    @property
    def rows(self) -> int:
        """Machines, those in front included."""
        return self.lead + self.draws

    @property
    def drawn(self) -> list[str]:
        """Names of the inputs that were drawn so far."""
        return [*self._normals]

    def uniforms(self, name: str) -> Array:
        """Uniform draws of one input, shape (draws,)."""
        if not len(self._picks):
            return _uniforms(self.seed, name)[: self.draws]
        batches = range(int(self._picks.max()) // DRAWS + 1)
        each = np.concatenate([_uniforms((self.seed + n) % 2**64, name) for n in batches])
        return np.asarray(each[self._picks[: self.draws]])

    def normals(self, name: str) -> Array:
        """Standard normal draws of one input, shape (lead + draws,)."""
        if name not in self._normals:
            z = normals(np.ascontiguousarray(self.uniforms(name)))
            self._normals[name] = np.concatenate([np.zeros(self.lead), z])
        return self._normals[name]

    def chosen(self, name: str) -> Wholes:
        """Which option of an alternative each machine has, shape (lead + draws,); the first of one that is none."""
        of = self.alternatives.get(name)
        if of is None or not self.draws:
            return np.zeros(self.rows, np.int64)
        made = np.searchsorted(np.cumsum(of.weights)[:-1], self.uniforms(name), side="right")
        return np.concatenate([np.zeros(self.lead, np.int64), made])

    def __call__(self, name: str, value: Value[float]) -> Array:
        """The parameter as an array of shape () (exact) or (rows,) (drawn)."""
        if self.draws == 0 or value.interval is None:
            return np.asarray(value.value, dtype=np.float64)
        return spread(value.value, value.interval, self.normals(name))

    def curve(self, name: str, curve: SizeCurve, size: float) -> Array:
        """A curve's time at a size, of shape () or (rows,)."""
        value, interval = curve.at(size), curve.interval
        if self.draws == 0 or interval == 0 or value == 0:
            return np.asarray(value)
        return spread(value, (value * (1 - interval), value * (1 + interval)), self.normals(name))

    def team(self, name: str, curve: TeamTimes, threads: int) -> Array:
        """A team's time, of shape () or (rows,)."""
        return np.asarray(curve.at(threads) * self._factor(name, curve))

    def sharing(self, name: str, curve: Contention, threads: int) -> Array:
        """Contention for 0..threads sharing threads, shape (threads + 1,) or (rows, threads + 1)."""
        if (name, threads) not in self._sharing:
            base, by = np.array([0.0, *curve.up_to(threads)]), self._factor(name, curve)
            self._sharing[name, threads] = np.asarray(base * by[:, None] if by.ndim else base * by)
        return self._sharing[name, threads]

    def _factor(self, name: str, curve: TeamTimes) -> Array:
        """By how much a curve is another in each draw: the same for all teams."""
        if self.draws == 0 or curve.factor == 1:
            return np.ones(())
        return spread(1.0, (1 / curve.factor, curve.factor), self.normals(name))

    def places(self, at: PathName, path: NetworkPath, size: float) -> list[tuple[int, NDArray[np.bool_]]]:
        """The segments that messages of a size fall into, and which machines have each.

        The border of the rendezvous moves within its interval: beside it, messages have the segment on its other side.
        """
        here = path.place(size)
        border = next((i for i, s in enumerate(path.segments) if s.handshake is not None), 0)
        begins = path.segments[border].begins if border else None
        if begins is None or not self._borders or self.draws == 0:
            return [(here, np.ones((), np.bool_))]
        rendezvous = size >= self._border(f"{at}.begins", begins)
        eager, shaken = (here, border) if here < border else (border - 1, here)
        if rendezvous.all() or not rendezvous.any():
            return [(shaken if rendezvous.all() else eager, np.ones((), np.bool_))]
        return [(eager, ~rendezvous), (shaken, rendezvous)]

    def _border(self, name: str, begins: Begins) -> Array:
        """The size from which a protocol begins, shape (rows,): one of its candidates, else within its interval."""
        if not begins.candidates:
            return self(name, begins)
        at, weights = [c.at for c in begins.candidates], [c.weight for c in begins.candidates]
        self.normals(name)  # it was drawn
        drawn = np.array(at)[np.searchsorted(np.cumsum(weights)[:-1], self.uniforms(name), side="right")]
        return np.concatenate([np.full(self.lead, begins.value), drawn])

    def once(self, of: tuple[object, ...], made: Callable[[], dict[str, Array]]) -> dict[str, Array]:
        """Costs that messages of many sizes share, drawn for the first of them."""
        if of not in self._alike:
            self._alike[of] = made()
        return self._alike[of]


@lru_cache(maxsize=1024)
def _uniforms(seed: int, name: str) -> Array:
    """The draws of one input, shape (`DRAWS`,)."""
    stream = STREAM_PARAMETERS | (crc32(name.encode()) >> 1)
    within, jitter, label = uniforms(seed, 0, 0, 3, DRAWS, stream)
    level = np.zeros(DRAWS, np.int64)
    if name in FIRST:
        column = FIRST.index(name)
        # Bose (1938): the lines of each slope through the points of a plane over a prime field.
        a, b = divmod(_order(seed), LEVELS)
        level = np.argsort(label[:LEVELS])[(a + column * b) % LEVELS if column < LEVELS else b]
    rank = np.argsort(np.lexsort((within, level)))
    return np.asarray((rank + jitter) / DRAWS)


@lru_cache(maxsize=4)
def _order(seed: int) -> Wholes:
    """Points of the array in any order: the first draws are a sample of it."""
    return np.argsort(uniforms(seed, 0, 0, 1, DRAWS, STREAM_PARAMETERS)[0])
