"""Recipes say what `pyproject.toml` says: version, requirements, licence."""

import ast
import re
import shlex
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest

from pready.cli import cli
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
    assert len(installed) == 3
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


class Recorded:
    """Ramble's and Benchpark's directives, as called."""

    def __init__(self) -> None:
        self.calls: dict[str, list[tuple[tuple[Any, ...], dict[str, Any]]]] = {}

    def run(self, path: Path, *names: str, **base: Any) -> dict[str, Any]:
        """Run a recipe with directives that record."""

        def directive(name: str) -> Any:
            return lambda *a, **k: self.calls.setdefault(name, []).append((a, k))

        text = re.sub(r"^from .* import .*$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        space = {**{n: directive(n) for n in names}, **base}
        exec(compile(text, str(path), "exec"), space)
        return space


def test_benchpark_reads_what_prove_prints() -> None:
    ramble = Recorded()
    names = ("executable", "workload", "workload_variable", "figure_of_merit", "success_criteria")
    ramble.run(Path("packaging/benchpark/applications/pready/application.py"), *names, ExecutableApplication=object)
    merits = [(a[0], k["fom_regex"], k["group_name"]) for a, k in ramble.calls["figure_of_merit"]]
    for line, name, value in (
        ("pready.iteration_measured[bulk] = 2314.5 us", "iteration_measured {approach}", "2314.5"),
        ("pready.saving_predicted[many:8] = -1e-05 percent", "saving_predicted {approach}", "-1e-05"),
        ("pready.eta_measured[rma-many-active:8] = 1.73 1", "eta_measured {approach}", "1.73"),
        ("pready.finding = saves less", "finding", "saves less"),
        ("4096                    12.34", "osu_partitioned_latency {bytes}", "12.34"),
    ):
        found = [(n, m[g]) for n, regex, g in merits if (m := re.search(regex, line))]
        assert found == [(name, value)]
    ((_, success),) = ramble.calls["success_criteria"]
    assert re.search(success["match"], "pready.finding = kept")
    assert not re.search(success["match"], "pready.finding = not kept")
    # Each option that a command line names is the command's own.
    for (_, line, *_), _k in ramble.calls["executable"]:
        words = shlex.split(line)
        if words[0] == "pready":
            command = cli.get_command(click.Context(cli), words[1])
            assert command is not None
            options = {o for p in command.params for o in p.opts}
            assert {w for w in words if w.startswith("-")} <= options


def test_benchpark_has_each_workload() -> None:
    benchpark = Recorded()
    space = benchpark.run(Path("packaging/benchpark/experiments/pready/experiment.py"), "variant", Experiment=object)
    (((_,), given),) = benchpark.calls["variant"]
    for chosen in given["values"]:
        made = space["Pready"]()
        made.spec = SimpleNamespace(satisfies=lambda said, chosen=chosen: said == f"workload={chosen}")
        ((workload, of),) = made.compute_applications_section()["pready"]["workloads"].items()
        assert workload == chosen
        assert ("budget" in next(iter(of["experiments"].values()))["variables"]) == (
            chosen != "osu_partitioned_latency"
        )
    assert f"py-pready@{VERSION}" in str(made.compute_spack_section())
