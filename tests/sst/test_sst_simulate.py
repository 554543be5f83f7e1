"""From a workload to a Prediction, with a stand-in for SST that obeys a formula; and the command line over it."""

import json
import os
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from given import Capsys, Patch
from tables import table_of

from pready.cli import main
from pready.commands.sst import sst as commands
from pready.exit_status import Status
from pready.files.cache import VALID, cache_folder
from pready.model.approach.interfaces import BULK, MANY, PART, SINGLE, Approach
from pready.model.common.errors import PreadyError
from pready.model.engine.plan import drawn_times
from pready.model.machine.machine import load
from pready.model.workload.workload import Workload
from pready.sst import library
from pready.sst.job import candidates, motif_values, ready_times, setup, simulation
from pready.sst.prediction import prediction, simulate
from pready.sst.results import Times
from pready.sst.run import How, so_far
from pready.sst.runs import kept_or_not

# Reads the motif in the configuration, and its arrivals; every rank takes 8 us for the buffer after its last partition,
# shared among the transport partitions: η is their number.
STAND_IN = """\
#!{python}
import ast, os, pathlib, re, sys
import numpy as np
if sys.argv[1:2] == ["--version"]:
    print("SST (stand-in)"); sys.exit()
path = pathlib.Path(sys.argv[-1])
text = path.read_text()
ranks = int(re.search(r"^RANKS = (\\d+)", text, re.M)[1])
((_, words),) = ast.literal_eval(re.search(r"^MOTIFS = (.*?)\\n\\n", text, re.M | re.S)[1])
transport = int(words.get("transport", 1)) if "approach" in words else 1
ready = np.load(path.parent / words["arrivals"]).max(axis=1).reshape(ranks, -1)
with open(path.parent / words["record"], "w") as out:
    out.write("rank,iteration,phase,start_ps,ready_ps,join_ps,issued_ps,first_arrival_ps,completion_ps,end_ps,"
              "messages,bytes,arrivals_ps\\n")
    for r in range(ranks):
        for i in range(int(words.get("iterations", 10))):
            t0 = i * 10**10
            last = t0 + round(ready[r, i] * 1e12)
            done = last + 8_000_000 // transport
            cells = [r, i, 0, t0, last, last + 500000, last, done, done, done, 1, 8, done]
            print(*cells, sep=",", file=out)
print("Simulation is complete, simulated time: 1 ms")
"""


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: Patch) -> Iterator[Path]:
    """A PATH on which SST is the stand-in, with a library that needs no building."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("sst", "sst-config", "sst-info"):
        program = folder / name
        program.write_text(STAND_IN.format(python=sys.executable) if name == "sst" else "#!/bin/sh\necho here\n")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(library, "build", lambda on_build=None: folder)
    library.find.cache_clear()
    monkeypatch.setattr(library, "cache_folder", lambda: tmp_path / "cache")
    yield folder
    library.find.cache_clear()


def workload(**fields: Any) -> Workload:
    base: dict[str, Any] = {"name": "w", "threads": 4, "buffer": "1 MiB", "pattern": "halo3d", "receiver": "computing"}
    base |= {"compute": {"time": "100 us"}, "arrivals": {"model": "normal by thread", "spread": 0.1}}
    return Workload.model_validate(base | fields)


def test_ready_times_are_the_models_draws() -> None:
    s = setup(load("meluxina"), workload(), "single", (8,), iterations=5, seed=3)
    found = ready_times(s).reshape(8, 6, 4)
    assert (found[:, 0] == s.workload.thread_time).all()  # no spread
    for rank in range(8):
        assert (found[rank, 1:] == drawn_times(s.workload, 5, 3, rank=rank)).all()
    # A sweep draws for every octant and block.
    s = setup(load("meluxina"), workload(pattern="sweep3d", blocks=2), "single", (4, 2), iterations=3)
    assert s.phases == 16
    assert ready_times(s).shape == (8 * 4 * 16, 4)


def values(approach: Approach, **fields: Any) -> dict[str, object]:
    return motif_values(setup(load("meluxina"), workload(**fields), "single", ()), approach, "a", "r")


def test_the_machines_costs_become_the_motifs() -> None:
    v = values(Approach(PART, 4))
    assert v["barrier_ns"] == pytest.approx(200)
    assert v["contention_ns"] == pytest.approx(84)  # four threads on one VCI
    assert values(Approach(MANY, 1))["contention_ns"] == 0
    assert [values(Approach(i))["approach"] for i in (SINGLE, PART, MANY)] == ["single", "part", "many"]


@pytest.mark.parametrize(("fields", "polls"), table_of("sst/known")["progress"])
def test_who_progresses_while_computing(fields: dict[str, str], polls: bool) -> None:
    assert bool(values(Approach(MANY, 4), **fields)["progress_ns"]) is polls


@pytest.mark.thorough
def test_a_prediction_from_runs(stand_in: Path) -> None:
    s = setup(load("meluxina"), workload(receiver="waiting"), "single", (), iterations=20)
    found = simulate(s, approaches=[Approach(MANY, 2), Approach(MANY, 4)])
    assert [(a.key, a.transport_partitions) for a in found.approaches] == [("single", 1), ("many", 2), ("many", 4)]
    assert [a.time_s for a in found.approaches] == pytest.approx([8e-6, 4e-6, 2e-6], rel=1e-5)
    assert [a.eta for a in found.approaches] == pytest.approx([1, 2, 4], rel=1e-5)
    assert (found.engine, found.ranks, found.iterations) == ("sst", (8,), 20)
    assert found.network == "single of 8 hosts"
    assert found.advice.verdict == "port"
    assert found.advised is found.approaches[-1]
    assert found.closed_form["delay_s"] == pytest.approx(np.ptp(ready_times(s).reshape(8, 21, 4)[:, 1:], axis=2).mean())
    bulk, _, best = found.approaches
    # Compute is the same; 8 us of about 118 us become 2 us.
    compute = ready_times(s).reshape(8, 21, 4)[:, 1:].max(axis=2).mean()
    saved = 6e-6 - best.begin_per_iteration_s
    assert best.speedup_percent == pytest.approx(100 * saved / (compute + 8e-6), rel=1e-4)
    assert bulk.arrived_early_percent == 0
    json.dumps(found.to_dict(), allow_nan=False)


def test_a_gain_too_small_to_matter_is_no_advice_to_port() -> None:
    # As everywhere: eta 1.005 is not worth a line of code, however sure it is.
    s = setup(load("meluxina"), workload(), "single", (), iterations=4)
    still = Times(*(np.full((5, 8), t) for t in (1.005e-6, 1e-3, 0.0, np.nan)))
    faster = replace(still, after_ready=still.after_ready / 1.005)
    found = prediction(s, None, [(BULK, still), (Approach(MANY, 4), faster)])
    assert found.advised.eta == pytest.approx(1.005)
    assert found.advised.eta_low > 1
    assert (found.advice.verdict, found.advice.settings) == ("do not port", [])


@pytest.mark.parametrize(("how", "expected"), table_of("sst/known")["started"])
def test_how_sst_is_started(how: dict[str, Any], expected: list[str]) -> None:
    found = How(**how).command("sst", Path("c.py"), Path("L"))
    assert [Path(w).name if w.endswith("/sh") else w for w in found] == expected


def test_a_launcher_that_is_not_there() -> None:
    with pytest.raises(PreadyError, match="no-such-mpirun is not on PATH"):
        How(processes=2, launcher="no-such-mpirun").command("sst", Path("c.py"), Path("L"))


@pytest.mark.parametrize(("arguments", "message"), table_of("sst/refused")["setups"])
def test_setups_that_do_not_fit(arguments: dict[str, Any], message: str) -> None:
    options = {k: v for k, v in arguments.items() if k in ("ranks", "network", "iterations")}
    fields = {k: v for k, v in arguments.items() if k not in options}
    with pytest.raises(PreadyError) as error:
        setup(load("meluxina"), workload(**fields), **options)
    assert message in str(error.value)


HALO = "examples/halo3d.toml"


def command(*arguments: str) -> int:
    """The exit status, as `pready` computes it."""
    result = commands.main(list(arguments), prog_name="pready sst", standalone_mode=False)
    return result if isinstance(result, int) else 0


@pytest.fixture
def no_sst(tmp_path: Path, monkeypatch: Patch) -> Iterator[None]:
    monkeypatch.setenv("PATH", str(tmp_path))
    library.find.cache_clear()
    monkeypatch.setattr(library, "cache_folder", lambda: tmp_path / "cache")
    yield
    library.find.cache_clear()


@pytest.mark.usefixtures("no_sst")
@pytest.mark.parametrize("arguments", [("run", HALO), ("ping-pong",), ("info",)])
def test_without_sst_one_line_and_status_3(capsys: Capsys, arguments: tuple[str, ...]) -> None:
    assert command(*arguments) == 3
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert "SST is not installed here: no sst, sst-config, sst-info on PATH" in captured.err
    assert "spack install sst-elements" in captured.err


@pytest.mark.usefixtures("no_sst")
def test_a_configuration_needs_no_sst(tmp_path: Path, monkeypatch: Patch, capsys: Capsys) -> None:
    monkeypatch.setattr("pready.commands.sst.MOST_RANKS", 16)
    words = ("--topology", "torus", "--set", "grid=4x2x2", "--approach", "many:8", "-o")
    for name, more, count in (("halo", (), 10), ("few", ("--set", "iterations=4"), 4)):
        assert command("config", HALO, *words, str(tmp_path / f"{name}.py"), *more) == 0
        assert "PartExchange" in (tmp_path / f"{name}.py").read_text()
        wrote = f"wrote {tmp_path}/{name}.py and {name}.arrivals.npy and {name}.edges; a run writes {name}.csv"
        assert capsys.readouterr().err.splitlines() == [wrote]
        assert np.load(tmp_path / f"{name}.arrivals.npy").shape == (16 * (count + 1), 32)


@pytest.mark.parametrize("there", [True, False])
def test_what_is_installed(tmp_path: Path, monkeypatch: Patch, capsys: Capsys, there: bool) -> None:
    monkeypatch.setattr(library, "find", lambda: library.Installation("/bin/sst", "sst-config", "sst-info", "SST 0"))
    monkeypatch.setattr(library, "build", lambda: tmp_path)
    monkeypatch.setattr(library, "registered", lambda found: str(tmp_path) if there else found.config)
    assert command("info") == 0
    known = "registered with SST: 'sst FILE.py' finds it"
    unknown = f"not registered with SST, whose files cannot be written: sst --add-lib-path={tmp_path} FILE.py"
    first = ["SST 0: /bin/sst", f"element library: {tmp_path}/libpready.so", known if there else unknown]
    assert capsys.readouterr().out.splitlines()[:3] == first


@pytest.mark.parametrize(("arguments", "message"), table_of("sst/refused")["options"])
def test_bad_options_are_named(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    output = () if "-o" in arguments else ("-o", str(tmp_path / "x.py"))
    with pytest.raises(PreadyError) as error:
        command("config", HALO, *output, *arguments)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


SHORT = ("--set", "iterations=1", "--approach", "many:8", "--approach", "many:16", "--json")


@pytest.mark.thorough
def test_relative_folders_with_a_blank(stand_in: Path, tmp_path: Path, monkeypatch: Patch, capsys: Capsys) -> None:
    halo = str(Path(HALO).absolute())
    monkeypatch.chdir(tmp_path)
    Path("my runs").mkdir()
    assert command("run", halo, *SHORT, "--keep", "my runs/a=b") == 0
    assert json.loads(capsys.readouterr().out)["approaches"][1]["eta"] == pytest.approx(8, rel=1e-5)
    assert {"single-1.py", "many-8.csv", "many-16.log"} <= {p.name for p in Path("my runs/a=b").iterdir()}
    assert command("config", halo, "-o", "my runs/x.py") == 0


def ended(pid: int) -> bool:
    """Has a process that was sent SIGKILL ended, within ten seconds?"""
    for _ in range(100):
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.1)
    return False


@pytest.mark.thorough
@pytest.mark.parametrize("keep", [(), ("--keep", "kept")])
def test_sigterm_ends_sst_and_the_same_command_goes_on(
    stand_in: Path, tmp_path: Path, monkeypatch: Patch, capsys: Capsys, keep: tuple[str, ...]
) -> None:
    halo = str(Path(HALO).absolute())
    (temporary := tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.chdir(tmp_path)
    whole = (stand_in / "sst").read_text()
    # As mpirun, it has a child; a scheduler ends pready in the second run.
    stuck = (
        "if path.name.startswith('many'):\n    import signal, subprocess, time\n"
        "    child = subprocess.Popen(['sleep', '60'])\n"
        f"    pathlib.Path({str(tmp_path / 'pids')!r}).write_text(f'{{os.getpid()}} {{child.pid}}')\n"
        "    os.kill(os.getppid(), signal.SIGTERM)\n    time.sleep(60)\ntext ="
    )
    (stand_in / "sst").write_text(whole.replace("text =", stuck))
    with pytest.raises(SystemExit) as stopped:
        command("run", halo, *SHORT, *keep)
    assert stopped.value.code == 143
    for pid in (tmp_path / "pids").read_text().split():
        assert ended(int(pid))
    assert not list(temporary.iterdir())
    ran = "import sys; open('ran', 'a').write(sys.argv[-1] + '\\n')\n"
    (stand_in / "sst").write_text(whole.replace("path =", f"{ran}path =").replace("'ran'", repr(str(tmp_path / "ran"))))
    assert command("run", halo, *SHORT, *keep) == 0
    assert [Path(line).name for line in (tmp_path / "ran").read_text().splitlines()] == ["many-8.py", "many-16.py"]
    assert json.loads(capsys.readouterr().out)["approaches"][2]["eta"] == pytest.approx(16, rel=1e-5)
    assert not list(temporary.iterdir())
    assert not list((tmp_path / "cache").glob("runs/*"))
    # Of another seed nothing is there.
    assert command("run", halo, *SHORT, *keep, "--seed", "1") == 0
    assert len((tmp_path / "ran").read_text().splitlines()) == 5


@pytest.mark.parametrize("keep", ["file", "/proc/nothing"])
def test_a_folder_that_cannot_be_made_is_one_line(
    stand_in: Path, tmp_path: Path, monkeypatch: Patch, capsys: Capsys, keep: str
) -> None:
    (tmp_path / "file").touch()
    halo = str(Path(HALO).absolute())
    monkeypatch.chdir(tmp_path)
    assert main(["sst", "run", halo, *SHORT, "--keep", keep]) == Status.WRONG_INPUT
    (said,) = capsys.readouterr().err.splitlines()  # before SST is built or fitted
    assert said.startswith(f"pready: error: {keep}: cannot be made: ")


def test_a_run_says_how_far_it_is() -> None:
    said = "pready.PartExchange: 8 ranks\npready: iteration 1 of 11\npready: iteration 2 of 11\npready: itera"
    assert so_far(said) == "iteration 2 of 11"
    assert so_far("") == ""


@pytest.mark.thorough
def test_two_processes_do_not_share_a_folder(stand_in: Path, tmp_path: Path) -> None:
    s = setup(load("meluxina"), workload())
    with kept_or_not(s, tmp_path / "k"), pytest.raises(PreadyError, match=r"another process simulates in .*--keep"):
        simulate(s, folder=tmp_path / "k")


@pytest.mark.usefixtures("no_sst")
def test_headers_that_are_gone_are_asked_for(tmp_path: Path, monkeypatch: Patch, capsys: Capsys) -> None:
    # An SST as packages install it: Ember's library is registered, the folder that it was built in is removed.
    (folder := tmp_path / "bin").mkdir()
    for name in ("sst", "sst-config", "sst-info"):
        (program := folder / name).write_text(f"#!/bin/sh\necho {tmp_path}/gone/src/sst/elements/ember\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv(library.HEADERS, "")  # to be restored: the option sets it
    assert command("info") == 3
    said = capsys.readouterr().err
    assert "Ember's headers are gone" in said
    assert "pready sst --headers FOLDER, or PREADY_SST_HEADERS=FOLDER" in said
    with pytest.raises(PreadyError, match=r"PREADY_SST_HEADERS = .* has no sst/elements/ember/embergen\.h"):
        command("--headers", str(tmp_path), "info")
    # Those of a checkout: the folder itself, or its src.
    (tmp_path / "new/src" / library.EMBER).mkdir(parents=True)
    (tmp_path / "new/src" / library.EMBER / "embergen.h").touch()
    monkeypatch.setenv(library.HEADERS, str(tmp_path / "new"))
    assert library.source_folder(str(folder / "sst-config")) == tmp_path / "new/src"


def test_the_workload_says_who_takes_part() -> None:
    w = workload(pattern="halo3d26", grid=[4, 2, 2], boundaries="open", edge="4 KiB", corner="2 MiB")
    s = setup(load("meluxina"), w)
    v = motif_values(s, Approach(SINGLE), "a", "r", "e")
    assert (s.ranks, v["edges"], v["phases"], v["receives_first"]) == (16, "e", 1, 0)
    assert s.edges[:, :3].max(axis=0).tolist() == [0, 15, 15]
    assert {*s.edges[:, 3].tolist()} == {4096, 2**20, 2**21}
    assert max(simulation(s, Approach(MANY, 2), "a", "r").cpu) == 2**20  # half a corner
    fields = {"threads": 2, "pattern": "halo3d", "faces": ["64 KiB", "2 KiB", "1 MiB"], "grid": [2, 2, 2]}
    faces = Workload.model_validate(fields)
    assert {*setup(load("meluxina"), faces).edges[:, 3].tolist()} == {2**16, 2**11, 2**20}
    assert max(simulation(setup(load("meluxina"), faces), Approach(MANY, 2), "a", "r").cpu) == 2**19
    sweep = setup(load("meluxina"), workload(pattern="sweep3d", grid=[4, 2], blocks=3))
    v = motif_values(sweep, Approach(SINGLE), "a", "r", "e")
    assert (v["phases"], v["receives_first"], {*sweep.edges[:, 0].tolist()}) == (24, 1, {0, 1, 2, 3})
    approaches = [(a.interface.key, a.transport_partitions) for a in candidates(s, "openmpi-persist")]
    assert approaches == [("single", 1), ("part", 4), ("many", 1), ("many", 2), ("many", 4)]
    # What is asked for on the command line goes first.
    assert setup(load("meluxina"), w, ranks=(8,)).ranks == 8


@pytest.mark.usefixtures("stand_in")
def test_a_cache_that_cannot_be_written_is_status_4(tmp_path: Path, monkeypatch: Patch, capsys: Capsys) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(library, "cache_folder", lambda: cache_folder() / "sst")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert main(["sst", "run", HALO]) == Status.UNWRITTEN
    assert "file/pready/sst" in (said := capsys.readouterr().err.splitlines()[-1])
    assert said.endswith(f"cannot be written: Not a directory; valid: {VALID}")


@pytest.mark.thorough
def test_the_network_is_set_by_name(stand_in: Path, tmp_path: Path, capsys: Capsys) -> None:
    changed = ("ranks_per_node=2", "iterations=1", "sst.allocation=random", "sst.background=64 KiB")
    words = [word for change in changed for word in ("--set", change)]
    words += ["--topology", "dragonfly:adaptive", "--set", "sst.packet=4 KiB", "--keep", str(tmp_path / "k")]
    assert command("run", HALO, "--approach", "many:8", *words, "--json") == 0
    capsys.readouterr()
    text = (tmp_path / "k" / "many-8.py").read_text()
    assert '"algorithm": "adaptive-local"' in text.replace("'", '"')
    for said in ("RANKS_PER_NODE = 2", "'packetSize': '4096B'", "['random', 0]", "pready.Traffic"):
        assert said in text
