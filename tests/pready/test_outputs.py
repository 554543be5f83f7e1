"""Outputs: nothing of the user's is replaced unasked, nothing is half written, and each way to end has a status."""

import os
import re
import shlex
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from command_line import refused
from given import Capsys, Patch, Request
from mpi_home import home_of
from tables import table_of

from pready.cli import _signals, main
from pready.exit_status import Status
from pready.files.writing import UnwrittenError, check_writable, replacing, texts, write_all, write_text, write_with
from pready.model.common.errors import PreadyError

pytestmark = pytest.mark.usefixtures("predicted_once")

HALO, LAGGARD = Path("examples/halo3d.toml"), Path("examples/laggard.toml")
THERE = "is there already; valid: another name, or --overwrite to replace it\n"
PREADY = (sys.executable, "-m", "pready")


@pytest.fixture(params=[0o000, 0o022, 0o027, 0o077])
def mask(request: Request) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def test_modes_follow_the_umask_and_a_replaced_file_keeps_its_own(tmp_path: Path, mask: int) -> None:
    file = tmp_path / "a.txt"
    write_text(file, "a")
    assert stat.S_IMODE(file.stat().st_mode) == 0o666 & ~mask
    file.chmod(0o640)
    with replacing():
        write_text(file, "b")
    assert (file.read_text(), stat.S_IMODE(file.stat().st_mode)) == ("b", 0o640)


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    file, link = tmp_path / "elsewhere" / "a.txt", tmp_path / "link.txt"
    link.symlink_to(file)
    write_text(link, "a")
    with replacing():
        write_text(link, "b")
    assert link.is_symlink()
    assert file.read_text() == "b"
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["a.txt", "elsewhere", "link.txt"]


def test_of_several_files_all_are_written_or_none(tmp_path: Path) -> None:
    new, old = tmp_path / "new.txt", tmp_path / "old.txt"
    old.write_text("the user's")
    with pytest.raises(PreadyError, match="is there already"):
        write_all({new: texts("new"), old: texts("other")})
    assert [*tmp_path.iterdir()] == [old]
    before = old.stat().st_mtime_ns
    write_all({new: texts("new"), old: texts("the user's")})  # the same content: nothing is said, nothing done
    assert (new.read_text(), old.stat().st_mtime_ns) == ("new", before)


def test_what_fails_halfway_leaves_the_file_that_was(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("before")

    def full(path: Path) -> None:
        path.write_text("half")
        raise OSError(28, "No space left on device")

    with replacing(), pytest.raises(UnwrittenError, match=r"a\.txt: cannot be written: No space left on device"):
        write_with(file, full)
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("a.txt", "before")]


def test_no_device_is_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "null").symlink_to(os.devnull)
    for name in ("pipe", "null"):
        with replacing(), pytest.raises(PreadyError, match="is a device or a pipe"):
            check_writable(tmp_path / name)
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    (tmp_path / "folder.csv").mkdir()
    for name, said in (("circle", "cannot be written: .*loop"), ("folder.csv", "is a directory; valid: a file name")):
        with pytest.raises(PreadyError, match=said):
            check_writable(tmp_path / name, (".csv", ""))


@pytest.mark.thorough
@pytest.mark.parametrize("case", WRITES := table_of("pready/writes"))
def test_no_file_of_the_user_is_replaced(case: str, tmp_path: Path, capsys: Capsys, monkeypatch: Patch) -> None:
    line, name = WRITES[case]
    words = [str(Path(w).resolve()) if w.startswith(("examples/", "tests/")) else w for w in shlex.split(line)]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["pready", *words])  # what a job runs
    Path(name).write_bytes(b"the user's\n")
    assert main([*words]) == Status.WRONG_INPUT
    said = capsys.readouterr()
    assert said.err.splitlines(keepends=True)[-1] == f"pready: error: {name}: {THERE}"
    assert Path(name).read_bytes() == b"the user's\n"
    assert {p.name for p in tmp_path.iterdir()} <= {name, f"{name}.points"}, "others of the same command"
    if not {"--launcher"} & {*words}:
        assert main([*words, "--overwrite"]) == 0, capsys.readouterr().err
        made = Path(name).read_bytes()
        assert made != b"the user's\n"
        times = Path(name).stat().st_mtime_ns
        if "simulate" not in case:  # it takes long, and is refused before
            assert main([*words]) == 0, "the same content is no difference"
        assert (Path(name).read_bytes(), Path(name).stat().st_mtime_ns) == (made, times)


def test_an_option_of_another_program_is_left_to_it(tmp_path: Path, capsys: Capsys) -> None:
    assert "no command '--overwrite' here" in refused(capsys, "capture", "-o", tmp_path / "run", "--overwrite")


def shell(words: Sequence[object], streams: str, folder: Path | None = None) -> tuple[int, str]:
    """A command's status and standard error, with its streams as in the shell."""
    line = " ".join(map(str, words))
    command = ["sh", "-c", f"{sys.executable} -m pready {line} {streams}"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=folder)
    return done.returncode, done.stderr


@pytest.mark.thorough
@pytest.mark.parametrize("line", table_of("pready/lines")["full"])
def test_a_full_disk_is_status_4_and_one_line(line: str, tmp_path: Path) -> None:
    words = line.format(tmp=tmp_path, mpi=home_of("mpich") if "{mpi}" in line else None).split()
    full = "pready: error: standard output: cannot be written: No space left on device\n"
    assert shell(words, "> /dev/full") == (Status.UNWRITTEN, full)
    closed = "pready: error: standard output: is closed; valid: a terminal, a pipe or a file\n"
    assert shell(words, ">&-") == (Status.UNWRITTEN, closed)


