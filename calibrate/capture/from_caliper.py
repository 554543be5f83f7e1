"""A workload from Caliper's communication regions: an exchange per region; the rest is given."""

from __future__ import annotations

import math
from collections.abc import Sequence

import tomlkit

from pready.calibrate.capture.from_mpip import NEEDED
from pready.calibrate.importers.caliper import Region
from pready.model.common.errors import PreadyError, printable, shown
from pready.model.common.units import Unit, format_exact, parse
from pready.model.workload.exchange import PEERS, Pattern
from pready.model.workload.fields import FORMAT


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
    """The workload file. A rank's bytes per step are those of the rank that sends most, of messages of mean size.

    Raises
    ------
    PreadyError
        An option of `NEEDED` or --compute is missing, or a region has other peers than the pattern.
    """
    given = {"threads": threads, "pattern": pattern, "iterations": iterations, "spread": spread}
    lacking = [said for field, said in NEEDED.items() if given[field] is None]
    if compute is None:
        lacking.append("--compute '2 ms', what a thread computes in a step")
    if threads is None or pattern is None or iterations is None or spread is None or compute is None:
        raise PreadyError(
            "has no threads, steps, pattern and times of threads", valid="; ".join(lacking), source=source
        )
    each = parse(compute, Unit.TIME, "--compute") / len(regions)
    document = tomlkit.document()
    document.add(tomlkit.comment(f"From {source!r}, Caliper's communication regions: messages and bytes are measured."))
    document.add(tomlkit.comment("Threads, pattern, steps, computing and spread are given; computing is divided"))
    document.add(tomlkit.comment("equally among the regions."))
    for key, value in (("format", FORMAT), ("name", name), ("threads", threads), ("iterations", iterations)):
        document.add(key, value)
    tables = tomlkit.aot()
    names = [printable(r.name) for r in regions]
    for number, region in enumerate(regions, 1):
        if region.peers > PEERS[pattern]:
            raise PreadyError(
                f"region {shown(region.name)} sends to {region.peers:g} ranks",
                valid=f"at most {PEERS[pattern]}, the neighbours of {pattern}; or another --pattern",
                source=source,
            )
        table = document if len(regions) == 1 else tomlkit.table()
        if len(regions) > 1:
            called = names[number - 1]
            table.add("name", called if names.count(called) == 1 else f"{called} {number}")
        size = region.message * region.sends / iterations / region.peers
        table.add("pattern", pattern)
        table.add("buffer", f"{max(1, math.ceil(size / threads)) * threads} B")
        table.add("receiver", "computing")
        table.add("compute", _inline(time=format_exact(each, Unit.TIME)))
        table.add("arrivals", _inline(model="normal by thread", spread=spread))
        tables.append(table)
    if len(regions) > 1:
        document.add("exchanges", tables)
    return tomlkit.dumps(document)


def _inline(**fields: str) -> tomlkit.items.InlineTable:
    table = tomlkit.inline_table()
    table.update(fields)
    return table
