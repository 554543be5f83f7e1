"""A machine's segments and protocols from fits that are made up in part: valid, and no more than is known."""

from dataclasses import replace
from typing import Any

import pytest
from machines import ideal
from made_fit import KIB, US, USUAL, checked, made_fit
from tables import table_of

from pready.calibrate.fit import Estimate, Fit
from pready.calibrate.fit.results import Protocol
from pready.calibrate.fit.results import Segment as Fitted
from pready.calibrate.machine.description import _link_bandwidth
from pready.calibrate.machine.values.observations_of import Probes
from pready.calibrate.machine.values.protocol import progress, stalls_from, with_rendezvous, without_eager_handshakes
from pready.calibrate.machine.values.segments import one_way, segment, without_dips

FITTED = made_fit({"segments": [{"from": 0, "L": 20}, {"from": 16, "L": 35}], "sizes": [1, 4, 16, 64]})
TABLE = table_of("calibrate/segments")


@pytest.mark.parametrize("case", TABLE["cases"], ids=lambda case: case["why"][:40])
def test_a_segment_of_a_fit_is_one_of_a_machine(case: dict[str, Any]) -> None:
    notes: list[str] = []
    k = case.get("k", 0)
    made = segment(made_fit(case), k, notes, "here")
    given = {**USUAL, **case["segments"][k]}
    expected = {name: given[name] for name in ("L", "o_s", "o_r", "g", "G")} | {"G_link": given["G"]}
    checked(made, {**expected, "handshake": None, **case.get("expect", {})})
    said = case.get("said", {})
    assert {name: getattr(made, name).why for name in said} == said
    assert (made.from_, notes) == (case["segments"][k]["from"] * KIB, case.get("notes", []))


@pytest.mark.parametrize("case", TABLE["dips"], ids=lambda case: case["why"][:40])
def test_a_border_found_too_early_moves_to_where_its_line_meets_the_previous_one(case: dict[str, Any]) -> None:
    notes: list[str] = []
    moved = without_dips(made_fit({**case, "sizes": [1, 8]}), notes)
    assert ([s.from_bytes for s in moved.segments], notes) == (case["starts"], case.get("notes", []))


@pytest.mark.parametrize("handshake", [0.0, 16.0])
def test_one_way_is_the_sum_of_all_terms(handshake: float) -> None:
    assert one_way(ideal(L=1.0, o_s=2.0, o_r=4.0, G=8.0, handshake=handshake or None), 4) == 39 + handshake


@pytest.mark.parametrize(
    ("slope", "gaps", "rate", "why"),
    [
        ([0.5, 1, 4], True, (0.25, 1, 2), "streams of messages"),
        ([0.5, 1, 4], False, (0.25, 1, 2), "one message alone"),
        ([4, 1, 0.5], True, (1, 1, 1), "streams of messages"),  # an interval holds its value
        ([-1, 0, 4], True, (2, 2, 2), "one message alone"),
    ],
)
def test_the_link_is_as_fast_as_a_stream_or_as_one_message(
    slope: list[float], gaps: bool, rate: tuple[float, ...], why: str
) -> None:
    segments = [{"from": 0, "G_stream": 8}, {"from": 4, "G_stream": slope}]
    found = _link_bandwidth(
        made_fit({"segments": segments, "sizes": [1, 8]} | ({"gaps": [[8, 9]]} if gaps else {})), 0.5 * US / KIB
    )
    assert [found.value, *(found.interval or ())] == pytest.approx([rate[k] / US * KIB for k in (1, 0, 2)])
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


def test_a_segment_is_split_where_the_waiting_begins() -> None:
    eager = replace(FITTED, segments=tuple(replace(s, protocol=None) for s in FITTED.segments))
    made = [segment(eager, k, [], "here") for k in range(len(eager.segments))]
    assert with_rendezvous(Probes(), made, []) == made
    split = with_rendezvous(Probes(exposed_share={60000: MOVES, 70000: WAITS}), made, [])
    assert [(s.from_, s.protocol) for s in split] == [
        (0, "short"),
        (16384, "short"),
        (65536, "rendezvous"),
    ]
    assert (split[1].L, split[1].G) == (split[2].L, split[2].G)


def test_a_step_in_the_latencies_of_messages_that_move_is_no_rendezvous() -> None:
    one = Estimate(1e-6, 1e-6, 1e-6)

    def made(*segments: tuple[float, Protocol]) -> Fit:
        return replace(FITTED, segments=tuple(Fitted(start, protocol, *[one] * 6) for start, protocol in segments))

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
