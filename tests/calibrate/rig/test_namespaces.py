"""The cluster on one machine: it is made, shaped and removed, and a pause does not make a message faster or slower."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import subprocess
import sys
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from real_mpi import benchmark

from pready.calibrate.measure.compile import Built
from pready.calibrate.measure.launcher import Launcher
from pready.calibrate.measure.raw_file import Point, read
from pready.calibrate.measure.session import measure
from pready.calibrate.rig import namespaces as rig_module
from pready.calibrate.rig.namespaces import (
    DEVICE,
    PREFIX,
    Rig,
    RigUnavailable,
    available,
    parse_bandwidth,
    remove_stale,
)

pytestmark = [pytest.mark.thorough, pytest.mark.alone]


@pytest.fixture
def possible() -> None:
    try:
        with Rig("100 Mbit"):
            pass
    except RigUnavailable as error:
        pytest.skip(error.reason)


def said(command: list[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def namespaces() -> set[str]:
    return {line.split()[0] for line in said(["ip", "netns", "list"]).splitlines() if line.startswith(PREFIX)}


# ---- bandwidths -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "bits"),
    [("500 Mbit", 500e6), ("1Gbit", 1e9), ("1 gbit/s", 1e9), ("0.5 Gbit", 5e8), (" 20000 kbit ", 2e7)],
)
def test_bandwidths(text: str, bits: float) -> None:
    assert parse_bandwidth(text) == bits


@pytest.mark.parametrize("text", ["", "500", "500 MB/s", "-1 Gbit", "1 Mbit", "2 Gbit", "nan Gbit", "1 Gbit x"])
def test_bandwidths_that_make_no_sense(text: str) -> None:
    with pytest.raises(ValueError, match="bandwidth"):
        parse_bandwidth(text)


@pytest.mark.parametrize(
    ("bandwidth", "frames", "bucket"),
    # 47 us of frames of 590 bytes, at least one, and 20 us more: 25 bytes at 10 Mbit/s.
    [("10 Mbit", 1, 615), ("100 Mbit", 1, 840), ("500 Mbit", 5, 4200), ("1 Gbit", 10, 8400)],
)
def test_the_bucket_holds_a_segment_and_what_late_timers_need(bandwidth: str, frames: int, bucket: int) -> None:
    rig = Rig(bandwidth)
    assert (rig.frames, rig.bucket_bytes) == (frames, bucket)


# ---- where it cannot be ---------------------------------------------------------------------------------------------


def test_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(RigUnavailable, match="root"):
        available()
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(RigUnavailable, match="'ip'"):
        Rig("1 Gbit").__enter__()
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(RigUnavailable, match="darwin"):
        available()


@pytest.mark.parametrize("nodes", [1, 0, -3, 65])
def test_nodes_that_make_no_sense(nodes: int) -> None:
    with pytest.raises(ValueError, match=rf"nodes = {nodes} is not valid.*2 to 64"):
        Rig("1 Gbit", nodes)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A prefix with a launcher that launches nothing."""
    executable = tmp_path / "bin" / "mpiexec"
    executable.parent.mkdir()
    executable.touch(0o755)
    return tmp_path


def test_a_rank_on_each_node_or_on_the_first(home: Path) -> None:
    rig = Rig("200 Mbit", nodes=4)
    for all_, two in (
        (rig.mpich(home), rig.mpich(home, ranks=2)),
        (rig.openmpi(home), rig.openmpi(home, ranks=2)),
    ):
        assert all_.ranks == len(all_.parts) == 4
        assert two.ranks == len(two.parts) == 2
        assert "4 nodes" in two.name  # the switch is in the way of two, too
        words = all_.command(["x"])
        assert [rig.namespaces[n] in words for n in range(4)] == [True] * 4
    assert "nodes" not in Rig("200 Mbit").mpich(home).name


def test_no_launcher_without_a_library(tmp_path: Path) -> None:
    with pytest.raises(RigUnavailable, match="mpiexec"):
        Rig("1 Gbit").mpich(tmp_path)


