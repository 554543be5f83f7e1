"""One wheel, one import package: the folders arrive as `pready.model` and so on."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import pready.model


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        str(folder),
        ".",
    ]
    subprocess.run(command, check=True, capture_output=True)
    return next(folder.glob("pready-*.whl"))


@pytest.mark.thorough
def test_wheel_holds_one_package(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {n.split("/")[0] for n in names} <= {"pready", *(n.split("/")[0] for n in names if ".dist-info/" in n)}
    for expected in ("pready/cli.py", "pready/py.typed", "pready/model/gain.py", "pready/model/profiles/meluxina.toml"):
        assert expected in names
    bench = {f"pready/calibrate/bench/{p.name}" for p in Path("calibrate/bench").iterdir()}
    assert bench <= set(names)
    sources = {f"pready/model/{p.name}" for p in Path("model").glob("*.py")}
    assert sources <= set(names)
    assert not [n for n in names if "/tests/" in n or n.endswith(".pyc")]


@pytest.mark.thorough
def test_the_wheel_predicts_without_the_repository(wheel: Path, tmp_path: Path) -> None:
    target = tmp_path / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(target)
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import pready.model.predict as p; from pready.cli import main;"
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
    import site

    return f"import sys; sys.path += {site.getsitepackages()!r}; {code}"


def test_folders_are_linked_into_the_package() -> None:
    for name in ("model", "calibrate", "validate"):
        link = Path("pready") / name
        assert link.is_symlink()
        assert link.resolve() == Path(name).resolve()
    assert Path(str(pready.model.__file__)).resolve() == Path("model/__init__.py").resolve()
