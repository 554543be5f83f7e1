"""How MPI_Put moves, by library and fabric: who takes it in, how much moves while nobody is inside MPI, and when
MPI_Win_complete returns.

Hardware where it can, over active messages, put off until synchronisation, or as far as a socket takes it. A machine
that was measured says so itself (`one_sided.received_by`, `.unattended`, `.completes`); this is for those that do not,
and for a library other than the one a machine was measured with.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pready.model.libraries import LIBRARIES, LibraryProfile
from pready.model.machine import Fabric, Machine
from pready.model.values import Value


@dataclass(frozen=True)
class Puts:
    """One cell of the table."""

    received_by: Literal["adapter", "processor"]
    unattended: float
    """Bytes that move while no thread is inside MPI."""
    source: Literal["measured", "literature", "assumed"]
    why: str
    completes: Literal["at once", "delivered"] = "at once"
    """When MPI_Win_complete returns; "delivered" was measured."""

    @property
    def says(self) -> str:
        """In words."""
        if self.received_by == "processor":
            return "active messages: the target's processor takes them in"
        if self.unattended == math.inf:
            return "the adapter moves them"
        return "as far as the socket takes them" if self.unattended else "put off until synchronisation"

    @property
    def fields(self) -> dict[str, Value[Any] | None]:
        """As a machine file's `[one_sided]` has them."""
        about = {"source": self.source, "why": self.why}
        waits = None if self.unattended == math.inf else Value[float].model_validate({"value": self.unattended} | about)
        ends = {"value": self.completes, "source": "assumed", "why": "MPI 4.1, 12.5.2: all is complete at the origin"}
        if self.completes == "delivered":
            ends |= {"source": "measured", "why": DELIVERED}
        return {
            "received_by": Value[str].model_validate({"value": self.received_by} | about),
            "unattended": waits,
            "completes": Value[str].model_validate(ends),
        }


DELIVERED = "rings, halos and lists of four ranks end as if it were so (docs/notes/2026-11-23-rma-among-ranks.md)"
IN_HARDWARE = "zambre2021 6.1: InfiniBand implements most contiguous RMA operations completely in hardware"

KNOWN: Mapping[tuple[str, Fabric], Puts] = {
    ("MPICH", "infiniband"): Puts("adapter", math.inf, "literature", IN_HARDWARE),
    ("Open MPI", "infiniband"): Puts(
        "adapter", math.inf, "assumed", f"osc/ucx hands puts to UCX, as MPICH does ({IN_HARDWARE})"
    ),
    ("MPICH", "omni-path"): Puts(
        "processor", math.inf, "literature", "zambre2021 4: Omni-Path emulates one-sided operations in software"
    ),
    ("MPICH", "tcp"): Puts(
        "adapter",
        2.6e6,
        "measured",
        "MPICH 5.0.2 over ofi's tcp: 2.3 to 2.7 MB moved while nobody was inside MPI",
        "delivered",
    ),
    ("Open MPI", "tcp"): Puts(
        "adapter",
        0.0,
        "measured",
        "Open MPI 5.0.11 over btl/tcp: puts moved in the call that ends the epoch only",
        "delivered",
    ),
}
"""By the library's family and the machine's fabric. What is not here is taken to move by the adapter."""


def with_puts(machine: Machine, profile: LibraryProfile) -> Machine:
    """The machine with this library's puts.

    Where it is the machine's own library, only what the file does not say; where it is another, what is known of that
    one on this fabric. A machine without a fabric, or a library that may be any, leaves all as it is.
    """
    known = None if machine.fabric is None else KNOWN.get((profile.family, machine.fabric))
    if known is None:
        return machine
    mine = LIBRARIES[machine.library.name].family == profile.family
    told = machine.one_sided
    fields = {n: v for n, v in known.fields.items() if not (mine and getattr(told, n) is not None)}
    return machine.model_copy(update={"one_sided": told.model_copy(update=fields)})
