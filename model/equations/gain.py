"""The closed forms of gillis2023 (Eq. 1-9), written once.

Each equation is a SymPy expression below. The NumPy functions (``gain_numpy.py``, generated), the
LaTeX of the notebooks and the table of ``pready explain`` are all made from these expressions, so
that the formula a reader sees is the formula that runs.

Use it for the first estimate and for the limits. It knows neither latency nor contention nor
protocols: `pready.model.timeline` does, and equals these forms where they hold.

Source: Gillis, Raffenetti, Zhou, Guo, Thakur: "Quantifying the Performance Benefits of Partitioned
Communication in MPI", ICPP 2023, https://doi.org/10.1145/3605573.3605599.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike, NDArray
from sympy.printing.numpy import NumPyPrinter

from pready.model.equations import gain_numpy

DOI = "10.1145/3605573.3605599"

N = sp.Symbol("N", positive=True)  # threads
theta = sp.Symbol("theta", positive=True)  # user partitions per thread
S_part = sp.Symbol("S_part", positive=True)  # bytes of one user partition
beta = sp.Symbol("beta", positive=True)  # bytes per second
D = sp.Symbol("D", nonnegative=True)  # seconds between the first and the last ready partition
gamma = sp.Symbol("gamma_theta", nonnegative=True)  # delay rate, seconds per byte
mu = sp.Symbol("mu", positive=True)  # computation rate, seconds per byte
AI = sp.Symbol("AI", positive=True)  # arithmetic intensity, flop per byte
CI = sp.Symbol("CI", positive=True)  # communication intensity, bytes sent per byte of memory
F = sp.Symbol("F", positive=True)  # clock frequency, cycles per second
flops_per_cycle = sp.Symbol("n_flop", positive=True)
epsilon = sp.Symbol("epsilon", nonnegative=True)  # noise of the system
delta = sp.Symbol("delta", nonnegative=True)  # imbalance of the algorithm
T_b, T_p = sp.symbols("T_b T_p", positive=True)


@dataclass(frozen=True)
class Equation:
    """One equation of the paper: its name, number, both sides, and what was departed from."""

    name: str
    number: str
    symbol: sp.Symbol
    expression: Any
    arguments: tuple[sp.Symbol, ...]
    unit: str
    departure: str = ""

    @property
    def latex(self) -> str:
        """The equation as LaTeX source."""
        return f"{sp.latex(self.symbol)} = {sp.latex(self.expression)}"

    def __call__(self, *values: ArrayLike) -> NDArray[np.float64]:
        """The NumPy function made from this equation; see `pready.model.equations.gain_numpy`."""
        function: Callable[..., NDArray[np.float64]] = getattr(gain_numpy, self.name)
        return function(*values)

    def substituted(self, *values: float) -> str:
        """The algebra with the numbers put in, as one line of plain text."""
        numbers = [sp.Symbol(f"{v:.7g}") for v in values]
        filled = self.expression.subs(dict(zip(self.arguments, numbers, strict=True)), simultaneous=True)
        return f"{self.symbol} = {self.expression} = {filled} = {float(self(*values)):.6g}"

    def substituted_latex(self, *values: float) -> str:
        """Both sides as LaTeX source, with the unit."""
        numbers = [sp.Dummy() for _ in values]  # distinct, so that 8 · 8 is not printed as 8²
        filled = self.expression.subs(dict(zip(self.arguments, numbers, strict=True)), simultaneous=True)
        names = {number: latex_number(v) for number, v in zip(numbers, values, strict=True)}
        put_in = sp.latex(filled, symbol_names=names, mul_symbol=r" \cdot ")
        unit = "" if self.unit == "1" else rf"\;\mathrm{{{self.unit}}}"
        return f"{self.latex} = {put_in} = {latex_number(float(self(*values)))}{unit}"


def latex_number(value: float, digits: int = 6) -> str:
    """``1.5e-05`` as ``1.5 \\cdot 10^{-5}``."""
    mantissa, _, exponent = f"{value:.{digits}g}".partition("e")
    return mantissa if not exponent else rf"{mantissa} \cdot 10^{{{int(exponent)}}}"


# Eq. 1: how much faster the pipelined pattern is than the bulk-synchronous one.
eta = Equation("eta", "1", sp.Symbol("eta"), T_b / T_p, (T_b, T_p), "1")

# Eq. 2: one message of all partitions, bandwidth only.
bulk_time = Equation("bulk_time", "2", T_b, N * theta * S_part / beta, (N, theta, S_part, beta), "s")

# Eq. 3: at most the first N theta - 1 partitions hide behind the delay; the last never does.
pipelined_time = Equation(
    "pipelined_time",
    "3",
    T_p,
    sp.Max((N * theta - 1) * S_part / beta - D, 0) + S_part / beta,
    (N, theta, S_part, beta, D),
    "s",
)

# Eq. 4, corrected. The paper prints "gamma theta beta"; Eq. 3 with D = gamma_theta S_part, and every
# number in its text, need gamma with the subscript theta and no further factor theta.
# Check: N = 8, theta = 8, gamma = 1000 us/MB, beta = 25 GB/s gives the printed 1.641.
large_message_gain = Equation(
    "large_message_gain",
    "4",
    sp.Symbol("eta"),
    N * theta / sp.Max(N * theta - gamma * beta, 1),
    (N, theta, gamma, beta),
    "1",
    departure="printed as N θ / max(N θ − γ θ β, 1); Eq. 3 and the numbers of the text need γ_θ β",
)

# Eq. 5: only per-message costs, paid one after the other ("latency" in the paper's words).
small_message_gain = Equation("small_message_gain", "5", sp.Symbol("eta"), 1 / (N * theta), (N, theta), "1")

# Eq. 6: the paper's bare 8 is the flops per cycle; named here, so that mu is in seconds per byte.
computation_rate = Equation(
    "computation_rate",
    "6",
    mu,
    AI / CI / (flops_per_cycle * F),
    (AI, CI, F, flops_per_cycle),
    "s/B",
    departure="the bare 8 of the paper is named n_flop, the flops per cycle",
)

# Eq. 7: standard deviation of one partition's compute time, relative to its mean mu S_part.
noise = Equation("noise", "7", sp.Symbol("sigma"), (epsilon + delta) / 2, (epsilon, delta), "1")

# Eq. 9: the rate at which the delay between first and last partition grows with their size.
delay_rate = Equation(
    "delay_rate",
    "9",
    gamma,
    mu * (theta + noise.expression * (sp.sqrt(theta) + 1) - 1),
    (mu, theta, epsilon, delta),
    "s/B",
)

# Eq. 8 is Eq. 9 times the partition's size; kept as a product so that the two cannot drift apart.
delay = Equation("delay", "8", D, delay_rate.expression * S_part, (mu, theta, epsilon, delta, S_part), "s")

EQUATIONS: tuple[Equation, ...] = (
    eta,
    bulk_time,
    pipelined_time,
    large_message_gain,
    small_message_gain,
    computation_rate,
    noise,
    delay,
    delay_rate,
)


_HEADER = '''"""The closed forms of gillis2023 as NumPy functions. Generated from gain.py; do not edit.

