"""What `pready-bench` measures, and how it sends: read from its sources, so that it is known before it is built."""

from __future__ import annotations

import re

from pready.calibrate.measure.compile import SOURCE
from pready.model.approach.interfaces import BY_KEY, PERSISTENT, Interface

EXCHANGE = "exchange"
"""The measurement that performs a user's own exchange, on all ranks: no part of a calibration."""
PAIRS = "pairs"
"""What several ranks of each of two nodes measure: no part of a calibration by two ranks."""


def _found(file: str, pattern: str) -> list[str]:
    return re.findall(pattern, (SOURCE / file).read_text(encoding="utf-8"), re.M)


_ALL = {path.stem for path in SOURCE.glob("*/*.c") if "\nMEASUREMENT(" in path.read_text(encoding="utf-8")}
MEASUREMENTS = tuple(sorted(_ALL - {EXCHANGE, PAIRS}))
"""The measurements of a calibration: a file each."""

APPROACHES = tuple(_found("exchange/approach.c", r'\{"approach", WORD, "\w+", "(.+?)"\}')[0].split("|"))
"""The approaches of gillis2023, Tables 1 and 2: an exchange of two ranks, the measurement "approach"."""

EXCHANGE_WAYS = tuple(_found("exchange/ways.def", r'^WAY\(\w+, "(.+)"\)$'))
"""What `EXCHANGE` knows."""


LARGEST_ARENA = int(_found("exchange/plan.c", r"MAX_ARENA = \(size_t\)(\d+) << 30")[0]) << 30
"""Bytes that a rank sends in all phases of an exchange, or receives."""

MOST_WINDOWS = int(_found("exchange/state.h", r"MAX_WINDOWS = (\d+)")[0])
"""Windows of a rank."""


_TAGS = [int(tag) for tag in _found("exchange/rma.c", r"\bTAG_\w+ = (\d+)")]
MOST_PHASES = _TAGS[1] - _TAGS[0]
"""Phases of an iteration: as many tags are reserved for RMA."""


def interface_of(approach: str) -> Interface:
    """The model's interface for one of `APPROACHES`, whose bulk is a persistent send."""
    return PERSISTENT if approach == "single" else BY_KEY[approach]
