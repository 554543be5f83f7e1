"""Archive pages and decision records: one short page each, listed with its summary in the folder's README."""

import re
from pathlib import Path

import pytest

LONGEST = 80
ARCHIVE, DECISIONS = Path("docs/archive"), Path("docs/decisions")


def pages(folder: Path) -> list[Path]:
    return sorted(p for p in folder.glob("*.md") if p.name != "README.md")


@pytest.mark.parametrize("page", pages(ARCHIVE), ids=lambda p: p.stem)
def test_an_archive_page_has_a_summary_and_is_listed(page: Path) -> None:
    title, empty, summary, *rest = page.read_text(encoding="utf-8").splitlines()
    assert title.startswith("# ")
    assert not empty
    assert summary.startswith("> ")
    assert (
        f"| [{title[2:]}]({page.name}) | {summary[2:]} |"
        in (ARCHIVE / "README.md").read_text(encoding="utf-8").splitlines()
    )
    assert len(rest) <= LONGEST


def test_decisions_are_numbered_without_a_gap() -> None:
    assert [int(p.name[:4]) for p in pages(DECISIONS)] == list(range(1, len(pages(DECISIONS)) + 1))
    assert all(re.fullmatch(r"\d{4}-[a-z0-9]+(-[a-z0-9]+)*\.md", p.name) for p in pages(DECISIONS))