``python -m pready.model.equations.gain`` writes this file, and a test compares the two, so that commands
that only evaluate a formula need not import SymPy. Arguments are arrays or numbers in SI units,
broadcast against each other; a value outside the domain raises `PreadyError`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pready.model.equations.domain import nonnegative, positive
from pready.model.common.arrays import Array

'''


class _Printer(NumPyPrinter):  # type: ignore[misc]
    """NumPy code that broadcasts: SymPy prints Max as a reduction over a list."""

    def _print_Max(self, expression: Any) -> str:
        first, second = map(self._print, expression.args)
        return f"numpy.maximum({first}, {second})"


def numpy_source() -> str:
    """The text of ``gain_numpy.py``."""
    printer = _Printer()
    parts = [_HEADER]
    for e in EQUATIONS:
        names = [str(a) for a in e.arguments]
        parts.append(f"\ndef {e.name}({', '.join(f'{n}: ArrayLike' for n in names)}) -> Array:\n")
        parts.append(f'    """Eq. {e.number}: {e.symbol}, in {e.unit}."""\n')
        for check, wanted in (("positive", True), ("nonnegative", False)):
            these = [str(a) for a in e.arguments if bool(a.is_positive) is wanted]
            if these:
                parts.append(f"    {', '.join(these)}{',' if len(these) == 1 else ''} = ")
                parts.append(f"{check}({', '.join(f'{n}={n}' for n in these)})\n")
        code = printer.doprint(e.expression).replace("numpy.", "np.")
        parts.append(f"    return np.asarray({code})\n\n")
    return "".join(parts).rstrip() + "\n"


if __name__ == "__main__":
    Path(__file__).with_name("gain_numpy.py").write_text(numpy_source(), encoding="utf-8")
