"""The command line through `main`, on the real file system."""

import os
import shlex
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace as Of
from typing import Any

import pytest
from command_line import out, refused
from given import Capsys, Patch
from tables import table_of

from pready.calibrate.machine.values.segments import one_way
from pready.commands.doctor import tried_first
from pready.model.machine.machine import load, profiles

HALO, LAGGARD = "examples/halo3d.toml", "examples/laggard.toml"


@pytest.mark.parametrize("arguments", [["libraries"], ["predict", "--help"], ["predict", LAGGARD, "--json"]])
def test_a_reader_that_went_away_is_no_contradiction(arguments: list[str]) -> None:
    """1 is what `pready prove` ends with if the measurement contradicts the prediction; a shell says 128 + SIGPIPE."""
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as nobody:
        command = [sys.executable, "-m", "pready", *arguments]
        done = subprocess.run(command, check=False, stdout=nobody, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (141, b"")


def test_gain(capsys: Capsys) -> None:
    # gillis2023, A.2.1 (FFT)
    fft = ["theta=8", "arithmetic_intensity=5", "communication_intensity=1", "epsilon=4 %", "frequency=3.5 GHz"]
    said = out(capsys, "gain", "threads=8", "bandwidth=25 GB/s", *fft)
    first, second = said.splitlines()
    alone = "by sending early, with bandwidth alone"
    assert first == f"An exchange gets at most 1.97 times as fast {alone}: pready predict says what is left."
    assert second == "eta = 1.974810  gamma = 1263.672954 us/MB  N_part = 64  regime: bandwidth"
    assert "\neta = 2.666667 " in out(capsys, "gain", "threads=4", "bandwidth=25 GB/s", "gamma=100 us/MB")
    none = out(capsys, "gain", "threads=4", "bandwidth=25 GB/s", "gamma=0 us/MB")
    assert none.startswith(f"No gain: an exchange gets no faster {alone}.\neta = 1.000000 ")


@pytest.mark.parametrize(("line", "said"), table_of("pready/refused")["commands"])
def test_bad_input_is_one_line_and_status_2(capsys: Capsys, line: str, said: str) -> None:
    assert said in refused(capsys, *shlex.split(line))
    assert not Path("app.toml").exists()


def test_machines(capsys: Capsys) -> None:
    listed = out(capsys, "machines")
    assert all(f"\n{name} " in listed for name in profiles())
    (meluxina,) = (line.split() for line in listed.splitlines() if line.startswith("meluxina "))
    assert meluxina[2:6] == ["25", "GB/s", "1.22", "us"]  # gillis2023 4.1, and its footnote 1
    machine = load("meluxina")
    assert one_way(machine, 0) + machine.matching.base.value == pytest.approx(1.22e-6)


def loaded_by(code: str, modules: set[str]) -> str:
    """Which of `modules` have been imported when `code` is done."""
    code += f"; import sys; print(sorted({modules!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1]


@pytest.mark.thorough
def test_start_up_imports_only_what_is_needed() -> None:
    for arguments in (["--version"], ["--help"]):
        code = f"from pready.cli import main; main({arguments!r})"
        assert loaded_by(code, {"numpy", "pydantic", "sympy", "rich", "pready.commands"}) == "[]"
    large = {"sympy", "scipy.special", "matplotlib", "pyarrow"}
    assert loaded_by(f"from pready.cli import main; main({['predict', HALO]!r})", large) == "[]"
    assert loaded_by(f"import pready; pready.predict({str(HALO)!r}, 'meluxina', draws=0)", large) == "[]"


@pytest.mark.thorough
@pytest.mark.parametrize("own", [None, "2"])
def test_numpy_starts_no_threads_and_what_a_command_runs_does_not_know(own: str | None) -> None:
    environ = {k: v for k, v in os.environ.items() if k != "OPENBLAS_NUM_THREADS"}
    code = (
        "import os, sys; from pready.cli import main; main(['predict', '--help']); assert 'numpy' in sys.modules;"
        "print(len(os.listdir('/proc/self/task')), os.environ.get('OPENBLAS_NUM_THREADS'))"
    )
    environ |= {} if own is None else {"OPENBLAS_NUM_THREADS": own}
    done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True)
    threads, there = done.stdout.split()[-2:]
    assert there == str(own)
    assert own or threads == "1"


def test_what_will_disturb_a_measurement_is_said(monkeypatch: Patch, capsys: Capsys) -> None:
    found = [Of(grade=grade, name=grade, says="so", do=do) for grade, do in (("good", "a"), ("bad", "b"), ("poor", ""))]
    monkeypatch.setattr("pready.commands.doctor.quick", lambda *_: found)
    nothing: Any = None
    tried_first(nothing, nothing)
    assert capsys.readouterr().err == "note: bad: so; b\nnote: poor: so\n"


LONG = [f'threads = 2\nbuffer = "1 KiB"\nname = "{"n" * 1000}"\n', "valid: a text of at most 255 characters"]


@pytest.mark.parametrize(("text", "said"), [*table_of("pready/refused")["files"], LONG])
def test_what_is_wrong_in_a_file_is_named(text: str, said: str, tmp_path: Path, capsys: Capsys) -> None:
    file = tmp_path / "w.toml"
    file.write_text(text)
    line = refused(capsys, "predict", file)
    assert said in line
    assert len(line) < 400
