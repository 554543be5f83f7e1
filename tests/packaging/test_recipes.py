"""Recipes say what `pyproject.toml` says: version, requirements, licence."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest

from pready.model.version import VERSION

PROJECT = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))
NEEDED = set(PROJECT["project"]["dependencies"])
EXTRA = set(PROJECT["project"]["optional-dependencies"]["plot"])
BUILD = set(PROJECT["build-system"]["requires"])
SPACK_REPOSITORY = Path("packaging/spack/spack_repo/pready")
SPACK_RECIPE = SPACK_REPOSITORY / "packages" / "py_pready" / "package.py"
SPACK = SPACK_RECIPE.read_text(encoding="utf-8")
CONDA = Path("packaging/conda/recipe.yaml").read_text(encoding="utf-8")


def spack_needs() -> dict[str, str]:
    """What `depends_on` says, by package: its least version."""
    found = {}
    for node in ast.walk(ast.parse(SPACK)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "depends_on":
            text = ast.literal_eval(node.args[0])
            name, _, version = text.partition("@")
            found[name.removeprefix("py-")] = version.removesuffix(":")
    return found


def conda_needs() -> dict[str, str]:
    return dict(re.findall(r"^ +- ([a-z0-9-]+) >=([\d.]+)$", CONDA, flags=re.MULTILINE))


@pytest.mark.parametrize("needs", [spack_needs(), conda_needs()], ids=["spack", "conda"])
def test_a_recipe_requires_what_the_project_does(needs: dict[str, str]) -> None:
    for requirement in NEEDED | EXTRA | BUILD:
        name, _, least = requirement.partition(">=")
        known = needs.get(name, needs.get(f"{name}-base"))
        assert known == least, requirement
    assert needs["python"] == PROJECT["project"]["requires-python"].removeprefix(">=")


def test_versions_and_licence() -> None:
    assert f'version("{VERSION}"' in SPACK
    assert f'version: "{VERSION}"' in CONDA
    assert all(PROJECT["project"]["license"] in text for text in (SPACK, CONDA))


def test_recipes_import_what_is_compiled() -> None:
    installed = re.findall(r"DESTINATION (\S+)\)", Path("CMakeLists.txt").read_text(encoding="utf-8"))
    assert len(installed) == 2
    for folder in installed:
        name = folder.replace("/", ".")
        assert re.search(rf"imports: \[.*\b{re.escape(name)}\b.*\]", CONDA)
        assert re.search(rf'import_modules = \[.*"{re.escape(name)}".*\]', SPACK)


def test_spack_finds_recipe_and_clone() -> None:
    namespace = SPACK_REPOSITORY.name
    assert f"namespace: {namespace}\n" in (SPACK_REPOSITORY / "repo.yaml").read_text(encoding="utf-8")
    assert SPACK_REPOSITORY.parent.name == "spack_repo"  # as Python, it imports spack_repo.pready
    # Since Spack 1.0 `spack.package` has no build systems.
    assert "from spack_repo.builtin.build_systems.python import PythonPackage" in SPACK
    depth = re.search(r"^CLONE = Path\(__file__\)\.resolve\(\)\.parents\[(\d)\]$", SPACK, flags=re.MULTILINE)
    assert depth is not None
    assert SPACK_RECIPE.resolve().parents[int(depth[1])] == Path.cwd().resolve()


def test_the_variant_sst() -> None:
    assert 'variant("sst", default=False' in SPACK
    assert re.search(r'depends_on\("sst-elements@14:".*when="\+sst"\)', SPACK)


def test_wheels_are_built_for_both_processors() -> None:
    settings = PROJECT["tool"]["cibuildwheel"]
    assert settings["linux"]["archs"] == ["x86_64", "aarch64"]
    least = PROJECT["project"]["requires-python"].removeprefix(">=").replace(".", "")
    assert f"cp{least}-*" in settings["build"]
