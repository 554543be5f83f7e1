"""A machine's segments and protocols from fits that are made up in part: valid, and no more than is known."""

from dataclasses import replace

import numpy as np
import pytest
from synthetic import TrueMachine, TrueSegment, observe

from pready.calibrate.fit import Estimate, Fit, fit
from pready.calibrate.fit.results import Protocol
from pready.calibrate.fit.results import Segment as Fitted
from pready.calibrate.machine.description import _link_bandwidth
from pready.calibrate.machine.values.observations_of import Probes
from pready.calibrate.machine.values.protocol import progress, stalls_from, with_rendezvous, without_eager_handshakes
from pready.calibrate.machine.values.segments import UNSEEN, segment, without_dips
from pready.model.machine.path import Segment

US = 1e-6
THRESHOLD = 16384.0
TRUE = TrueMachine(
    (
        TrueSegment(0.0, 20 * US, 2 * US, 1 * US, 2.2 * US, 0.5e-9),
        TrueSegment(THRESHOLD, 35 * US, 2 * US, 1 * US, 2.2 * US, 1e-9),
    )
)


@pytest.fixture(scope="module")
def fitted() -> Fit:
    """Two segments: 23 us and 0.5 ns/B, from 16 KiB on 38 us and 1 ns/B."""
    rng = np.random.default_rng(3)
    return fit(observe(TRUE, rng, noise=0.01, delay_over_gap=1.5), rng, draws=50)


def every_segment(found: Fit, notes: list[str]) -> list[Segment]:
    return [segment(found, k, notes, "here") for k in range(len(found.segments))]


def with_intercept(s: Fitted, time: float) -> Fitted:
    return replace(s, L=replace(s.L, value=time - s.o_s.value - s.o_r.value))


def test_a_border_found_too_early_moves_to_where_its_line_meets_the_previous_one(fitted: Fit) -> None:
    low, high = fitted.segments
    crossing = 4e5
    early = with_intercept(replace(high, from_bytes=8192.0), low.line[0] - crossing * (high.G.value - low.G.value))
    notes: list[str] = []
    moved = without_dips(replace(fitted, segments=(low, early)), notes)
    assert moved.segments[1].from_bytes == pytest.approx(crossing, abs=1)
    assert len(notes) == 1
    assert without_dips(fitted, notes) == fitted  # nothing to move: neither border nor note
    assert len(notes) == 1


@pytest.mark.parametrize(("known", "slope"), [(True, -1e-12), (False, -1e-12), (True, 0.0)])
def test_a_line_that_falls_rises_by_no_more_than_it_could_hide(fitted: Fit, known: bool, slope: float) -> None:
    # Small messages that take less the larger they are. By the G of large messages the largest would take 270 us
    # more than the smallest; they take 24 us, and at most a tenth more. Where no G is known, all sizes count.
    low, high = fitted.segments
    falls = replace(low, G=replace(low.G, value=slope))
    other = replace(high, G=replace(high.G, value=1.7e-8 if known else -1e-12))
    made = segment(replace(fitted, segments=(falls, other)), 0, [], "here")
    every = fitted.curves["time"].series.size
    own = every[every < THRESHOLD]
    sizes, middle = (own if known else every), low.line[0] + slope * (own if known else every).mean()
    assert made.G.value * (sizes.max() - sizes.min()) == pytest.approx(UNSEEN * middle, rel=1e-6)
    at = own.mean()
    assert made.L.value + made.o_s.value + made.o_r.value + made.G.value * at == pytest.approx(
        low.line[0] + slope * at, rel=1e-6
    )


@pytest.mark.parametrize(("total", "wire"), [(38 * US, True), (12 * US, False), (-5 * US, False)])
def test_latency_and_handshake_are_what_a_ping_pong_sees(fitted: Fit, total: float, wire: bool) -> None:
    low, high = fitted.segments
    asks = with_intercept(replace(high, protocol="rendezvous"), total)
    made = segment(replace(fitted, segments=(low, asks)), 1, [], "here")
    assert made.handshake is not None
    assert made.handshake.value > 0
    parts = made.L.value + made.o_s.value + made.o_r.value + made.handshake.value
    assert parts == pytest.approx(total, rel=1e-6)
    if wire:  # the excess over the latency of small messages
        assert made.L.value == pytest.approx(low.L.value, rel=1e-6)
        share = low.L.value / (low.L.value + made.handshake.value)
        assert made.L.why.endswith(f": {100 * share:.0f} % of the latency seen")


def test_a_line_that_begins_below_zero_is_raised(fitted: Fit) -> None:
    low, high = fitted.segments
    notes: list[str] = []
    made = every_segment(replace(fitted, segments=(low, with_intercept(high, -1e-3))), notes)
    least = made[1].o_s.value + made[1].L.value + made[1].o_r.value + made[1].G.value * THRESHOLD
    assert least >= 0
    assert any("begins below 0" in note for note in notes)


