"""A machine's segments and protocols from fits that are written down in tests/data/calibrate."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from machines import ideal
from made_fit import KIB, UNITS, US, USUAL, checked, made_fit, made_machine
from present import present
from tables import table_of

from pready.calibrate.fit import Curve, Estimate, Fit
from pready.calibrate.machine.description import _link_bandwidth
from pready.calibrate.machine.values import protocol_borders as borders
from pready.calibrate.machine.values.bounds_of_streams import with_overheads_of_streams
from pready.calibrate.machine.values.intervals import widened, with_unmeasured
from pready.calibrate.machine.values.observations_of import Probes
from pready.calibrate.machine.values.protocol import progress, stalls_from, with_rendezvous, without_eager_handshakes
from pready.calibrate.machine.values.segments import one_way, segment
from pready.model.common.units import SI, Size
from pready.model.machine.machine import Machine
from pready.model.machine.transports import Transport
from pready.model.toml.provenance import Value

FITTED = made_fit({"segments": [{"from": 0, "L": 20}, {"from": 16, "L": 35}], "sizes": [1, 4, 16, 64]})
TABLE, RUNS, BORDERS = (table_of(f"calibrate/{name}") for name in ("segments", "intervals", "borders"))


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
    said = {"segments": segments, "sizes": [1, 8]} | ({"gaps": [[8, 9]]} if gaps else {})
    found = _link_bandwidth(made_fit(said), 0.5 * US / KIB)
    assert [found.value, *(found.interval or ())] == pytest.approx([rate[k] / US * KIB for k in (1, 0, 2)])
    assert found.why == why


MOVES, WAITS = 0.05, 0.95


@pytest.mark.parametrize(("shares", "thresholds", "start"), TABLE["stalls"])
def test_messages_that_wait_for_progress_are_rendezvous(
    shares: list[tuple[int, float]], thresholds: list[float], start: float
) -> None:
    assert (stalls_from(Probes(exposed_share=dict(shares)), thresholds) or 0) == start


def test_a_segment_is_split_where_the_waiting_begins() -> None:
    eager = replace(FITTED, segments=tuple(replace(s, protocol=None) for s in FITTED.segments))
    made = [segment(eager, k, [], "here") for k in range(len(eager.segments))]
    assert with_rendezvous(Probes(), made, []) == made
    for moves, kinds in (
        (60000, [(0, "short"), (16384, "short"), (65536, "rendezvous")]),
        (10000, [(0, "short"), (16384, "rendezvous")]),
    ):
        split = with_rendezvous(Probes(exposed_share={moves: MOVES, moves + 10000: WAITS}), made, [])
        assert [(s.from_, s.protocol) for s in split] == kinds
        assert (made[1].L, made[1].G) == (split[-1].L, split[-1].G)


@pytest.mark.parametrize(("given", "shares", "kept", "start"), TABLE["steps"])
def test_a_step_in_the_latencies_of_messages_that_move_is_no_rendezvous(
    given: list[tuple[float, str]], shares: list[tuple[int, float]], kept: list[str], start: int
) -> None:
    notes: list[str] = []
    made = made_fit({"sizes": [1], "segments": [{"from": at, "protocol": protocol} for at, protocol in given]})
    found = without_eager_handshakes(made, Probes(exposed_share=dict(shares)), notes)
    assert [s.protocol or "" for s in found.segments] == kept
    said = f"a step in the latencies below {start} B is no rendezvous: such messages wait for no rank"
    assert notes == [said] * bool(start)


@pytest.mark.parametrize(("left", "value", "said"), TABLE["progress"])
def test_the_largest_message_tells_who_makes_progress(left: list[tuple[int, float]], value: str, said: str) -> None:
    found = progress(dict(left))
    told = "{} transfer was left when the receiver had computed outside MPI" if left else "{}"
    source = "measured" if left else "assumed"
    assert (found.value, found.source, found.why) == (value, source, told.format(said))


def machine_of(case: dict[str, Any]) -> Machine:
    segments = [{"L": 4, "o_r": 1, **row} for row in case.get("segments", [{"from": 0}])]
    return made_machine({"sizes": [1], "segments": segments})


@pytest.mark.parametrize("case", RUNS["unmeasured"], ids=lambda case: case["why"][:40])
def test_what_is_assumed_at_sizes_that_nobody_measured(case: dict[str, Any]) -> None:
    notes: list[str] = []
    least, most = (size * KIB for size in case["measured"])
    before = machine_of(case)
    made = with_unmeasured(before, (least, most), case.get("streamed", 0) * KIB, case.get("fabric"), notes).inter
    assert ([s.from_ for s in made.segments], notes) == ([row["from"] for row in case["expect"]], case.get("notes", []))
    for s, row in zip(made.segments, case["expect"], strict=True):
        checked(s, {name: said for name, said in row.items() if name != "from"})
    link = made.link_bandwidth
    if "link" in case:
        assert [link.value, *(link.interval or ())] == pytest.approx([case["link"][k] for k in (1, 0, 2)])
        assert link.why == case["of_link"]
    else:
        assert link == before.inter.link_bandwidth


@pytest.mark.parametrize("case", RUNS["runs"], ids=lambda case: case["why"][:40])
def test_an_interval_is_as_wide_as_the_runs_lie_apart(case: dict[str, Any]) -> None:
    """Of three numbers the first and the last are those of a run of forty-one beyond each end of the interval."""
    runs = [np.repeat(times, [2, 37, 2] if len(times) == 3 else 1) * US for _, *times in case["of"]]
    made = widened(machine_of(case), Curve.of([size * KIB for size, *_ in case["of"]], runs))
    for s, row in zip(made.inter.segments, case["expect"], strict=True):
        checked(s, row)


def same(found: Fit, expect: list[dict[str, Any]]) -> None:
    """Each segment as said, and the draws of what has an interval around its value."""
    assert [s.from_bytes for s in found.segments] == [row["from"] for row in expect]
    for k, (s, row) in enumerate(zip(found.segments, expect, strict=True)):
        checked(s, {name: said for name, said in row.items() if name != "from"})
        for name, e in ((name, getattr(s, name)) for name in UNITS):
            drawn = Estimate.of(e.value, found.draws[name][:, k])
            assert (drawn.low + drawn.high) / 2 == pytest.approx(e.value, rel=1e-9, abs=1e-18), name


@pytest.mark.parametrize("case", BORDERS["bridges"], ids=lambda case: case["why"][:40])
def test_a_border_between_sizes_far_apart_is_bridged(case: dict[str, Any]) -> None:
    same(borders.with_bridges(made_fit(case), case.get("rendezvous", np.inf) * KIB), case["expect"])


@pytest.mark.parametrize("case", BORDERS["negative"], ids=lambda case: case["why"][:40])
def test_no_line_begins_below_zero(case: dict[str, Any]) -> None:
    notes: list[str] = []
    same(borders.without_negative_lines(made_fit(case), notes), case["expect"])
    assert notes == case.get("notes", [])


@pytest.mark.parametrize("case", BORDERS["borders"], ids=lambda case: case["why"][:40])
def test_where_a_rendezvous_begins(case: dict[str, Any]) -> None:
    low, default, high = (SI(size * KIB) for size in case.get("default", (8, 16, 64)))
    size = Value[Size](value=default, interval=(low, high), source="literature", why="made up")
    found, border = borders.with_rendezvous(made_fit(case), Transport("made up", size, ideal().progress))
    assert border.words == case["says"]
    assert {at / KIB: p for at, p in border.candidates} == pytest.approx(dict(case["candidates"]), abs=1.5e-5)
    same(found, [{"from": start} for start in case.get("starts", [s.from_bytes for s in found.segments])])
    assert all((s.protocol == "rendezvous") == (s.from_bytes >= border.at) for s in found.segments)
    assert border.at in [s.from_bytes for s in found.segments]


@pytest.mark.parametrize("seen", [True, False])
def test_a_machine_with_its_border(seen: bool) -> None:
    """Eager messages above 64 KiB are copied: a segment up to 65537 B has none of them."""
    starts = [{"from": 0}, *({"from": at + 1 / 1024} for at in (64, 64 + 1 / 1024))]
    asks = [{"from": at, "protocol": "rendezvous", "L": 9} for at in (128, 256)]
    candidates = (128 * KIB, 0.7654321), (256 * KIB, 0.2345679)
    border = borders.Border(128 * KIB, 65 * KIB, 256 * KIB, seen, "made up", candidates)
    for first in ("short", "bcopy"):
        some = [s for s in starts if first == "short" or s is not starts[1]]
        made = borders.with_border(made_machine({"sizes": [1], "segments": [*some, *asks]}), border).inter.segments
        kinds = [(s.protocol, s.begins is not None, s.O_s and s.O_s.value, s.O_r and s.O_r.value) for s in made]
        lowest = (first, False, *[None if first == "short" else 0.0] * 2)
        copies = [lowest, *[("bcopy", False, 0.0, 0.0)] * (len(some) - 1)]
        assert kinds == [*copies, ("rendezvous", True, None, None), ("rendezvous", False, None, None)]
        begins = present(made[-2].begins)
        assert (begins.value, begins.interval) == (128 * KIB, (65 * KIB, 256 * KIB))
        assert begins.source == ("measured" if seen else "assumed")
        assert [c.weight for c in begins.candidates] == [0.765, 0.235]


@pytest.mark.parametrize("case", TABLE["bounded"], ids=lambda case: case["why"][:40])
def test_a_gap_bounds_overheads_that_were_not_measured(case: dict[str, Any]) -> None:
    guessed = {"from": 0, "L": 4, "G_stream": 0.5, "o_s": [0.5, 1, 2, "assumed"], "o_r": [0.25, 0.5, 1, "assumed"]}
    before = made_machine({"sizes": [1], "segments": [guessed | row for row in case["segments"]]})
    made = with_overheads_of_streams(before)
    assert (made == before) == ("expect" not in case)
    for s, row in zip(made.inter.segments, case.get("expect", []), strict=False):
        checked(s, row)
