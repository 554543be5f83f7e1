"""The two nodes on one machine: made, shaped and removed, and nothing is faster than their link."""

import subprocess
from pathlib import Path

import pytest
from mpi_home import home_of
from real_mpi import LIBRARIES, benchmark
from rig import DEVICE, Rig, existing

from pready.calibrate.measure.raw_file import Point, read
from pready.calibrate.measure.session import measure

pytestmark = [pytest.mark.thorough, pytest.mark.alone, pytest.mark.needs("ip", "root")]


def said(command: list[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_made_shaped_both_ways_and_removed() -> None:
    with Rig(200) as rig:
        assert set(rig.namespaces) <= set(existing())
        for namespace in rig.namespaces:
            shape = said(["tc", "-n", namespace, "qdisc", "show", "dev", DEVICE])
            assert "tbf" in shape
            assert "rate 200Mbit" in shape
            control = said(["ip", "netns", "exec", namespace, "cat", "/proc/sys/net/ipv4/tcp_congestion_control"])
            assert control.strip() == "reno", "whatever this machine's own is"
    assert not set(rig.namespaces) & set(existing())
    rig.close()  # twice is fine


@pytest.mark.parametrize("library", sorted(LIBRARIES))
def test_nothing_is_faster_than_the_link(library: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    home = home_of(library)
    size = 2 << 20
    points = [Point.of("pingpong", bytes=size), Point.of("rate", bytes=size // 8, window=8)]
    built = benchmark(home, request)
    with Rig(500) as rig:
        launcher = rig.mpich(home) if library == "mpich" else rig.openmpi(home)
        outcome = measure(points, launcher, tmp_path / "raw.jsonl", 120.0, built=built, point_budget_s=0.5)
    assert (outcome.failures, outcome.left) == ({}, 0)
    for line in read(tmp_path / "raw.jsonl").points.values():
        # All but a full bucket leaves at the shaped rate. A lower bound: a busy machine can only make it slower.
        assert line["record"]["min_s"] > (size - rig.bucket_bytes) / rig.bytes_per_s
