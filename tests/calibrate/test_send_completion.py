"""When a send is complete, from records as two libraries gave them on a shaped link of 200 Mbit/s."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from pready.calibrate.send_completion import LATE_S, of_path, of_records

MPICH = {64: (4.4e-6, 69e-6, 4.9e-6), 256: (91e-6, 93e-6, 0.0502), 16384: (673e-6, 675e-6, 0.0502)}
OPEN_MPI = {
    64: (3.4e-6, 72e-6, 5.9e-6),
    16384: (10e-6, 669e-6, 39e-6),
    262144: (171e-6, 10.95e-3, 0.0504),
    4194304: (129e-3, 175.4e-3, None),
}
"""By size: the send, when its message was received, and the send to a receiver that was outside MPI."""


def records(found: Mapping[int, tuple[float, float, float | None]]) -> list[dict[str, Any]]:
    out = []
    for size, (send, received, late) in found.items():
        also = {"received": {"median_s": received}}
        out.append({"parameters": {"bytes": size, "late_s": 0.0}, "median_s": send, "also": also})
        if late is not None:
            out.append({"parameters": {"bytes": size, "late_s": LATE_S}, "median_s": late, "also": also})
    return out


def test_a_library_that_acknowledges_what_it_does_not_copy() -> None:
    found = of_path(of_records(records(MPICH)))
    assert list(found) == ["acknowledged_from"]
    assert found["acknowledged_from"]["value"] == "256 B"


def test_whether_the_word_or_the_message_is_seen_first_is_noise() -> None:
    """As measured on a busy machine, four nodes at 100 Mbit/s: the send of 1 KiB was over before it was received."""
    busy = {
        64: (10.8e-6, 103e-6, 14e-6),
        256: (100.3e-6, 107.1e-6, 0.0502),
        1024: (105.3e-6, 119.3e-6, 0.0502),
        16384: (1.324e-3, 1.329e-3, 0.0502),
    }
    assert of_path(of_records(records(busy)))["acknowledged_from"]["value"] == "256 B"


def test_a_library_that_asks_first_and_then_fills_a_socket() -> None:
    found = of_path(of_records(records(OPEN_MPI)))
    assert list(found) == ["send_buffer"]
    left = 1 - 129 / 175.4  # of the largest
    assert float(found["send_buffer"]["value"].removesuffix(" B")) == pytest.approx(4194304 * left, abs=1)


@pytest.mark.parametrize("size", [256, 16384])
def test_one_size_that_is_not_acknowledged_moves_the_border(size: int) -> None:
    received = MPICH[size][1]
    found = of_path(of_records(records(MPICH | {size: (5e-6, received, 6e-6)})))
    assert found.get("acknowledged_from", {}).get("value") == {256: "16384 B", 16384: None}[size]


def test_nothing_is_said_of_sends_that_are_copied_or_not_measured() -> None:
    assert of_path({}) == {}
    assert of_path(of_records(records({64: (4e-6, 7e-5, 5e-6), 4194304: (1e-3, 0.17, None)}))) == {}
    # A transfer that takes as long as the receiver was late says nothing of waiting.
    assert of_path(of_records(records({262144: (0.04, 0.041, 0.0502)}))) == {}
