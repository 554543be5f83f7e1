"""η of Eq. 4 for one configuration: the answer before any latency, contention or protocol."""

from __future__ import annotations

from dataclasses import dataclass

from pready.model.equations import gain_numpy

FLOPS_PER_CYCLE = 8.0
"""The bare 8 of gillis2023 Eq. 6."""


@dataclass(frozen=True)
class ClosedForm:
    """The gain, and which of its limits binds."""

    eta: float
    gamma: float
    """γ_θ in s/B."""
    n_partitions: int
    regime: str

    @property
    def gamma_us_per_mb(self) -> float:
        """γ_θ in the paper's unit, µs/MB."""
        return self.gamma * 1e12


def closed_form(threads: int, partitions_per_thread: int, gamma_rate: float, bandwidth: float) -> ClosedForm:
    """η of Eq. 4 (corrected; see `pready.model.equations.gain`).

    Parameters
    ----------
    threads, partitions_per_thread
        N and θ, at least 1.
    gamma_rate
        γ_θ in s/B.
    bandwidth
        β in B/s.

    Returns
    -------
    ClosedForm
        `regime` is ``"no delay"`` (γ = 0, η = 1), ``"bandwidth"`` (part of the transfer hides behind
        the delay) or ``"saturated"`` (all but the last partition hide: η = Nθ).

    Raises
    ------
    PreadyError
        A value outside the domain.
    """
    value = float(gain_numpy.large_message_gain(threads, partitions_per_thread, gamma_rate, bandwidth))
    n_partitions = threads * partitions_per_thread
    if gamma_rate == 0:
        regime = "no delay"
    elif n_partitions - gamma_rate * bandwidth <= 1:
        regime = "saturated"
    else:
        regime = "bandwidth"
    return ClosedForm(value, gamma_rate, n_partitions, regime)
