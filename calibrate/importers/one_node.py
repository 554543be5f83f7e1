"""Whether the two ranks of a result were on one node: such times say nothing of the network."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pready.calibrate.fit.observations import Curve
from pready.calibrate.importers.text import Line

FASTEST_S = 0.75e-6
"""No fabric delivers a small message sooner: 0.9 to 1.1 us on InfiniBand and TofuD, 0.15 to 0.7 us within a node."""
SMALL = 8
"""Bytes of a small message."""

_WAITING = re.compile(r"#\s*\(?\s*(\d+) additional processes waiting", re.IGNORECASE)
_COMMAND = re.compile(r"\b(?:srun|mpirun|mpiexec|aprun|jsrun|flux run)\b")
_ONE_NODE = re.compile(r"(?:\s-N\s*1\b|--nodes[= ]1\b)(?!.*(?:\s-n\s*1\b))")


def said(lines: Sequence[Line]) -> str:
    """What a file says of it: waiting processes, a command line for one node; empty if nothing."""
    return waiting(lines) or next(filter(None, map(of_command, lines)), "")


def waiting(lines: Sequence[Line]) -> str:
    """What processes that waited say of it; empty if there were none."""
    for line in lines:
        if match := _WAITING.match(line.text):
            return f"{match.group(1)} more processes waited, so ranks 0 and 1 lay side by side"
    return ""


def of_command(line: Line) -> str | None:
    """What a command line says of it: empty if not one node, None if the line is no command."""
    if not _COMMAND.search(line.text):
        return None
    return f"its command line asks for one node: {line.text[:60]}" if _ONE_NODE.search(line.text) else ""


def of_times(ping_pong: Curve | None, hint: str) -> str:
    """Why the ranks were on one node; empty if they were on two, or nothing tells.

    Parameters
    ----------
    ping_pong
        Half round trips.
    hint
        From `said`.
    """
    medians = {} if ping_pong is None else ping_pong.medians
    fastest = min((time for size, time in medians.items() if size <= SMALL), default=float("inf"))
    if fastest >= FASTEST_S:
        return hint if "command line" in hint else ""
    told = f"a small message took {fastest * 1e6:.2g} us, and no network delivers one sooner than 0.75 us"
    return f"{told}; {hint}" if hint else told
