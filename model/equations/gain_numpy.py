"""The closed forms of gillis2023 as NumPy functions. Generated from gain.py; do not edit.

``python -m pready.model.equations.gain`` writes this file, and a test compares the two, so that commands
that only evaluate a formula need not import SymPy. Arguments are arrays or numbers in SI units,
broadcast against each other; a value outside the domain raises `PreadyError`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pready.model.equations.domain import nonnegative, positive
from pready.model.common.arrays import Array


def eta(T_b: ArrayLike, T_p: ArrayLike) -> Array:
    """Eq. 1: eta, in 1."""
    T_b, T_p = positive(T_b=T_b, T_p=T_p)
    return np.asarray(T_b/T_p)


def bulk_time(N: ArrayLike, theta: ArrayLike, S_part: ArrayLike, beta: ArrayLike) -> Array:
    """Eq. 2: T_b, in s."""
    N, theta, S_part, beta = positive(N=N, theta=theta, S_part=S_part, beta=beta)
    return np.asarray(N*S_part*theta/beta)


def pipelined_time(N: ArrayLike, theta: ArrayLike, S_part: ArrayLike, beta: ArrayLike, D: ArrayLike) -> Array:
    """Eq. 3: T_p, in s."""
    N, theta, S_part, beta = positive(N=N, theta=theta, S_part=S_part, beta=beta)
    D, = nonnegative(D=D)
    return np.asarray(S_part/beta + np.maximum(0, -D + S_part*(N*theta - 1)/beta))


def large_message_gain(N: ArrayLike, theta: ArrayLike, gamma_theta: ArrayLike, beta: ArrayLike) -> Array:
    """Eq. 4: eta, in 1."""
    N, theta, beta = positive(N=N, theta=theta, beta=beta)
    gamma_theta, = nonnegative(gamma_theta=gamma_theta)
    return np.asarray(N*theta/np.maximum(1, N*theta - beta*gamma_theta))


def small_message_gain(N: ArrayLike, theta: ArrayLike) -> Array:
    """Eq. 5: eta, in 1."""
    N, theta = positive(N=N, theta=theta)
    return np.asarray(1/(N*theta))


def computation_rate(AI: ArrayLike, CI: ArrayLike, F: ArrayLike, n_flop: ArrayLike) -> Array:
    """Eq. 6: mu, in s/B."""
    AI, CI, F, n_flop = positive(AI=AI, CI=CI, F=F, n_flop=n_flop)
    return np.asarray(AI/(CI*F*n_flop))


def noise(epsilon: ArrayLike, delta: ArrayLike) -> Array:
    """Eq. 7: sigma, in 1."""
    epsilon, delta = nonnegative(epsilon=epsilon, delta=delta)
    return np.asarray((1/2)*delta + (1/2)*epsilon)


def delay(mu: ArrayLike, theta: ArrayLike, epsilon: ArrayLike, delta: ArrayLike, S_part: ArrayLike) -> Array:
    """Eq. 8: D, in s."""
    mu, theta, S_part = positive(mu=mu, theta=theta, S_part=S_part)
    epsilon, delta = nonnegative(epsilon=epsilon, delta=delta)
    return np.asarray(S_part*mu*(theta + ((1/2)*delta + (1/2)*epsilon)*(np.sqrt(theta) + 1) - 1))


def delay_rate(mu: ArrayLike, theta: ArrayLike, epsilon: ArrayLike, delta: ArrayLike) -> Array:
    """Eq. 9: gamma_theta, in s/B."""
    mu, theta = positive(mu=mu, theta=theta)
    epsilon, delta = nonnegative(epsilon=epsilon, delta=delta)
    return np.asarray(mu*(theta + ((1/2)*delta + (1/2)*epsilon)*(np.sqrt(theta) + 1) - 1))
