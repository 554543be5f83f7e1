# fmt: off
from collections.abc import Callable, Sequence
from typing import Final, TypedDict

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Whole32 = NDArray[np.int32]
Wholes = NDArray[np.int64]

KIND_FIELDS: Final[list[str]]
"""Columns of `kinds`: what a message costs."""
TEAM_FIELDS: Final[list[str]]
"""Columns of `team`: what a rank pays whatever its messages."""
SUM_FIELDS: Final[list[str]]
"""Columns of an outcome's sums over ranks."""
RANK_FIELDS: Final[list[str]]
"""Columns of the ranks that a run keeps."""

class Outcome(TypedDict):
    iterations: int
    sums: Floats
    extremes: Floats
    interrupted: bool
    overflowed: bool
    ranks: list[Floats]
    traces: list[NDArray[np.uint8]]

class Interface:
    def __init__(
        self, *, joins: bool, granted: bool, two_sided: bool, one_by_one: bool, own_threads: bool, deferred: bool,
        tells: bool, windows_per_thread: bool, tests: bool, sync: int, receivers: int
    ) -> None: ...

class Setting:
    def __init__(
        self, *, threads: int, theta: int, two_way: bool, computing: bool, progress_thread: bool, consumers: int,
        received_in: int, boundary: float, slower: float
    ) -> None: ...

class Messages:
    def __init__(
        self, *, transports: int, mapped: bool, in_order: float, vcis: Sequence[Sequence[int]],
        needs: Sequence[Sequence[int]], serving: Sequence[Sequence[int]], packing: Sequence[float]
    ) -> None: ...

class Pattern:
    def __init__(
        self, *, sources: int, tables: Sequence[tuple[Whole32, ...]], profile: Whole32, kind: Whole32,
        node_start: Wholes, node_rank: Wholes, alone: int, tree: bool, blocks: int
    ) -> None: ...

class Plan:
    def __init__(
        self, *, pattern: Pattern, interface: Interface, setting: Setting, messages: Messages,
        protocols: Sequence[tuple[bool, bool, bool, bool, bool]]
    ) -> None: ...

class Arrivals:
    def __init__(
        self, *, times: int, select: int = 0, density: int = 0, seed: int, threads: int, theta: int, base: float = 0.0,
        noise: float = 0.0, sd: float = 0.0, cut: float = 0.0, width: float = 0.0, share: Floats, table: Floats,
        centre: Floats, centre_cut: Floats
    ) -> None: ...
    def draw(self, rank: int, first: int, samples: int) -> Floats:
        """Shape (samples, threads × theta)."""

Exchange = tuple[Plan, Floats, Floats, Floats, Arrivals]
"""With kinds, team and contention, a row for each machine."""

def memory(step: Sequence[Exchange]) -> int: ...
def run_step(
    step: Sequence[Exchange],
    iterations: int,
    cores: int,
    ends: Floats | None = None,
    received: Floats | None = None,
    kept_from: int | None = None,
    poll: Callable[[float], None] | None = None,
) -> Outcome: ...
def simulate_all(jobs: Sequence[tuple[Sequence[Exchange], Sequence[int], int]], cores: int) -> list[list[Outcome]]: ...
