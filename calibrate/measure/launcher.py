"""How a program gets onto two nodes: a launcher's words, and the job script that runs the whole calibration."""

from __future__ import annotations

import math
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from pready.model.common.errors import PreadyError


class LauncherError(PreadyError):
    """A launcher that cannot be used; the message names it."""


@dataclass(frozen=True)
class Launcher:
    """Starts a program on some ranks.

    `prefix` and one entry of `parts` go before the program. One part is the usual form ("srun -N 2 -n 2"); several
    are MPMD, joined by ":", which is how each rank gets a network namespace of its own on the rig.
    """

    prefix: tuple[str, ...]
    parts: tuple[tuple[str, ...], ...] = ((),)
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables set for the program, besides the caller's own."""
    label: str = ""
    """The name of this way of launching in the records; the words of the prefix if empty."""
    ranks: int | None = None
    """How many it starts, where that is known: a user's words say it to the launcher alone."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """From a user's string, such as "srun -N 2 -n 2" or "mpiexec -n 2".

        Raises
        ------
        LauncherError
            It is empty, cannot be split, or its first word is not an executable.
        """
        try:
            words = shlex.split(text)
        except ValueError as error:
            raise LauncherError(f"launcher '{text}': {error}") from None
        if not words:
            raise LauncherError("launcher is empty; for example: --launcher 'srun -N 2 -n 2'")
        if shutil.which(words[0]) is None:
            raise LauncherError(f"launcher '{text}': no command '{words[0]}' here")
        return cls(tuple(words), label=shlex.join(words))

    @property
    def name(self) -> str:
        """The label, or the words of the prefix."""
        return self.label or shlex.join(self.prefix)

    def command(self, program: Sequence[str]) -> list[str]:
        """The whole command line."""
        words = list(self.prefix)
        for number, part in enumerate(self.parts):
            words += [*([":"] if number else []), *part, *program]
        return words


def slurm_script(
    command: Sequence[str],
    *,
    time_s: float,
    threads: int,
    options: Sequence[str] = (),
    setup: Sequence[str] = (),
    pin: bool = True,
) -> str:
    """Text of a job script: two nodes, one rank each, the calibration command as it stands.

    The command resumes what an earlier job has measured, so a job that ran out of time is submitted again unchanged.

    Parameters
    ----------
    command
        The whole `pready calibrate ...` command, with its --launcher.
    time_s
        Time limit in seconds; rounded up to a minute.
    threads
        Most of a rank: it asks for as many cores.
    options
        Further options, such as "--partition=standard".
    setup
        Shell lines before the command, such as "module load mpich".
    pin
        Whether each thread shall stay on its core.
    """
    if not command:
        raise LauncherError("no command for the job script")
    if not (math.isfinite(time_s) and time_s > 0):
        raise LauncherError(f"time_s = {time_s} is not valid: a time above 0")
    minutes = math.ceil(time_s / 60)
    header = [
        "#!/bin/bash",
        "#SBATCH --job-name=pready-calibrate",
        "#SBATCH --nodes=2",
        "#SBATCH --ntasks=2",
        "#SBATCH --ntasks-per-node=1",
        f"#SBATCH --cpus-per-task={threads}",
        "#SBATCH --hint=nomultithread",
        "#SBATCH --exclusive",
        f"#SBATCH --time={minutes // 60:02d}:{minutes % 60:02d}:00",
        *(f"#SBATCH {option}" for option in options),
    ]
    # srun has not taken --cpus-per-task over from its job since Slurm 22.05, unless told so here or by -c.
    cores = [f"export SRUN_CPUS_PER_TASK={threads}"]
    if pin:
        cores.append("export OMP_PROC_BIND=close OMP_PLACES=cores")
    body = ["", "set -eu", *setup, *cores, f"exec {shlex.join(command)}", ""]
    return "\n".join(header + body)


def write_slurm_script(
    path: Path,
    command: Sequence[str],
    *,
    time_s: float,
    threads: int,
    options: Sequence[str] = (),
    setup: Sequence[str] = (),
    pin: bool = True,
) -> None:
    """Write `slurm_script` to a file and make it executable."""
    text = slurm_script(command, time_s=time_s, threads=threads, options=options, setup=setup, pin=pin)
    path.write_text(text)
    path.chmod(0o755)
