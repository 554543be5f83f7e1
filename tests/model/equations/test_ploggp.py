"""LogGP of partitions: its limits are the equations of gillis2023, and one message."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from machines import ideal

from pready.cli import main
from pready.model.advice.one_figure import loggp_of
from pready.model.approach.interfaces import BULK, MANY
from pready.model.common.errors import PreadyError
from pready.model.equations import gain, ploggp
from pready.model.toml.reading import validated
from pready.model.workload.workload import Workload

DELAY = st.floats(0, 1e-2)


@given(st.integers(1, 200), st.floats(1, 1e8), DELAY)
def test_without_latency_and_overheads_it_is_eq_2_and_3(n: int, size: float, delay: float) -> None:
    beta = 25e9
    assert ploggp.one_message(0, 0, 0, 1 / beta, size) == pytest.approx(gain.bulk_time(n, 1, size / n, beta))
    expected = gain.pipelined_time(n, 1, size / n, beta, delay)
    assert ploggp.messages(0, 0, 0, 0, 1 / beta, size, n, delay) == pytest.approx(expected)


@given(st.floats(1, 1e8), DELAY)
def test_one_message_is_one_message(size: float, delay: float) -> None:
    of = 1e-6, 0.5e-6, 0.3e-6
    assert ploggp.messages(*of, 2e-6, 1e-10, size, 1, delay) == pytest.approx(ploggp.one_message(*of, 1e-10, size))


def test_a_gap_for_each_that_has_not_gone() -> None:
    """10 messages of 1 ns, g = 1 us, late by 4 us: of nine gaps five are left. o_s + 5 + G M/n + L + o_r."""
    time = ploggp.messages(2e-6, 0.5e-6, 0.3e-6, 1e-6, 1e-12, 10_000, 10, 4e-6)
    assert time == pytest.approx(0.5e-6 + 5e-6 + 1e-9 + 2e-6 + 0.3e-6)


def test_domains() -> None:
    with pytest.raises(PreadyError, match="G"):
        ploggp.one_message(0, 0, 0, -1, 8)
    with pytest.raises(PreadyError, match="delay"):
        ploggp.messages(0, 0, 0, 0, 1e-10, 8, 2, -1)


def test_the_number_of_messages_that_takes_least() -> None:
    """1 MiB at 25 GB/s is 42 us; all but the last of n messages go in the delay of 1 ms, so that the more the better,
    until the gap of 1 ms between them counts: with 2, none is left to wait for."""
    w = validated(Workload, {"threads": 8, "buffer": "1 MiB"}, "test")
    free = loggp_of(ideal(), w, MANY.into(4), 1e-3)
    assert (free.best, free.messages) == (8, 4)
    assert free.way_s == pytest.approx(2**20 / 4 / 25e9)
    assert free.eta == pytest.approx(4)
    slow = loggp_of(ideal(g=1e-3), w, MANY.into(4), 1e-3)
    assert slow.best == 2
    assert loggp_of(ideal(), w, BULK, 1e-3).eta == 1


def test_it_stands_beside_the_equations(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "examples/laggard.toml", "--machine", "niagara", "--approach", "many"]) == 0
    said = capsys.readouterr().out
    assert "LogGP of two ranks (PLogGP)" in said
    assert "departure: PLogGP (LogGP of two ranks, one partition late) knows no threads" in said
