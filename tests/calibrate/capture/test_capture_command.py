"""``pready capture``: its options, what it says, and that the command's exit status stays its own."""

import os
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest
from command_line import refused
from given import Capsys, Patch, Request
from programs import Mpi, each_library, pready
from real_mpi import kept
from tables import table_of

from pready.calibrate.capture.environment import exports, variables
from pready.calibrate.capture.files import read_run
from pready.commands import capture

mpi = each_library


@pytest.mark.thorough
def test_capture_and_its_summary(mpi: Mpi, tmp_path: Path) -> None:
    program = mpi.endings()
    assert mpi.library.exists()  # and the command takes it
    done = pready("capture", "-o", tmp_path / "run", "--", *mpi.mpiexec(2), program, "nine")
    assert done.returncode == mpi.run(2, [program, "nine"]).returncode == 9
    # A launcher that sees one rank fail may end the other before it has said so.
    assert set(done.stdout.split("\n")) == {"sum 9990020", ""}
    assert "2 ranks on 1 node" in done.stderr
    assert "\nwork " in done.stderr
    assert [p.rank for p in read_run(tmp_path / "run").ranks] == [0, 1]


@pytest.mark.thorough
def test_environment_for_a_job_script(mpi: Mpi, tmp_path: Path) -> None:
    folder = tmp_path / "a run"
    said = pready("capture", "-o", folder, "--env", "--mpicc", mpi.mpicc[0])
    assert (said.returncode, said.stderr) == (0, "")
    program = mpi.endings()
    script = said.stdout + f"exec {' '.join(mpi.mpiexec(2))} {program} plain\n"
    subprocess.run(["/bin/sh", "-c", script], check=True, timeout=100, capture_output=True)
    assert len(read_run(folder).ranks) == 2


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("script", "status", "said"),
    [
        ("echo mine; exit 5", 5, "nothing was captured: no process called MPI_Init"),
        ("echo mine; LD_PRELOAD= exec ENDINGS", 0, "nothing was captured: 'echo mine; LD_PRELOAD= exec "),
        ("echo mine; ulimit -f 900; exec ENDINGS", 4, "1 processes had no room for their records in "),
        ("echo mine; ulimit -f 900; exec ENDINGS nine", 9, "1 processes had no room for their records in "),
    ],
)
def test_nothing_captured_is_said(script: str, status: int, said: str, tmp_path: Path, request: Request) -> None:
    mpi = Mpi("mpich", kept(request))
    assert mpi.library.exists()
    program = mpi.compiled("endings.c", "-fopenmp", "-DWITH_OPENMP", "-lpthread", name="endings-openmp", cc=["cc"])
    words = ["sh", "-c", script.replace("ENDINGS", str(program))]
    done = pready("capture", "--mpicc", mpi.mpicc[0], "-o", tmp_path / "run", "--", *words)
    assert (done.returncode, done.stdout.startswith("mine\n")) == (status, True)
    assert done.stderr.startswith(f"pready: {said}")


@pytest.mark.parametrize(("words", "said"), table_of("calibrate/refused")["capture"])
def test_refused(tmp_path: Path, words: list[str], said: str, monkeypatch: Patch, capsys: Capsys) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "used" / "file").mkdir(parents=True)
    (tmp_path / "file").write_text("")
    assert said in refused(capsys, "capture", *words)
    assert not (tmp_path / "run").exists()


def test_a_program_that_a_signal_ends_has_the_status_of_a_shell() -> None:
    assert capture._run(("sh", "-c", "kill -9 $$"), dict(os.environ)) == 128 + 9


def test_a_batch_system_s_signal_reaches_the_program(tmp_path: Path) -> None:
    """It is sent to pready alone; the program ends as it does without pready."""
    program = f"trap 'exit 7' TERM; touch {tmp_path / 'up'}; while :; do sleep 0.01; done"

    def send() -> None:
        while not (tmp_path / "up").exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGTERM)

    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        (sender := threading.Thread(target=send)).start()
        assert capture._run(("sh", "-c", program), dict(os.environ)) == 7
        sender.join()
        assert signal.getsignal(signal.SIGTERM) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGTERM, before)


def test_variables() -> None:
    library, folder = Path("/a/lib.so"), Path("/b")
    found = variables(library, folder, 64, ["mpiexec"], {"LD_PRELOAD": "/c/other.so"})
    assert found["LD_PRELOAD"] == "/a/lib.so:/c/other.so"
    assert found["OMPI_MCA_mca_base_env_list"] == "LD_PRELOAD;PREADY_CAPTURE_DIR;PREADY_CAPTURE_MIB"
    assert "OMPI_MCA_mca_base_env_list" not in variables(library, folder, 64, ["mpiexec", "-x", "PATH"], {})
    assert exports({"A": "b c"}) == "export A='b c'\n"
