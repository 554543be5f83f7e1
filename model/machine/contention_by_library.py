"""What threads cost each other in a library over a transport: issuing through one VCI, and waiting inside MPI.

Both belong to the library's lock, not to the machine. **Issuing**: c(k), what a message pays that waits for the lock of
a VCI that k threads share, in units of o_s, longer where processors take longer for a message, too; c (1 - 1/k) where
one value was measured. A machine file's own curve holds for the library that it was measured with. Of another library,
or where a file has no curve, the time is this table's multiple of o_s of the machine's smallest messages. **Waiting**:
w (1 - 1/k), what the wait of each of k threads costs that wait inside MPI for messages of one VCI: whichever of them
makes progress finds the messages of others and hands them over, k - 1 of k times to another thread.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from pready.model.approach.libraries import LIBRARIES, LibraryProfile
from pready.model.common.units import SI
from pready.model.machine.machine import Machine
from pready.model.machine.threads import Contention

HAWK = "AxelSchneewind/mpi-benchmark @9387118"
NIAGARA = "Yiltan/PhD-meeting-reports-year-3 @2401c8f"
TAGM = "shengyushen/mpitut @2430ec7"
Source = Literal["literature", "assumed"]


@dataclass(frozen=True)
class LibraryContention:
    """What threads cost each other in a library."""

    issuing: float | Mapping[int, float]
    """c in c (1 - 1/k), or c(k) by k; over o_s."""
    interval: float
    source: Source
    why: str
    waiting: float
    """Seconds: w in w (1 - 1/k)."""
    waiting_interval: float
    waiting_source: Source
    waiting_why: str


_MPICH = LibraryContention(
    3.3,
    0.5,
    "literature",
    f"{HAWK}, MPICH 4.1.2 over UCX, MPI_Isend of 4 and 16 KiB less one thread's: 1.0 and 0.6 us by 2 threads, 2.3 and "
    "1.6 us by 8, over an o_s of 0.73",
    0.5e-6,
    0.9,
    "literature",
    "gillis2023 4.2.1, Fig. 5: 32 threads that each wait for their own messages on one VCI take as long as one that "
    "waits for all, 3 us a message: at most a sixth of that",
)
_OPEN_MPI = LibraryContention(
    {1: 0.0, 2: 0.2, 16: 0.2, 32: 1.0},
    0.9,
    "literature",
    f"{HAWK}, Open MPI 5.0 over UCX: 2 and 16 threads, 0.1 us over an o_s of 0.5; {NIAGARA}: 32 threads of two "
    "sockets, 0.5 us over 0.5",
    7e-6,
    0.6,
    "literature",
    f"{TAGM} tagm.txt: ping-pongs of 4 B by 4, 14 and 56 threads over InfiniBand take 5.9, 6.6 and 5.7 us a message; "
    "2.4 to 7.8 on others of its machines",
)
_ANY = LibraryContention(
    1.2,
    0.95,
    "assumed",
    "the library is not known: between MPICH and Open MPI",
    2e-6,
    0.95,
    "assumed",
    "the library is not known: between MPICH and Open MPI",
)
_MPIPCL = replace(
    _ANY,
    issuing={1: 0.0, 4: 0.2, 20: 1.0, 32: 3.6},
    interval=0.5,
    source="literature",
    why="fitted: temucin2022 4.2, over Open MPI and UCX: 32 partitions cost up to 59.4x one send; steeper once threads "
    "spill over to the second socket (more than 20), shape from MeluXina",
)
BY_LIBRARY: Mapping[str, LibraryContention] = {
    "MPICH": _MPICH,
    "ParaStation": _MPICH,
    "Open MPI": _OPEN_MPI,
    "Spectrum MPI": _OPEN_MPI,
    "Fujitsu MPI": _OPEN_MPI,
    "mpipcl": _MPIPCL,
}
"""By the library's name or family; ParaStation's is made from MPICH, Spectrum and Fujitsu MPI from Open MPI."""


def of_library(machine: Machine, profile: LibraryProfile) -> Contention:
    """The contention of a library on a machine, from its o_s."""
    named = next((name for name in (profile.name, profile.family) if name in BY_LIBRARY), "others")
    row, o_s = BY_LIBRARY.get(named, _ANY), machine.inter.segments[0].o_s.value
    why = f"o_s times what {named} shows: {row.why}"
    if not isinstance(row.issuing, Mapping):
        return Contention.saturating(row.issuing * o_s, interval=row.interval, source=row.source, why=why)
    return Contention(
        threads=tuple(row.issuing),
        time=tuple(SI(t * o_s) for t in row.issuing.values()),
        interval=row.interval,
        source=row.source,
        why=why,
    )


def waiting(machine: Machine) -> Contention:
    """What the wait of each of k threads costs that wait inside the machine's own library."""
    if machine.threads.waiting is not None:
        return machine.threads.waiting
    row = BY_LIBRARY.get(LIBRARIES[machine.library.name].family, _ANY)
    return Contention.saturating(
        row.waiting, interval=row.waiting_interval, source=row.waiting_source, why=row.waiting_why
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
    threads = machine.threads.model_copy(update={"contention": of_library(machine, profile), "waiting": None})
    return machine.model_copy(update={"threads": threads})
