"""Tables of what is given and what is expected: files of tests/data."""

import tomllib
from pathlib import Path
from typing import Any


def table_of(name: str) -> dict[str, Any]:
    """Of one file."""
    return tomllib.loads(Path(f"tests/data/{name}.toml").read_text(encoding="utf-8"))
