"""SST on this machine: finding it, and building the element library on first use."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pready.files import cache as user_cache
from pready.model.common.errors import PreadyError, shown
from pready.sst.parameters import SOURCES

INSTALL = "spack install sst-elements (or build sst-core and sst-elements), then put its bin folder on PATH"
HEADERS = "PREADY_SST_HEADERS"
"""The variable that names the sources of sst-elements, whose headers SST does not install; `--headers` sets it."""
EMBER = Path("sst/elements/ember")
"""Ember within the sources."""


class MissingSST(PreadyError):
    """SST, or a part of it that is needed, is not there."""


@dataclass(frozen=True)
class Installation:
    """An SST that was found."""

    sst: str
    config: str
    info: str
    version: str


@cache
def find() -> Installation:
    """The SST on PATH. Raises MissingSST: names what is missing and how to get it."""
    paths = {name: shutil.which(name) for name in ("sst", "sst-config", "sst-info")}
    missing = [name for name, path in paths.items() if path is None]
    if missing:
        raise MissingSST(f"SST is not installed here: no {', '.join(missing)} on PATH", valid=INSTALL)
    found = {name: str(Path(str(path)).resolve()) for name, path in paths.items()}  # one SST, by whatever link
    if not any(_asked(found["sst-config"], key, "ember") for key in ("SST_ELEMENT_LIBRARY", "SST_ELEMENT_SOURCE")):
        raise MissingSST("SST is installed without its element library ember", valid=INSTALL)
    return Installation(
        found["sst"], found["sst-config"], found["sst-info"], _asked(found["sst"], "--version") or "unknown version"
    )


def available() -> bool:
    """Is there an SST to use?"""
    try:
        find()
    except MissingSST:
        return False
    return True


def _asked(command: str, *arguments: str) -> str:
    done = subprocess.run([command, *arguments], capture_output=True, text=True, check=False, timeout=60)
    return done.stdout.strip() if done.returncode == 0 else ""


def named_headers() -> Path | None:
    """The folder that Ember's headers are included from, as `HEADERS` names it; None if it does not. Raises
    PreadyError: there are no headers."""
    named = os.environ.get(HEADERS)
    if not named:
        return None
    for folder in (Path(named), Path(named, "src")):
        if (folder / EMBER / "embergen.h").exists():
            return folder.absolute()
    raise PreadyError(f"{HEADERS} = {shown(named)} has no {EMBER}/embergen.h", valid="the sources of sst-elements")


def source_folder(config: str) -> Path | None:
    """The folder that Ember's headers are included from: a named one, else that which sst-elements has registered.

    None if that is gone: `make install` copies no headers, and Spack removes the sources.
    """
    if (named := named_headers()) is not None:
        return named
    registered = _asked(config, "SST_ELEMENT_SOURCE", "ember")
    folder = Path(registered).joinpath(*[".."] * len(EMBER.parts)).resolve()
    return folder if registered and (folder / EMBER / "embergen.h").exists() else None


def cache_folder() -> Path:
    """Where built libraries and fitted parameters are kept."""
    return user_cache.cache_folder() / "sst"


def fingerprint(installation: Installation) -> str:
    """A name that changes with the sources and with the SST that they are built for."""
    digest = hashlib.sha256()
    for path in sorted(SOURCES.iterdir()):
        digest.update(path.name.encode() + path.read_bytes())
    for text in (installation.version, installation.config):
        digest.update(text.encode())
    return digest.hexdigest()[:16]


def build(on_build: Callable[[], object] | None = None) -> Path:
    """The folder of ``libpready.so``, built if it is not there yet. `on_build`: called before a build, which takes up
    to a minute. Raises MissingSST: no SST, no CMake or no compiler; PreadyError: the build failed; the log is named."""
    installation = find()
    folder = cache_folder() / f"library-{fingerprint(installation)}"
    if not (folder / "libpready.so").exists():
        _compile(installation, folder, on_build)
    _register(installation, folder)
    return folder


def _compile(installation: Installation, folder: Path, on_build: Callable[[], object] | None) -> None:
    sources = source_folder(installation.config)
    if sources is None:
        raise MissingSST(
            "Ember's headers are gone: SST does not install them, and the sources of its elements were removed",
            valid=f"pready sst --headers FOLDER, or {HEADERS}=FOLDER: sst-elements' sources for {installation.version}",
        )
    cmake = shutil.which("cmake")
    if cmake is None:
        raise MissingSST("the element library is built with CMake, which is not on PATH", valid="pip install cmake")
    if on_build is not None:
        on_build()
    folder.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix="building-", dir=folder.parent))
    log = folder.parent / "build.log"
    with log.open("w", encoding="utf-8") as stream:
        for step in (
            [
                cmake,
                "-S",
                str(SOURCES),
                "-B",
                str(work),
                f"-DSST_CONFIG={installation.config}",
                f"-DSST_ELEMENTS_SOURCE={sources}",
            ],
            [cmake, "--build", str(work), "--parallel", str(os.cpu_count() or 1)],
        ):
            if subprocess.run(step, stdout=stream, stderr=subprocess.STDOUT, check=False).returncode:
                shutil.rmtree(work, ignore_errors=True)
                raise PreadyError(f"the element library did not build: {_reason(log)}", valid=f"see {log}")
    try:
        work.rename(folder)
    except OSError:  # somebody else was faster
        shutil.rmtree(work, ignore_errors=True)


def registered(installation: Installation) -> str:
    """The folder in which SST looks for the library without being told; empty if there is none."""
    return _asked(installation.config, "pready", "pready_LIBDIR")


def _register(installation: Installation, folder: Path) -> None:
    """Tell SST where the library is, so that configurations run by themselves; without a place to write, do not."""
    if registered(installation) == str(folder):
        return
    command = [str(Path(installation.config).with_name("sst-register")), "pready", f"pready_LIBDIR={folder}"]
    with suppress(OSError, RuntimeError):  # RuntimeError: there is no home folder
        if subprocess.run(command, capture_output=True, check=False).returncode:
            own = Path.home() / ".sst" / "sstsimulator.conf"  # SST writes there, but does not create it
            own.parent.mkdir(exist_ok=True)
            own.touch()
            subprocess.run(command, capture_output=True, check=False)


def _reason(log: Path) -> str:
    """The first line of a build log that names an error."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    for i, line in enumerate(lines):
        if line.startswith("CMake Error"):
            return " ".join(lines[i + 1 : i + 3]).strip() or line
        if re.search(r"\b(fatal )?error\b", line):
            return line.strip()
    return lines[-1].strip() if lines else "no output"
