"""The closed forms against the numbers that gillis2023 prints."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import table_of

from pready.model.common.errors import PreadyError
from pready.model.equations import gain, gain_numpy
from pready.model.equations.closed_form import closed_form

US_PER_MB = 1e-12
GB = 1e9


@pytest.mark.parametrize(("n", "theta", "gamma", "expected"), table_of("model/known")["eq4"])
def test_eq4_gives_the_numbers_of_the_text(n: int, theta: int, gamma: float, expected: float) -> None:
    assert closed_form(n, theta, gamma * US_PER_MB, 25 * GB).eta == pytest.approx(expected, abs=5e-7)


def test_eq5_and_eq1() -> None:
    assert float(gain.small_message_gain(8, 4)) == 1 / 32
    assert float(gain.eta(3.0, 2.0)) == 1.5


@given(st.integers(1, 256), st.integers(1, 64), st.floats(1, 1e9), st.floats(1e6, 1e12), st.floats(0, 1))
def test_eq4_is_eq2_over_eq3(n: int, theta: int, size: float, beta: float, delay: float) -> None:
    ratio = gain.bulk_time(n, theta, size, beta) / gain.pipelined_time(n, theta, size, beta, delay)
    assert float(ratio) == pytest.approx(float(gain.large_message_gain(n, theta, delay / size, beta)), rel=1e-9)


@given(st.integers(1, 64), st.floats(1e-13, 1e-6), st.floats(1e-3, 0.5), st.floats(0, 0.5), st.floats(1, 1e9))
def test_eq8_is_eq9_times_the_size(theta: int, mu: float, epsilon: float, delta: float, size: float) -> None:
    rate = gain.delay_rate(mu, theta, epsilon, delta)
    assert float(gain.delay(mu, theta, epsilon, delta, size)) == pytest.approx(float(rate) * size, rel=1e-12)


def test_regimes() -> None:
    assert closed_form(4, 1, 0.0, 25e9).regime == "no delay"
    assert closed_form(4, 1, 100e-12, 25e9).regime == "bandwidth"
    assert closed_form(4, 1, 120e-12, 25e9).regime == "saturated"  # (4 - 1) / 25e9 = 120 us/MB


@pytest.mark.parametrize("bad", [-1.0, float("nan"), float("inf")])
def test_outside_the_domain_is_refused(bad: float) -> None:
    with pytest.raises(PreadyError, match="gamma_theta"):
        gain.large_message_gain(8, 1, bad, 25e9)
    with pytest.raises(PreadyError, match="beta"):
        gain_numpy.large_message_gain(8, 1, 1e-10, 0.0)


def test_generated_functions_are_current() -> None:
    assert gain.__file__ is not None
    written = Path(gain.__file__).with_name("gain_numpy.py").read_text(encoding="utf-8")
    assert written == gain.numpy_source(), "run: python -m pready.model.equations.gain"


@pytest.mark.parametrize("equation", gain.EQUATIONS, ids=lambda e: e.name)
def test_every_equation_runs_and_prints(equation: gain.Equation) -> None:
    values = [2.0 + i for i in range(len(equation.arguments))]
    direct = equation.expression.subs(dict(zip(equation.arguments, values, strict=True)))
    assert float(equation(*values)) == pytest.approx(float(direct), rel=1e-14)
    assert "=" in equation.latex
    assert equation.substituted(*values).count("=") >= 3
