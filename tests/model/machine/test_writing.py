"""A machine written and read again is the same machine."""

from pathlib import Path
from typing import Any

import pytest
from machines import with_every_table

from pready.model.machine import machine
from pready.model.machine.writing import dumps


def approximately(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: approximately(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [approximately(v) for v in value]
    return pytest.approx(value, rel=1e-9) if isinstance(value, float) else value


@pytest.mark.parametrize("name", [*machine.profiles(), "every table"])
def test_round_trip(name: str, tmp_path: Path) -> None:
    original = with_every_table() if name == "every table" else machine.load(name)
    path = tmp_path / "m.toml"
    path.write_text(dumps(original, comment="written by a test\nin two lines"), encoding="utf-8")
    assert path.read_text(encoding="utf-8").startswith("# written by a test\n# in two lines\n")
    assert "\n[matching.base]\n" not in path.read_text(encoding="utf-8")  # a value is one line
    again = machine.load(path)
    assert again.model_dump(mode="json") == approximately(original.model_dump(mode="json"))
    path.write_text(dumps(again), encoding="utf-8")
    assert dumps(machine.load(path)) == dumps(again)
