"""Tables of a test's inputs and expected values: the TOML files of tests/data."""

import tomllib
from pathlib import Path
from typing import Any


def table_of(name: str) -> dict[str, Any]:
    """Of one file."""
    return tomllib.loads(Path(f"tests/data/{name}.toml").read_text(encoding="utf-8"))
