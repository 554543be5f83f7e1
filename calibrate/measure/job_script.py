"""Job scripts by scheduler, one table: what asks for the nodes, what starts the ranks, how the script is submitted."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pready.model.common.errors import PreadyError


@dataclass(frozen=True)
class Job:
    name: str
    nodes: int
    per_node: int
    """Ranks of a node."""
    threads: int
    """Most threads of a rank: as many cores."""
    time_s: float

    @property
    def ranks(self) -> int:
        return self.nodes * self.per_node

    @property
    def minutes(self) -> int:
        return math.ceil(self.time_s / 60)


@dataclass(frozen=True)
class Scheduler:
    directives: Callable[[Job], Sequence[str]]
    """Lines that ask for whole nodes."""
    launcher: Callable[[Job], str]
    """How it starts ranks with a core per thread, unless the user names another way."""
    submit: str
    lines: Callable[[Job], Sequence[str]] = lambda _: ()
    """Shell lines before the command."""


def _clock(minutes: int) -> str:
    return f"{minutes // 60:02d}:{minutes % 60:02d}"


SCHEDULERS: Mapping[str, Scheduler] = {
    "slurm": Scheduler(
        lambda j: (
            f"#SBATCH --job-name={j.name}",
            f"#SBATCH --nodes={j.nodes}",
            f"#SBATCH --ntasks={j.ranks}",
            f"#SBATCH --ntasks-per-node={j.per_node}",
            f"#SBATCH --cpus-per-task={j.threads}",
            "#SBATCH --hint=nomultithread",
            "#SBATCH --exclusive",
            f"#SBATCH --time={_clock(j.minutes)}:00",
        ),
        lambda j: f"srun -N {j.nodes} -n {j.ranks} -c {j.threads}",
        "sbatch",
        # srun has not taken --cpus-per-task over from its job since Slurm 22.05, unless told so here or by -c.
        lambda j: (f"export SRUN_CPUS_PER_TASK={j.threads}",),
    ),
    # PBS Professional and OpenPBS; mpiexec's words are those of HPE's PALS and of MPICH's Hydra.
    "pbs": Scheduler(
        lambda j: (
            f"#PBS -N {j.name}",
            f"#PBS -l select={j.nodes}:ncpus={j.per_node * j.threads}:mpiprocs={j.per_node}:ompthreads={j.threads}",
            "#PBS -l place=scatter:excl",
            f"#PBS -l walltime={_clock(j.minutes)}:00",
        ),
        lambda j: f"mpiexec -n {j.ranks} -ppn {j.per_node}",
        "qsub",
        lambda _: ('cd "$PBS_O_WORKDIR"',),
    ),
    "flux": Scheduler(
        lambda j: (
            f"#flux: --job-name={j.name}",
            f"#flux: --nodes={j.nodes}",
            "#flux: --exclusive",
            f"#flux: --time-limit={j.minutes}m",
        ),
        lambda j: f"flux run -N {j.nodes} -n {j.ranks} -c {j.threads}",
        "flux batch",
    ),
    # Spectrum LSF with jsrun: a resource set for each rank.
    "lsf": Scheduler(
        lambda j: (
            f"#BSUB -J {j.name}",
            f"#BSUB -nnodes {j.nodes}",
            f"#BSUB -W {_clock(j.minutes)}",
        ),
        lambda j: f"jsrun -n {j.ranks} -r {j.per_node} -a 1 -c {j.threads} -b packed:{j.threads}",
        "bsub",
    ),
}


def script(scheduler: str, job: Job, command: Sequence[str]) -> str:
    """Text of a job script that runs a command as it stands; submitted again, the command resumes.

    Parameters
    ----------
    scheduler
        A key of `SCHEDULERS`.
    command
        The whole `pready ...` command, with its --launcher.

    Raises
    ------
    PreadyError
        The time is not above 0.
    """
    if not (math.isfinite(job.time_s) and job.time_s > 0):
        raise PreadyError(f"a job of {job.time_s} s", valid="a time above 0")
    of = SCHEDULERS[scheduler]
    pinned = "export OMP_PROC_BIND=close OMP_PLACES=cores"
    body = ["", "set -eu", *of.lines(job), pinned, f"exec {shlex.join(command)}", ""]
    return "\n".join(["#!/bin/bash", *of.directives(job), *body])


def without_option(words: Sequence[str], option: str, values: int) -> list[str]:
    """A command line without one of its options and its values."""
    at = list(words).index(option)
    return [*words[:at], *words[at + 1 + values :]]
