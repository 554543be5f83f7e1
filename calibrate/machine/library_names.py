"""Library profiles by the version string of MPI_Get_library_version, vendor by vendor.

A name is a first guess; whether MPI_Pready sends early is measured, and the measurement has the last word
(`pready.model.advice.predict.effective_library`).
"""

from __future__ import annotations

import re

RULES: tuple[tuple[str, str], ...] = (
    # HPC-X, Spectrum MPI and distributions call themselves Open MPI. part/persist came with 5.0.
    (r"Open MPI v?([0-4])\.", "emulated"),
    (r"Open MPI", "openmpi-persist"),
    # Vendors' builds of MPICH name the base they were made from; its partitioned operations came with 4.0.
    (r"CRAY MPICH.*ANL base [0-3]\.", "emulated"),
    (r"CRAY MPICH", "mpich-release"),
    (r"MVAPICH2 Version", "emulated"),
    (r"MVAPICH2?[- ]?\w* Version", "mpich-release"),
    (r"Intel\(R\) MPI Library (201\d|2021\.[0-9]\b)", "emulated"),
    (r"Intel\(R\) MPI Library", "mpich-release"),
    (r"MPICH Version:\s*[0-3]\.", "emulated"),
    (r"MPICH Version", "mpich-release"),
)
"""Pattern and profile, the first that is found; no other library is known to have partitioned operations."""


def profile_of(version: str) -> str:
    """The name of the profile in `pready.model.approach.libraries`."""
    return next((profile for pattern, profile in RULES if re.search(pattern, version, re.IGNORECASE)), "emulated")
