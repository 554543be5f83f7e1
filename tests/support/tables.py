"""Tables of a test's inputs and expected values: the TOML files of tests/data."""

import struct
import tomllib
from pathlib import Path
from typing import Any


def table_of(name: str) -> dict[str, Any]:
    """Of one file."""
    return tomllib.loads(Path(f"tests/data/{name}.toml").read_text(encoding="utf-8"))


def write_plans(folder: Path) -> None:
    """Of exchanges, as the benchmark reads them."""
    for name, plan in table_of("calibrate/counted")["plans"].items():
        (folder / f"{name}.plan").write_text(plan["text"])
        (folder / f"{name}.ready").write_bytes(struct.pack(f"{len(plan['ready'])}d", *plan["ready"]))
