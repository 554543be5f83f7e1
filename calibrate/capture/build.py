"""Build the preloaded library with the site's MPI compiler, once per source and compiler."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from platformdirs import user_cache_path

from pready.calibrate.capture.files import PRELOAD
from pready.calibrate.measure.compile import BuildError, run_tool, version_of, wrapped_command

NAME = "libpready_capture.so"
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic")


def place_of(mpicc: Sequence[str], cache: Path | None = None, flags: Sequence[str] = ()) -> Path:
    """Where the library of a compiler and flags is kept; see `build_library`."""
    words = [*mpicc, version_of(mpicc), wrapped_command(mpicc), *flags]
    total = hashlib.sha256("\0".join(words).encode())
    for path in sorted(PRELOAD.glob("*.[ch]")) + sorted(PRELOAD.glob("*.def")):
        total.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return (cache or user_cache_path("pready")) / "capture" / total.hexdigest()[:20] / NAME


def build_library(mpicc: Sequence[str], *, cache: Path | None = None, flags: Sequence[str] = ()) -> Path:
    """Build the library, or return an earlier build.

    Parameters
    ----------
    mpicc
        As from `pready.calibrate.measure.compile.find_mpicc`.
    cache
        Folder of builds; the user's cache folder if None.
    flags
        Further compiler flags; tests add "-Werror", which a user's newer compiler might not pass.

    Raises
    ------
    BuildError
        The compiler failed, or LD_PRELOAD cannot contain the folder's name.
    """
    library = place_of(mpicc, cache, flags)
    folder, sources = library.parent, sorted(PRELOAD.glob("*.c"))
    if any(c in str(library) for c in " :;"):
        raise BuildError(f"LD_PRELOAD cannot name {library}: it holds a blank, ':' or ';'; set XDG_CACHE_HOME")
    if not os.access(library, os.R_OK):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="building-", dir=folder) as scratch:
            made = Path(scratch) / NAME
            # --as-needed precedes the wrapper's libraries: a process without MPI must not load it through us.
            options = ["-std=gnu11", "-D_GNU_SOURCE", *WARNINGS, "-O2", "-g", "-fPIC", "-fvisibility=hidden"]
            link = ["-shared", "-Wl,--as-needed", "-o", str(made)]
            run_tool([*mpicc, *options, *flags, *link, *map(str, sources), "-ldl", "-lpthread"])
            made.replace(library)  # atomic: two processes may build at the same time
    return library
