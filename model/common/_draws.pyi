import numpy as np
from numpy.typing import NDArray

def uniforms(seed: int, rank: int, first: int, samples: int, n: int, stream: int = 0) -> NDArray[np.float64]:
    """Draws in (0, 1) of iterations `first` to `first + samples`, shape (samples, n). A stream per purpose."""

def normals(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """The standard normal quantile of each `p` in (0, 1), shape (len(p),)."""
