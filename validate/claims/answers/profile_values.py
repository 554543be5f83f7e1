"""Checks of what profiles and libraries say: numbers that a paper states and a profile must carry."""

from __future__ import annotations

from typing import Literal

from pready.model.approach.libraries import library
from pready.model.machine.machine import Machine
from pready.model.toml.provenance import Strict
from pready.validate.claims.computed_once import Lab, MachineTable


class MachineValue(Strict):
    machine: MachineTable
    of: Literal["contexts", "link bandwidth", "one-way latency", "bcopy from", "rendezvous from"]


class LibraryProperty(Strict):
    """A library's partitioned communication."""

    library: str
    of: Literal["sends partitions early"]


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
