"""Version strings, as the libraries print them, and what they stand for."""

import pytest
from machines import ideal

from pready.calibrate.machine.library_names import RULES, profile_of
from pready.model.advice.predict import effective_library
from pready.model.approach.libraries import LIBRARIES
from pready.model.toml.provenance import Value


@pytest.mark.parametrize(
    ("version", "profile"),
    [
        ("MPICH Version:      5.0.2\nMPICH Release date: ...", "mpich-release"),
        ("MPICH Version:\t3.4.3", "mpich-release"),
        ("Open MPI v5.0.11, package: Open MPI root@x Distribution", "openmpi-persist"),
        ("Open MPI v4.1.7a1, package: Open MPI root@hpc-kernel-03 Distribution, ident: 4.1.7a1", "openmpi-4"),  # HPC-X
        ("MPI VERSION    : CRAY MPICH version 8.1.29.16 (ANL base 3.4a2)", "cray-mpich"),
        ("MPI VERSION    : CRAY MPICH version 9.0.0.35 (ANL base 4.1.2)", "cray-mpich"),
        ("MVAPICH2 Version      :\t2.3.7", "emulated"),
        ("MVAPICH Version:      3.0", "emulated"),
        ("MVAPICH Version:      4.0", "mvapich-4"),
        ("Intel(R) MPI Library 2019 Update 12 for Linux* OS", "intel-mpi"),
        ("Intel(R) MPI Library 2021.14 for Linux* OS", "intel-mpi"),
        ("=== ParaStation MPI 5.12.0-1 ===\nMPICH Version:      4.1.2", "parastation"),
        ("FUJITSU MPI Library 4.0.0 (4.0.1fj4.0.0)", "fujitsu-mpi"),
        ("IBM Spectrum MPI 10.4.0.6 (Open MPI v4.0.2)", "spectrum-mpi"),
        ("Something else 1.0", "emulated"),
    ],
)
def test_what_a_version_stands_for(version: str, profile: str) -> None:
    assert profile_of(version) == profile
    assert {name for _, name in RULES} <= set(LIBRARIES)


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("MPICH Version:\t3.4.3", False), ("MPICH Version:      4.0", True),
        ("Open MPI v4.1.4, package: Debian OpenMPI", False),
        ("Open MPI v5.0.11, package: Open MPI root@x Distribution", True),
        ("MPI VERSION    : CRAY MPICH version 8.1.29.16 (ANL base 3.4a2)", False),
        ("MPI VERSION    : CRAY MPICH version 9.0.0.35 (ANL base 4.1.2)", True),
        ("Intel(R) MPI Library 2021.10 for Linux* OS", False), ("Intel(R) MPI Library 2021.14 for Linux* OS", True),
        ("=== ParaStation MPI 5.7.1-1 ===", False), ("=== ParaStation MPI 5.8.0-1 ===", True),
    ],
)  # fmt: skip
def test_a_version_without_partitioned_calls_is_predicted_without(text: str, calls: bool) -> None:
    library = ideal().library.model_copy(update={"name": profile_of(text), "version": text, "early_send": None})
    machine = ideal().model_copy(update={"library": library})
    assert (effective_library(machine).part is not None) == calls


@pytest.mark.parametrize(("early", "key"), [(True, "part"), (False, "part-am")])
def test_what_was_measured_counts_whatever_the_name(early: bool, key: str) -> None:
    measured = Value[bool](value=early, source="measured", why="test")
    library = ideal().library.model_copy(update={"name": "emulated", "early_send": measured})
    machine = ideal().model_copy(update={"library": library})
    profile = effective_library(machine)
    assert profile.part is not None
    assert profile.part.key == key
    assert "measured" in profile.why
    # A library that the user names is taken at its word.
    assert effective_library(machine, "emulated").part is None
