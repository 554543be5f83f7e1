import numpy as np
from numpy.typing import NDArray

def huber_lines(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    sigma: NDArray[np.float64],
    windows: NDArray[np.int64],
    sloped: bool,
    rounds: int,
    k: float,
    worst: float,
) -> NDArray[np.float64]:
    """Of rows of points: intercept, slope and cost of Huber's line through each row's window."""

def running_lines(x: NDArray[np.float64], y: NDArray[np.float64], w: NDArray[np.float64]) -> NDArray[np.float64]:
    """Residual sums of squares of lines through the first 1, 2, …, n points of each row of y; x and w have one row."""
