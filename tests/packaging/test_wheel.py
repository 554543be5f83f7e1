"""The wheel installs and predicts where there is no compiler; without it, a build says what is missing."""

import os
import shutil
import site
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterable
from importlib.metadata import distributions, files, requires, version
from pathlib import Path
from typing import Any

import pytest
from given import Capsys, Patch, Request
from packaging.requirements import Requirement
from programs import Mpi
from real_mpi import kept, known_to_commands

from pready.cli import main

pytestmark = pytest.mark.slow

HERE = Path().resolve()


def run(*command: str | Path, environment: dict[str, str] | None = None, cwd: Path = HERE) -> str:
    done = subprocess.run(
        [str(c) for c in command], capture_output=True, text=True, check=False, env=environment, cwd=cwd, timeout=800
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, request: Request) -> Path:
    """A folder with the source distribution, and the wheel that was made from it."""
    pytest.importorskip("build")
    folder = tmp_path_factory.mktemp("dist")
    before = f"{sys.executable};{Path(__file__).with_name('compiled_before.py')}"
    launcher = {"CMAKE_CXX_COMPILER_LAUNCHER": before, "PREADY_OBJECTS": str(kept(request) / "objects")}
    # What a clone has: the build would look at each file of the environments and caches beside it.
    clone = tmp_path_factory.mktemp("source") / "pready"
    beside = shutil.ignore_patterns(".venv*", ".git", ".*_cache", ".hypothesis", "build")
    shutil.copytree(HERE, clone, symlinks=True, ignore=beside)
    words = (sys.executable, "-m", "build", "--no-isolation", "--outdir", folder)
    run(*words, environment=dict(os.environ) | launcher, cwd=clone)
    return folder


