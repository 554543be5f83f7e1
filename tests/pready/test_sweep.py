"""Sweeps: values, files, and resuming after an interruption."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from pyarrow import parquet

from pready.model import machine, workload
from pready.model.errors import PreadyError
from pready.sweep import grid, parse_axis, sweep

MELUXINA = machine.load("meluxina")
HALO = workload.load("examples/halo3d.toml")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("buffer=1KiB:4KiB:2x", ("buffer", [1024.0, 2048.0, 4096.0])),
        ("buffer=1 KiB, 1 MiB", ("buffer", [1024.0, 1048576.0])),
        ("buffer=1KiB:2KiB:512B", ("buffer", [1024.0, 1536.0, 2048.0])),
        ("threads=1:7:2", ("threads", [1, 3, 5, 7])),
        ("transport_partitions=1,2,4,8", ("transport_partitions", [1, 2, 4, 8])),
        ("threads=1:10:3x", ("threads", [1, 3, 9])),
    ],
)
def test_axes(text: str, expected: tuple[str, list[float]]) -> None:
    assert parse_axis(text) == expected


def test_endless_ranges_are_refused() -> None:
    with pytest.raises(PreadyError, match="at most 100000 values"):
        parse_axis("buffer=1 B:1 TiB:1 B")


@pytest.mark.thorough
def test_csv_and_parquet_hold_the_same(tmp_path: Path) -> None:
    points = grid(HALO, [parse_axis("buffer=64KiB:256KiB:4x"), parse_axis("transport_partitions=1,8")])
    assert len(points) == 4
    for name in ("s.csv", "s.parquet"):
        assert sweep(MELUXINA, points, tmp_path / name, library=None, seed=1) == (4, 0)
    with (tmp_path / "s.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    table = parquet.read_table(tmp_path / "s.parquet").to_pylist()
    assert len(rows) == len(table) > 40
    assert [float(r["eta"]) for r in rows] == [r["eta"] for r in table]
    assert {r["buffer_bytes"] for r in table} == {65536, 262144}
    assert {r["seed"] for r in table} == {1}
    assert sorted(p.name for p in tmp_path.iterdir()) == ["s.csv", "s.parquet"]


class Stop(Exception):
    pass


@pytest.mark.thorough
@pytest.mark.parametrize("damage", ["", '{"half a li', "garbage\n"])
def test_an_interrupted_sweep_resumes(tmp_path: Path, damage: str) -> None:
    points = grid(HALO, [parse_axis("buffer=64KiB:512KiB:2x"), parse_axis("transport_partitions=4")])
    sweep(MELUXINA, points, tmp_path / "whole.csv", library=None, seed=1)
    seen = 0

    def stop_after_two() -> None:
        nonlocal seen
        seen += 1
        if seen == 2:
            raise Stop

    out, partial = tmp_path / "s.csv", tmp_path / "s.csv.partial"
    with pytest.raises(Stop):
        sweep(MELUXINA, points, out, library=None, seed=1, on_point=stop_after_two)
    assert not out.exists()
    with partial.open("a") as stream:
        stream.write(damage)
    assert sweep(MELUXINA, points, out, library=None, seed=1) == (2, 2)
    assert out.read_bytes() == (tmp_path / "whole.csv").read_bytes()
    assert not partial.exists()


@pytest.mark.thorough
def test_another_sweep_does_not_resume_it(tmp_path: Path) -> None:
    points = grid(HALO, [parse_axis("buffer=64KiB:128KiB:2x"), parse_axis("transport_partitions=4")])
    out = tmp_path / "s.csv"

    def stop() -> None:
        raise Stop

    with pytest.raises(Stop):
        sweep(MELUXINA, points, out, library=None, seed=1, on_point=stop)
    assert sweep(MELUXINA, points, out, library=None, seed=2) == (2, 0)
