"""Firefly's parameters for a Machine, corrected until SST's own ping-pong takes the Machine's times."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from pready.model.machine.machine import Machine
from pready.model.machine.path import PathName
from pready.sst import config, results
from pready.sst.firefly import Band, Firefly, handshake_ns, initial, latency_ns, ping_time, with_gap_kept
from pready.sst.run import How
from pready.sst.run import run as run_sst
from pready.sst.topology import topology

SIZES = tuple(sorted({8 << i for i in range(22)} | {12 << i for i in range(0, 20, 3)}))
"""8 B to 16 MiB, powers of two and some between."""
ROUNDS = 5
GOOD = 0.01
"""A fit whose residuals are all below this needs no further round."""

Measure = Callable[[Firefly, Sequence[int]], Sequence[float]]
"""One-way times (s) of messages of the given sizes under the given parameters."""


@dataclass(frozen=True)
class Residual:
    """One size of the comparison; times in seconds."""

    size: int
    machine: float
    simulated: float
    near_threshold: bool
    """Within a factor of 2 of a protocol threshold."""

    @property
    def relative(self) -> float:
        """(simulated − machine) / machine."""
        return self.simulated / self.machine - 1


@dataclass(frozen=True)
class Fit:
    """Parameters, and how well SST reproduces the Machine with them."""

    firefly: Firefly
    residuals: tuple[Residual, ...]
    rounds: int

    @property
    def worst(self) -> float:
        """Largest relative residual, absolute, away from thresholds."""
        return max((abs(r.relative) for r in self.residuals if not r.near_threshold), default=0.0)


def sizes_for(machine: Machine, path: PathName = "inter") -> list[int]:
    """`SIZES` with both sides of every protocol threshold."""
    edges = [round(s.from_) for s in machine.path(path).segments[1:]]
    inside = [n for e in edges for n in (e - 1, e) if SIZES[0] <= n <= SIZES[-1]]
    return sorted({*SIZES, *inside})


def fit(machine: Machine, measure: Measure, path: PathName = "inter", cache: str = "hot") -> Fit:
    """Correct the parameters by the times of `measure`.

    Each round fits a line to each band's residuals, in relative terms: constants go to the latency, the
    handshake and each band's receive overhead, slopes to the band's cost per byte and the link's rate.
    The best round is returned, not the last.
    """
    sizes = sizes_for(machine, path)
    target = np.array([ping_time(machine, n, path, cache) for n in sizes])
    edges = [s.from_ for s in machine.path(path).segments[1:]]
    near = [any(e / 2 < n < 2 * e for e in edges) for n in sizes]
    firefly = initial(machine, path, cache)
    tried: list[tuple[float, Firefly, np.ndarray]] = []
    for _ in range(ROUNDS):
        simulated = np.asarray(measure(firefly, sizes), dtype=np.float64)
        worst = float(np.abs(simulated / target - 1).max())
        tried.append((worst, firefly, simulated))
        if worst < GOOD:
            break
        firefly = corrected(firefly, np.array(sizes), target - simulated, target)
    _, firefly, simulated = min(tried, key=lambda one: one[0])
    rows = zip(sizes, target.tolist(), simulated.tolist(), near, strict=True)
    return Fit(firefly, tuple(Residual(*row) for row in rows), len(tried))


def corrected(firefly: Firefly, sizes: np.ndarray, missing: np.ndarray, target: np.ndarray) -> Firefly:
    """The parameters with `missing` (s, target − simulated) put where it belongs."""
    lines = [_line(sizes, 1e9 * missing, 1e9 * target, *span) for span in _spans(firefly)]
    late = [a for (a, _), b in zip(lines, firefly.bands, strict=True) if b.rendezvous]
    # The rest of the first band moves the wire, the further rest of the first rendezvous moves the handshake.
    shared = lines[0][0]
    handshake = handshake_ns(firefly)
    if handshake is not None:
        handshake += late[0] - shared
    moved = with_gap_kept(firefly, latency_ns(firefly) + shared, handshake)
    # The part that rounding and bounds did not allow to move stays with the bands.
    did = latency_ns(moved) - latency_ns(firefly)
    did_late = did + (handshake_ns(moved) or 0.0) - (handshake_ns(firefly) or 0.0)
    bands, faster = [], 0.0
    spans = _spans(firefly)
    for (constant, slope), band, (_, stop) in zip(lines, firefly.bands, spans, strict=True):
        rest = constant - (did_late if band.rendezvous else did)
        per_byte = band.rx_ns_per_byte + slope
        faster = min(faster, per_byte)
        inside = sizes[(sizes >= band.start) & (sizes < stop)]
        middle = float(np.exp(np.log(inside).mean())) if len(inside) else 0.0
        bands.append(_shifted(replace(band, rx_ns_per_byte=max(0.0, per_byte)), rest, middle))
    link = 1e9 / firefly.link_bytes_per_s
    # No band can be faster than the link: if one must be, the link is (by at most a tenth: it is a known rate).
    link = max(link + faster, 0.9 * link)
    return replace(moved, bands=tuple(bands), link_bytes_per_s=1e9 / link)


def _spans(firefly: Firefly) -> list[tuple[float, float]]:
    starts = [b.start for b in firefly.bands]
    return list(zip(starts, [*starts[1:], np.inf], strict=True))


def _line(sizes: np.ndarray, missing: np.ndarray, target: np.ndarray, low: float, high: float) -> tuple[float, float]:
    """Constant and slope of a band's missing time, by least squares of the relative error."""
    chosen = (sizes >= low) & (sizes < high)
    x, y, w = sizes[chosen].astype(float), missing[chosen], 1 / target[chosen]
    if not len(x):
        return 0.0, 0.0
    if len(x) < 3 or x[-1] < 4 * x[0]:
        return float(np.average(y, weights=w)), 0.0
    solution = np.linalg.lstsq(np.column_stack([w, w * x]), w * y, rcond=None)[0]
    return float(solution[0]), float(solution[1])


