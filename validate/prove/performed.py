"""The measured times of ranks, from the benchmark's records."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pready.calibrate.measure.raw_file import Content
from pready.model.common.arrays import Array
from pready.validate.prove import design


@dataclass(frozen=True)
class Performed:
    """One way in all its rounds."""

    times: Array  # shape (rounds, iterations, ranks, 3): begin, computing, end; seconds since the ranks began together
    first: int  # iterations that do not count
    steps: int  # times that the pattern is exchanged in an iteration: of a sweep, octants × blocks
    exchanges: tuple[Performed, ...] = ()  # of a step with several, each by itself

    @cached_property
    def _counted(self) -> Array:
        return self.times[:, self.first :]

    @property
    def iteration_s(self) -> Array:
        """The median iteration of each round, ranks averaged."""
        t = self._counted
        return np.asarray(np.median((t[..., 2] - t[..., 0]).mean(axis=2), axis=1))

    @property
    def communication_s(self) -> Array:
        """The median exchange of each round after a rank's last partition is ready, ranks averaged."""
        t = self._counted
        return np.asarray(np.median((t[..., 2] - t[..., 0] - t[..., 1]).mean(axis=2), axis=1)) / self.steps

    @property
    def computing_s(self) -> float:
        """From the start of an exchange to the last ready partition."""
        return float(np.median(self._counted[..., 1].mean(axis=2))) / self.steps

    @property
    def spread(self) -> float:
        """Half the range of the rounds over their median."""
        centres = self.communication_s
        return float(np.ptp(centres) / 2 / np.median(centres))


def of_records(records: list[dict[str, Any]], first: int, steps: int, exchanges: int = 1) -> Performed:
    """The rounds of one way, of so many exchanges in an iteration."""
    rows = np.stack([np.array(r["lists"]["ranks_s"]) for r in records])
    ranks = rows.shape[2] // (3 + 2 * exchanges * (exchanges > 1))
    times = rows[:, :, : 3 * ranks].reshape(*rows.shape[:2], ranks, 3)
    if exchanges == 1:
        return Performed(times, first, steps)
    each = rows[:, :, 3 * ranks :].reshape(*rows.shape[:2], ranks, exchanges, 2)
    ends = each[..., 1]
    begins = np.concatenate([times[..., :1], ends[..., :-1]], axis=-1)
    parts = np.stack([begins, each[..., 0], ends], axis=-1)
    each_by_itself = tuple(Performed(parts[..., e, :], first, 1) for e in range(exchanges))
    return Performed(times, first, steps, each_by_itself)


def performed_in(
    content: Content, way: design.Way, environment: str, plan: str, first: int, steps: int, rounds: int = design.ROUNDS
) -> Performed | None:
    """All rounds of a way in a file of raw records; None if one is missing."""
    keys = [way.point(plan, round_).key(environment) for round_ in range(rounds)]
    records = [content.points[key]["record"] for key in keys if key in content.points]
    if len(records) < rounds or not all("lists" in r for r in records):
        return None
    return of_records(records, first, steps, len(way.each))
