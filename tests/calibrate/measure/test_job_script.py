"""Job scripts of four schedulers, by their printed form."""

import subprocess
from pathlib import Path

import pytest
from tables import table_of

from pready.calibrate.measure.job_script import SCHEDULERS, Job, script, without_option
from pready.cli import main
from pready.model.common.errors import PreadyError

JOB = Job("pready-prove", nodes=4, per_node=2, threads=6, time_s=7201)
COMMAND = ["pready", "prove", "my halo.toml", "--launcher", "x"]
SCRIPTS = table_of("calibrate/job_scripts")


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_a_script_and_what_starts_the_ranks(scheduler: str, tmp_path: Path) -> None:
    pinned = "export OMP_PROC_BIND=close OMP_PLACES=cores\n"
    last = "exec pready prove 'my halo.toml' --launcher x\n"
    assert script(scheduler, JOB, COMMAND) == SCRIPTS[scheduler]["head"] + pinned + last
    assert SCHEDULERS[scheduler].launcher(JOB) == SCRIPTS[scheduler]["launcher"]
    path = tmp_path / "job.sh"
    path.write_text(script(scheduler, JOB, COMMAND), encoding="utf-8")
    subprocess.run(["bash", "-n", str(path)], check=True)


def test_times_and_words() -> None:
    with pytest.raises(PreadyError, match=r"a job of 0 s; valid: a time above 0"):
        script("slurm", Job("j", 2, 1, 8, 0), COMMAND)
    assert "--time=00:01:00\n" in script("slurm", Job("j", 2, 1, 8, 0.5), COMMAND)
    assert without_option(["a", "--job", "pbs", "f", "b"], "--job", 2) == ["a", "b"]


@pytest.mark.parametrize("scheduler", SCHEDULERS)
@pytest.mark.parametrize(("launcher", "each"), [(None, 1), ("mpirun -np 64", 2)])
def test_prove_asks_for_the_nodes_of_its_workload(
    scheduler: str, launcher: str | None, each: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setattr("shutil.which", lambda name: f"/opt/{name}")
    job = tmp_path / "a job.sh"
    words = [
        *("prove", "examples/halo3d.toml", "--set", "grid=2x2x2", "--set", f"ranks_per_node={each}"),
        *("-o", str(tmp_path / "p"), "--job", scheduler, str(job)),
    ]
    words += [] if launcher is None else ["--launcher", launcher]
    monkeypatch.setattr("sys.argv", ["pready", *words])
    assert main(words) == 0
    assert f"submit it with '{SCRIPTS[scheduler]['submitted']} '{job}''" in capsys.readouterr().err
    text = job.read_text(encoding="utf-8")
    # 8 ranks of 8 threads, each or two on a node; three minutes to measure, and ten more.
    assert text.partition("exec ")[2].startswith("/opt/pready prove ")
    assert "--job" not in text.partition("exec ")[2]
    needed = Job("pready-prove", 8 // each, each, 8, 180 + 600)
    assert list(SCHEDULERS[scheduler].directives(needed)) == text.partition("\n\n")[0].splitlines()[1:]
    assert f"--launcher '{launcher or SCHEDULERS[scheduler].launcher(needed)}'" in text
    assert not (tmp_path / "p").exists()
