"""Checks of what profiles and libraries say: numbers that a paper states and a profile must carry, and messages."""

from __future__ import annotations

from typing import Literal

from pready.model.approach.libraries import library, mpich_6314_messages
from pready.model.common import units
from pready.model.machine.machine import Machine
from pready.model.toml.provenance import Strict
from pready.model.workload.exchange import Count
from pready.validate.claims.computed_once import Lab, MachineTable


class MachineValue(Strict):
    machine: MachineTable
    of: Literal["contexts", "link bandwidth", "one-way latency", "bcopy from", "rendezvous from"]


class LibraryProperty(Strict):
    """A library's partitioned communication."""

    library: str
    of: Literal["sends partitions early"]


class Messages(Strict):
    """The two sides' partition counts and the aggregation size of pmodels/mpich#6314."""

    sender_partitions: Count
    receiver_partitions: Count
    buffer: units.Size
    aggregate: units.Offset = 0.0


def machine_value(a: MachineValue, lab: Lab) -> float:
    """SI units."""
    machine: Machine = lab.machine(a.machine)
    segments = machine.inter.segments
    match a.of:
        case "contexts":
            return float(machine.contexts.value)
        case "link bandwidth":
            return machine.inter.link_bandwidth.value
        case "one-way latency":
            first = segments[0]
            return first.o_s.value + first.L.value + first.o_r.value + machine.matching.base.value
        case "bcopy from":
            return next(s.from_ for s in segments if s.protocol == "bcopy")
        case "rendezvous from":
            return next(s.from_ for s in segments if s.protocol == "rendezvous")


def library_property(a: LibraryProperty, lab: Lab) -> bool:
    """From the library's profile, which is read in its sources."""
    return bool(library(a.library).early)


def messages_on_the_wire(a: Messages, lab: Lab) -> float:
    """Messages that one partitioned exchange becomes."""
    return float(mpich_6314_messages(a.sender_partitions, a.receiver_partitions, a.buffer, a.aggregate))
