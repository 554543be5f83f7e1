"""How MPI_Put moves its data, by library and fabric: by the adapter, by the target's processor, or deferred.

A machine that was measured says so itself (`one_sided.puts`); this is for those that do not, and for a library other
than the one a machine was measured with.
"""

from __future__ import annotations

from collections.abc import Mapping

from pready.model.approach.libraries import LIBRARIES, LibraryProfile
from pready.model.machine.machine import Fabric, Machine
from pready.model.machine.rma import Puts
from pready.model.toml.provenance import Value

IN_HARDWARE = "zambre2021 6.1: InfiniBand implements most contiguous RMA operations completely in hardware"

KNOWN: Mapping[tuple[str, Fabric], Value[Puts]] = {
    ("MPICH", "infiniband"): Value[Puts](value="adapter", source="literature", why=IN_HARDWARE),
    ("Open MPI", "infiniband"): Value[Puts](
        value="adapter", source="assumed", why=f"osc/ucx hands puts to UCX, as MPICH does ({IN_HARDWARE})"
    ),
    ("MPICH", "omni-path"): Value[Puts](
        value="processor",
        source="literature",
        why="zambre2021 4: Omni-Path emulates one-sided operations in software",
    ),
    ("MPICH", "tcp"): Value[Puts](
        value="adapter",
        source="measured",
        why="MPICH 5.0.2 over ofi's tcp: 2.3 to 2.7 MB moved while no thread was in MPI",
    ),
    ("Open MPI", "tcp"): Value[Puts](
        value="deferred",
        source="measured",
        why="Open MPI 5.0.11 over btl/tcp: puts moved in the call that ends the epoch only",
    ),
}
"""By the library's family and the machine's fabric; everywhere else the adapter is taken to move puts."""

SAYS: Mapping[Puts, str] = {
    "adapter": "the adapter moves them",
    "processor": "active messages: the target's processor takes them in",
    "deferred": "deferred until synchronisation",
}
"""In words."""


def with_puts(machine: Machine, profile: LibraryProfile) -> Machine:
    """The machine with this library's puts.

    Where it is the machine's own library, only what the file does not say; where it is another, what is known of that
    one on this fabric. A machine without a fabric, or a library that may be any, leaves all as it is.
    """
    known = None if machine.fabric is None else KNOWN.get((profile.family, machine.fabric))
    mine = LIBRARIES[machine.library.name].family == profile.family
    if known is None or (mine and machine.one_sided.puts is not None):
        return machine
    return machine.model_copy(update={"one_sided": machine.one_sided.model_copy(update={"puts": known})})
