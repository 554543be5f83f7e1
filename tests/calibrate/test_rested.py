"""Repeats in a row that drain a shaped link's token bucket, on a simulated link."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from pready.calibrate import from_records, rested
from pready.calibrate.measurement_plan import plan, sizes
from pready.calibrate.records import Content, Point

KEY = "here"
RATE, BUCKET, ALONE, PER_BYTE, BETWEEN = 12.5e6, 12_000.0, 15e-6, 2e-9, 7e-6
"""Bytes/s; bytes; seconds of a message of nothing, of a byte at the cable's own speed, from one message to the next."""
FRAME = 78


class Port:
    """One way through a token bucket, which is full at first."""

    def __init__(self, rate: float) -> None:
        self.rate, self.tokens, self.last = rate, BUCKET, 0.0

    def leaves(self, at: float, size: float) -> float:
        """When a message has left that comes at `at`."""
        at = max(at, self.last)
        self.tokens = min(BUCKET, self.tokens + (at - self.last) * self.rate)
        waits = max(size + FRAME - self.tokens, 0.0) / self.rate
        self.tokens = self.tokens + waits * self.rate - (size + FRAME)
        self.last = at + waits
        return self.last + size * PER_BYTE


def samples(parameters: dict[str, Any], rate: float, repeats: int = 200) -> list[float]:
    """What repeats of a point take, in s."""
    there, back, now, out = Port(rate), Port(rate), 0.0, []
    size, n, pause = parameters["bytes"], parameters.get("n", 1), parameters.get("pause_s", 0.0)
    answer = size if "mode" in parameters else 0
    for _ in range(repeats):
        now += pause
        begun = now
        delay = 4 * size / rate + 1e-5 if parameters.get("delay_s", 0) else 0.0
        for i in range(n):
            left = there.leaves(begun + i * (BETWEEN + delay), size)
        now = back.leaves(left + ALONE, answer) + ALONE
        out.append((now - begun) * (0.5 if "mode" in parameters else 1.0))
    return out


def content(points: list[Point], rate: float) -> Content:
    """Records of ping-pongs, trains and windows."""
    made = Content()
    for point in points:
        p: dict[str, Any] = {"pause_s": 0.0, **dict(point.parameters)}
        record: dict[str, Any] = {"measurement": point.measurement, "parameters": p, "derived": {}}
        if point.measurement == "bandwidth":
            all_bytes = p["bytes"] * p["window"]
            times = [max(all_bytes - BUCKET, 0.0) / rate + all_bytes * PER_BYTE + ALONE] * 20
        elif point.measurement in ("pingpong", "prtt"):
            times = samples(p, rate)
            record["derived"] = {"delay_s": 4 * p["bytes"] / rate + 1e-5 if p.get("delay_s", 0) else 0.0}
        else:
            continue
        record |= {"median_s": float(np.median(times)), "samples_ns": [t * 1e9 for t in times]}
        made.points[str(point)] = {"point": str(point), "environment": KEY, "record": record}
    made.environments[KEY] = {"hosts": ["a", "b"], "cores_online": 8}
    return made


def measured(rate: float) -> tuple[Content, rested.Bucket | None]:
    """As a calibration does it: the coarse pass, then the rest."""
    first = content(plan(threads=1, coarse=True), rate)
    of = rested.bucket(first, KEY)
    return content(list(rested.from_rest(plan(threads=1), of)) + plan(threads=1, coarse=True), rate), of


def pauses_by_size(points: list[Point], measurement: str) -> dict[int, bool]:
    """Has a measurement a pause, by its bytes?"""
    asked: list[dict[str, Any]] = [dict(p.parameters) for p in points if p.measurement == measurement]
    return {p["bytes"]: p.get("pause_s", 0) > 0 for p in asked}


def test_a_bucket_is_found_with_its_rate() -> None:
    _, of = measured(RATE)
    assert of is not None
    assert of.rate == pytest.approx(RATE, rel=0.05)
    assert of.at_once == pytest.approx(BUCKET, rel=0.1)
    # Each way a message and its frame go in two times of one: 12.5 MB/s × 30 us is 375 B, 297 less the frame.
    assert 100 < of.ping < 297


