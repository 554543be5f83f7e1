"""Machines whose parameters are known, and the times that benchmarks would measure there: `random_machine`, `observe`.

A machine is honest, that is, identifiable by round trips at all, where copying a message of the threshold's size costs
about as much as a handshake, as library authors choose it: G·s there is a tenth to six times L (BALANCE). Else G, or
o_s, o_r, g and L of a segment are below the noise of the round trips behind them. No overhead is below an eighth of L.
Nothing is asked of how visible a switch of protocol is: L may grow by 5 %, G fall by 10 %.
"""

from dataclasses import dataclass

import numpy as np

from pready.calibrate.fit.observations import Curve, Observations, Train
from pready.calibrate.fit.sizes_to_measure import default_sizes
from pready.model.common.arrays import Array

TRAIN_SIZES = np.unique(np.concatenate([2.0 ** np.arange(23), np.round(2 ** np.arange(8, 18, 1 / 3))]))
"""Powers of two, and three to the octave where thresholds are."""


@dataclass(frozen=True)
class TrueSegment:
    """LogGP parameters from `from_bytes` on, in seconds and seconds per byte."""

    from_bytes: float
    L: float
    o_s: float
    o_r: float
    g: float
    G: float


@dataclass(frozen=True)
class TrueMachine:
    """Segments in increasing order, the first from 0."""

    segments: tuple[TrueSegment, ...]

    def at(self, sizes: Array) -> dict[str, Array]:
        """time, gap, send and receive at `sizes`, shape (len(sizes),) each."""
        starts = [segment.from_bytes for segment in self.segments]
        which = np.searchsorted(starts, sizes, side="right") - 1
        of = {
            name: np.array([getattr(segment, name) for segment in self.segments])[which]
            for name in ("L", "o_s", "o_r", "g", "G")
        }
        return {
            "time": of["o_s"] + of["L"] + of["G"] * sizes + of["o_r"],
            "gap": of["g"] + of["G"] * sizes,
            "send": of["o_s"],
            "receive": of["o_r"],
        }


def random_machine(rng: np.random.Generator, segments: int | None = None) -> TrueMachine:
    """An honest machine (see the module's docstring) of 2 to 4 segments."""
    count = int(rng.integers(2, 5)) if segments is None else segments
    while True:
        machine = _draw(rng, count)
        pairs = list(zip(machine.segments, machine.segments[1:], strict=False))
        if all(_balanced(a, b) for a, b in pairs):
            return machine


_THRESHOLDS: dict[int, tuple[tuple[float, float], ...]] = {
    1: (),
    2: ((2e3, 64e3),),
    3: ((512, 4e3), (16e3, 128e3)),
    4: ((512, 2e3), (6e3, 16e3), (48e3, 256e3)),
}


def _draw(rng: np.random.Generator, count: int) -> TrueMachine:
    def log_uniform(low: float, high: float) -> float:
        return float(np.exp(rng.uniform(np.log(low), np.log(high))))

    starts = [0.0, *(float(round(log_uniform(*bounds))) for bounds in _THRESHOLDS[count])]
    made: list[TrueSegment] = []
    latency = log_uniform(0.5e-6, 30e-6)
    for start in starts:
        if made:
            # Later protocols pay for a handshake or a copy, and move bytes faster.
            before = made[-1]
            latency = before.L * log_uniform(1.05, 2.5)
            per_byte = before.G * log_uniform(0.1, 0.9)
        else:
            per_byte = latency * log_uniform(*BALANCE) / (starts[1] if count > 1 else 16e3)
        overhead = latency * log_uniform(0.12, 0.6)
        receive = latency * log_uniform(0.12, 0.6)
        gap = max(overhead, receive) * log_uniform(1.05, 2.0)
        made.append(TrueSegment(start, latency, overhead, receive, gap, per_byte))
    return TrueMachine(tuple(made))


BALANCE = (0.1, 6.0)  # G·s over L, on both sides of a threshold


def _balanced(before: TrueSegment, after: TrueSegment) -> bool:
    at = after.from_bytes
    low, high = BALANCE
    return all(low <= segment.G * at / segment.L <= high for segment in (before, after))


def observe(
    machine: TrueMachine,
    rng: np.random.Generator,
    *,
    sizes: Array | None = None,
    train_sizes: Array | None = None,
    repeats: int = 50,
    messages: int = 16,
    noise: float = 0.02,
    outliers: float = 0.02,
    delay_over_gap: float | None = None,
) -> Observations:
    """The times that benchmarks would measure.

    `sizes` of the ping-pong, `train_sizes` of the PRTT trains, `repeats` at each; `noise`: relative standard deviation
    of each interval, delays included; `outliers`: share of intervals that take 2 to 20 times as long;
    `delay_over_gap`: d as a multiple of the gap, d = PRTT(1, 0, s) (Netgauge's) if not given.
    """
    s = np.array(default_sizes(), dtype=np.float64) if sizes is None else sizes
    ts = TRAIN_SIZES if train_sizes is None else train_sizes

    def disturbed(exact: Array) -> Array:
        shape = (len(exact), repeats)
        times = exact[:, None] * (1 + noise * rng.standard_normal(shape))
        late = rng.random(shape) < outliers
        return np.where(late, times * rng.uniform(2, 20, shape), times)

    truth, at_train = machine.at(s), machine.at(ts)
    one = 2 * at_train["time"]
    others = messages - 1
    delay = one if delay_over_gap is None else delay_over_gap * at_train["gap"]
    with_delay = one + others * np.maximum(at_train["send"] + delay, at_train["gap"])
    receives = disturbed(others * (delay + at_train["receive"]))
    return Observations(
        ping_pong=Curve.of(s, disturbed(truth["time"])),
        prtt_1=Curve.of(ts, disturbed(one)),
        prtt_n=Train.of(ts, disturbed(one + others * at_train["gap"]), messages),
        prtt_n_delay=Train.of(ts, disturbed(with_delay), messages, delay),
        receive=Train.of(ts, receives, messages, delay),
    )
