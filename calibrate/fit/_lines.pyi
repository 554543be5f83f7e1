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
    """Intercept, slope and cost of Huber's line through the window of each row of points."""
