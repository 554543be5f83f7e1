"""The two nodes on one machine: made, shaped and removed, and nothing is faster than their link."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from real_mpi import LIBRARIES, benchmark
from rig import DEVICE, Rig, existing, remove_stale

from pready.calibrate.measure.raw_file import Point, read
from pready.calibrate.measure.session import measure

pytestmark = [pytest.mark.thorough, pytest.mark.alone]


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


def test_removed_after_an_error_with_what_runs_inside() -> None:
    rig = Rig(500)
    inside: list[subprocess.Popen[bytes]] = []

    def failing() -> None:
        with rig:
            inside.append(subprocess.Popen(["ip", "netns", "exec", rig.namespaces[0], "sleep", "600"]))
            while not said(["ip", "netns", "pids", rig.namespaces[0]]).strip():
                assert inside[0].poll() is None
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        failing()
    assert inside[0].wait(timeout=60) == -signal.SIGKILL
    assert not set(rig.namespaces) & set(existing())


def test_what_a_killed_process_left_is_removed_and_the_living_kept() -> None:
    with Rig(500):
        pass
    script = "from rig import Rig; import time; r = Rig(100); r.__enter__(); print(*r.namespaces, flush=True)"
    here = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    command = [sys.executable, "-c", f"{script}; time.sleep(600)"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=here) as process:
        assert process.stdout is not None
        left = set(process.stdout.readline().split())
        assert len(left) == 2
        remove_stale()
        assert left <= set(existing())  # its process lives
        process.kill()
        process.wait(timeout=60)
        with Rig(500) as mine:
            assert not left & set(existing())
            remove_stale()
            assert set(mine.namespaces) <= set(existing())


@pytest.mark.parametrize("library", sorted(LIBRARIES))
def test_nothing_is_faster_than_the_link(library: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    home = os.environ.get(LIBRARIES[library][0])
    if not home:
        pytest.skip(f"{LIBRARIES[library][0]} is not set: no {library} to test with")
    size = 2 << 20
    points = [Point.of("pingpong", bytes=size), Point.of("rate", bytes=size // 8, window=8)]
    built = benchmark(Path(home), request)
    with Rig(500) as rig:
        launcher = rig.mpich(Path(home)) if library == "mpich" else rig.openmpi(Path(home))
        outcome = measure(points, launcher, tmp_path / "raw.jsonl", 120.0, built=built, point_budget_s=0.5)
    assert (outcome.failures, outcome.left) == ({}, 0)
    for line in read(tmp_path / "raw.jsonl").points.values():
        # All but a full bucket leaves at the shaped rate. A lower bound: a busy machine can only make it slower.
        assert line["record"]["min_s"] > (size - rig.bucket_bytes) / rig.bytes_per_s
