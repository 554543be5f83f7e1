"""The wheel installs and predicts where there is no compiler; without it, a build says what is missing."""

from __future__ import annotations

import json
import os
import site
import subprocess
import sys
import tarfile
import zipfile
from importlib.metadata import files
from pathlib import Path

import pytest
from real_mpi import kept

pytestmark = pytest.mark.slow

HERE = Path().resolve()


def run(*command: str | Path, environment: dict[str, str] | None = None, cwd: Path = HERE) -> str:
    done = subprocess.run(
        [str(c) for c in command], capture_output=True, text=True, check=False, env=environment, cwd=cwd, timeout=800
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """A folder with the source distribution, and the wheel that was made from it."""
    pytest.importorskip("build")
    folder = tmp_path_factory.mktemp("dist")
    before = f"{sys.executable};{Path(__file__).with_name('compiled_before.py')}"
    launcher = {"CMAKE_CXX_COMPILER_LAUNCHER": before, "PREADY_OBJECTS": str(kept(request) / "objects")}
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, environment=dict(os.environ) | launcher)
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
    assert any(n.startswith("pready/model/engine/_kernel.") for n in names)
    assert "pready/show/pages/html/prediction.html" in names
    assert "pready/model/machine/profiles/meluxina.toml" in names
    assert "pready/py.typed" in names
    assert not [n for n in names if n.startswith(("tests/", "docs/", "packaging/"))]
    with tarfile.open(source) as archive:
        inside = {n.partition("/")[2] for n in archive.getnames()}
    assert {"pyproject.toml", "CMakeLists.txt", "LICENSE", "README.md", "model/engine/kernel/binding.cpp"} <= inside


def test_it_predicts_without_a_compiler(built: Path, without_compiler: dict[str, str], tmp_path: Path) -> None:
    (wheel,) = built.glob("*.whl")
    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--only-binary", ":all:"]
    needed = json.loads(run(*pip, "--dry-run", "--report", "-", wheel, environment=without_compiler))
    run(*pip, "--no-deps", wheel, environment=without_compiler)
    # All that it says it needs is here already, from its wheels; what it does not name stays out of reach.
    (packages,) = (tmp_path / "venv" / "lib").glob("python*/site-packages")
    for name in {p["metadata"]["name"] for p in needed["install"]} - {"pready"}:
        for top in {file.parts[0] for file in files(name) or () if file.parts[0] != ".."}:
            if not (packages / top).exists():
                (packages / top).symlink_to(next(p for d in site.getsitepackages() if (p := Path(d) / top).exists()))
    pready = tmp_path / "venv" / "bin" / "pready"
    # Not in the clone, whose package would be found in place of the wheel's.
    wide = {"COLUMNS": "120"}
    said = run(pready, "predict", HERE / "examples" / "halo3d.toml", environment=without_compiler | wide, cwd=tmp_path)
    here = run(
        sys.executable,
        "-m",
        "pready",
        "predict",
        HERE / "examples" / "halo3d.toml",
        environment=dict(os.environ) | wide,
    )
    assert said == here
    assert "meluxina" in run(pready, "machines", environment=without_compiler, cwd=tmp_path)


def test_wheel_holds_one_package(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {n.split("/")[0] for n in names} <= {"pready", *(n.split("/")[0] for n in names if ".dist-info/" in n)}
    for expected in (
        "pready/cli.py",
        "pready/py.typed",
        "pready/model/equations/gain.py",
        "pready/model/machine/profiles/meluxina.toml",
    ):
        assert expected in names
    bench = {f"pready/{p.as_posix()}" for p in Path("calibrate/bench").rglob("*") if p.is_file()}
    assert bench <= set(names)
    sources = {f"pready/model/{p.name}" for p in Path("model").glob("*.py")}
    assert sources <= set(names)
    assert not [n for n in names if "/tests/" in n or n.endswith(".pyc")]


def test_the_wheel_predicts_without_the_repository(built: Path, tmp_path: Path) -> None:
    (wheel,) = built.glob("*.whl")
    target = tmp_path / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(target)
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import pready.model.advice.predict as p; from pready.cli import main;"
        "assert p.__file__.startswith(sys.argv[1]), p.__file__; sys.exit(main(['predict', sys.argv[2], '--csv']))"
    )
    example = str(Path("examples/halo3d.toml").resolve())
    done = subprocess.run(
        [sys.executable, "-S", "-c", _with_site_packages(code), str(target), example],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("name,key,")


def _with_site_packages(code: str) -> str:
    """`code` with the environment's packages but without its .pth files, so not the editable install."""
    return f"import sys; sys.path += {site.getsitepackages()!r}; {code}"


def test_a_build_without_a_compiler_says_so(built: Path, without_compiler: dict[str, str], tmp_path: Path) -> None:
    (source,) = built.glob("*.tar.gz")
    beside = str(Path(sys.executable).parent)  # cmake and ninja, as a build's own environment has them
    environment = without_compiler | {"PATH": f"{without_compiler['PATH']}:{beside}"}
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        str(tmp_path),
        str(source),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=800)
    assert done.returncode != 0
    said = " ".join((done.stdout + done.stderr).split())
    assert "needs a C++17 compiler" in said
    assert "install a wheel, which needs none" in said
