"""Caliper's communication regions as a workload: an exchange per region, what is missing is asked for."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from pready.calibrate.importers.caliper import read_caliper
from pready.cli import main
from pready.model.common.errors import PreadyError
from pready.model.workload import workload

# 8 ranks, 50 steps, of which each sends 3 neighbours 65536 B in region `halo`, two messages each; a region without
# messages, and the record of time outside all regions.
RECORDS = [
    {"path": "main/halo", "Sends (max)": 300, "Sends (total)": 2400, "Bytes sent (total)": 2400 * 32768.0,
     "Dst ranks (max)": 3, "time (inc)": 1.5},
    {"path": "main", "time (inc)": 9.5},
    {"path": "main/sum", "Sends (max)": 0, "Sends (total)": 0, "Coll (max)": 50},
]  # fmt: skip
GIVEN = ("--threads", "4", "--pattern", "halo3d", "--iterations", "50", "--spread", "4 %", "--compute", "2 ms")


def written(tmp_path: Path, data: Any) -> Path:
    path = tmp_path / "p.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    return path


@pytest.mark.parametrize("wrap", [lambda r: r, lambda r: {"records": r, "globals": {}}], ids=["records", "object"])
def test_bytes_of_a_neighbour_and_step(tmp_path: Path, wrap: Any) -> None:
    path, out = written(tmp_path, wrap(RECORDS)), tmp_path / "w.toml"
    assert main(["workload", "--from-caliper", str(path), *GIVEN, "-o", str(out)]) == 0
    made = workload.load(out)
    # 300 sends of 32 KiB in 50 steps to 3 ranks: 2 × 32 KiB each.
    assert (made.buffer, made.threads, made.iterations, made.pattern) == (65536, 4, 50, "halo3d")
    assert made.thread_time == 2e-3


def test_two_regions_are_two_exchanges(tmp_path: Path) -> None:
    path, out = written(tmp_path, [RECORDS[0], {**RECORDS[0], "path": "main/sweep \x1b[31m"}]), tmp_path / "w.toml"
    assert main(["workload", "--from-caliper", str(path), *GIVEN, "-o", str(out)]) == 0
    assert "\x1b" not in out.read_text(encoding="utf-8")
    made = workload.load(out)
    assert [w.thread_time for w in made.parts] == [1e-3, 1e-3]


def test_what_is_missing_is_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = written(tmp_path, RECORDS), tmp_path / "w.toml"
    assert main(["workload", "--from-caliper", str(path), "-o", str(out)]) == 2
    said = capsys.readouterr().err
    for option in ("--threads", "--pattern", "--iterations", "--spread", "--compute"):
        assert option in said
    assert not out.exists()
    assert main(["workload", "--from-caliper", str(path), *GIVEN[:3], "pt2pt", *GIVEN[4:], "-o", str(out)]) == 2
    assert "region 'halo' sends to 3 ranks; valid: at most 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x", "is no JSON"),
        ("[" * 100_000, "is no JSON"),
        ("3", "is no list of records"),
        ("[1]", "is no list of records"),
        ("[]", "has no region that sends messages"),
        ('[{"path": "a", "Sends (max)": "many"}]', "Sends (max) of region 'a' = 'many'"),
        ('[{"path": "a", "Sends (max)": NaN}]', "Sends (max) of region 'a' = nan"),
        ('[{"path": "a", "Sends (max)": 1e400}]', "Sends (max) of region 'a' = inf"),
    ],
)
def test_what_is_no_profile_of_caliper(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(PreadyError, match=re.escape(said)):
        read_caliper(written(tmp_path, text))
