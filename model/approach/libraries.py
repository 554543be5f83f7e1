"""How MPI libraries implement partitioned communication, and which settings they have.

Read in the libraries' sources (MPICH ``src/mpid/ch4/src/mpidig_part*.h``, Open MPI
``ompi/mca/part/persist``), pull requests pmodels/mpich#6314 and open-mpi/ompi#13039, and MPIPCL.
A setting is named only where the library has it; a library's version is no proof, so a measured
``early_send`` of the machine file overrides `early`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from pready.model.approach.interfaces import PART, PART_AM, PERSISTENT, Approach, Interface
from pready.model.common.errors import PreadyError, did_you_mean, shown

Messages = Literal["one", "aggregated", "per partition", "min size", "set", "none"]


@dataclass(frozen=True)
class LibraryProfile:
    """How one MPI library implements ``MPI_Psend_init`` … ``MPI_Pready``."""

    name: str
    title: str
    messages: Messages
    """Rule for the messages on the wire; ``none`` where the calls are not used."""
    early: bool
    part_vcis: int
    """VCIs that partitioned messages can use."""
    max_vcis: int
    """VCIs that communicators and windows can use."""
    why: str
    """The behaviour in one sentence, for the table."""
    warnings: tuple[str, ...] = ()
    needs: str = ""
    """What has to be built from source; empty: it can be installed."""
    installable: str = ""
    """The library that can be installed in its place."""
    family: Literal["MPICH", "Open MPI", "any"] = "any"
    """The code base that moves its messages and puts."""

    @property
    def part(self) -> Interface | None:
        """The interface behind ``MPI_Psend_init``; None without partitioned operations."""
        if self.messages == "none":
            return None
        return PART if self.early else PART_AM

    def transports(self, candidates: list[int], threads: int, n_partitions: int) -> list[int]:
        """The transport partition counts that ``MPI_Pready`` can produce."""
        if not self.early:
            return [1]
        if self.messages == "per partition":
            # No aggregation, but a thread may mark fewer and larger partitions.
            theta = n_partitions // threads
            return [t for t in candidates if t >= threads and t % threads == 0 and theta % (t // threads) == 0]
        return candidates

    def settings(self, approach: Approach, buffer: float, threads: int, n_partitions: int) -> list[str]:
        """Settings and calls that make this library do `approach`; only those that it has."""
        t, interface = approach.transport_partitions, approach.interface
        out: list[str] = []
        size = int(buffer / t)
        if interface.partitioned:
            if self.messages == "aggregated":
                out.append(f"MPIR_CVAR_PART_AGGR_SIZE={size if t < n_partitions else 0}")
            elif self.messages == "min size":
                out.append(f"min_message_size={size} (MCA parameter of part/persist)")
            elif self.messages == "set":
                out.append("Info PMODE=SENDER" if t == n_partitions else f"Info SET={t}")
            elif self.messages == "per partition":
                out.append(f"MPI_Psend_init with {t} partitions (the library sends one message for each)")
        elif interface.one_sided:
            out.append(f"{t} MPI_Put per buffer, {interface.sync} target synchronisation")
        elif interface is PERSISTENT:
            out.append("MPI_Send_init and MPI_Recv_init before the loop, MPI_Start in it")
        elif interface.splits:
            out.append(f"one persistent send per transport partition ({t}), started by the thread that completes it")
        if approach.vcis > 1:
            out += self._vci_settings(approach, threads)
        return out

    def _vci_settings(self, approach: Approach, threads: int) -> list[str]:
        vcis = approach.vcis
        out = [f"MPIR_CVAR_CH4_NUM_VCIS={vcis}"]
        who = "thread" if approach.transport_partitions >= threads else "message"  # as `vcis.lane` spreads them
        lanes = min(approach.transport_partitions, threads)
        whose = f"one per {who}" if vcis >= lanes else f"{who} i uses number i mod {vcis}"
        if approach.interface.mechanism == "communicators":
            out.append(f"{vcis} communicators (MPI_Comm_dup), {whose}")
        elif approach.interface.mechanism == "windows":
            out.append(f"{vcis} windows (MPI_Win_create), {whose}")
        return out


_OMPI_WARNINGS = (
    "open-mpi/ompi#12969: start partitioned requests one by one, MPI_Startall can hang with several neighbours",
    "open-mpi/ompi#12328: a second MPI_Start may test complete at once",
)

MPICH_RELEASE = LibraryProfile(
    "mpich-release",
    "MPICH 4.0 to 5.0 as released",
    "one",
    early=False,
    part_vcis=1,
    max_vcis=64,
    why="MPI_Pready only decrements a counter: the whole buffer goes as one active message on VCI 0 "
    "after this iteration's clear-to-send, so no partition is sent early",
    family="MPICH",
)
MPICH_6314 = LibraryProfile(
    "mpich-6314",
    "MPICH with pull request 6314 (gillis2023's implementation, never merged)",
    "aggregated",
    early=True,
    part_vcis=64,
    max_vcis=64,
    why="tag-matched messages, aggregated up to MPIR_CVAR_PART_AGGR_SIZE, message i on VCI i mod n",
    warnings=("pull request 6314 was never merged: build MPICH from it",),
    needs="MPICH built from pull request 6314",
    installable="mpich-release",
    family="MPICH",
)
OPENMPI_PERSIST = LibraryProfile(
    "openmpi-persist",
    "Open MPI 5.0, part/persist",
    "per partition",
    early=True,
    part_vcis=1,
    max_vcis=1,
    why="one message per sender partition under one mutex, no aggregation; the first iteration is often not early",
    warnings=_OMPI_WARNINGS,
    family="Open MPI",
)
OPENMPI_13039 = LibraryProfile(
    "openmpi-13039",
    "Open MPI with pull request 13039",
    "min size",
    early=True,
    part_vcis=1,
    max_vcis=1,
    why="partitions are aggregated up to min_message_size, at most max_message_count messages",
    warnings=_OMPI_WARNINGS,
    needs="Open MPI built from pull request 13039",
    installable="openmpi-persist",
    family="Open MPI",
)
MPIPCL = LibraryProfile(
    "mpipcl",
    "MPIPCL over any MPI",
    "set",
    early=True,
    part_vcis=1,
    max_vcis=1,
    why="one message by default (PMODE=HARD, SET=1); Info PMODE=SENDER or SET=n sends early",
)
EMULATED = LibraryProfile(
    "emulated",
    "any MPI library, partitions sent by hand",
    "none",
    early=True,
    part_vcis=1,
    max_vcis=64,
    why="one persistent or non-blocking send per partition, a communicator per thread",
)

LIBRARIES: dict[str, LibraryProfile] = {
    p.name: p for p in (MPICH_RELEASE, MPICH_6314, OPENMPI_PERSIST, OPENMPI_13039, MPIPCL, EMULATED)
}


def library(name: str) -> LibraryProfile:
    """A library profile by name.

    Raises
    ------
    PreadyError
        An unknown name.
    """
    if name not in LIBRARIES:
        problem = f"library = {shown(name)} is unknown{did_you_mean(name, LIBRARIES)}"
        raise PreadyError(problem, valid=", ".join(LIBRARIES))
    return LIBRARIES[name]


def mpich_6314_messages(sender_partitions: int, receiver_partitions: int, buffer: float, aggregate: float) -> int:
    """Messages that pmodels/mpich#6314 sends for one buffer (gillis2023 3.2.1).

    As many as both sides' partitions divide into, so that no partition contributes to two; then as many
    of them together as fit into `aggregate` bytes (MPIR_CVAR_PART_AGGR_SIZE; 0 is off) and divide them evenly.
    """
    messages = math.gcd(sender_partitions, receiver_partitions)
    together = int(aggregate * messages // buffer)
    return messages // max((d for d in range(1, together + 1) if messages % d == 0), default=1)