@pytest.mark.parametrize("rate", [1 / PER_BYTE, 1e13])
def test_a_link_without_one_shows_none(rate: float) -> None:
    made, of = measured(rate)
    assert of is None
    points, asked = plan(threads=1), list(rested.from_rest(plan(threads=1), of))
    assert [p for p in asked if p.measurement != "pingpong"] == [p for p in points if p.measurement != "pingpong"]
    # Nothing drains: nobody rests, and what the first pass measured after pauses is measured again.
    assert not any(p.get("pause_s") for p in asked if p.measurement == "pingpong")
    assert len({p.get("bytes") for p in asked if p.measurement == "pingpong"}) == len(sizes())
    seen = from_records.observations(made, KEY).ping_pong
    assert seen is not None
    assert set(sizes()) <= set(seen.at)
    # Powers of two in three rounds, of those after pauses none.
    assert [len(times) for times in seen.repeats] == [600 if at & (at - 1) == 0 else 200 for at in map(int, seen.at)]


def test_messages_too_small_to_drain_a_fast_link_follow_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    # 200 MB/s give back 6.3 kB in the two times of 15.8 us of one of 4 KiB, of which 0.7 are asked for: 4.4 kB.
    for name, value in (("PER_BYTE", 2e-10), ("BUCKET", 30_000.0)):
        monkeypatch.setattr(sys.modules[__name__], name, value)
    of = rested.bucket(content(plan(threads=1, coarse=True), 200e6), KEY)
    assert of is not None
    assert of.ping == pytest.approx(4.4e3, rel=0.05)
    pauses = pauses_by_size(list(rested.from_rest(plan(threads=1), of)), "pingpong")
    assert pauses == {size: size > 4096 for size in pauses}


def test_what_drains_it_has_a_pause_and_trains_that_do_so_themselves_are_left_out() -> None:
    _, of = measured(RATE)
    assert of is not None
    points = list(rested.from_rest(plan(threads=1), of))
    pings = pauses_by_size(points, "pingpong")
    assert set(pings) == set(sizes())
    assert {size for size, pause in pings.items() if pause} == {size for size in sizes() if size >= of.ping}
    trains = set(pauses_by_size(points, "prtt"))
    assert {1, 4, 16, 64, 256, 16384} <= trains
    assert not {1024, 4096} & trains  # 16 of them are more than the bucket holds
    others = [p for p in points if p.measurement not in ("pingpong", "prtt")]
    assert others == [p for p in plan(threads=1) if p.measurement not in ("pingpong", "prtt")]


def test_small_messages_take_what_they_take_on_a_rested_link() -> None:
    made, _ = measured(RATE)
    seen = from_records.observations(made, KEY).ping_pong
    assert seen is not None
    for size, times in zip(seen.at, seen.repeats, strict=True):
        if size < BUCKET - FRAME:
            assert np.median(times) == pytest.approx(ALONE + size * PER_BYTE, rel=0.02), size


def test_without_pauses_they_take_what_the_rate_says() -> None:
    # The negative control: the same plan as it stands, as it was measured until 2026-11-23.
    made = content(plan(threads=1), RATE)
    assert not rested.replaced(made, KEY)
    seen = from_records.observations(made, KEY).ping_pong
    assert seen is not None
    at = dict(zip(seen.at, seen.repeats, strict=True))
    assert np.median(at[2048.0]) > 3 * (ALONE + 2048 * PER_BYTE)


def test_records_without_rested_small_messages_are_read_as_they_are() -> None:
    made = content(plan(threads=1), RATE)
    observed = from_records.observations(made, KEY)
    assert observed.ping_pong is not None
    assert set(observed.ping_pong.at) == set(sizes())


def test_what_was_measured_from_rest_as_well_is_taken_from_there() -> None:
    # In the middle of a calibration trains of 1 KiB seem to drain the bucket, at its end they do not. Delays follow
    # what one message took, so that the two disagree.
    point = {"bytes": 1024, "n": 16, "delay_s": -1.0}
    made = content(plan(threads=1), RATE)
    for pause, delay in ((0.0, 2.2e-5), (1e-3, 2.1e-5)):
        twice = content([Point.of("prtt", **point, pause_s=pause)], RATE)
        (asked,) = twice.points
        twice.points[asked]["record"]["derived"]["delay_s"] = delay
        made.points |= twice.points
    found = from_records.observations(made, KEY).prtt_n_delay
    assert found is not None
    assert found.delay[list(found.times.at).index(1024)] == pytest.approx(2.1e-5)
