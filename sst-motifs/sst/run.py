"""Running SST: with its element library, in one process or several, its failures recognised."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pready.model.common.errors import PreadyError
from pready.sst import library, results


@dataclass(frozen=True)
class Run:
    """A simulation that ended well."""

    simulated_s: float
    wall_s: float


@dataclass(frozen=True)
class How:
    """How to start SST."""

    processes: int = 1
    """Through ``mpirun -n`` if more than one."""
    threads: int = 1
    """Threads of each process (``sst -n``)."""
    launcher: str = "mpirun"
    on_wait: Callable[[float], None] | None = None
    """Called now and then with the seconds that a run has taken."""

    def command(self, sst: str, config: Path, libraries: Path) -> list[str]:
        """The command line.

        Raises
        ------
        PreadyError
            No launcher.
        """
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


def run(config: Path, how: How | None = None) -> Run:
    """Run a configuration.

    Raises
    ------
    MissingSST
        There is no SST.
    PreadyError
        What went wrong in one line; the full output is in a file beside the configuration.
    """
    how = how or How()
    installation = library.find()
    command = how.command(installation.sst, config, library.build())
    log = config.with_suffix(".log")
    started = time.monotonic()
    with log.open("w", encoding="utf-8") as stream:
        process = subprocess.Popen(command, stdout=stream, stderr=subprocess.STDOUT, cwd=config.parent, text=True)
        try:
            while process.poll() is None:
                elapsed = time.monotonic() - started
                if how.on_wait is not None:
                    how.on_wait(elapsed)
                time.sleep(0.02 if elapsed < 2 else 0.2)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
    wall_s = time.monotonic() - started
    output = log.read_text(encoding="utf-8", errors="replace")
    problem = results.failure(output, process.returncode)
    if problem is not None:
        raise PreadyError(problem, source=f"{config.name} ({log})")
    return Run(results.simulated_time(output), wall_s)
