"""Names of places in the code, from the program's symbol table and from addr2line if installed."""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
from bisect import bisect_right
from functools import lru_cache
from pathlib import Path

from pready.calibrate.capture.files import Place

TIMEOUT_S = 20.0  # seconds for c++filt
FORTRAN_MAIN = "main program"
_SYMTAB, _DYNSYM, _FUNCTION = 2, 11, 2
_OUTLINED = re.compile(r"(\._omp_fn\.\d+|\.omp_outlined\S*|\.(constprop|isra|part|cold)\.\d+)+$")


def name_of(place: Place | None) -> str:
    function, line = function_of(place), line_of(place)
    return f"{function} ({line})" if line else function


def function_of(place: Place | None) -> str:
    """The function that a place is in, as its author wrote it; object and offset where there are no symbols.

    The compiler makes functions of its own of parallel regions; they are called as the function they were in.
    """
    if place is None:
        return "unknown"
    if place.name:
        return place.name
    function = _OUTLINED.sub("", _function(place.object, _at(place)))
    return _as_written(_demangled(function)) or f"{Path(place.object).name}+{place.offset:#x}"


def has_symbol(place: Place) -> bool:
    """Is the function known by name?"""
    return bool(place.name or _function(place.object, _at(place)))


def line_of(place: Place | None) -> str:
    """File and line; empty if unknown."""
    return "" if place is None or place.name else _line(place.object, _at(place))


def _at(place: Place) -> int:
    """A return address follows the call; the byte before it belongs to the call."""
    return place.offset - (1 if place.is_return else 0)


def _as_written(name: str) -> str:
    """Fortran's names as in its source: of the main program, of a procedure of a module, and of one of its own."""
    if name == "MAIN__":
        return FORTRAN_MAIN
    in_module = re.fullmatch(r"__\w+?_MOD_(\w+)|\w+?_mp_(\w+)_", name)
    if in_module:
        return in_module[1] or in_module[2]
    return re.sub(r"(?<=\w)_{1,2}$", "", name) if not name.startswith("_") else name


def _function(file: str, offset: int) -> str:
    """The function at an offset; a stripped file may have none."""
    functions = _functions(file)
    found = bisect_right(functions, offset, key=lambda function: function[0]) - 1
    if found < 0:
        return ""
    start, size, name = functions[found]
    return name if offset < start + max(size, 1) else ""


@lru_cache(maxsize=64)
def _functions(file: str) -> list[tuple[int, int, str]]:
    """Functions of an ELF file: offsets from its first mapped byte, sizes, names; none for other files."""
    try:
        return sorted((at, *function) for at, function in _elf_functions(Path(file).read_bytes()).items())
    except (OSError, struct.error, IndexError, ValueError):
        return []


def _elf_functions(data: bytes) -> dict[int, tuple[int, str]]:
    """64-bit little-endian ELF; see elf(5)."""
    if data[:6] != b"\x7fELF\x02\x01":
        return {}
    programs, sections = struct.unpack_from("<QQ", data, 32)
    program_bytes, program_count, section_bytes, section_count = struct.unpack_from("<4H", data, 54)
    mapped = [
        struct.unpack_from("<Q", data, programs + i * program_bytes + 16)[0]
        for i in range(program_count)
        if struct.unpack_from("<I", data, programs + i * program_bytes)[0] == 1
    ]
    base = min(mapped, default=0) & ~0xFFF
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, sections + i * section_bytes) for i in range(section_count)]
    found: dict[int, tuple[int, str]] = {}
    for _, kind, _, _, at, size, link, _, _, entry in headers:
        if kind not in (_SYMTAB, _DYNSYM) or not entry or at + size > len(data):
            continue
        texts = headers[link]
        strings = data[texts[4] : texts[4] + texts[5]]
        for name, info, _, _, value, length in struct.iter_unpack("<IBBHQQ", data[at : at + size - size % 24]):
            if info & 0xF == _FUNCTION and value:
                text = strings[name : strings.index(b"\0", name)].decode("utf-8", "replace")
                found[value - base] = max(found.get(value - base, (0, "")), (length, text))
    return found


@lru_cache(maxsize=4096)
def _line(file: str, offset: int) -> str:
    """ "halo.c:52", if the program has debug information and binutils are installed."""
    if shutil.which("addr2line") is None or not Path(file).is_file():
        return ""
    said = _said(["addr2line", "-e", file, hex(offset)])
    path, _, number = said.partition(":")
    number = number.split()[0] if number.split() else "?"
    return "" if path in ("", "??") or not number.isdigit() or number == "0" else f"{Path(path).name}:{number}"


@lru_cache(maxsize=4096)
def _demangled(name: str) -> str:
    if not name.startswith("_Z") or shutil.which("c++filt") is None:
        return name
    plain = _said(["c++filt", "--no-params", name])
    return plain or name


def _said(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip().splitlines()[0] if done.returncode == 0 and done.stdout.strip() else ""
