"""Running SST: with its element library, in one process or several, its failures recognised."""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from pready.model.common.errors import PreadyError
from pready.sst import library, results


@dataclass(frozen=True)
class How:
    """How to start SST."""

    processes: int = 1  # through ``mpirun -n`` if more than one
    threads: int = 1  # threads of each process (``sst -n``)
    launcher: str = "mpirun"
    on_wait: Callable[[float, str], None] | None = None
    """Called now and then with the seconds that a run has taken and, as soon as rank 0 says so, how far it is."""

    def command(self, sst: str, config: Path, libraries: Path) -> list[str]:
        """The command line. Raises PreadyError: no launcher."""
        command = [sst, f"--add-lib-path={libraries}"]
        if self.threads > 1:
            command += ["-n", str(self.threads)]
        if self.processes > 1:
            launcher = shutil.which(self.launcher)
            if launcher is None:
                raise PreadyError(
                    f"{self.launcher} is not on PATH", valid="an MPI launcher, the one SST was built with"
                )
            command = [launcher, "-n", str(self.processes), *command]
        return [*command, str(config)]


@contextmanager
def stopped_in_order() -> Iterator[None]:
    """SIGTERM, which schedulers send, ends SST and removes what is temporary, as Ctrl-C does; exit status 143."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, _: object) -> None:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


_ITERATION = re.compile(r"^pready: (iteration \d+ of \d+)$", re.MULTILINE)


def so_far(output: str) -> str:
    """The last iteration that rank 0 of the motifs said it has done; empty before."""
    said = _ITERATION.findall(output)
    return said[-1] if said else ""


@contextmanager
def _started(command: Sequence[str], folder: Path, log: IO[str]) -> Iterator[subprocess.Popen[str]]:
    """A run that ends, on the way out, with all its processes: mpirun passes SIGTERM on."""
    process = subprocess.Popen(
        command, stdout=log, stderr=subprocess.STDOUT, cwd=folder, text=True, start_new_session=True
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            with suppress(ProcessLookupError, subprocess.TimeoutExpired):
                os.killpg(process.pid, signal.SIGTERM)
                process.wait(timeout=5)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def run(config: Path, how: How | None = None) -> None:
    """Run a configuration. Raises MissingSST: there is no SST; PreadyError: what went wrong in one line; the full
    output is in a file beside the configuration."""
    how, config = how or How(), config.absolute()
    installation = library.find()
    command = how.command(installation.sst, config, library.build())
    log = config.with_suffix(".log")
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # which SST inherits
    started = time.monotonic()
    with (
        stopped_in_order(),
        log.open("w", encoding="utf-8") as stream,
        _started(command, config.parent, stream) as process,
    ):
        while process.poll() is None:
            elapsed = time.monotonic() - started
            if how.on_wait is not None:
                how.on_wait(elapsed, so_far(log.read_text(encoding="utf-8", errors="replace")))
            time.sleep(0.02 if elapsed < 2 else 0.2)
    output = log.read_text(encoding="utf-8", errors="replace")
    problem = results.failure(output, process.returncode)
    if problem is not None:
        raise PreadyError(problem, source=f"{config.name} ({log})")
