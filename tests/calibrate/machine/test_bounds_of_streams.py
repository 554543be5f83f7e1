"""Messages of both ways bound those of one, and gaps overheads."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_fit import KIB, US, checked, made_fit, made_machine
from present import present
from tables import table_of

from pready.calibrate.fit.observations import Curve, Observations, Train
from pready.calibrate.importers.to_machine import FromFiles, from_files
from pready.calibrate.machine.values.bounds_of_streams import as_bounds, with_both_ways, with_overheads_of_streams

SIZES = [1 << k for k in range(23)]


def osu(path: Path, test: str, column: str, value: Callable[[int], float]) -> None:
    rows = "".join(f"{s} {value(s):.4f}\n" for s in SIZES)
    path.write_text(f"# OSU MPI {test} Test v7.3\n# Size {column}\n{rows}")


def both_ways(tmp_path: Path, per_message: float, per_byte: float) -> FromFiles:
    """One message alone takes 4 us + 0.4 ns/B; among those of both ways `per_message` + `per_byte` s."""
    osu(tmp_path / "latency.txt", "Latency", "Latency (us)", lambda s: 4 + 4e-4 * s)
    both = "Bi-Directional Bandwidth"
    osu(tmp_path / "bibw.txt", both, "Bandwidth (MB/s)", lambda s: 2 * s / (per_message + per_byte * s) / 1e6)
    return from_files([tmp_path / "latency.txt", tmp_path / "bibw.txt"], name="m", library="openmpi-4", fabric="efa")


def test_messages_of_both_ways_bound_those_of_one(tmp_path: Path) -> None:
    """A rank that receives one each 0.5 us + 0.1 ns/B as it sends one has o_s <= 0.5 us, where a quarter of 4 us was
    assumed, and a link of at least 10 GB/s, where one message alone reaches 2.5; of one way alone it may have 20."""
    made = both_ways(tmp_path, 0.5e-6, 1e-10)
    first, link = made.machine.inter.segments[0], made.machine.inter.link_bandwidth
    assert link.value == pytest.approx(10e9, rel=0.02)
    assert link.interval == pytest.approx((10e9, 20e9), rel=0.02)
    assert made.machine.bandwidth == pytest.approx(2.5e9, rel=0.02)
    for value in (first.g, first.o_s):
        assert value.value == pytest.approx(0.5e-6, rel=0.05)
        assert value.interval == pytest.approx((0.25e-6, 0.5e-6), rel=0.05)
        assert value.source == "assumed"
    assert first.o_s.value + first.L.value + first.o_r.value == pytest.approx(4e-6, rel=0.01)
    assert any("no stream of one way" in note for note in made.notes)


@pytest.mark.parametrize("case", table_of("calibrate/segments")["bounded"], ids=lambda case: case["why"][:40])
def test_a_gap_bounds_overheads_that_were_not_measured(case: dict[str, Any]) -> None:
    guessed = {"from": 0, "L": 4, "G_stream": 0.5, "o_s": [0.5, 1, 2, "assumed"], "o_r": [0.25, 0.5, 1, "assumed"]}
    before = made_machine({"sizes": [1], "segments": [guessed | row for row in case["segments"]]})
    made = with_overheads_of_streams(before)
    assert (made == before) == ("expect" not in case)
    for s, row in zip(made.inter.segments, case.get("expect", []), strict=False):
        checked(s, row)
    if "expect" in case:
        bound, rate, (g, *_) = as_bounds(before).inter, before.inter.link_bandwidth.value, case["segments"][0].values()
        checked(bound.segments[0], {"g": [g / 2, g, g, "assumed"], "G_link": [0.25, 0.5, 0.5, "assumed"]})
        assert (bound.link_bandwidth.value, bound.link_bandwidth.interval) == (rate, (rate, 2 * rate))


def test_a_stream_of_both_ways_bounds_one_that_was_not_measured() -> None:
    """One of 1 + s is assumed: 2 for 1 KiB, 9 for 8."""
    ping, at, assumed = Curve.of([KIB], [US]), [KIB, 8 * KIB], made_fit({"sizes": [1], "segments": [{"from": 0}]})
    for times, said in (([2, 9], None), ([1.5, 9], [1.5, 9]), ([3, 8.5], [2, 8.5]), ([[1, 5], 9], [1, 2, 9])):
        both = Curve.of(at, [np.array(t) * US for t in times])
        found = with_both_ways(Observations(ping_pong=ping), both, assumed)
        assert (found is None) == (said is None)
        assert found is None or np.concatenate(present(found.stream).repeats) == pytest.approx(np.array(said) * US)
        train = Train.of([KIB], [US], 2)
        for known in ({}, {"ping_pong": ping, "stream": ping}, {"ping_pong": ping, "prtt_n": train}):
            assert with_both_ways(Observations(**known), both, assumed) is None
    assert with_both_ways(Observations(ping_pong=ping), None, assumed) is None