def test_overheads_of_the_smallest_messages_fit_into_their_time(fitted: Fit) -> None:
    """o_s 20 and o_r 10 us of messages that take 20: both are scaled to 18 us, a tenth is left to the wire."""
    low, high = fitted.segments
    o_s, o_r = Estimate(20 * US, 10 * US, 30 * US), Estimate(10 * US, 10 * US, 10 * US)
    notes: list[str] = []
    slow = with_intercept(replace(low, o_s=o_s, o_r=o_r), 20 * US)
    made = segment(replace(fitted, segments=(slow, high)), 0, notes, "here")
    assert [v.value for v in (made.o_s, made.o_r, made.L)] == pytest.approx([12 * US, 6 * US, 2 * US], rel=1e-6)
    assert made.o_s.interval == pytest.approx((6 * US, 18 * US), rel=1e-6)
    assert notes == ["o_s and o_r of the smallest messages exceed their one-way time: sending overlaps the wire"]


def test_a_stream_that_shows_no_time_per_byte_has_one_messages(fitted: Fit) -> None:
    low, high = fitted.segments
    for per_byte, bandwidth, why in ((1e-9, 1e9, "streams of messages"), (0.0, 5e8, "one message alone")):
        streamed = replace(high, G_stream=Estimate(per_byte, 0.8 * per_byte, 2 * per_byte))
        found = _link_bandwidth(replace(fitted, segments=(low, streamed)), 2e-9)
        assert found.value == pytest.approx(bandwidth)
        assert found.why == why


MOVES, WAITS = 0.05, 0.95


def test_messages_that_wait_for_progress_are_rendezvous() -> None:
    def probes(*shares: float) -> Probes:
        return Probes(exposed_share=dict(zip([4096, 16384, 65536, 262144, 1 << 20], shares, strict=True)))

    assert stalls_from(probes(0.9, MOVES, MOVES, MOVES, MOVES), []) is None  # 4 KiB is too small to tell
    assert stalls_from(probes(0.9, MOVES, WAITS, WAITS, WAITS), []) == 16385
    assert stalls_from(probes(0.9, MOVES, WAITS, WAITS, WAITS), [0, 4000, 40000]) == 40000  # a fitted threshold
    assert stalls_from(probes(0.9, MOVES, MOVES, MOVES, WAITS), []) == 262145
    close = Probes(exposed_share={60000: MOVES, 70000: WAITS})
    assert stalls_from(close, []) == 65536  # the only power of two there
    assert stalls_from(close, [0, 61000]) == 61000
    assert stalls_from(replace(close, exposed_share={66000: MOVES, 70000: WAITS}), []) == 66001


def test_a_segment_is_split_where_the_waiting_begins(fitted: Fit) -> None:
    eager = replace(fitted, segments=tuple(replace(s, protocol=None) for s in fitted.segments))
    made = every_segment(eager, [])
    assert with_rendezvous(Probes(), made, []) == made
    split = with_rendezvous(Probes(exposed_share={60000: MOVES, 70000: WAITS}), made, [])
    assert [(s.from_, s.protocol) for s in split] == [
        (0, "short"),
        (pytest.approx(THRESHOLD, rel=0.2), "short"),
        (65536, "rendezvous"),
    ]
    assert (split[1].L, split[1].G) == (split[2].L, split[2].G)


def test_a_step_in_the_latencies_of_messages_that_move_is_no_rendezvous(fitted: Fit) -> None:
    one = Estimate(1e-6, 1e-6, 1e-6)

    def made(*segments: tuple[float, Protocol]) -> Fit:
        return replace(fitted, segments=tuple(Fitted(start, protocol, *[one] * 6) for start, protocol in segments))

    steps = made((0.0, "short"), (4096.0, "rendezvous"), (12007.0, "rendezvous"))
    stalls = Probes(exposed_share={50536: 0.1, 64481: 0.1, 65536: 0.9})
    notes: list[str] = []
    assert [s.protocol for s in without_eager_handshakes(steps, stalls, notes).segments] == ["short", None, None]
    assert notes == ["a step in the latencies below 65536 B is no rendezvous: such messages wait for no rank"]
    # Where no size waits, or only from the step on, nothing is known better than the step.
    assert without_eager_handshakes(steps, Probes(), notes) == steps
    large = made((0.0, "short"), (65000.0, "rendezvous"))
    assert without_eager_handshakes(large, stalls, notes) == large


@pytest.mark.parametrize(
    ("left", "value", "source"),
    [
        ({}, "on-call", "assumed"),
        ({1024: WAITS, 1 << 20: MOVES}, "hardware", "measured"),
        ({1 << 20: WAITS}, "on-call", "measured"),
    ],
)
def test_the_largest_message_tells_who_makes_progress(left: dict[int, float], value: str, source: str) -> None:
    found = progress(left)
    assert (found.value, found.source) == (value, source)
