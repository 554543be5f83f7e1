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
