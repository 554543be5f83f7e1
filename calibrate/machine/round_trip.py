"""Whether a machine reproduces the data that it was made from: each measured time beside the machine's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pready.calibrate.fit import Curve, Observations
from pready.calibrate.fit.series import derive
from pready.calibrate.machine.values.segments import one_way
from pready.model.common.units import format_size
from pready.model.machine.machine import Machine

TOLERATED = 0.10  # relative difference of a measured point from the machine that was fitted to it


@dataclass(frozen=True)
class RoundTrip:
    """How many points were asked for, and those that the machine misses by more than `TOLERATED`, worst first: what was
    measured, at how many bytes, and the machine's time over the measured one less 1."""

    points: int
    misses: tuple[tuple[str, float, float], ...]

    @property
    def line(self) -> str:
        """For a person, and the file's head."""
        if not self.misses:
            return f"reproduces the {self.points} points that it was made from within {100 * TOLERATED:.0f} %"
        by: dict[str, list[tuple[float, float]]] = {}
        for what, size, error in self.misses:
            by.setdefault(what, []).append((size, 100 * error))
        some = []
        for what, each in by.items():
            ends = dict.fromkeys(f"{end:+.0f}" for end in (min(e for _, e in each), max(e for _, e in each)))
            some.append(f"{what} at {', '.join(format_size(s) for s, _ in sorted(each))} by {' to '.join(ends)} %")
        many = f"misses {len(self.misses)} of {self.points} points by more than {100 * TOLERATED:.0f} %"
        return f"{many}: {'; '.join(some)}"


def round_trip(
    machine: Machine, observed: Observations | None, pairs: Mapping[int, Curve] | None = None, window: int = 64
) -> RoundTrip:
    """What a machine says of its own data: streams without their windows' answers, and messages per second of so many
    pairs at once, in windows of so many with an answer."""
    off = [*_alone(machine, observed), *_of_pairs(machine, pairs or {}, window)]
    misses = sorted((miss for miss in off if abs(miss[2]) > TOLERATED), key=lambda miss: -abs(miss[2]))
    return RoundTrip(len(off), tuple(misses))


def _alone(machine: Machine, observed: Observations | None) -> Iterator[tuple[str, float, float]]:
    if observed is None or (observed.ping_pong is None and observed.prtt_1 is None):
        return
    for name, series in derive(observed).items():
        for size, time in zip(map(float, series.size), map(float, series.value), strict=True):
            if name == "time":
                yield "a message", size, one_way(machine, size) / time - 1
            elif name == "gap" and time > 0:
                yield "a stream", size, between(machine, size) / time - 1


def between(machine: Machine, size: float) -> float:
    """Seconds from one message of a rank's stream to the next."""
    s = machine.inter.segment(size)
    return max(s.g.value + (s.G_link or s.G).value * size, s.o_s.value)


def _of_pairs(machine: Machine, pairs: Mapping[int, Curve], window: int) -> Iterator[tuple[str, float, float]]:
    shared = machine.adapter
    for k, rates in pairs.items():
        for size, rate in rates.medians.items():
            each = between(machine, size) / k
            if shared is not None:
                rails = shared.rails.value
                each = max(each, (shared.gap.value + size * rails / shared.rate.value) / min(k, rails))
            time = (k * window - 1) * each + one_way(machine, size) + one_way(machine, 4)
            yield f"a message of {k} pairs", size, time * rate / (k * window) - 1
