"""Relative links of every Markdown file lead somewhere."""

import os
import re
import runpy
from collections.abc import Iterator
from pathlib import Path

import pytest

BUILT = ("build", "dist")


@pytest.fixture(scope="module")
def generated() -> set[Path]:
    """Pages of the site that are made from the code and never committed (`make docs`)."""
    return {Path("docs") / page for page in runpy.run_path("docs/generate.py")["pages"]()}


def documents() -> list[Path]:
    """Every Markdown file once: neither in environments and caches nor through links to folders."""
    folders = [f for f in Path().iterdir() if f.is_dir() and not f.name.startswith(".") and f.name not in BUILT]
    found = [*Path().glob("*.md"), *Path(".github").rglob("*.md"), *(p for f in folders for p in f.rglob("*.md"))]
    return sorted({p.resolve().relative_to(Path().resolve()) for p in found})


def links(text: str) -> Iterator[str]:
    """Targets of links and pictures; code is left out."""
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    yield from re.findall(r"\[[^\]]*\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", prose))


def anchors(text: str) -> set[str]:
    """What a `#…` may point at in a document: its headings as GitHub writes them."""
    headings = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}


@pytest.mark.parametrize("document", documents(), ids=str)
def test_links_lead_somewhere(document: Path, generated: set[Path]) -> None:
    for link in links(document.read_text(encoding="utf-8")):
        if link.startswith("https://"):
            continue
        path, _, anchor = link.partition("#")
        target = document.parent / path if path else document
        if Path(os.path.normpath(target)) in generated:
            continue
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target.read_text(encoding="utf-8")), link