@pytest.mark.needs("c++")
@pytest.mark.parametrize("line", table_of("pready/lines")["builds"])
def test_a_cache_that_cannot_be_written_is_status_4_and_one_line(
    line: str, tmp_path: Path, monkeypatch: Patch, capsys: Capsys
) -> None:
    words, home = line.format(tmp=tmp_path).split(), tmp_path / "home"
    words[1:1] = ["--mpicc", "cc"]
    home.touch()  # nobody, and not root either, makes a folder there
    monkeypatch.setenv("HOME", str(home))
    asked = "cannot be written: Not a directory; valid: XDG_CACHE_HOME=FOLDER, a folder that all nodes see\n"
    assert main(words) == Status.UNWRITTEN
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert said.err.startswith(f"pready: error: {home}/.cache/pready")
    assert said.err.endswith(asked)
    # What platformdirs once said, and others do, where no user has a home.
    monkeypatch.setattr("pready.files.cache.user_cache_path", lambda _: Path("~/.cache/pready"))
    assert main(words) == Status.UNWRITTEN
    assert "the cache has no absolute path" in capsys.readouterr().err


@pytest.mark.thorough
def test_standard_input_and_error_may_be_closed() -> None:
    closed = "pready: error: standard input is closed; valid: a workload file, or one on standard input\n"
    assert shell(("predict", "-"), "<&-") == (2, closed)
    assert shell(("predict", LAGGARD), "2>&-") == (0, "")
    assert shell(("predict", "absent.toml"), "2>/dev/full") == (2, "")


@pytest.mark.thorough
def test_points_of_a_sweep_on_a_full_disk_are_kept_as_far_as_they_came(tmp_path: Path) -> None:
    sweep = ("sweep", LAGGARD.resolve(), "--set", "buffer=64KiB:4MiB:2x", "-o", "a.csv")
    limit = "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (2**11, 2**11)); "
    code = f"{limit}from pready.cli import main; sys.exit(main())"
    command = [sys.executable, "-B", "-c", code, *map(str, sweep)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=tmp_path)
    large = "pready: error: a.csv.points: cannot be written: File too large\n"
    assert (done.returncode, done.stderr) == (Status.UNWRITTEN, large)
    status, said = shell(sweep, "", tmp_path)
    assert status == 0
    assert re.fullmatch(r"wrote a\.csv: 7 points, [1-6] of them from earlier runs, seed 0\n", said)


def cpu_s(process: int) -> float:
    """What it has computed, in seconds of a processor."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def interrupted(
    words: Sequence[object], number: int, folder: Path, until: Callable[[int], bool]
) -> tuple[int, str, str]:
    """Status, standard output and error of a command that gets a signal once something is so of its process."""
    command, pipe = [*PREADY, *map(str, words)], subprocess.PIPE

    def heard() -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell's background jobs ignore it

    with subprocess.Popen(command, cwd=folder, stdout=pipe, stderr=pipe, text=True, preexec_fn=heard) as process:  # noqa: PLW1509
        while process.poll() is None and not until(process.pid):
            time.sleep(0.02)
        process.send_signal(number)
        said, noted = process.communicate(timeout=120)
    return process.returncode, said, noted


BY: dict[int, tuple[Status, str]]
BY = {signal.SIGINT: (Status.INTERRUPTED, "interrupted"), signal.SIGTERM: (Status.TERMINATED, "terminated")}


@pytest.mark.thorough
@pytest.mark.parametrize("number", BY, ids=lambda n: signal.Signals(n).name)
def test_an_interrupted_sweep_says_what_is_kept_and_resumes(number: int, tmp_path: Path) -> None:
    sweep = ("sweep", LAGGARD.resolve(), "--set", "seed=0:200:1", "-o", "a.csv")
    kept = tmp_path / "a.csv.points"
    status, said, noted = interrupted(sweep, number, tmp_path, lambda _: kept.exists() and kept.stat().st_size > 0)
    assert (status, said) == (BY[number][0], "")
    told = f"{kept.read_text().count(chr(10))} of 201 points are kept in a.csv.points; the same command resumes"
    assert noted == f"pready: {BY[number][1]}; {told}\n"
    assert not (tmp_path / "a.csv").exists()


@pytest.mark.thorough
@pytest.mark.parametrize(("number", "form"), [(signal.SIGINT, ()), (signal.SIGTERM, ("--json",))])
def test_an_interrupted_simulation_compares_nothing(number: int, form: tuple[str, ...], tmp_path: Path) -> None:
    simulate = ("simulate", HALO.resolve(), "--set", "iterations=100000", "--approach", "many:8", *form)
    status, said, noted = interrupted(simulate, number, tmp_path, lambda process: cpu_s(process) > 4)
    assert status == BY[number][0]
    assert re.fullmatch(rf"pready: {BY[number][1]}; .*the same command starts again\n", noted)
    assert "η" not in said
    assert not re.search(r'"(eta|speedup_percent)": [^n]', said)


def test_who_ignores_the_signal_of_a_batch_system_goes_on_ignoring_it_and_threads_take_none() -> None:
    def meanwhile() -> object:
        with _signals():
            return signal.getsignal(signal.SIGTERM)

    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        assert meanwhile() is signal.SIG_IGN
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        assert meanwhile() is not signal.SIG_DFL
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(meanwhile).result() is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGTERM, before)


def test_the_table_of_statuses_is_complete() -> None:
    page = Path("docs/reference/exit-statuses.md").read_text(encoding="utf-8")
    assert [int(n) for n in re.findall(r"^\| (\d+) \|", page, re.M)] == sorted(Status)
