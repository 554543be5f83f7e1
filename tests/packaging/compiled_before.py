"""Stands before a compiler's command: what has the same preprocessed source, flags and compiler is not compiled again.

``CMAKE_CXX_COMPILER_LAUNCHER`` names it, ``PREADY_OBJECTS`` the folder where objects are kept; without one, all is
compiled.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

PATHS = ("-o", "-c", "-MF", "-MT", "-MQ", "-isystem", "-I")
"""What names files follows these: their contents are in the preprocessed source."""


def flags(command: list[str]) -> list[str]:
    """All that decides what becomes of a preprocessed source, in an order that does not depend on CMake's release."""
    kept, before = [], ""
    for word in command[1:]:
        if before not in PATHS and not word.startswith(PATHS) and word != "-Werror":
            kept.append(word)
        before = word
    return sorted(kept, key=lambda word: "" if word.startswith("-O") else word)  # of levels, the last one counts


def run(command: list[str], folder: Path | None) -> int:
    """The command's exit status."""
    if "-c" not in command or folder is None:
        return subprocess.call(command)
    at = command.index("-o")
    seen = subprocess.run([*command[:at], *command[at + 2 :], "-E", "-P"], stdout=subprocess.PIPE, check=False)
    version = subprocess.run([command[0], "--version"], stdout=subprocess.PIPE, check=False)
    by = version.stdout.decode().partition(" ")[2]  # c++ and g++ are one
    made_of = [*flags(command), by, seen.stdout.decode()]
    target, made = Path(command[at + 1]), folder / f"{hashlib.sha256(chr(0).join(made_of).encode()).hexdigest()}.o"
    folder.mkdir(parents=True, exist_ok=True)
    with made.with_suffix(".lock").open("w") as lock:  # two builds at a time: one compiles it, the other waits
        fcntl.flock(lock, fcntl.LOCK_EX)
        if seen.returncode == 0 and made.exists():
            shutil.copyfile(made, target)
            return 0
        status = subprocess.call(command)
        if status == 0:
            part = made.with_suffix(".part")
            shutil.copyfile(target, part)
            part.replace(made)
    return status


if __name__ == "__main__":
    where = os.environ.get("PREADY_OBJECTS")
    sys.exit(run(sys.argv[1:], Path(where) if where else None))
