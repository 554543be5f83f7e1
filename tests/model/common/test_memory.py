"""The memory that is left: of the machine or of its control group, whichever is less."""

import os
from pathlib import Path

import pytest
from given import Patch

from pready.model.common import memory
from pready.model.common.errors import PreadyError
from pready.model.common.memory import SMALL, available, refuse_beyond

GIB = 2**30


@pytest.mark.parametrize(
    ("limit", "current", "left"),
    [("max", 0, 2 * GIB), (5 * GIB, GIB, 2 * GIB), (GIB, GIB // 4, 3 * GIB // 4), (1, 2, 0)],
)
def test_the_least_of_what_is_there(
    limit: str | int, current: int, left: int, tmp_path: Path, monkeypatch: Patch
) -> None:
    files = {"proc/meminfo": f"MemTotal: 9 kB\nMemAvailable: {2 * GIB // 1024} kB\n"}
    files |= {"sys/fs/cgroup/memory.max": f"{limit}\n", "sys/fs/cgroup/memory.current": f"{current}\n"}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(memory, "Path", lambda name: tmp_path / name.lstrip("/"))
    monkeypatch.setattr(os, "sysconf", lambda name: {"SC_PAGE_SIZE": 4096}.get(name, 4 * GIB // 4096))
    assert available() == left


def test_what_fits_is_not_refused(monkeypatch: Patch) -> None:
    monkeypatch.setattr(memory, "available", lambda: 2 * SMALL)
    refuse_beyond(2 * SMALL, "this", "less")
    with pytest.raises(PreadyError, match=r"this needs 128 MiB, 128 MiB are available; valid: less"):
        refuse_beyond(2 * SMALL + 1, "this", "less")
    monkeypatch.setattr(memory, "available", lambda: 0)
    refuse_beyond(SMALL, "so little", "less")  # is not asked for
