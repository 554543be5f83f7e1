"""What an import found, in a few lines that a person checks in ten seconds."""

from __future__ import annotations

from collections.abc import Iterator

from pready.calibrate.fit.observations import Observations
from pready.calibrate.machine.values.protocol_borders import Border
from pready.model.approach.libraries import LibraryProfile
from pready.model.common.units import format_bandwidth, format_size, format_time
from pready.model.machine.machine import Fabric, Machine
from pready.model.machine.transports import ANSWERS, ANY, Transport


def lines_of(
    machine: Machine,
    border: Border,
    row: Transport,
    observed: Observations,
    *,
    library: LibraryProfile | None,
    fabric: Fabric | None,
) -> Iterator[str]:
    """Messages, rendezvous, what is assumed, and what of that decides a verdict.

    `row` is what the library does over the fabric by default; `library` and `fabric` are None where nobody named them.
    """
    s = machine.inter.segments[0]
    small = s.o_s.value + s.L.value + s.o_r.value
    guess = " (assumed)" if machine.inter.segments[-1].G.source == "assumed" else ""
    streamed = observed.stream is not None or observed.prtt_n is not None
    many = f", {format_bandwidth(machine.inter.link_bandwidth.value)} for many" if streamed else ""
    large = f"{format_bandwidth(machine.bandwidth)} for a large one{guess}"
    yield f"{format_time(small)} for a small message, {large}{many}"
    yield f"eager to {format_size(border.at)}, {border.words}"
    who = ANSWERS[machine.progress.value]
    yield f"a rendezvous moves while {who} ({machine.progress.source}: {row.name})"
    yield f"assumed: {', '.join(_assumed(machine))}"
    yield f"these decide your verdict: {', '.join(_decide(machine, border, row))}"
    if row is ANY or library is None or fabric is None:
        missing = [o for o, given in (("--library", library), ("--fabric", fabric)) if given is None]
        yield (
            f"say {' and '.join(missing)}: from which size a rendezvous and who answers it is a matter of both "
            "('pready libraries')"
        )


WORDS = {"one_sided": "RMA", "intra": "within a node", "adapter": "what ranks of a node share", "threads": "barrier"}
LEFT_OUT = ("O_s", "O_r", "begins", "matching", "begin", "requests", "memory")


def _assumed(machine: Machine) -> list[str]:
    """Names of what no file said, those of all sizes together."""
    names = []
    for label, item in machine.values():
        table, last = label.split(".")[0], label.split(".")[-1]
        if item.source == "assumed" and not {table, last} & {*LEFT_OUT}:
            own = last if table == "inter" or last == "contention" else table
            names.append(WORDS.get(own, own))
    return list(dict.fromkeys(names))


def _decide(machine: Machine, border: Border, row: Transport) -> list[str]:
    contention, put = machine.threads.contention, machine.one_sided.put
    size = f"the size of a rendezvous ({format_size(border.low)} to {format_size(border.high)})"
    unknown = {
        size: not border.seen,
        "who answers a rendezvous": machine.progress.source == "assumed" or row is ANY,
        "o_s": machine.inter.segments[0].o_s.source == "assumed",
        "contention of threads": contention is None or contention.source == "assumed",
        "puts and epochs of RMA": put is None or put.source == "assumed",
    }
    return [what for what, open_ in unknown.items() if open_] or ["nothing assumed"]