# ---- making and removing --------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("possible")
@pytest.mark.parametrize("nodes", [2, 4])
def test_made_shaped_both_ways_and_removed(nodes: int) -> None:
    with Rig("200 Mbit", nodes) as rig:
        made = {n for n in namespaces() if n.startswith(rig.namespaces[0].removesuffix("-0"))}
        switch = made - set(rig.namespaces)
        assert len(switch) == (nodes > 2)
        ports = [(namespace, f"port{node}") for namespace in switch for node in range(nodes)]
        for namespace, device in [*((namespace, DEVICE) for namespace in rig.namespaces), *ports]:
            shape = said(["tc", "-n", namespace, "qdisc", "show", "dev", device])
            assert "tbf" in shape
            assert "rate 200Mbit" in shape
        for namespace in rig.namespaces:
            control = said(["ip", "netns", "exec", namespace, "cat", "/proc/sys/net/ipv4/tcp_congestion_control"])
            assert control.strip() == "reno", "whatever this machine's own is"
    assert not made & namespaces()
    rig.close()  # twice is fine


@pytest.mark.usefixtures("possible")
def test_removed_after_an_error_with_what_runs_inside() -> None:
    rig = Rig("500 Mbit")

    def failing() -> subprocess.Popen[bytes]:
        with rig:
            inside.append(subprocess.Popen(["ip", "netns", "exec", rig.namespaces[0], "sleep", "600"]))
            while not said(["ip", "netns", "pids", rig.namespaces[0]]).strip():
                assert inside[0].poll() is None
            raise ZeroDivisionError

    inside: list[subprocess.Popen[bytes]] = []
    with pytest.raises(ZeroDivisionError):
        failing()
    (sleeper,) = inside
    assert sleeper.wait(timeout=60) == -signal.SIGKILL
    assert not set(rig.namespaces) & namespaces()


@pytest.mark.usefixtures("possible")
def test_half_a_rig_is_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(namespace: str, device: str) -> None:
        raise RigUnavailable("not today")

    monkeypatch.setattr(rig_module, "_await_up", failing)
    rig = Rig("500 Mbit")
    with pytest.raises(RigUnavailable, match="not today"):
        rig.__enter__()
    assert not set(rig.namespaces) & namespaces()


@pytest.mark.usefixtures("possible")
@pytest.mark.parametrize("nodes", [2, 3])
def test_what_a_killed_process_left_is_removed_and_the_living_kept(nodes: int) -> None:
    script = (
        f"from pready.calibrate.rig.namespaces import Rig; import time; r = Rig('100 Mbit', {nodes}); r.__enter__()"
    )
    script += "; print(*r.every_namespace, flush=True); time.sleep(600)"
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        left = set(process.stdout.readline().split())
        assert len(left) == (2 if nodes == 2 else nodes + 1)
        with Rig("500 Mbit") as mine:
            assert left <= namespaces()  # its process lives
        process.kill()
        process.wait(timeout=60)
        with Rig("500 Mbit") as mine:
            assert not left & namespaces()
            assert set(mine.namespaces) <= namespaces()
            assert remove_stale() == []


# ---- messages over it -----------------------------------------------------------------------------------------------


LIBRARIES = {
    "MPICH over ofi": ("PREADY_MPICH_PREFIX", "mpich"),
    "Open MPI": ("PREADY_OPENMPI_PREFIX", "openmpi"),
}


@pytest.fixture(scope="module", params=sorted(LIBRARIES))
def linked(request: pytest.FixtureRequest) -> Iterator[tuple[Rig, Launcher, Built, str]]:
    variable, name = LIBRARIES[request.param]
    if not os.environ.get(variable):
        pytest.skip(f"{variable} is not set: no {name} to test with")
    prefix = Path(os.environ[variable])
    built = benchmark(prefix, request)
    try:
        with Rig("500 Mbit") as rig:
            yield rig, rig.mpich(prefix) if name == "mpich" else rig.openmpi(prefix), built, name
    except RigUnavailable as error:
        pytest.skip(error.reason)


def taken(linked: tuple[Rig, Launcher, Built, str], points: list[Point], out: Path) -> list[dict[str, Any]]:
    _, launcher, built, _ = linked
    outcome = measure(points, launcher, out, 120.0, built=built, point_budget_s=0.5)
    assert outcome.failures == {}
    assert outcome.left == 0
    return [line["record"] for line in read(out).points.values()]


