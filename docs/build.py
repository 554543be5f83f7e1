"""Build the documentation site into ``build/site``: ``make docs``."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from sphinx.cmd.build import build_main

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from generate import pages


def build(work: Path) -> int:
    """Copy the written pages, add the generated ones, and run Sphinx, warnings being errors; its exit status."""
    source, site = work / "site-source", work / "site"
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(HERE, source, ignore=shutil.ignore_patterns("__pycache__", "*.py"))
    shutil.copy(HERE / "conf.py", source)
    for name, text in pages().items():
        path = source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return build_main(["-b", "html", "-W", "--keep-going", "-q", str(source), str(site)])


if __name__ == "__main__":
    sys.exit(build(Path("build")))
