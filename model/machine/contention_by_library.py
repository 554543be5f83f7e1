"""c(k) by library: what a message pays that waits for the lock of a VCI that k threads share, in units of o_s.

Contention belongs to the library's lock, not to the machine; it takes longer where the machine's processors take longer
for a message, too. A machine file's own curve holds for the library that it was measured with. Of another library, or
where a file has no curve, the time is this table's multiple of o_s of the machine's smallest messages.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pready.model.approach.libraries import LIBRARIES, LibraryProfile
from pready.model.common.units import SI
from pready.model.machine.machine import Machine
from pready.model.machine.threads import Contention

HAWK = "AxelSchneewind/mpi-benchmark @9387118"
NIAGARA = "Yiltan/PhD-meeting-reports-year-3 @2401c8f"


@dataclass(frozen=True)
class TimesO_s:
    """c(k) over o_s of a library."""

    threads: tuple[int, ...]
    times: tuple[float, ...]
    interval: float
    source: Literal["literature", "assumed"]
    why: str


_MPICH = TimesO_s(
    (1, 8, 128),
    (0.0, 3.3, 60.0),
    0.9,
    "literature",
    f"{HAWK}, MPICH 4.1.2 over UCX: MPI_Isend of 1, 4 and 16 KiB by 8 threads, 2.4 us over an o_s of 0.72; linear in "
    "the threads assumed",
)
_OPEN_MPI = TimesO_s(
    (1, 2, 16, 32, 128),
    (0.0, 0.2, 0.2, 1.0, 4.0),
    0.9,
    "literature",
    f"{HAWK}, Open MPI 5.0 over UCX: 2 and 16 threads, 0.1 us over an o_s of 0.5; {NIAGARA}: 32 threads of two "
    "sockets, 0.5 us over 0.5; linear in the threads beyond assumed",
)
_ANY = TimesO_s(
    (1, 2, 16, 32, 128),
    (0.0, 0.3, 1.2, 3.8, 15.5),
    0.95,
    "assumed",
    "the library is not known: the geometric mean of MPICH and Open MPI",
)
TIMES_O_S: Mapping[str, TimesO_s] = {
    "MPICH": _MPICH,
    "ParaStation": _MPICH,
    "Open MPI": _OPEN_MPI,
    "Spectrum MPI": _OPEN_MPI,
    "Fujitsu MPI": _OPEN_MPI,
}
"""By the library's family; ParaStation's library is made from MPICH, Spectrum and Fujitsu MPI from Open MPI."""


def of_library(machine: Machine, profile: LibraryProfile) -> Contention:
    """The contention of a library on a machine, from its o_s."""
    row, o_s = TIMES_O_S.get(profile.family, _ANY), machine.inter.segments[0].o_s.value
    return Contention(
        threads=row.threads,
        time=tuple(SI(t * o_s) for t in row.times),
        interval=row.interval,
        source=row.source,
        why=f"o_s times what {profile.family if profile.family in TIMES_O_S else 'others'} shows: {row.why}",
    )


def contention(machine: Machine) -> Contention:
    """The machine's contention with its own library."""
    own = machine.threads.contention
    return of_library(machine, LIBRARIES[machine.library.name]) if own is None else own


def with_contention(machine: Machine, profile: LibraryProfile) -> Machine:
    """The machine with this library's contention.

    Where it is of the family that the file's curve was measured with, or may be any, the curve stays.
    """
    own = machine.threads.contention
    mine = LIBRARIES[machine.library.name].family
    if own is not None and profile.family in ("any", mine):
        return machine
    threads = machine.threads.model_copy(update={"contention": of_library(machine, profile)})
    return machine.model_copy(update={"threads": threads})
