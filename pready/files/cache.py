"""The user's cache: programs that were built, and what was found out once about an MPI library."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from platformdirs import user_cache_path

from pready.files.writing import UnwrittenError

VALID = "XDG_CACHE_HOME=FOLDER, a folder that all nodes see"


def cache_folder() -> Path:
    """Where the cache is, whether it exists or not. Raises UnwrittenError: there is no home folder."""
    with suppress(RuntimeError):  # there is no home folder; older releases of platformdirs return "~/.cache"
        folder = user_cache_path("pready")
        if folder.is_absolute():
            return folder
    raise UnwrittenError("the cache has no absolute path: there is no home folder", valid=VALID)


def unwritable_cache(error: OSError) -> UnwrittenError | None:
    """What to say of a system's error at a file of the cache, or at a folder that it is in; None of any other file."""
    file = Path(str(error.filename))
    try:
        cache = cache_folder()
    except UnwrittenError:
        return None
    if not (file.is_relative_to(cache) or cache.is_relative_to(file)):
        return None
    return UnwrittenError(f"cannot be written: {error.strerror}", valid=VALID, source=str(file))
