"""The bounds for a GPU are those of one FIFO link."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pready.model.common.errors import PreadyError
from pready.model.equations.gpu_bound import sent_after_kernel, sent_by_wave, through_host


def fifo(size: float, bandwidth: float, waves: int, wave_time: float) -> float:
    """Parts on a link one after the other, seconds after the last is ready."""
    free = -np.inf
    for j in range(1, waves + 1):
        free = max(free, -(waves - j) * wave_time) + size / waves / bandwidth
    return float(free)


@given(st.floats(1, 1e9), st.floats(1e9, 1e11), st.integers(1, 200), st.floats(0, 1e-2))
def test_waves_are_a_fifo(size: float, bandwidth: float, waves: int, wave_time: float) -> None:
    assert sent_by_wave(0, 0, size, bandwidth, waves, wave_time) == pytest.approx(
        fifo(size, bandwidth, waves, wave_time), rel=1e-9, abs=1e-15
    )


def test_limits() -> None:
    """One wave is a send after the kernel; waves longer than their parts leave the last part; τ = 0 leaves all."""
    m, beta, t, o = 8e6, 25e9, 3e-6, 1e-6
    assert sent_by_wave(t, o, m, beta, 1, 1e-3) == pytest.approx(sent_after_kernel(t, o, m, beta))
    assert sent_by_wave(t, o, m, beta, 8, 1e-3) == pytest.approx(t + o + m / 8 / beta)  # 40 us a part
    assert sent_by_wave(t, o, m, beta, 8, 0) == pytest.approx(t + o + m / beta)
    # 8 parts of 40 us every 10 us: 320 - 7 * 10.
    assert sent_by_wave(0, 0, m, beta, 8, 10e-6) == pytest.approx(250e-6)


def test_copies_and_link_one_after_the_other() -> None:
    """8 MB at 25 GB/s are 320 us, copied at 20 GB/s 400 us more."""
    assert 8e6 / through_host(25e9, 20e9) == pytest.approx(720e-6)


def test_domains() -> None:
    for arguments in ((-1e-6, 0, 1, 1), (0, 0, 0, 1), (0, 0, 1, 0)):
        with pytest.raises(PreadyError):
            sent_after_kernel(*arguments)
    with pytest.raises(PreadyError, match="waves"):
        sent_by_wave(0, 0, 1, 1, 0, 0)
