"""Version and date stand in `model/version.py`; what repeats them agrees."""

import re
import tomllib
from datetime import date
from importlib.metadata import version
from pathlib import Path

import pytest

from pready.model.version import RELEASED, VERSION


def said(path: str, pattern: str) -> tuple[str, ...]:
    """What the first match's groups are in a file."""
    found = re.search(pattern, Path(path).read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert found is not None, f"{path} has no {pattern}"
    return found.groups()


def test_the_build_reads_it() -> None:
    assert version("pready") == VERSION, "installed before the last change of model/version.py: run make"
    with Path("pyproject.toml").open("rb") as file:
        project = tomllib.load(file)
    assert project["project"]["dynamic"] == ["version"]
    assert project["tool"]["scikit-build"]["metadata"]["version"]["input"] == "model/version.py"


def test_citation_and_changelog_agree() -> None:
    assert said("CITATION.cff", r"^version: (\S+)$") == (VERSION,)
    assert said("CITATION.cff", r"^date-released: (\S+)$") == (RELEASED,)
    assert said("CHANGELOG.md", r"^## (\d\S*) - (\S+)$") == (VERSION, RELEASED)
    assert date.fromisoformat(RELEASED).isoformat() == RELEASED


@pytest.mark.parametrize("path", ["CMakeLists.txt", "pready/__init__.py", "pyproject.toml"])
def test_it_is_not_said_again(path: str) -> None:
    assert f'"{VERSION}"' not in Path(path).read_text(encoding="utf-8")
