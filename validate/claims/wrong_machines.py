"""Machines made wrong on purpose: a claim that agrees with all of them, too, tests nothing.

Five changes of any machine, each of one kind of term. None of them is subtle: a claim that a factor of two in
the bandwidth or of three in the overheads does not turn cannot tell a right model from a wrong one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pready.model.machine.contention_by_library import contention as contention_of
from pready.model.machine.machine import Machine
from pready.model.machine.rma import OneSided
from pready.model.toml.provenance import Strict, Value

WRONG = 3.0
"""What overheads and contention are multiplied with, or divided by."""
CPU = ("o_s", "o_r", "O_s", "O_r", "handshake")
"""A segment's terms that a CPU pays."""
EPOCHS = ("epoch", "epoch_peer")
"""CPU time of RMA synchronisation."""

Change = Callable[[Machine], Machine]


def _times(table: Any, factor: float, *names: str) -> Any:
    """A copy with the values of these names multiplied; absent ones stay absent."""
    found = {name: value for name in names if (value := getattr(table, name)) is not None}
    return table.model_copy(
        update={n: v.model_copy(update={"value": factor * v.value, "interval": None}) for n, v in found.items()}
    )


def _segments(machine: Machine, change: Callable[[Any], Any], link: float = 1.0) -> dict[str, Any]:
    """Both paths with every segment changed and the link's bandwidth multiplied."""

    def path(of: Any) -> Any:
        changed = of.model_copy(update={"segments": tuple(change(s) for s in of.segments)})
        return _times(changed, link, "link_bandwidth")

    paths = {"inter": machine.inter, "intra": machine.intra}
    return {name: path(of) for name, of in paths.items() if of is not None}


def _put(one_sided: OneSided, factor: float) -> OneSided:
    """Puts multiplied; absent ones are as sends, which are."""
    put = one_sided.put
    if put is None:
        return one_sided
    if isinstance(put, Value):
        return one_sided.model_copy(update={"put": put.model_copy(update={"value": factor * put.value})})
    return one_sided.model_copy(update={"put": put.model_copy(update={"time": tuple(factor * t for t in put.time)})})


def overheads(machine: Machine, factor: float) -> Machine:
    """All that a CPU pays for a message or an epoch, multiplied; a copy's bandwidth divided."""
    tables: dict[str, Strict] = {
        "matching": _times(machine.matching, factor, "base", "per_entry"),
        "one_sided": _times(_put(machine.one_sided, factor), factor, *EPOCHS),
        "memory": _times(machine.memory, 1 / factor, "copy_hot", "copy_cold"),
    }
    return machine.model_copy(update=tables | _segments(machine, lambda s: _times(s, factor, *CPU)))


def bandwidth(machine: Machine, factor: float) -> Machine:
    """β multiplied: of one message alone, of many in flight, and of all ranks of a node."""
    update: dict[str, Any] = _segments(machine, lambda s: _times(s, 1 / factor, "G", "G_link"), factor)
    if machine.adapter is not None:
        update["adapter"] = _times(machine.adapter, factor, "rate")
    return machine.model_copy(update=update)


def contention(machine: Machine, factor: float) -> Machine:
    """The cost of contention multiplied."""
    of = contention_of(machine)
    curve = of.model_copy(update={"time": tuple(factor * t for t in of.time)})
    return machine.model_copy(update={"threads": machine.threads.model_copy(update={"contention": curve})})


WRONG_MACHINES: dict[str, Change] = {
    "overheads × 3": lambda m: overheads(m, WRONG),
    "overheads ÷ 3": lambda m: overheads(m, 1 / WRONG),
    "half the bandwidth": lambda m: bandwidth(m, 0.5),
    "no contention": lambda m: contention(m, 0.0),
    "contention × 3": lambda m: contention(m, WRONG),
}
