"""A workload from an mpiP report, which has bytes and times; pattern, threads, steps and arrivals are given."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from pready.calibrate.importers.mpip import MpiPReport
from pready.model.common.errors import PreadyError
from pready.model.common.units import Unit, format_exact
from pready.model.workload.exchange import PEERS, Pattern
from pready.model.workload.fields import FORMAT

NEEDED: Mapping[str, str] = {
    "threads": "--threads N, per rank",
    "pattern": "--pattern halo3d, or another one",
    "iterations": "--iterations N, steps of the run",
    "spread": "--spread '4 %', the relative standard deviation of a thread's time",
}
"""Options for what a report lacks."""
SENDING = ("Send", "Isend", "Ssend", "Rsend", "Issend", "Irsend", "Bsend", "Ibsend", "Sendrecv", "Start")


def text_from_mpip(
    report: MpiPReport,
    name: str,
    *,
    threads: int | None,
    pattern: Pattern | None,
    iterations: int | None,
    spread: str | None,
    source: str,
) -> str:
    """The workload file.

    Raises
    ------
    PreadyError
        An option of `NEEDED` is missing, or the report has no sends or no times.
    """
    given = {"threads": threads, "pattern": pattern, "iterations": iterations, "spread": spread}
    lacking = [said for field, said in NEEDED.items() if given[field] is None]
    if lacking:
        raise PreadyError("has no threads, steps and neighbours", valid="; ".join(lacking), source=source)
    assert threads is not None
    assert pattern is not None
    assert iterations is not None
    assert spread is not None
    sends = [s for s in report.sent if s.call in SENDING and s.count]
    if not sends:
        raise PreadyError("has no point-to-point sends", valid=", ".join(SENDING[:2]), source=source)
    ranks = len(report.app_time)
    if ranks == 0:
        raise PreadyError("has no times", valid="the section 'MPI Time (seconds)'", source=source)
    peers = PEERS[pattern]
    # Bytes of a rank per step, divided equally among neighbours: the report has no receivers.
    step_bytes = sum(s.total for s in sends) / ranks / iterations
    buffer = max(1, math.ceil(step_bytes / peers / threads)) * threads
    compute = float(np.mean(report.app_time - report.mpi_time)) / iterations
    if not compute > 0:
        raise PreadyError(f"leaves {compute:g} s of computing in a step", valid="above 0", source=source)
    return "\n".join(
        [
            f"# From {source}, mpiP {report.version}: bytes and times measured, the rest given.",
            f"# {step_bytes:.0f} B per rank and step, divided equally among {peers} neighbours.",
            f"format = {FORMAT}",
            f'name = "{name}"',
            f"threads = {threads}",
            f"iterations = {iterations}",
            f'pattern = "{pattern}"',
            f'buffer = "{buffer} B"',
            'receiver = "computing"',
            f'compute = {{time = "{format_exact(compute, Unit.TIME)}"}}',
            f'arrivals = {{model = "normal by thread", spread = "{spread}"}}',
            "",
        ]
    )
