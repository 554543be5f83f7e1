"""Each reason for which a prediction for a real machine is off names a term: this term alone changed, it agrees."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from one_term import Change, scaled_curve, with_values

from pready.model.machine.machine import Machine
from pready.validate.fabrics import FABRICS, load, validate

pytestmark = pytest.mark.thorough


def of_segment(size: float, **values: str) -> Change:
    """Values of the segment that a message of `size` bytes belongs to."""

    def change(machine: Machine) -> Machine:
        at = machine.inter.segments.index(machine.inter.segment(size))
        return with_values(**{f"inter__segments__{at}__{name}": value for name, value in values.items()})(machine)

    return change


TERMS: dict[str, tuple[str, Change]] = {
    "alaska/stream-2kib": ("o_s, o_r and g", of_segment(2048, o_s="0.114 us", o_r="0.114 us", g="0.114 us")),
    "alaska/pairs-32-128b": ("adapter.gap", with_values(adapter__gap="25 ns")),
    "alaska-roce/both-ways-8b": ("o_r", of_segment(8, o_r="0.05 us")),
    "alps/ping-pong-128b": ("L", of_segment(128, L="2.06 us")),
    "alps/both-ways-32kib": ("g", of_segment(32768, g="1.1 us")),
    "hawk/isend-16-32kib": ("o_s", of_segment(32768, o_s="2.1 us")),
    "niagara/gain-8kib": ("contention", scaled_curve("contention", 1.5)),
    "niagara/gain-128kib": ("contention", scaled_curve("contention", 1.5)),
}


def known_off() -> dict[str, str]:
    return {f"{f}/{c.id}": c.known_off for f in FABRICS for c in load(f).claims if c.known_off is not None}


def test_each_reason_begins_with_the_term_that_turns_it() -> None:
    reasons = known_off()
    assert set(reasons) == set(TERMS)
    for name, (term, _) in TERMS.items():
        assert reasons[name].startswith(term)


@pytest.mark.parametrize("name", TERMS)
def test_the_term_alone_turns_the_claim(name: str) -> None:
    turned: list[tuple[Callable[[Machine], Machine], str]] = [(lambda m: m, "off"), (TERMS[name][1], "ok")]
    for change, status in turned:
        assert {r.id: r.status for r in validate(only=[name], change=change)} == {name: status}
