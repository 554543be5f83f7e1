"""Build the preloaded library with the site's MPI compiler, once per source and compiler."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pready.calibrate.capture.files import PRELOAD
from pready.calibrate.measure.compile import BuildError, folder_of, make_once, run_tool, source_identity

NAME = "libpready_capture.so"
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic")


def place_of(mpicc: Sequence[str], cache: Path | None = None, flags: Sequence[str] = ()) -> Path:
    """Where the library of a compiler and flags is kept; see `build_library`."""
    identity = source_identity([*PRELOAD.glob("*.[ch]"), *PRELOAD.glob("*.def")])
    return folder_of("capture", mpicc, [identity, *flags], cache) / NAME


def build_library(mpicc: Sequence[str], *, cache: Path | None = None, flags: Sequence[str] = ()) -> Path:
    """Build the library, or return an earlier build; a BuildError if the compiler fails, or LD_PRELOAD cannot name the
    folder. Tests add "-Werror", which a user's newer compiler might not pass."""
    library = place_of(mpicc, cache, flags)
    if any(c in str(library) for c in " :;"):
        raise BuildError(f"LD_PRELOAD cannot name {library}: it holds a blank, ':' or ';'; set XDG_CACHE_HOME")
    # --as-needed precedes the wrapper's libraries: a process without MPI must not load it through us.
    options = ["-std=gnu11", "-D_GNU_SOURCE", *WARNINGS, "-O2", "-g", "-fPIC", "-fvisibility=hidden"]
    link = ["-shared", "-Wl,--as-needed", *map(str, sorted(PRELOAD.glob("*.c"))), "-ldl", "-lpthread"]
    make_once(library, lambda made: run_tool([*mpicc, *options, *flags, "-o", str(made), *link]))
    return library
