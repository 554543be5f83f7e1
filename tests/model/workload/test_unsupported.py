"""What a workload cannot say is one list: the documents have it, and near names in a file are met with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pready.model.common.errors import PreadyError
from pready.model.machine.machine import Machine
from pready.model.toml.misspelt import LIMITS, cannot_say
from pready.model.workload import workload
from pready.model.workload.exchange import Exchange
from pready.model.workload.workload import Workload

README = Path(__file__).parents[3] / "model" / "README.md"


def test_the_documents_have_the_list() -> None:
    text = " ".join(README.read_text(encoding="utf-8").split())
    for limit in LIMITS:
        assert f"- {limit.what}: {limit.instead}" in text


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("gpu = true", LIMITS[0]),
        ("gpu_partitions = 4", LIMITS[0]),
        ('device = "cuda:0"', LIMITS[0]),
    ],
)
def test_near_names_are_met_with_the_sentence(tmp_path: Path, line: str, what: object) -> None:
    path = tmp_path / "w.toml"
    path.write_text(f'format = 2\nthreads = 8\nbuffer = "1 MiB"\n{line}\n')
    with pytest.raises(PreadyError) as caught:
        workload.load(path)
    said = str(caught.value)
    assert said.startswith(f"{path}: {line.partition(' ')[0]}")
    assert f"a workload cannot say {what.what}: {what.instead}" in said  # type: ignore[attr-defined]
    assert "\n" not in said


def test_what_is_a_field_is_no_limit() -> None:
    for table in (Workload, Exchange, Machine):
        for name in table.model_fields:
            assert cannot_say(name) is None, name
    others: list[object] = ["thread", "patern", "partition", "partitions", "recieve", "devise", "", 3, None]
    assert [cannot_say(other) for other in others] == [None] * len(others)
