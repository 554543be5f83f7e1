"""The example workloads that are installed with the package."""

from __future__ import annotations

from pathlib import Path

from pready.model.common.errors import PreadyError

FOLDER = Path(__file__).parents[1] / "examples"


def shipped() -> list[Path]:
    """Their files."""
    return sorted(FOLDER.glob("*.toml"))


def found(path: str | Path) -> Path:
    """A file; of ``examples/NAME`` the shipped one, where there is no such file here."""
    given = Path(path)
    there = FOLDER / given.name
    if given.parent == Path() and not given.exists() and there.suffix and there.exists():
        raise PreadyError("no such file", valid=f"examples/{given.name}, or an existing file", source=str(path))
    return there if given.parent == Path("examples") and not given.exists() and there.exists() else given


def about(path: Path) -> str:
    """The comment at the head of an example."""
    lines = path.read_text(encoding="utf-8").splitlines()
    head = [line for n, line in enumerate(lines) if all(before.startswith("#") for before in lines[: n + 1])]
    return " ".join(line.lstrip("# ") for line in head)
