"""Recipes say what `pyproject.toml` says: version, requirements, licence."""

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
SPACK_RECIPE = Path("packaging/spack/spack_repo/pready/packages/py_pready/package.py")
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


CONDA_NEEDS = dict(re.findall(r"^ +- ([a-z0-9-]+) >=([\d.]+)$", CONDA, flags=re.MULTILINE))


@pytest.mark.parametrize("needs", [spack_needs(), CONDA_NEEDS], ids=["spack", "conda"])
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


EASYBUILD = next(Path("packaging/easybuild").glob("*.eb"))


def test_easybuild_installs_this_version() -> None:
    text = EASYBUILD.read_text(encoding="utf-8")
    assert EASYBUILD.name.startswith(f"pready-{VERSION}-")
    assert f"\nversion = '{VERSION}'\n" in text
    known = dict(re.findall(r"\('([\w.-]+)', '([\d.]+)'\)", text))
    least = {n.partition(">=")[0]: n.partition(">=")[2] for n in BUILD | {"pydantic>=2.7", "tomlkit>=0.13"}}
    for name, version in least.items():
        found = next(v for k, v in known.items() if k.lower() == name)
        assert [*map(int, found.split("."))] >= [*map(int, version.split("."))], name
