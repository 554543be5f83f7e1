"""Job scripts of four schedulers, by their printed form."""

import subprocess
from pathlib import Path

import pytest

from pready.calibrate.measure.job_script import SCHEDULERS, Job, script, without_option
from pready.cli import main
from pready.model.common.errors import PreadyError

JOB = Job("pready-prove", nodes=4, per_node=2, threads=6, time_s=3601)
COMMAND = ["pready", "prove", "my halo.toml", "--launcher", "x"]
HEADS = {
    "slurm": """#!/bin/bash
#SBATCH --job-name=pready-prove
#SBATCH --nodes=4
#SBATCH --ntasks=8
#SBATCH --ntasks-per-node=2
#SBATCH --cpus-per-task=6
#SBATCH --hint=nomultithread
#SBATCH --exclusive
#SBATCH --time=01:01:00

set -eu
export SRUN_CPUS_PER_TASK=6
""",
    "pbs": """#!/bin/bash
#PBS -N pready-prove
#PBS -l select=4:ncpus=12:mpiprocs=2:ompthreads=6
#PBS -l place=scatter:excl
#PBS -l walltime=01:01:00

set -eu
cd "$PBS_O_WORKDIR"
""",
    "flux": """#!/bin/bash
#flux: --job-name=pready-prove
#flux: --nodes=4
#flux: --exclusive
#flux: --time-limit=61m

set -eu
""",
    "lsf": """#!/bin/bash
#BSUB -J pready-prove
#BSUB -nnodes 4
#BSUB -W 01:01

set -eu
""",
}
LAUNCHERS = {
    "slurm": "srun -N 4 -n 8 -c 6",
    "pbs": "mpiexec -n 8 -ppn 2",
    "flux": "flux run -N 4 -n 8 -c 6",
    "lsf": "jsrun -n 8 -r 2 -a 1 -c 6 -b packed:6",
}
SUBMITTED = {"slurm": "sbatch", "pbs": "qsub", "flux": "flux batch", "lsf": "bsub"}


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_a_script_and_what_starts_the_ranks(scheduler: str, tmp_path: Path) -> None:
    pinned = "export OMP_PROC_BIND=close OMP_PLACES=cores\n"
    last = "exec pready prove 'my halo.toml' --launcher x\n"
    assert script(scheduler, JOB, COMMAND) == HEADS[scheduler] + pinned + last
    assert SCHEDULERS[scheduler].launcher(JOB) == LAUNCHERS[scheduler]
    path = tmp_path / "job.sh"
    path.write_text(script(scheduler, JOB, COMMAND), encoding="utf-8")
    subprocess.run(["bash", "-n", str(path)], check=True)


def test_times_and_words() -> None:
    with pytest.raises(PreadyError, match=r"a job of 0 s; valid: a time above 0"):
        script("slurm", Job("j", 2, 1, 8, 0), COMMAND)
    assert without_option(["a", "--job", "pbs", "f", "b"], "--job", 2) == ["a", "b"]


@pytest.mark.parametrize("scheduler", SCHEDULERS)
@pytest.mark.parametrize("launcher", [None, "mpirun -np 64"])
def test_prove_asks_for_the_nodes_of_its_workload(
    scheduler: str, launcher: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    job = tmp_path / "a job.sh"
    words = [
        *("prove", "examples/halo3d.toml", "--set", "grid=2x2x2"),
        *("-o", str(tmp_path / "p"), "--job", scheduler, str(job)),
    ]
    words += [] if launcher is None else ["--launcher", launcher]
    monkeypatch.setattr("sys.argv", ["pready", *words])
    assert main(words) == 0
    assert f"submit it with '{SUBMITTED[scheduler]} '{job}''" in capsys.readouterr().err
    text = job.read_text(encoding="utf-8")
    # 8 ranks of 8 threads, each on a node of its own; three minutes to measure, and ten more.
    assert "--job" not in text.partition("exec ")[2]
    needed = Job("pready-prove", 8, 1, 8, 180 + 600)
    assert list(SCHEDULERS[scheduler].directives(needed)) == text.partition("\n\n")[0].splitlines()[1:]
    assert f"--launcher '{launcher or SCHEDULERS[scheduler].launcher(needed)}'" in text
    assert not (tmp_path / "p").exists()
