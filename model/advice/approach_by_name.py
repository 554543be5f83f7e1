"""Approaches as users name them: ``many``, ``many:8`` or ``many:8:4``."""

from __future__ import annotations

from pready.model.approach.interfaces import BY_KEY, Approach, Interface
from pready.model.approach.vcis import check_transport_partitions
from pready.model.common.errors import PreadyError, did_you_mean, shown
from pready.model.engine.messages import partitions_per_direction
from pready.model.workload.workload import Workload


def approach_named(text: str, workload: Workload, where: str = "approach") -> Approach:
    """Interface, transport partitions (default: all), VCIs (default: 1).

    Parameters
    ----------
    where
        How an error names it.

    Raises
    ------
    PreadyError
        An unknown interface, or counts that are not integers of at least 1.
    """
    key, *numbers = text.split(":")
    counts = [int(n) if n.isdecimal() else 0 for n in numbers]
    if len(counts) > 2 or min(counts, default=1) < 1:
        raise PreadyError(
            f"{where} = {shown(text)}", valid="KEY:TRANSPORTS:VCIS with integers of at least 1, such as many:8:4"
        )
    partitions = partitions_per_direction(workload)
    try:
        made = approach(key, *(counts or [_interface(key).messages(partitions)]))
    except PreadyError as error:
        meant = "" if key in BY_KEY else did_you_mean(key, BY_KEY)
        raise PreadyError(f"{where} = {shown(text)}{meant}", valid=error.valid) from None
    if made.interface.splits:
        check_transport_partitions(made.transport_partitions, partitions)
    return made


def approach(key: str, transport_partitions: int = 1, vcis: int = 1) -> Approach:
    """An approach for any workload: ``approach("many", 8, 4)``.

    Parameters
    ----------
    key
        Of the interface, such as "single", "part", "many", "rma-many-passive".
    transport_partitions
        Messages per peer; they have to divide the user partitions of the workload.
    vcis
        That the messages are spread over.

    Raises
    ------
    PreadyError
        An unknown interface, or counts that it cannot have.
    """
    interface = _interface(key)
    for name, value in {"transport_partitions": transport_partitions, "vcis": vcis}.items():
        if value < 1:
            raise PreadyError(f"{name} = {shown(value)}", valid="at least 1")
    if transport_partitions > 1 and not interface.splits:
        raise PreadyError(f"transport_partitions = {transport_partitions}", valid=f"1: {key} sends one message")
    return Approach(interface, transport_partitions, vcis)


def _interface(key: str) -> Interface:
    if key not in BY_KEY:
        raise PreadyError(f"approach = {shown(key)}{did_you_mean(key, BY_KEY)}", valid=", ".join(BY_KEY))
    return BY_KEY[key]
