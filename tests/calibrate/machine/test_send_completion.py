"""When a send is complete, from records as two libraries gave them on a shaped link of 200 Mbit/s."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from pready.calibrate.machine.send_completion import of_records, send_completes
from pready.calibrate.measure.schedule import LATE_S

MPICH = {64: (4.4e-6, 69e-6, 4.9e-6), 256: (91e-6, 93e-6, 0.0502), 16384: (673e-6, 675e-6, 0.0502)}
OPEN_MPI = {64: (3.4e-6, 72e-6, 5.9e-6), 16384: (10e-6, 669e-6, 39e-6), 262144: (171e-6, 10.95e-3, 0.0504)}
"""By size: the send, until its message was received, and the send to a receiver that was outside MPI."""
BY_PROTOCOL = {64: (4e-6, 7e-5, 5e-6), 16384: (10e-6, 669e-6, 39e-6), 262144: (9e-3, 10.95e-3, 0.0504)}
"""Eager sends that are copied, and a rendezvous whose last byte has left."""
BUSY = {
    64: (10.8e-6, 103e-6, 14e-6),
    256: (100.3e-6, 107.1e-6, 0.0502),
    1024: (105.3e-6, 119.3e-6, 0.0502),
    16384: (1.324e-3, 1.329e-3, 0.0502),
}
"""MPICH on four nodes at 100 Mbit/s: the send of 1 KiB was over before it was received, which is noise."""
LEFT = {64: (4e-6, 7e-5, 5e-6), 16384: (668e-6, 669e-6, 668e-6), 262144: (10.9e-3, 10.95e-3, 10.9e-3)}


def records(found: Mapping[int, tuple[float, float, float]]) -> list[dict[str, Any]]:
    out = []
    for size, (send, received, late) in found.items():
        also = {"received": {"median_s": received}}
        out.append({"parameters": {"bytes": size, "late_s": 0.0}, "median_s": send, "also": also})
        out.append({"parameters": {"bytes": size, "late_s": LATE_S}, "median_s": late, "also": also})
    return out


def said(found: Mapping[int, tuple[float, float, float]]) -> tuple[str, float] | None:
    word = send_completes(of_records(records(found)))
    return None if word is None else (word.value, word.from_)


@pytest.mark.parametrize(
    ("measured", "word"),
    [
        (MPICH, ("delivered", 256.0)),
        (OPEN_MPI, ("copied", 0.0)),
        (LEFT, ("left", 16384.0)),
        (BY_PROTOCOL, None),
        (BUSY, ("delivered", 256.0)),
        # A size that is copied moves the border; all sizes alike begin at nothing.
        (MPICH | {256: (5e-6, MPICH[256][1], 6e-6)}, ("delivered", 16384.0)),
        (MPICH | {16384: (5e-6, MPICH[16384][1], 6e-6)}, None),
        ({size: times for size, times in MPICH.items() if size > 64}, ("delivered", 0.0)),
    ],
)
def test_each_library_has_its_word(
    measured: Mapping[int, tuple[float, float, float]], word: tuple[str, float] | None
) -> None:
    assert said(measured) == word


def test_the_word_says_what_it_rests_on() -> None:
    found = send_completes(of_records(records(OPEN_MPI)))
    assert found is not None
    assert found.source == "measured"
    assert "262144 B" in found.why


def test_nothing_is_said_without_clear_measurements() -> None:
    assert send_completes({}) is None
    # A transfer that takes as long as the receiver was late says nothing of waiting.
    assert said({262144: (0.04, 0.041, 0.0502)}) is None
    one = [r for r in records(MPICH) if r["parameters"]["late_s"] == 0]
    assert of_records(one) == {}