def test_nothing_is_faster_than_the_link(linked: tuple[Rig, Launcher, Built, str], tmp_path: Path) -> None:
    rig = linked[0]
    size = 2 << 20
    points = [Point.of("pingpong", bytes=size), Point.of("rate", bytes=size // 8, window=8)]
    for record in taken(linked, points, tmp_path / "raw.jsonl"):
        # All but a full bucket leaves at the shaped rate. A lower bound: a busy machine can only make it slower.
        assert record["min_s"] > (size - rig.bucket_bytes) / (rig.bits_per_s / 8)


def longer_after_a_pause(
    name: str, sizes: Sequence[int], folder: Path, request: pytest.FixtureRequest
) -> Generator[dict[tuple[int, float], float]]:
    """By size and pause at 100 Mbit/s: how much longer a message takes than in a row, as a share; round after round.

    Of each size and pause the calmest round so far: other programs only make a message take longer.
    """
    variable, library = LIBRARIES[name]
    if not os.environ.get(variable):
        pytest.skip(f"{variable} is not set: no {library} to test with")
    prefix = Path(os.environ[variable])
    built = benchmark(prefix, request)
    times: dict[tuple[int, float], float] = {}
    try:
        with Rig("100 Mbit") as rig:
            launcher = rig.mpich(prefix) if library == "mpich" else rig.openmpi(prefix)
            for n in itertools.count():
                points = [
                    Point.of("pingpong", bytes=size, mode="isend", pause_s=pause, min_repeats=30, max_repeats=60)
                    for size in sizes
                    for pause in (0.0, 5e-3, 20e-3)
                ]
                for record in taken((rig, launcher, built, library), points, folder / f"round-{n}.jsonl"):
                    at = record["parameters"]["bytes"], record["parameters"].get("pause_s", 0.0)
                    times[at] = min(record["median_s"], times.get(at, record["median_s"]))
                assert len(times) == 3 * len(sizes)
                yield {(size, pause): t / times[size, 0.0] - 1 for (size, pause), t in times.items()}
    except RigUnavailable as error:
        pytest.skip(error.reason)


ROUNDS = 9
"""Enough for a calm one on a busy machine. What the bucket does shows in each."""


@pytest.mark.parametrize("name", sorted(LIBRARIES))
def test_a_message_takes_after_a_pause_what_it_takes_in_a_row(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    off: dict[tuple[int, float], float] = {}
    with contextlib.closing(longer_after_a_pause(name, (4096, 8192, 16384, 65536), tmp_path, request)) as rounds:
        for longer in itertools.islice(rounds, ROUNDS):
            off = {at: share for at, share in longer.items() if abs(share) > 0.05}
            if not off:
                break
    assert off == {}


def test_a_large_bucket_would_show(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.setattr(rig_module, "LATE_S", 1e-3)  # 12.5 KB: after a pause 8 KiB pass at once, in a row half of it
    with contextlib.closing(longer_after_a_pause("MPICH over ofi", (8192,), tmp_path, request)) as rounds:
        for longer in itertools.islice(rounds, 3):  # in no round does it seem as in a row
            assert longer[8192, 5e-3] < -0.5


def test_every_way_of_sending_works_and_who_sends_early(
    linked: tuple[Rig, Launcher, Built, str], tmp_path: Path
) -> None:
    early = Point.of("early", delay_s=0.05, delay_by="test", min_repeats=6, max_repeats=6)
    ways = ("part", "single", "many", "rma-single-active", "rma-many-active", "rma-single-passive", "rma-many-passive")
    points = [
        Point.of("approach", approach=way, bytes=65536, threads=2, receive_threads=1, delay_s=0.005, max_repeats=10)
        for way in ways
    ]
    first, *others = taken(linked, [early, *points], tmp_path / "raw.jsonl")
    assert first["derived"]["early_steady"] == {"mpich": 0, "openmpi": 1}[linked[3]]
    assert len(others) == len(ways)


def test_ranks_of_a_node_share_its_namespace(home: Path) -> None:
    rig = Rig("200Mbit", nodes=2)
    for launcher in (rig.mpich(home, per_node=2), rig.openmpi(home, per_node=2)):
        assert launcher.ranks == len(launcher.parts) == 4
        assert "2 ranks each" in launcher.name
    mpich = rig.mpich(home, per_node=2)
    assert [part[-1] for part in mpich.parts] == [rig.namespaces[node] for node in (0, 0, 1, 1)]
    # names of hosts are the same in all namespaces
    assert mpich.environment["MPIR_CVAR_NUM_CLIQUES"] == "2"
    assert "MPIR_CVAR_NOLOCAL" not in mpich.environment
    assert rig.mpich(home).environment["MPIR_CVAR_NOLOCAL"] == "1"
