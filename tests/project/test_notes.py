"""Laboratory notes carry a date and a summary, and the folder's README lists them."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import pytest

FOLDER = Path("docs/notes")
NOTES = sorted(p for p in FOLDER.glob("*.md") if p.name != "README.md")


def test_there_are_notes() -> None:
    assert NOTES


@pytest.mark.parametrize("note", NOTES, ids=lambda p: p.stem)
def test_a_note_has_date_and_summary_and_is_listed(note: Path) -> None:
    named = re.fullmatch(r"(\d{4}-\d{2}-\d{2})-[a-z0-9]+(-[a-z0-9]+)*", note.stem)
    assert named is not None, "YYYY-MM-DD-topic.md"
    date.fromisoformat(named[1])
    title, empty, summary, *_ = note.read_text(encoding="utf-8").splitlines()
    assert title.startswith("# ")
    assert not empty
    assert summary.startswith("> ")
    row = f"| [{named[1]} {title[2:]}]({note.name}) | {summary[2:]} |"
    assert row in (FOLDER / "README.md").read_text(encoding="utf-8").splitlines()
