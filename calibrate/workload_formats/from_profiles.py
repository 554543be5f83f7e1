"""A workload from a profile: an mpiP report, or Caliper's communication regions. What these lack is given."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import tomlkit

from pready.calibrate.workload_formats.caliper import Region
from pready.calibrate.workload_formats.mpip import MpiPReport
from pready.model.common.errors import PreadyError, printable, shown
from pready.model.common.units import Unit, format_exact, parse
from pready.model.workload.exchange import PEERS, Pattern
from pready.model.workload.fields import FORMAT

NEEDED: Mapping[str, str] = {
    "threads": "--set threads=N, per rank",
    "pattern": "--set pattern=halo3d, or another one",
    "iterations": "--set iterations=N, steps of the run",
    "spread": "--set arrivals.spread='4 %', the relative standard deviation of a thread's time",
    "compute": "--set compute.time='2 ms', what a thread computes in a step",
}
"""Options for what a profile or a trace lacks."""
SENDING = ("Send", "Isend", "Ssend", "Rsend", "Issend", "Irsend", "Bsend", "Ibsend", "Sendrecv", "Start")


def lacking(**given: object) -> str:
    """The options of `NEEDED` that are not given."""
    return "; ".join(NEEDED[name] for name, value in given.items() if value is None)


def text_from_mpip(
    report: MpiPReport,
    name: str,
    *,
    threads: int | None,
    pattern: Pattern | None,
    iterations: int | None,
    spread: str | None,
    source: str,
    compute: str | None = None,
) -> str:
    """The workload file; `compute`: a thread's time in a step, in place of the report's.

    Raises
    ------
    PreadyError
        An option of `NEEDED` is missing, or the report has no sends or no times.
    """
    if threads is None or pattern is None or iterations is None or spread is None:
        options = lacking(threads=threads, pattern=pattern, iterations=iterations, spread=spread)
        raise PreadyError("has no threads, steps and neighbours", valid=options, source=source)
    sends = [s for s in report.sent if s.call in SENDING and s.count]
    if not sends:
        raise PreadyError("has no point-to-point sends", valid=", ".join(SENDING[:2]), source=source)
    ranks = len(report.app_time)
    if ranks == 0:
        raise PreadyError("has no times", valid="the section 'MPI Time (seconds)'", source=source)
    peers = PEERS[pattern]
    # Bytes of a rank per step, divided equally among neighbours: the report has no receivers.
    step_bytes = sum(s.total for s in sends) / ranks / iterations
    seconds = float(np.mean(report.app_time - report.mpi_time)) / iterations
    seconds = seconds if compute is None else parse(compute, Unit.TIME, "compute.time")
    if not seconds > 0:
        raise PreadyError(f"leaves {seconds:g} s of computing in a step", valid="above 0", source=source)
    comments = [
        f"From {source}, mpiP {report.version}: bytes and times measured, the rest given.",
        f"{step_bytes:.0f} B per rank and step, divided equally among {peers} neighbours.",
    ]
    return _text(comments, name, threads, pattern, iterations, spread, seconds, {"": step_bytes / peers})


def text_from_caliper(
    regions: Sequence[Region],
    name: str,
    *,
    threads: int | None,
    pattern: Pattern | None,
    iterations: int | None,
    spread: str | None,
    compute: str | None,
    source: str,
) -> str:
    """The workload file, an exchange per region. A rank's bytes per step are those of the rank that sends most, of
    messages of mean size.

    Raises
    ------
    PreadyError
        An option of `NEEDED` is missing, or a region has other peers than the pattern.
    """
    if threads is None or pattern is None or iterations is None or spread is None or compute is None:
        options = lacking(threads=threads, pattern=pattern, iterations=iterations, spread=spread, compute=compute)
        raise PreadyError("has no threads, steps, pattern and times of threads", valid=options, source=source)
    comments = [
        f"From {source!r}, Caliper's communication regions: messages and bytes are measured.",
        "Threads, pattern, steps, computing and spread are given; computing is divided",
        "equally among the regions.",
    ]
    seconds = parse(compute, Unit.TIME, "compute.time")
    names = [printable(r.name) for r in regions]
    sizes = {}
    for number, (region, called) in enumerate(zip(regions, names, strict=True), 1):
        if region.peers > PEERS[pattern]:
            raise PreadyError(
                f"region {shown(region.name)} sends to {region.peers:g} ranks",
                valid=f"at most {PEERS[pattern]}, the neighbours of {pattern}; or another pattern",
                source=source,
            )
        size = region.message * region.sends / iterations / region.peers
        sizes[called if names.count(called) == 1 else f"{called} {number}"] = size
    return _text(comments, name, threads, pattern, iterations, spread, seconds, sizes)


def _text(
    comments: Sequence[str],
    name: str,
    threads: int,
    pattern: Pattern,
    iterations: int,
    spread: str,
    compute: float,
    sizes: Mapping[str, float],
) -> str:
    """The file, from bytes for a neighbour by exchange; these have equal parts of the computing."""
    document = tomlkit.document()
    for comment in comments:
        document.add(tomlkit.comment(comment))
    for key, value in (("format", FORMAT), ("name", name), ("threads", threads), ("iterations", iterations)):
        document.add(key, value)
    several = len(sizes) > 1
    tables = tomlkit.aot()
    for exchange, size in sizes.items():
        table: tomlkit.TOMLDocument | tomlkit.items.Table = document
        if several:
            table = tomlkit.table()
            table.add("name", exchange)
            tables.append(table)
        table.add("pattern", pattern)
        table.add("buffer", f"{max(1, math.ceil(size / threads)) * threads} B")
        table.add("receiver", "computing")
        table.add("compute", _inline(time=format_exact(compute / len(sizes), Unit.TIME)))
        table.add("arrivals", _inline(model="normal by thread", spread=spread))
    if several:
        document.add("exchanges", tables)
    return tomlkit.dumps(document)


def _inline(**fields: str) -> tomlkit.items.InlineTable:
    table = tomlkit.inline_table()
    table.update(fields)
    return table
