"""Where the MPI libraries to test with are."""

import os
from pathlib import Path

import pytest
from real_mpi import LIBRARIES


def home_of(library: str) -> Path:
    """The prefix of a library; the test is skipped where no variable names it."""
    variable, _ = LIBRARIES[library]
    if not os.environ.get(variable):
        pytest.skip(f"{variable} is not set: no {library} to test with")
    return Path(os.environ[variable])
