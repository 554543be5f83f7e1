"""A machine's segments and protocols from fits that are made up in part: valid, and no more than is known."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from machines import ideal
from made_fit import KIB, UNITS, US, USUAL, estimate, made_fit
from synthetic import TrueMachine, TrueSegment, observe
from tables import table_of

from pready.calibrate.fit import Estimate, Fit, fit
from pready.calibrate.fit.results import Protocol
from pready.calibrate.fit.results import Segment as Fitted
from pready.calibrate.machine.description import _link_bandwidth
from pready.calibrate.machine.values.observations_of import Probes
from pready.calibrate.machine.values.protocol import progress, stalls_from, with_rendezvous, without_eager_handshakes
from pready.calibrate.machine.values.segments import one_way, segment, without_dips

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


TABLE = table_of("calibrate/segments")


@pytest.mark.parametrize("case", TABLE["cases"], ids=lambda case: case["why"][:40])
def test_a_segment_of_a_fit_is_one_of_a_machine(case: dict[str, Any]) -> None:
    notes: list[str] = []
    k = case.get("k", 0)
    made = segment(made_fit(case), k, notes, "here")
    given = {**USUAL, **case["segments"][k]}
    expected = {name: given[name] for name in ("L", "o_s", "o_r", "g", "G")} | {"G_link": given["G"]}
    for name, said in {**expected, "handshake": None, **case.get("expect", {})}.items():
        found = getattr(made, name)
        assert (found is None) == (said is None), name
        if found is not None:
            e, (low, high) = (
                estimate(said, UNITS.get(name, US if name == "handshake" else US / KIB)),
                found.interval or [found.value] * 2,
            )
            assert (found.value, low, high) == pytest.approx((e.value, e.low, e.high), rel=1e-9, abs=1e-18), name
            assert found.source == ("assumed" if e.assumed else "measured"), name
            assert found.why == case.get("said", {}).get(name, found.why)
    assert (made.from_, notes) == (case["segments"][k]["from"] * KIB, case.get("notes", []))


@pytest.mark.parametrize("case", TABLE["dips"], ids=lambda case: case["why"][:40])
def test_a_border_found_too_early_moves_to_where_its_line_meets_the_previous_one(case: dict[str, Any]) -> None:
    notes: list[str] = []
    moved = without_dips(made_fit({**case, "sizes": [1, 8]}), notes)
    assert ([s.from_bytes for s in moved.segments], notes) == (case["starts"], case.get("notes", []))


@pytest.mark.parametrize("handshake", [0.0, 16.0])
def test_one_way_is_the_sum_of_all_terms(handshake: float) -> None:
    assert one_way(ideal(L=1.0, o_s=2.0, o_r=4.0, G=8.0, handshake=handshake or None), 4) == 39 + handshake


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
    made = [segment(eager, k, [], "here") for k in range(len(eager.segments))]
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
