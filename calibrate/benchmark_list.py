"""What `pready-bench` measures, and how it sends: read from its sources, so that it is known before it is built."""

from __future__ import annotations

import re

from pready.calibrate.build import SOURCE
from pready.model.interfaces import BY_KEY, PERSISTENT, Interface

EXCHANGE = "exchange"
"""The measurement that performs a user's own exchange, on all ranks: no part of a calibration."""
PAIRS = "pairs"
"""What several ranks of each of two nodes measure: no part of a calibration by two ranks."""

MEASUREMENTS = tuple(
    sorted({path.stem.removeprefix("measure_") for path in SOURCE.glob("measure_*.c")} - {EXCHANGE, PAIRS})
)
"""The measurements of a calibration: a file each."""


def _ways(file: str) -> tuple[str, ...]:
    return tuple(re.findall(r'^WAY\(\w+, "(.+)"\)$', (SOURCE / file).read_text(encoding="ascii"), re.M))


APPROACHES = _ways("approaches.def")
"""The ways of gillis2023, Tables 1 and 2, that the measurement "approach" knows."""

EXCHANGE_WAYS = _ways("exchange_ways.def")
"""What `EXCHANGE` knows."""


def interface_of(approach: str) -> Interface:
    """What the model calls a way of the benchmark, whose bulk is a persistent send."""
    return PERSISTENT if approach == "single" else BY_KEY[approach]
