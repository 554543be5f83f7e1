from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypedDict

import numpy as np
from numpy.typing import NDArray

class Outcome(TypedDict):
    iterations: int
    sums: NDArray[np.float64]
    extremes: NDArray[np.float64]
    interrupted: bool
    overflowed: bool

FIELDS: Final[dict[str, tuple[str, str]]]
"""Of the numbers that an Engine takes: element type, and shape if there is more than one."""

HEAD: Final[dict[str, int]]
"""Places in a rank's record; `messages` is where those begin."""

Numbers = Mapping[str, NDArray[np.float64 | np.int64 | np.uint64]]

class KeptTimes:
    """Ready times that were drawn, for later calls that draw alike; how many there are is its length."""

    def __init__(self) -> None: ...
    def __len__(self) -> int: ...

def simulate_all(
    jobs: Sequence[tuple[list[tuple[Numbers, Mapping[str, NDArray[np.float64 | np.uint64]], list[int]]], int]],
    cores: int,
    kept: KeptTimes | None = None,
) -> list[list[Outcome]]: ...

class Engine:
    def __init__(self, step: list[Numbers], level: str = "") -> None: ...
    def run(
        self,
        iterations: int,
        cores: int,
        chunk: int,
        ends: NDArray[np.float64] | None = None,
        received: NDArray[np.float64] | None = None,
        kept: NDArray[np.float64] | None = None,
        kept_from: int = 0,
        poll: Callable[[float], None] | None = None,
    ) -> Outcome: ...
    def draw(self, rank: int, iteration: int) -> NDArray[np.float64]: ...
    def memory(self, cores: int, chunk: int) -> int: ...
    @property
    def level(self) -> str: ...
    @property
    def widest_record(self) -> int: ...
