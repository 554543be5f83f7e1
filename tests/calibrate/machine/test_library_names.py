"""Version strings, as the libraries print them, and what they stand for."""

from __future__ import annotations

import pytest
from machines import ideal

from pready.calibrate.machine.library_names import RULES, profile_of
from pready.model.advice.predict import effective_library
from pready.model.approach.libraries import LIBRARIES
from pready.model.machine.machine import Machine


@pytest.mark.parametrize(
    ("version", "profile"),
    [
        ("MPICH Version:      5.0.2\nMPICH Release date: ...", "mpich-release"),
        ("MPICH Version:\t3.4.3", "emulated"),
        ("Open MPI v5.0.11, package: Open MPI root@x Distribution", "openmpi-persist"),
        ("Open MPI v4.1.7a1, package: Open MPI root@hpc-kernel-03 Distribution, ident: 4.1.7a1", "emulated"),  # HPC-X
        ("MPI VERSION    : CRAY MPICH version 8.1.29.16 (ANL base 3.4a2)", "emulated"),
        ("MPI VERSION    : CRAY MPICH version 9.0.0.35 (ANL base 4.1.2)", "mpich-release"),
        ("MVAPICH2 Version      :\t2.3.7", "emulated"),
        ("MVAPICH Version:      3.0", "mpich-release"),
        ("Intel(R) MPI Library 2019 Update 12 for Linux* OS", "emulated"),
        ("Intel(R) MPI Library 2021.14 for Linux* OS", "mpich-release"),
        ("Something else 1.0", "emulated"),
    ],
)
def test_what_a_version_stands_for(version: str, profile: str) -> None:
    assert profile_of(version) == profile


def test_every_profile_exists() -> None:
    assert {profile for _, profile in RULES} <= set(LIBRARIES)


def of_unknown_name(early: bool) -> Machine:
    measured = {"value": early, "source": "measured", "why": "test"}
    data = ideal()
    library = data.library.model_copy(update={"name": "emulated"})
    library = type(library).model_validate({**library.model_dump(exclude_none=True), "early_send": measured})
    return data.model_copy(update={"library": library})


@pytest.mark.parametrize(("early", "key"), [(True, "part"), (False, "part-am")])
def test_what_was_measured_counts_whatever_the_name(early: bool, key: str) -> None:
    profile = effective_library(of_unknown_name(early))
    assert profile.part is not None
    assert profile.part.key == key
    assert "measured" in profile.why
    # A library that the user names is taken at its word.
    assert effective_library(of_unknown_name(early), "emulated").part is None
