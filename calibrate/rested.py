"""What repeats in a row tell of a shaped link: a rested one, or one whose bucket they have drained.

A token bucket lets a message of a few KB pass at once after a pause, and none faster than its rate when it is empty.
Ping-pongs of 1 KB that take 15 us ask for more than 30 MB/s each way: on a link of 12.5 MB/s the first dozen takes
15 us each and the rest 80. What a machine says of a message is that of a rested link; its rate comes from windows of
messages in flight.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pready.calibrate.records import Content, Point

PAUSED_FROM = 4096
"""Bytes from which ping-pongs first have a pause before them, so that they meet a rested link if it is shaped. Where it
is not, or they are too small to drain it, they follow each other: after a pause, caches are cold, which is another
value of a machine."""
PAUSE_S = 1e-3
"""Idle before an exchange, in which a bucket fills again."""
FASTER = 1.2
"""A message that moves so many times as fast as windows of them shows a bucket."""
LARGEST = 64 << 10
"""Bytes of a message that may show one: windows of larger ones are known no better than they are themselves."""
SAFE = 0.7
"""Share of what a bucket gets back between two messages that they may take from it; after a pause they were slower."""
SMALL = 64
"""Bytes of messages that drain nothing."""
TRAIN = 16
"""Messages."""
FRAME = 78
"""Bytes that Ethernet, IP and TCP add to a small message."""

Record = dict[str, Any]


@dataclass(frozen=True)
class Bucket:
    """A shaped link, as records show it.

    Attributes
    ----------
    rate
        Bytes per second of windows of messages.
    at_once
        Bytes that it lets through.
    ping, train
        Bytes from which ping-pongs, and trains of messages, that follow each other without a pause may drain it.
    """

    rate: float
    at_once: float
    ping: float
    train: float

    def drains(self, parameters: Mapping[str, Any]) -> bool:
        """May such a ping-pong or round trip find it drained, though its message fits into it?"""
        if parameters.get("pause_s", 0) > 0 or parameters["bytes"] > self.at_once:
            return False
        return bool(parameters["bytes"] >= (self.train if parameters.get("n", 1) > 1 else self.ping))


def bucket(content: Content, key: str) -> Bucket | None:
    """The bucket of the link, if what was measured shows one."""
    pings = [r for r in content.select("pingpong", key) if r["parameters"]["mode"] == "isend"]
    windows = content.select("bandwidth", key)
    small = [r for r in pings if r["parameters"]["bytes"] <= SMALL]
    if not windows or not small:
        return None
    in_flight = [(r["parameters"]["bytes"] * r["parameters"]["window"], r["median_s"]) for r in windows]
    rate = max(in_flight)[0] / max(in_flight)[1]  # of the most, of which least has passed at once
    one = min(r["median_s"] for r in small)
    rested = [(r["parameters"]["bytes"], r["median_s"]) for r in pings if r["parameters"].get("pause_s", 0) > 0]
    at_once = [size - rate * (time - one) for size, time in rested if LARGEST >= size > FASTER * rate * time]
    if len(at_once) < 2:
        return None
    several = [
        r for r in content.select("prtt", key) if r["parameters"]["n"] == TRAIN and r["parameters"]["bytes"] <= SMALL
    ]
    each = min((r["median_s"] / TRAIN for r in several), default=one)
    return Bucket(rate, max(at_once), _drained_from(rate, pings), rate * each / 2)


def _drained_from(rate: float, pings: Sequence[Record]) -> float:
    """Bytes from which ping-pongs may drain it: each way gets a message in two times of one."""
    times = dict[int, float]()
    for r in pings:
        size = r["parameters"]["bytes"]
        times[size] = min(r["median_s"], times.get(size, r["median_s"]))
    known = np.array(sorted(times))
    tried = np.geomspace(1.0, known[-1], 400)
    refills = 2 * SAFE * rate * np.interp(tried, known, [times[size] for size in known.tolist()])
    drained = tried + FRAME > refills
    return float(tried[drained.argmax()]) if drained.any() else math.inf


def replaced(content: Content, key: str) -> bool:
    """Were ping-pongs that drain a bucket measured from rest? Before 2026-11-23 they were not, and are all there is."""
    return any(
        p.get("pause_s", 0) > 0 and p["bytes"] < PAUSED_FROM
        for p in (r["parameters"] for r in content.select("pingpong", key))
    )


def measured(records: Sequence[Record], of: Bucket | None) -> list[Record]:
    """Ping-pongs, or round trips, that a bucket did not disturb; of what was measured both ways, the later decision.

    Small ones have a pause the second time, if they need one, and large ones the first, when that is not known. What
    the bucket holds is known better at the end than when it was decided what to measure.
    """
    kept = [r for r in records if of is None or not of.drains(r["parameters"])]
    again = {_asked(r) for r in kept if _decided(r)}
    return [r for r in kept if _decided(r) or _asked(r) not in again]


def _decided(record: Record) -> bool:
    """Was it known of the link whether this needs a pause?"""
    p = record["parameters"]
    first = p["bytes"] >= PAUSED_FROM and "mode" in p  # as the plan has it (`measurement_plan.ping`)
    return bool(p.get("pause_s", 0) > 0) != first


def _asked(record: Record) -> tuple[Any, ...]:
    """What was measured, however often, and whether from rest or not."""
    return tuple(record["parameters"].get(name) for name in ("bytes", "mode", "n", "delay_s"))


def from_rest(points: Iterable[Point], of: Bucket | None) -> Iterator[Point]:
    """The same points, but with a pause where repeats in a row would drain the bucket, and without where they do not;
    trains that do so by themselves are left out."""
    for point in points:
        p: dict[str, Any] = dict(point.parameters)
        if point.measurement == "pingpong" and p.get("pause_s") and not (of is not None and p["bytes"] >= of.ping):
            yield Point.of("pingpong", **{name: value for name, value in p.items() if name != "pause_s"})
            continue
        trio = {"n": TRAIN} if "n" in p else {}  # one message, and trains of them
        if of is None or point.measurement not in ("pingpong", "prtt") or not of.drains(p | trio):
            yield point
        elif not trio or TRAIN * (p["bytes"] + FRAME) <= of.at_once:
            yield Point.of(point.measurement, **p | {"pause_s": PAUSE_S})
