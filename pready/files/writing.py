"""Output files: checked before the work, written beside and renamed; a file that is there stays unless asked."""

from __future__ import annotations

import filecmp
import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import count
from pathlib import Path

from pready.model.common.errors import PreadyError

_REPLACING = ContextVar("_REPLACING", default=False)
_NUMBER = count()

Write = Callable[[Path], object]
"""Fills the file of a path."""


class UnwrittenError(PreadyError):
    """Output could not be written, through no fault of the input: a full disk, a closed stream."""


@contextmanager
def replacing() -> Iterator[None]:
    """Let files that are there be replaced (``--overwrite``)."""
    token = _REPLACING.set(True)
    try:
        yield
    finally:
        _REPLACING.reset(token)


@contextmanager
def writing_to(what: object) -> Iterator[None]:
    """Turn a system's error on writing into one that names the file or stream. Raises UnwrittenError: naming `what` and
    the system's reason."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise UnwrittenError(f"cannot be written: {reason}", source=str(what)) from None


def check_new(path: Path, suffixes: tuple[str, ...] = ()) -> None:
    """Refuse an output path, or a file that is there, before work that takes long. Raises PreadyError: as
    `check_writable`; or the file exists, outside `replacing`."""
    check_writable(path, suffixes)
    if path.exists() and not _REPLACING.get():
        raise _there(path)


def check_writable(path: Path, suffixes: tuple[str, ...] = ()) -> None:
    """Refuse an output path before any work; a file that is there is compared when it is written. Raises PreadyError: a
    directory, a device, a missing or read-only folder, or an unknown suffix."""
    name = str(path)
    if suffixes and path.suffix.lower() not in suffixes:
        raise PreadyError(f"suffix = {path.suffix!r}", valid=", ".join(suffixes), source=name)
    try:
        if path.is_dir():
            raise PreadyError("is a directory", valid="a file name", source=name)
        file = path.resolve()  # a link stays a link: what it points to is written
        if not file.parent.is_dir():
            raise PreadyError(f"folder {str(path.parent)!r} does not exist", valid="an existing folder", source=name)
        if file.exists() and not file.is_file():
            raise PreadyError("is a device or a pipe", valid="a file name", source=name)
        if file.exists() and not os.access(file, os.W_OK):
            raise PreadyError("is read-only", valid="a writable file", source=name)
        # Permissions do not suffice: root passes them, and /proc takes no files.
        _beside(file).unlink()
    except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: links in a circle
        if isinstance(error, PreadyError):
            raise
        reason = getattr(error, "strerror", None) or str(error)
        raise PreadyError(f"cannot be written: {reason}", valid="a file in a writable folder", source=name) from None


def make_folder(folder: Path, names: Sequence[str], check: Callable[[Path], object] = check_writable) -> None:
    """Make a folder for files of these names; its contents stay. Raises PreadyError: the folder cannot be made; or as
    `check` of each file."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise PreadyError(f"cannot be made: {reason}", valid="a folder", source=str(folder)) from None
    for name in names:
        check(folder / name)


def check_same(path: Path, text: str) -> None:
    """Refuse a file that is there with another content than `text`, outside `replacing`."""
    if not _REPLACING.get() and path.is_file() and path.read_bytes() != text.encode():
        raise _there(path)


def write_all(files: Mapping[Path, Write]) -> None:
    """Write all files or none: each beside its place, then renamed. Modes follow the umask; a file that is replaced
    keeps its own, and one with the same content is left as it is. Raises PreadyError: as `check_writable`; or one
    exists with another content, outside `replacing`; UnwrittenError: such as on a full disk."""
    made: list[tuple[Path, Path]] = []
    try:
        for path, write in files.items():
            check_writable(path)
            file = path.resolve()
            with writing_to(path):
                made.append((_beside(file), file))
                write(made[-1][0])
                if file.exists():
                    if filecmp.cmp(made[-1][0], file, shallow=False):
                        made.pop()[0].unlink()
                        continue
                    made[-1][0].chmod(stat.S_IMODE(file.stat().st_mode))
            if file.exists() and not _REPLACING.get():
                raise _there(path)
        while made:
            with writing_to(made[0][1]):
                made[0][0].replace(made[0][1])
            made.pop(0)
    finally:
        for temporary, _ in made:
            temporary.unlink(missing_ok=True)


def write_with(path: Path, write: Write) -> None:
    """Let `write` fill one file; as `write_all`."""
    write_all({path: write})


def write_text(path: Path, text: str) -> None:
    """Write one file of text (UTF-8); as `write_all`."""
    write_all({path: texts(text)})


def texts(text: str) -> Write:
    """For `write_all`: this text."""
    return lambda path: path.write_text(text, encoding="utf-8")


def _there(path: Path) -> PreadyError:
    return PreadyError("is there already", valid="another name, or --overwrite to replace it", source=str(path))


def _beside(file: Path) -> Path:
    """A new empty file in the same folder, with the same suffix; its mode follows the umask."""
    while True:
        path = file.with_name(f".pready-{os.getpid()}-{next(_NUMBER)}{file.suffix}")
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        except FileExistsError:
            continue
        return path
