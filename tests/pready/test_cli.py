"""The command line through `main`, on the real file system."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from command_line import data, out, refused
from given import Capsys, Patch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pready.cli import COMMANDS, cli, main
from pready.model.machine.machine import profiles

HALO, LAGGARD = "examples/halo3d.toml", "examples/laggard.toml"
NODE = ("calibrate", "--ranks-per-node", "2", "-o", "none.toml")
REPORT = "tests/data/importers/mpip_3.5.mpiP"


@pytest.mark.parametrize("group", [(), ("sst",)])
def test_a_group_alone_says_its_commands_line_by_line(capsys: Capsys, group: tuple[str, ...]) -> None:
    said = out(capsys, *group)
    assert said == out(capsys, *group, "--help")
    assert "\nCommands:\n" in said


def test_a_file_is_named_without_what_would_move_the_cursor(capsys: Capsys, tmp_path: Path) -> None:
    file = tmp_path / "a\x1b[31m.toml"
    file.write_bytes(Path("examples/laggard.toml").read_bytes().replace(b'name = "laggard"\n', b""))
    said = out(capsys, "explain", str(file))
    assert r"a\x1b[31m on MeluXina" in said
    assert "\x1b" not in said


@pytest.mark.parametrize("arguments", [["libraries"], ["predict", "--help"], ["predict", LAGGARD, "--json"]])
def test_a_reader_that_went_away_is_no_contradiction(arguments: list[str]) -> None:
    """1 is what `pready prove` ends with if the measurement contradicts the prediction; a shell says 128 + SIGPIPE."""
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as nobody:
        command = [sys.executable, "-m", "pready", *arguments]
        done = subprocess.run(command, check=False, stdout=nobody, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (141, b"")


def test_an_error_after_work_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "times.csv").write_text("1,2\n2,1\n")
    file = tmp_path / "w.toml"
    file.write_text(
        'threads = 2\nbuffer = "8 KiB"\npattern = "halo3d"\ngrid = [2, 2, 1]\niterations = 4\n'
        'compute = {time = "1 ms"}\n'
        'arrivals = {model = "trace", file = "times.csv", unit = "ms"}\n'
    )
    command = [sys.executable, "-m", "pready", "sweep", str(file), "--set", "threads=2,4"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert "arrivals.file has 2 columns; valid: 4 (one per thread)\n" in done.stderr


def test_gain(capsys: Capsys) -> None:
    # gillis2023, A.2.1 (FFT)
    fft = ["theta=8", "arithmetic_intensity=5", "communication_intensity=1", "epsilon=4 %", "frequency=3.5 GHz"]
    said = out(capsys, "gain", "threads=8", "bandwidth=25 GB/s", *fft)
    first, second = said.splitlines()
    assert first.startswith("An exchange gets at most 1.97 times as fast by sending early")
    assert second == "eta = 1.974810  gamma = 1263.672954 us/MB  N_part = 64  regime: bandwidth"
    assert "\neta = 2.666667 " in out(capsys, "gain", "threads=4", "bandwidth=25 GB/s", "gamma=100 us/MB")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("predict", "absent.toml"), "absent.toml: no such file"),
        (("predict", "examples"), "error: examples: is a directory; valid: a file\n"),
        (("predict", HALO, "--machine", "nowhere"), "machine = 'nowhere' is unknown"),
        (("predict", HALO, "--library", "lam"), "library = 'lam' is unknown; valid: "),
        (("predict", HALO, "--library", ""), "library = '' is unknown; valid: "),
        (("predict", HALO, "--plot", "size", "eta.gif"), "eta.gif: suffix = '.gif'; valid: .svg, .png, .pdf"),
        (("predict", HALO, "--plot", "size", "absent/eta.svg"), "folder 'absent' does not exist"),
        (("predict", HALO, "--seed", "-1"), "--seed"),
        (("predict", HALO, "--set", "buffer=1"), "--set buffer=1: buffer = 1 has no unit; valid: a number with a unit"),
        (("predict", HALO, "--set", "bufer=1KiB"), 'bufer is not a field (did you mean "buffer"?)'),
        (("predict", HALO, "--set", "machine.contxts=1"), 'contxts is not a field (did you mean "contexts"?)'),
        (("predict", HALO, "--set", "buffer=1KiB,2KiB"), "buffer has 2 values; valid: one, or 'pready sweep'"),
        (("predict", HALO, "--set", "machine=hpc3"), "valid: --machine"),
        (("prove", HALO, "--set", "machine.contexts=1", "-o", "p"), "machine.contexts without a machine"),
        (("predict",), "WORKLOAD"),
        (("predikt",), "predikt"),
        (("sweep", HALO), "--set is missing"),
        (("sweep", HALO, "--set", "buffer=1:2:2x"), "where buffer = 1: buffer = 1 has no unit"),
        (("sweep", HALO, "--set", "transport_partitions=3"), "does not divide 32 user partitions"),
        (("sweep", HALO, "--set", "threads=1", "--set", "threads=2"), "valid: each field once"),
        (("sweep", HALO, "--set", "threads=1", "-o", "x.txt"), "suffix = '.txt'; valid: .csv, .parquet, .jsonl"),
        (("compare", HALO, "--json", "-o", "-"), "both go to standard output"),
        (("sst", "run", HALO, "--set", "grid=2x2"), "2,2"),
        (("sst", "run", HALO, "--approach", "rma-many-active"), "is not simulated by SST"),
        (("sst", "run", HALO, "--approach", "many:8:4"), "SST simulates one VCI"),
        (("gain", "threads=8", "bandwidth=25", "gamma=1 us/MB"), "bandwidth = '25' has no unit"),
        (("gain", "threads=8", "band=25 GB/s"), "valid: NAME=VALUE of threads, bandwidth"),
        (("gain", "threads=x", "bandwidth=25 GB/s"), "threads = 'x'; valid: an integer"),
        (("gain", "threads=8"), "bandwidth is missing"),
        (("machines", "nowhere"), "machine = 'nowhere' is unknown"),
        (("simulate", HALO, "--set", "grid=0x1x1"), "grid[0] = 0; valid: at least 1"),
        (("simulate", HALO, "--set", "grid=1"), "1 ranks"),
        (("simulate", HALO, "--approach", "mny"), "KEY one of single, persistent"),
        (("simulate", HALO, "--approach", "many:3"), "does not divide 32 user partitions"),
        (("simulate", HALO, "--approach", "many:0"), "integers of at least 1"),
        (("simulate", HALO, "--approach", "single:4"), "single sends one message"),
        (("simulate", HALO, "--set", "edge=8 KiB"), "pattern"),
        (("simulate", HALO, "--set", "iterations=0"), "iterations = 0; valid: at least 1"),
        (("simulate", HALO, "--set", "grid=3000x3000x400", "--approach", "many"), "GiB are available"),
        (("simulate", HALO, "--trace", "t.txt"), "suffix = '.txt'; valid: .json"),
        (("simulate", HALO, "--trace", "no/t.json"), "folder 'no' does not exist"),
        (("explain", "--machine", "niagara"), "error: --machine without a workload; valid: a workload file\n"),
        (("compare", LAGGARD, LAGGARD), "two workloads are called 'laggard'; valid: a name of its own for each"),
        (("prove", HALO), "-o is missing"),
        (("prove", HALO, "-o", "proof"), "--launcher is missing"),
        (("prove", HALO, "-o", "proof", "--launcher", "true", "--approach", "most"), "--approach = 'most'"),
        (("prove", HALO, "-o", "proof", "--launcher", "true", "--rounds", "3"), "--rounds 3; valid: at least"),
        (("calibrate",), "-o is missing"),
        (("calibrate", "-o", "new.toml"), "--launcher is missing"),
        (("calibrate", "-o", "new.toml", "--raw", "absent.jsonl"), "--launcher is missing"),
        (("calibrate", "-o", "new.toml", "--launcher", "true", "--mpicc", "no-mpicc"), "'no-mpicc' (asked for) is not"),
        (("calibrate", "-o", "new.toml", "--launcher", "no-such -n 2"), "no command 'no-such'"),
        (("calibrate", "-o", "new.toml", "--budget", "10"), "--budget = '10' has no unit"),
        (("calibrate", "-o", "machine.txt"), "suffix = '.txt'"),
        ((*NODE, "--intra"), "--intra with --ranks-per-node"),
        ((*NODE, "--measure", "pingpong"), "--measure with --ranks-per-node"),
        ((*NODE, "--job", "slurm", "job.sh"), "--job with --ranks-per-node"),
        (NODE, "--ranks-per-node adds to a machine file, and there is none"),
        (("calibrate", "import", "README.md", "-o", "new.toml"), "is no benchmark output that can be read"),
        (("workload", "-o", "app.toml"), "nothing to read; valid: RUN"),
        (("workload", REPORT, "-o", "app.toml", "--set", "thread=4"), '--set thread (did you mean "threads"?)'),
        (("workload", REPORT, "-o", "app.toml", "--set", "threads=x"), "threads = 'x'; valid: an integer"),
        (
            ("workload", REPORT, "-o", "app.toml", "--set", "pattern=halo2d"),
            "'halo2d'; valid: pt2pt or halo3d or halo3d",
        ),
        (("libraries", "mpich"), 'did you mean "mpich-release"?'),
        (("validate", "everything"), "everything"),
        (("validate",), "Missing argument"),
        (("validate", "papers", "--seed", "-1"), "--seed"),
        (
            ("predict", HALO, "--topology", "torus"),
            "option '--topology' here; it is one of pready sst config, pready s",
        ),
        (("predict", HALO, "--seed", "x"), "Invalid value for '--seed': 'x' is no integer."),
        (("prove", HALO, "--source"), "Option '--source' requires 2 arguments, as in: pready prove "),
        (("predict", HALO, "--plot", "size"), "Option '--plot' requires 2 arguments, as in: pready predict "),
    ],
)
def test_bad_input_is_one_line_and_status_2(capsys: Capsys, arguments: tuple[str, ...], said: str) -> None:
    assert said in refused(capsys, *arguments)


def test_read_only_output_is_left_alone(capsys: Capsys, tmp_path: Path) -> None:
    # /proc/version is read-only for root as well, which a mode without write bits is not.
    assert "pready: error: /proc/" in refused(capsys, "sweep", HALO, "--set", "threads=1", "-o", "/proc/x.csv")
    existing = tmp_path / "kept.csv"
    existing.write_text("kept")
    refused(capsys, "sweep", "absent.toml", "--set", "threads=1", "-o", str(existing))
    assert existing.read_text() == "kept"
    assert list(tmp_path.iterdir()) == [existing]


def test_machines(capsys: Capsys) -> None:
    listed = out(capsys, "machines")
    rows = data(capsys, "machines")
    assert all(row["name"] in listed for row in rows)
    assert {row["name"] for row in rows} == {*profiles()}
    assert [row["fabric"] for row in rows] == sorted(row["fabric"] for row in rows)
    assert all(sum(row["values"].values()) > 40 for row in rows)
    meluxina = next(row for row in rows if row["name"] == "meluxina")
    assert meluxina["bandwidth_bytes_per_s"] == pytest.approx(25e9)  # gillis2023 4.1
    assert meluxina["latency_s"] == pytest.approx(1.22e-6)  # its footnote 1
    assert "literature" in out(capsys, "machines", "meluxina")
    first = data(capsys, "machines", "meluxina")["file"]["inter"]["segments"][0]
    assert first["from"] == 0
    assert first["L"]["source"] in ("measured", "literature", "assumed")


def loaded_by(code: str, modules: set[str]) -> str:
    """Which of `modules` have been imported when `code` is done."""
    code += f"; import sys; print(sorted({modules!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1]


@pytest.mark.thorough
def test_start_up_imports_only_what_is_needed() -> None:
    for arguments in (["--version"], ["--help"]):
        code = f"from pready.cli import main; main({arguments!r})"
        assert loaded_by(code, {"numpy", "pydantic", "pint", "sympy", "rich", "pready.commands"}) == "[]"
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
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environ | ({} if own is None else {"OPENBLAS_NUM_THREADS": own}),
        capture_output=True,
        text=True,
        check=True,
    )
    threads, there = done.stdout.split()[-2:]
    assert there == str(own)
    assert own or threads == "1"


def test_every_command_is_found_and_listed() -> None:
    no_commands = {"__init__", "command_lines", "options", "sweep_and_compare"}
    files = {p.stem for p in Path("pready/commands").glob("*.py")} - no_commands
    assert files == set(COMMANDS)
    context = click.Context(cli)
    for name, said in COMMANDS.items():
        command = cli.get_command(context, name)
        assert command is not None
        assert command.name == name
        assert said.endswith(".")


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: Patch) -> Path:
    """A folder to write into, the current one, with the examples in it."""
    shutil.copytree("examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@given(
    st.lists(
        st.sampled_from(
            ["predict", "gain", "sweep", "--set", "threads=2", HALO, "-o", "--json", "--seed", "x", "1 us/MB", ""]
        ),
        max_size=6,
    )
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_words_end_in_a_status(capsys: Capsys, scratch: Path, words: list[str]) -> None:
    assert main([str(scratch / word) if word == HALO else word for word in words]) in (0, 2)
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('threads = 2\nbuffer = "1 KiB"\nthreads = 4\n', "'threads' is there twice, again in line 3"),
        ('threads = 2\nbuffer = "1 KiB"\n[compute]\n[compute]\n', "'compute' is there twice, again in line 4"),
        ("threads = 2\ncompute = { time = '1 ms', time = '2 ms' }\n", "'time' is there twice, again in line 2"),
        ("a.b.c = 1\na.b.c = 2", "'a.b.c' is there twice, again in line 2"),
        (f'threads = 2\nbuffer = "1 KiB"\nname = "{"n" * 1000}"\n', "valid: a text of at most 255 characters"),
    ],
)
def test_what_is_wrong_in_a_file_is_named(text: str, said: str, tmp_path: Path, capsys: Capsys) -> None:
    file = tmp_path / "w.toml"
    file.write_text(text)
    line = refused(capsys, "predict", file)
    assert said in line
    assert len(line) < 400


@pytest.mark.parametrize("word", [str(2**63), str(2**32), "1:0", "1:9999999999999999", "-1"])
def test_a_neighbour_that_is_none_is_named(word: str, tmp_path: Path, capsys: Capsys) -> None:
    (tmp_path / "n.txt").write_text(f"1\n0 {word}\n")
    file = tmp_path / "w.toml"
    file.write_text('threads = 2\nbuffer = "1 KiB"\npattern = "neighbours"\nneighbour_list = "n.txt"\n')
    assert f"line 2: '{word}' is no neighbour; valid: ranks from 0 to 4294967295" in refused(capsys, "predict", file)


def test_an_interval_without_its_value_has_units(capsys: Capsys) -> None:
    said = refused(capsys, "predict", HALO, "--set", "machine.inter.segments[0].L.value=-400 us")
    assert re.search(r"interval = 1\.06 us to 1\.17 us does not hold the value -400 us", said)


def test_gain_says_what_is_not_finite_without_a_warning(capsys: Capsys) -> None:
    words = ["arithmetic_intensity=1e308", "communication_intensity=1e-308", "frequency=3 GHz"]
    assert "mu = inf; valid: finite" in refused(capsys, "gain", "threads=8", "bandwidth=25 GB/s", *words)
