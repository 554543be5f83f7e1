"""A machine's intervals as draws: the same draw of a parameter for every approach, so that two approaches are compared
on the same machine."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from zlib import crc32

import numpy as np

from pready.model.common._draws import normals, uniforms
from pready.model.common.arrays import Array, spread
from pready.model.common.normal import Z95
from pready.model.machine.machine import Machine
from pready.model.machine.path import SizeCurve
from pready.model.machine.threads import Contention
from pready.model.toml.provenance import Value

STREAM_PARAMETERS = 1 << 31


class Sampler:
    """Draws of a machine's parameters.

    Parameters
    ----------
    machine
        Whose values; those with an interval are drawn from it.
    draws
        Parameter sets; 0 takes every value as it stands.
    repeat
        Rows per parameter set, one after the other.
    seed
        Same seed, same draws.
    lead
        Rows in front that keep every value as it stands.
    """

    def __init__(self, machine: Machine, draws: int = 0, repeat: int = 1, seed: int = 0, lead: int = 0) -> None:
        self.machine, self.draws, self.repeat, self.seed, self.lead = (
            machine,
            draws,
            repeat,
            seed,
            lead,
        )
        self._normals: dict[str, Array] = {}
        self._sharing: dict[tuple[str, int], Array] = {}
        self._alike: dict[tuple[object, ...], dict[str, Array]] = {}

    def normals(self, name: str) -> Array:
        """Standard normal draws of one named parameter, shape (lead + draws · repeat,)."""
        if name not in self._normals:
            z = np.repeat(_normals(self.seed, name, self.draws), self.repeat)
            self._normals[name] = np.concatenate([np.zeros(self.lead), z])
        return self._normals[name]

    def __call__(self, name: str, value: Value[float]) -> Array:
        """The parameter as an array of shape () (exact) or (rows,) (drawn)."""
        if self.draws == 0 or value.interval is None:
            return np.asarray(value.value, dtype=np.float64)
        return spread(value.value, value.interval, self.normals(name))

    def curve(self, name: str, curve: SizeCurve, size: float) -> Array:
        """A curve's time at a size, of shape () or (rows,)."""
        return self.relative(name, curve.at(size), curve.interval)

    def relative(self, name: str, value: float, interval: float) -> Array:
        """A value whose interval is given as a relative half-width, of shape () or (rows,)."""
        if self.draws == 0 or interval == 0 or value == 0:
            return np.asarray(value)
        return spread(value, (value * (1 - interval), value * (1 + interval)), self.normals(name))

    def once(self, of: tuple[object, ...], made: Callable[[], dict[str, Array]]) -> dict[str, Array]:
        """Costs that messages of many sizes share, drawn for the first of them."""
        if of not in self._alike:
            self._alike[of] = made()
        return self._alike[of]

    def sharing(self, name: str, curve: Contention, threads: int) -> Array:
        """Contention for 0..threads sharing threads, shape (threads + 1,) or (rows, threads + 1)."""
        if (name, threads) not in self._sharing:
            self._sharing[name, threads] = self._shared(name, curve, threads)
        return self._sharing[name, threads]

    def _shared(self, name: str, curve: Contention, threads: int) -> Array:
        base = np.array([0.0, *curve.up_to(threads)])
        if self.draws == 0 or curve.interval == 0:
            return base
        factor = np.exp(self.normals(name) * np.log1p(curve.interval) / Z95)
        return np.asarray(base * factor[:, None], dtype=np.float64)


@lru_cache(maxsize=1024)
def _normals(seed: int, name: str, draws: int) -> Array:
    """Standard normal draws of one named parameter: the same for every buffer, library and machine."""
    u = uniforms(seed, 0, 0, draws, 1, STREAM_PARAMETERS | (crc32(name.encode()) >> 1))
    return normals(u.ravel())
