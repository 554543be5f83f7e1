"""Approaches as users name them: ``many``, ``many:8`` or ``many:8:4``."""

from __future__ import annotations

from pready.model.approach.interfaces import BY_KEY, Approach
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
    if key not in BY_KEY:
        raise PreadyError(
            f"{where} = {shown(text)}{did_you_mean(key, BY_KEY)}",
            valid=f"KEY[:TRANSPORTS[:VCIS]], KEY one of {', '.join(BY_KEY)}",
        )
    try:
        counts = [int(n) for n in numbers]
    except ValueError:
        counts = [0]
    if len(counts) > 2 or min(counts, default=1) < 1:
        raise PreadyError(
            f"{where} = {shown(text)}", valid="KEY:TRANSPORTS:VCIS with integers of at least 1, such as many:8:4"
        )
    interface, partitions = BY_KEY[key], partitions_per_direction(workload)
    transports, vcis = (*counts, *(interface.messages(partitions), 1)[len(counts) :])
    if interface.splits:
        check_transport_partitions(transports, partitions)
    elif transports != 1:
        raise PreadyError(f"{where} = {shown(text)}", valid=f"{key} sends one message")
    return Approach(interface, transports, vcis)


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
    if key not in BY_KEY:
        raise PreadyError(f"approach = {shown(key)}{did_you_mean(key, BY_KEY)}", valid=", ".join(BY_KEY))
    for name, value in {"transport_partitions": transport_partitions, "vcis": vcis}.items():
        if value < 1:
            raise PreadyError(f"{name} = {shown(value)}", valid="at least 1")
    if transport_partitions > 1 and not BY_KEY[key].splits:
        raise PreadyError(f"transport_partitions = {transport_partitions}", valid=f"1: {key} sends one message")
    return Approach(BY_KEY[key], transport_partitions, vcis)
