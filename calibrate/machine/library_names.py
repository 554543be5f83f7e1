"""Library profiles by the version string of MPI_Get_library_version, vendor by vendor.

A name is a first guess; whether MPI_Pready sends early is measured, and the measurement has the last word
(`pready.model.advice.predict.effective_library`).
"""

from __future__ import annotations

import re

RULES: tuple[tuple[str, str], ...] = (
    # ParaStation MPI's text also names the MPICH that it was made from.
    (r"ParaStation MPI", "parastation"),
    (r"FUJITSU MPI", "fujitsu-mpi"),
    (r"Spectrum MPI", "spectrum-mpi"),
    # HPC-X and distributions call themselves Open MPI. part/persist came with 5.0.
    (r"Open MPI v?([0-4])\.", "openmpi-4"),
    (r"Open MPI", "openmpi-persist"),
    (r"CRAY MPICH", "cray-mpich"),
    # MVAPICH2 and MVAPICH 3 are made from MPICH 3, which has no partitioned operations.
    (r"MVAPICH2 Version|MVAPICH[- ]?\w* Version:?\s*[0-3]\.", "emulated"),
    (r"MVAPICH[- ]?\w* Version", "mvapich-4"),
    (r"Intel\(R\) MPI Library", "intel-mpi"),
    (r"MPICH Version", "mpich-release"),
)
"""Pattern and profile, the first that is found; no other library is known to have partitioned operations."""


def profile_of(version: str) -> str:
    """The name of the profile in `pready.model.approach.libraries`."""
    return next((profile for pattern, profile in RULES if re.search(pattern, version, re.IGNORECASE)), "emulated")