@pytest.fixture(scope="module")
def without_compiler(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment whose PATH has no compiler: what `sh` needs, and nothing else."""
    folder = tmp_path_factory.mktemp("bin")
    for name in ("sh", "env", "uname", "ls"):
        found = next(p for d in ("/bin", "/usr/bin") if (p := Path(d) / name).exists())
        (folder / name).symlink_to(found)
    kept = {k: v for k, v in os.environ.items() if k not in ("CC", "CXX", "PYTHONPATH", "VIRTUAL_ENV")}
    return kept | {"PATH": str(folder)}


def test_what_is_in_them(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    (source,) = built.glob("*.tar.gz")
    names = zipfile.ZipFile(wheel).namelist()
    assert {n.split("/")[0] for n in names if ".dist-info/" not in n} == {"pready"}
    for module in ("model/engine/_kernel.", "model/common/_draws."):
        assert [n for n in names if n.startswith(f"pready/{module}") and n.endswith(".so")]
    assert {"pready/validate/prove/templates/exchange.c.jinja", "pready/cli.py", "pready/py.typed"} <= set(names)
    needed = [
        *(p for folder in ("calibrate/bench", "calibrate/capture/preload") for p in Path(folder).rglob("*")),
        *(p for folder in ("model", "calibrate") for p in Path(folder).rglob("*.py")),
        *Path("model/machine/profiles").glob("*.toml"),
    ]
    assert {p.suffix for p in needed} >= {".c", ".h", ".def", ".py", ".toml"}
    assert {f"pready/{p}" for p in needed if p.is_file()} <= set(names)
    assert not [n for n in names if "/tests/" in n or n.endswith(".pyc")]
    assert not [n for n in names if n.startswith("pready/model/engine/kernel/")]
    with tarfile.open(source) as archive:
        inside = {n.partition("/")[2] for n in archive.getnames()}
    assert {"pyproject.toml", "CMakeLists.txt", "LICENSE", "README.md"} <= inside
    compiled = {str(p) for p in Path("model/engine/kernel").rglob("*.?pp")}
    assert "run.cpp" in {Path(p).name for p in compiled}
    assert compiled <= inside


def needed(of: Iterable[str]) -> set[str]:
    """The names of all packages that these requirements need, each here in a version that they allow."""
    names: set[str] = set()
    for one in map(Requirement, of):
        if one.name in names or (one.marker and not one.marker.evaluate({"extra": ""})):
            continue
        assert one.specifier.contains(version(one.name), prereleases=True), one
        names |= {one.name} | needed(requires(one.name) or ())
    return names


@pytest.fixture(scope="module")
def installed(built: Path, without_compiler: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment that has the wheel and what it says it needs, made without a compiler."""
    (wheel,) = built.glob("*.whl")
    venv = tmp_path_factory.mktemp("installed") / "venv"
    run(sys.executable, "-m", "venv", "--without-pip", venv)
    pip = (sys.executable, "-m", "pip", "--python", venv / "bin" / "python", "install", "--quiet", "--no-compile")
    run(*pip, "--no-deps", "--no-index", wheel, environment=without_compiler)
    (packages,) = (venv / "lib").glob("python*/site-packages")
    (said,) = distributions(name="pready", path=[str(packages)])
    # All that it says it needs is here already, from its wheels; what it does not name stays out of reach.
    for name in needed(said.requires or ()):
        for top in {file.parts[0] for file in files(name) or () if file.parts[0] != ".."}:
            if not (packages / top).exists():
                (packages / top).symlink_to(next(p for d in site.getsitepackages() if (p := Path(d) / top).exists()))
    return venv / "bin"


def test_it_predicts_without_a_compiler(
    installed: Path, without_compiler: dict[str, str], tmp_path: Path, monkeypatch: Patch, capsys: Capsys
) -> None:
    # Not in the clone, whose package would be found in place of the wheel's.
    monkeypatch.setenv("COLUMNS", "120")
    words, wide = ("predict", str(HERE / "examples" / "halo3d.toml")), without_compiler | {"COLUMNS": "120"}
    said = run(installed / "pready", *words, environment=wide, cwd=tmp_path)
    assert main([*words]) == 0
    assert said == capsys.readouterr().out
    where = "import pready.model; print(pready.model.__file__)"
    found = run(installed / "python", "-c", where, environment=without_compiler, cwd=tmp_path)
    assert Path(found.strip()).is_relative_to(installed.parent)
    # Nor do a sweep's processes find what is beside them, where the command runs in the clone.
    many = ("sweep", "examples/laggard.toml", "--set", "seed=0:23:1")
    assert "at all 24 points" in run(installed / "pready", *many, environment=wide)


def test_with_mpich_it_calibrates_captures_and_predicts(installed: Path, tmp_path: Path, request: Request) -> None:
    mpich = Mpi("mpich", kept(request))
    prefix = Path(mpich.mpicc[0]).parent.parent
    known_to_commands(prefix, request)
    own = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    own |= {"PATH": f"{installed}:{prefix / 'bin'}:/usr/bin:/bin", "OMP_DYNAMIC": "false"}

    def pready(*words: str | Path) -> str:
        return run(installed / "pready", *words, environment=own, cwd=tmp_path)

    little = ("--threads", "2", "--budget", "4 s", "--measure", "pingpong")
    calibrate = ("calibrate", "--launcher", "mpiexec -n 2", *little, "-o", "m.toml")
    while not (tmp_path / "m.toml").exists():  # on a busy machine a budget buys less, and the same command measures on
        words = [str(installed / "pready"), *calibrate]
        done = subprocess.run(words, capture_output=True, text=True, check=False, env=own, cwd=tmp_path, timeout=600)
        assert done.returncode == 0 or "the same command measures on" in done.stderr, done.stderr
    halo = "7 4 1 1 1 6000 600 60 0 0 20 2 500 laggard 0.1 isend truth"
    pready("capture", "-o", "run", "--", "mpiexec", "-n", "4", mpich.stencil(), *halo.split())
    pready("workload", "run", "-o", "app.toml")
    assert tomllib.loads((tmp_path / "app.toml").read_text(encoding="utf-8"))["pattern"] == "halo3d"
    assert "Pt2Pt single" in pready("predict", "app.toml", "--machine", "m.toml", "--set", "ranks_per_node=1", "--all")


def test_a_build_without_a_compiler_says_so(built: Path, without_compiler: dict[str, str], tmp_path: Path) -> None:
    (source,) = built.glob("*.tar.gz")
    beside = str(Path(sys.executable).parent)  # cmake and ninja, as a build's own environment has them
    environment = without_compiler | {"PATH": f"{without_compiler['PATH']}:{beside}"}
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", str(tmp_path)]
    how: Any = {"capture_output": True, "text": True, "env": environment, "timeout": 800}
    done = subprocess.run([*command, str(source)], check=False, **how)
    assert done.returncode != 0
    said = " ".join((done.stdout + done.stderr).split())
    assert "needs a C++20 compiler" in said
    assert "install a wheel, which needs none" in said
