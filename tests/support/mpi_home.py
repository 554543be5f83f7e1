"""Where the MPI libraries to test with are."""

import os
from pathlib import Path

from needs import need
from real_mpi import LIBRARIES


def home_of(library: str) -> Path:
    """The prefix of a library; the test is skipped where it is lacking."""
    need(library)
    return Path(os.environ[LIBRARIES[library][0]])
