"""How MPI libraries implement partitioned communication, and which settings they have.

Read in the libraries' sources (MPICH ``src/mpid/ch4/src/mpidig_part*.h``, Open MPI ``ompi/mca/part/persist``,
ParaStation MPI ``mpid/psp/src/mpid_part.c``), pull requests pmodels/mpich#6314, open-mpi/ompi#13039 and #12796, and
MPIPCL. A setting is named only where the library has it; a library's version is no proof, so a measured
``early_send`` of the machine file overrides `early`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from pready.model.approach import library_facts
from pready.model.approach.library_profile import Fact, Family, LibraryProfile, Messages, version_in
from pready.model.common.errors import PreadyError, did_you_mean, shown

__all__ = ("LIBRARIES", "Fact", "LibraryProfile", "Messages", "library", "mpich_6314_messages", "version_in")

NUM_VCIS = "MPIR_CVAR_CH4_NUM_VCIS={n}"

_PROFILES = (
    LibraryProfile(
        "mpich-release",
        "MPICH 4.0 to 5.0 as released",
        "one",
        early=False,
        max_vcis=64,
        why="MPI_Pready only decrements a counter: the whole buffer goes as one active message on VCI 0 "
        "after this iteration's clear-to-send, so no partition is sent early",
        source="src/mpid/ch4/src/mpidig_part.h, up to main of 2026-08-20",
        facts=library_facts.MPICH,
        part_since="4.0",
        family="MPICH",
        vci_setting=NUM_VCIS,
    ),
    LibraryProfile(
        "openmpi-persist",
        "Open MPI 5.0 and 6.0, part/persist",
        "per partition",
        why="one message per sender partition, no aggregation; the first iteration is often not early",
        source="ompi/mca/part/persist",
        facts=library_facts.OPEN_MPI,
        told_if_alike=True,
        part_since="5.0",
        family="Open MPI",
    ),
    LibraryProfile(
        "openmpi-4",
        "Open MPI 4.x",
        "none",
        why="it has no partitioned calls, they came with 5.0: one persistent or non-blocking send per partition",
        source="open-mpi/ompi#8641, #9593",
        family="Open MPI",
    ),
    LibraryProfile(
        "hpc-x",
        "NVIDIA HPC-X (Open MPI 4.1 and UCX)",
        "none",
        why="made from Open MPI 4.1, which has no partitioned calls: one persistent or non-blocking send per partition",
        source="HPC-X 2.18 to 2.22 documentation, 'Installing and Loading HPC-X'; of 2.23 to 2.26 nothing was found on "
        "2026-11-28",
        family="Open MPI",
    ),
    LibraryProfile(
        "cray-mpich",
        "Cray MPICH (HPE Cray EX)",
        "one",
        early=None,
        why="unknown whether MPI_Pready sends early: HPE documents nothing on partitioned calls, and MPICH 4.1, from "
        "which 9.0 is made, does not; predicted as if it did not, 'pready doctor' tells",
        source="ANL base 3.4a2 in 8.1.30 (ufs-community/ufs-weather-model#2619), MPI 4 from 9.0 "
        "(spack/spack-packages#4603)",
        part_since="9.0",
        family="MPICH",
    ),
    LibraryProfile(
        "intel-mpi",
        "Intel MPI",
        "one",
        early=None,
        max_vcis=64,
        why="unknown whether MPI_Pready sends early: its sources are closed and nothing is documented; predicted as if "
        "it did not, 'pready doctor' tells",
        source="partitioned calls from 2021.14: mpi4py src/lib-mpi/config/impi.h",
        facts=library_facts.INTEL,
        part_since="2021.14",
        family="MPICH",
        vci_setting="I_MPI_THREAD_SPLIT=1 I_MPI_THREAD_MAX={n}",
    ),
    LibraryProfile(
        "parastation",
        "ParaStation MPI",
        "per partition",
        early=None,
        why="one MPI_Isend per partition, min(sender's, receiver's) of them, once this iteration's clear-to-send was "
        "seen: MPI_Start and MPI_Pready look for none, so early only if a thread is in MPI meanwhile; predicted as if "
        "none were, 'pready doctor' tells",
        source="ParaStation/psmpi @00497007 mpich2/src/mpid/psp/src/mpid_part.c, read on 2026-11-28",
        facts=library_facts.PARASTATION,
        told_whole=True,
        part_since="5.8.0",
        family="ParaStation",
    ),
    LibraryProfile(
        "mvapich-4",
        "MVAPICH 4.0",
        "one",
        early=False,
        max_vcis=64,
        why="as MPICH 4.3.0, from which it is made: one active message once all partitions are ready",
        source="MVAPICH 4.0's sources",
        facts=library_facts.MPICH,
        part_since="4.0",
        family="MPICH",
        vci_setting=NUM_VCIS,
    ),
    LibraryProfile(
        "fujitsu-mpi",
        "Fujitsu MPI (Fugaku, PRIMEHPC)",
        "none",
        why="made from Open MPI 4.0.1, which has no partitioned calls: one persistent or non-blocking send per "
        "partition",
        source="mpi4py/mpi4py#43, #35",
        family="Fujitsu MPI",
    ),
    LibraryProfile(
        "spectrum-mpi",
        "IBM Spectrum MPI 10",
        "none",
        why="no partitioned calls are known: one persistent or non-blocking send per partition",
        source="MPI 3.2 by its release notes (10.2)",
        family="Spectrum MPI",
    ),
    LibraryProfile(
        "mpipcl",
        "MPIPCL 1.5 over any MPI",
        "set",
        why="one message by default; Info PMODE=HARD with SET=n at both sides, or PMODE=SENDER, sends early",
        source="mpipcl library/source/setup.c",
        facts=library_facts.MPIPCL,
    ),
    LibraryProfile(
        "emulated",
        "any MPI library, partitions sent by hand",
        "none",
        max_vcis=64,
        why="one persistent or non-blocking send per partition, a communicator per thread",
        vci_setting=NUM_VCIS,
    ),
    LibraryProfile(
        "mpich-6314",
        "MPICH with pull request 6314 (gillis2023's implementation, never merged)",
        "aggregated",
        part_vcis=64,
        max_vcis=64,
        why="tag-matched messages, aggregated up to MPIR_CVAR_PART_AGGR_SIZE, message i on VCI i mod n",
        source="pmodels/mpich#6314",
        needs="MPICH with pull request 6314",
        installable="mpich-release",
        family="MPICH",
        vci_setting=NUM_VCIS,
    ),
    LibraryProfile(
        "openmpi-13039",
        "Open MPI with pull request 13039 (open)",
        "min size",
        why="partitions are aggregated up to part_persist_min_message_size, into at most "
        "part_persist_max_message_count messages",
        source="open-mpi/ompi#13039 at df918fcf",
        facts=(*library_facts.OPEN_MPI, library_facts.OPEN_MPI_13039),
        needs="Open MPI with pull request 13039",
        installable="openmpi-persist",
        family="Open MPI",
    ),
    LibraryProfile(
        "openmpi-12796",
        "Open MPI with pull request 12796 (part/direct, open)",
        "per partition",
        why="one MPI_Put per sender partition into a window of the request; predicted as one message each",
        source="open-mpi/ompi#12796",
        facts=(library_facts.OPEN_MPI_12796,),
        needs="Open MPI with pull request 12796",
        installable="openmpi-persist",
        family="Open MPI",
    ),
)
LIBRARIES: Mapping[str, LibraryProfile] = {p.name: p for p in _PROFILES}
"""Profiles by name; those that are released first."""


_MEANT = (
    (r"(?:open[-_ ]?mpi|ompi)[-_ ]?v?[1-4]", "openmpi-4"),
    (r"open[-_ ]?mpi|ompi", "openmpi-persist"),
    (r"cray|hpe", "cray-mpich"),
    (r"mvapich2|mvapich[-_ ]?[1-3]|mpich[-_ ]?[1-3]\b", "emulated"),
    (r"mvapich", "mvapich-4"),
    (r"intel|impi", "intel-mpi"),
    (r"mpich", "mpich-release"),
)
"""How people call a library, by pattern, and its profile: the letters of `mpich-4` are nearer to `mvapich-4`."""


def library(name: str) -> LibraryProfile:
    """A library profile by name, of one version if the name ends so: ``openmpi-persist@5.0.11``.

    Raises
    ------
    PreadyError
        An unknown name, or something else than a version behind the ``@``.
    """
    plain, at, version = name.partition("@")
    if plain not in LIBRARIES:
        meant = next((of for words, of in _MEANT if re.match(words, plain.lower())), None)
        problem = f"library = {shown(name)} is unknown{did_you_mean(meant or plain, LIBRARIES)}"
        by_version = "" if at or not version_in(name) else "; a version follows an @, as in openmpi-persist@5.0.6"
        raise PreadyError(problem, valid=", ".join(LIBRARIES) + by_version)
    if at and version_in(version) != version:
        raise PreadyError(f"library = {shown(name)}: {shown(version)} is no version", valid=f"such as {plain}@5.0.11")
    return LIBRARIES[plain].at(version)


_EARLY: Mapping[Family, str] = {"MPICH": "mpich-6314", "ParaStation": "mpipcl", "any": "mpipcl"}


def early(profile: LibraryProfile) -> LibraryProfile | None:
    """What sends partitions early in place of a library that does not, or has no partitioned calls; None: it does."""
    if profile.part is not None and profile.early:
        return None
    return LIBRARIES[_EARLY.get(profile.family, "openmpi-persist")]


def mpich_6314_messages(sender_partitions: int, receiver_partitions: int, buffer: float, aggregate: float) -> int:
    """Messages that pmodels/mpich#6314 sends for one buffer (gillis2023 3.2.1).

    As many as both sides' partitions divide into, so that no partition contributes to two; then as many
    of them together as fit into `aggregate` bytes (MPIR_CVAR_PART_AGGR_SIZE; 0 is off) and divide them evenly.
    """
    messages = math.gcd(sender_partitions, receiver_partitions)
    together = int(aggregate * messages // buffer)
    return messages // max((d for d in range(1, together + 1) if messages % d == 0), default=1)
