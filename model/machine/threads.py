"""What threads add: meeting in a barrier, and contending for VCIs."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Any, ClassVar, Self

from pydantic import Field, model_validator

from pready.model.common import units
from pready.model.common.errors import PreadyError
from pready.model.toml.provenance import Provenance, Strict

ASSUMED_TIMES = 3.0
"""Barriers and contention of one library on two fabrics differ by so much in measurements: the half of a 95 % interval,
as a factor, of a team's time that is assumed."""


class TeamTimes(Provenance):
    """A time by team size, linear between measured teams."""

    of: ClassVar[str]
    """The name of the time, for messages."""
    threads: tuple[int, ...]
    time: tuple[units.Time, ...]
    interval: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """Relative half-width of the 95 % interval of every time."""

    @model_validator(mode="after")
    def _valid(self) -> Self:
        xs, ys = self.threads, self.time
        if len(xs) != len(ys) or len(xs) < 2:
            raise PreadyError(
                f"{self.of} time has {len(ys)} values for {len(xs)} thread counts", valid="as many, at least 2"
            )
        if xs[0] != 1 or any(a >= b for a, b in pairwise(xs)):
            raise PreadyError(f"threads = {list(xs)}", valid="increasing, from 1")
        if any(a > b for a, b in pairwise(ys)):
            raise PreadyError(f"{self.of} time = {', '.join(map(units.format_time, ys))}", valid="never decreasing")
        return self

    @property
    def factor(self) -> float:
        """The upper half of the 95 % interval of every time, as a factor; the lower half is its inverse."""
        return max(1 + self.interval, ASSUMED_TIMES if self.source == "assumed" else 1.0)

    def at(self, threads: int) -> float:
        """The time of a team of `threads`.

        Raises
        ------
        PreadyError
            More threads than were measured.
        """
        import numpy as np

        xs = self.threads
        if not xs[0] <= threads <= xs[-1]:
            raise PreadyError(
                f"{self.of} time is known for {xs[0]} to {xs[-1]} threads, not for {threads}",
                valid=f"a machine file whose {self.of} time curve reaches {threads} threads",
            )
        return float(np.interp(threads, xs, self.time))

    def up_to(self, threads: int) -> list[float]:
        """The times of teams of 1 to `threads`, each as of `at`."""
        import numpy as np

        self.at(threads)  # not beyond what is known
        each: list[float] = np.interp(range(1, threads + 1), self.threads, self.time).tolist()
        return each


class Barrier(TeamTimes):
    """Time of a barrier of k threads."""

    of = "barrier"


class Contention(TeamTimes):
    """Extra time of a message that waits for its VCI's lock when k threads share it; nothing for k = 1.

    The lock and the data that it protects move to another core. A message that finds the lock free pays nothing. It
    saturates: of the k threads any may have held the lock before, k - 1 of k times another one, c(k) = c (1 - 1/k).
    Beyond the largest team that was measured it stays as it is there.
    """

    of = "contention"

    @classmethod
    def saturating(cls, c: float, **about: Any) -> Contention:
        """c(k) = c (1 - 1/k), up to as many threads as nodes have."""
        teams = (*range(1, 16), *(1 << k for k in range(4, 11)))
        times = tuple(units.SI(c * (1 - 1 / k)) for k in teams)
        return cls(threads=teams, time=times, **about)

    def at(self, threads: int) -> float:
        """The time if `threads` share a VCI."""
        return super().at(min(threads, self.threads[-1]))

    @model_validator(mode="after")
    def _alone(self) -> Self:
        if self.time[0] != 0:
            raise PreadyError(f"time = {self.time[0]:g} s for one thread", valid="0 s: no other thread holds the lock")
        return self


class Threads(Strict):
    """Costs of threads."""

    barrier: Barrier
    contention: Contention | None = None
    """Absent: by the library, in units of the machine's o_s (`pready.model.machine.contention_by_library`)."""
    waiting: Contention | None = None
    """What the wait of each of k threads costs that wait in MPI for messages of one VCI; absent: by the library."""