def _shifted(band: Band, constant: float, middle: float) -> Band:
    """The band with `constant` ns more CPU time at `middle` bytes: on the receiver first, never below zero."""
    if not middle:
        return band  # nothing was measured in it
    rx = band.rx_ns + constant
    tx = band.tx_ns + min(rx, 0.0)
    slope = band.rx_ns_per_byte + min(tx, 0.0) / middle
    return replace(band, rx_ns=max(rx, 0.0), tx_ns=max(tx, 0.0), rx_ns_per_byte=max(slope, 0.0))


def ping_pong(firefly: Firefly, sizes: Sequence[int], folder: Path, how: How | None = None) -> list[float]:
    """SST's one-way time (s) of messages of each size between two ranks on one router: half a round trip.

    One run for all eager sizes and one for all others, since their parameters differ; of three round trips the last
    counts.
    """
    out: dict[int, float] = {}
    for late in (False, True):
        if alike := [n for n in sizes if firefly.band(n).rendezvous == late]:
            out |= _ping_pong(firefly, alike, folder, how)
    return [out[n] for n in sizes]


def _ping_pong(firefly: Firefly, sizes: Sequence[int], folder: Path, how: How | None) -> dict[int, float]:
    alike: dict[str, object] = {"iterations": 3, "pong": 1}
    motifs = [("pready.PartPingPong", {"bytes": n, **alike, "record": f"ping-{n}.csv"}) for n in sizes]
    made = config.Simulation("ping-pong", firefly, topology("single", 2), 2, motifs, largest=max(sizes), receives=1)
    path = folder / "ping-pong.py"
    config.write(made, path)
    run_sst(path, how)
    out = {}
    for n in sizes:
        record = results.read_records(folder / f"ping-{n}.csv", 2, 3)
        sender = (record.rank == 0) & (record.iteration == 2)
        begun = record.start[sender & (record.phase == 0)][0]
        out[n] = float(record.completion[sender & (record.phase == 1)][0] - begun) / 2
    return out


def calibrate(machine: Machine, path: str = "inter", cache: str = "hot", how: How | None = None) -> Fit:
    """Fit Firefly's parameters to the Machine by SST's own ping-pong."""
    with tempfile.TemporaryDirectory(prefix="pready-sst-") as folder:
        return fit(
            machine,
            lambda firefly, sizes: ping_pong(firefly, sizes, Path(folder), how),
            "intra" if path == "intra" else "inter",
            cache,
        )
