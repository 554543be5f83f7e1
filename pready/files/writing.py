"""Atomic writing: a file is complete or unchanged."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from pready.model.common.errors import PreadyError


def check_writable(path: Path, valid_suffixes: tuple[str, ...] = ()) -> None:
    """Refuse an output path before any work.

    Raises
    ------
    PreadyError
        A directory, a missing or read-only folder, or an unknown suffix.
    """
    name = str(path)
    if valid_suffixes and path.suffix.lower() not in valid_suffixes:
        raise PreadyError(f"suffix = {path.suffix!r}", valid=", ".join(valid_suffixes), source=name)
    try:
        if path.is_dir():
            raise PreadyError("is a directory", valid="a file name", source=name)
        if not path.parent.is_dir():
            raise PreadyError(f"folder {str(path.parent)!r} does not exist", valid="an existing folder", source=name)
        if path.exists() and not os.access(path, os.W_OK):
            raise PreadyError("is read-only", valid="a writable file", source=name)
        # Permissions do not suffice: root passes them, and /proc takes no files.
        tempfile.TemporaryFile(dir=path.parent).close()
    except (OSError, ValueError) as error:
        if isinstance(error, PreadyError):
            raise
        reason = getattr(error, "strerror", None) or str(error)
        raise PreadyError(f"cannot be written: {reason}", valid="a file in a writable folder", source=name) from None


def make_folder(folder: Path, names: Sequence[str]) -> None:
    """Make a folder for files of these names; its contents stay.

    Raises
    ------
    PreadyError
        The folder cannot be made, or one of the files cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise PreadyError(f"cannot be made: {reason}", valid="a folder", source=str(folder)) from None
    for name in names:
        check_writable(folder / name)


def write_with(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a temporary file, then replace `path` by it."""
    check_writable(path)
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=path.suffix, dir=path.parent)
        os.close(handle)
        temporary = Path(name)
        try:
            write(temporary)
            umask = os.umask(0)
            os.umask(umask)
            temporary.chmod(0o666 & ~umask)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise PreadyError(f"cannot be written: {reason}", valid="a writable file", source=str(path)) from None


def write_text(path: Path, text: str) -> None:
    """Replace the file's content by `text` (UTF-8)."""
    write_with(path, lambda p: p.write_text(text, encoding="utf-8"))
