"""The points of the plan that a raw file lacks, because its budget was short or it was asked for less."""

from __future__ import annotations

from collections import Counter

from pready.calibrate.measure.raw_file import Content
from pready.calibrate.measure.schedule import plan

TELLS = {
    "pingpong": "where protocols change",
    "early": "whether MPI_Pready sends",
    "prtt": "o_s and g",
    "receive": "o_r",
    "rate": "contexts",
    "contention": "waiting for locks",
    "approach": "puts, synchronisation, teams of threads",
    "overlap": "progress",
    "begin": "set-up costs",
    "memcpy": "copies",
}
"""The purpose of each measurement, in a few words."""


def lacking(content: Content, key: str) -> tuple[str, ...]:
    """One line for each measurement of which the plan has more: the number of points, and their purpose.

    How many threads were asked for shows in the largest team, which is measured first; where there is none, two are
    taken. Points that this library cannot do, or that failed, are not lacking.
    """
    planned = plan(threads=max(most_threads(content, key), 2))
    left = [p for p in planned if (own := p.key(key)) not in content.points and own not in content.failures]
    every, missing = (Counter(p.measurement for p in points) for points in (planned, left))
    return tuple(
        f"{count} of {every[name]} points of {name} were not measured ({TELLS[name]})"
        + (": it is assumed" if count == every[name] else "")
        for name, count in missing.items()
    )


def most_threads(content: Content, key: str) -> int:
    """Threads of the largest team that was measured; 1 without any."""
    mine = (p["record"]["parameters"] for p in content.points.values() if p["environment"] == key)
    return max((int(parameters.get("threads", 1)) for parameters in mine), default=1)
