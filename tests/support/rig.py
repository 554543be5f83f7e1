"""Two nodes on one machine, `Rig(100)`: network namespaces joined by a link shaped to 100 Mbit/s each way.

It shows that the pipeline works and what a library does, never what the link of a cluster costs. A test with one
is marked `needs("ip", "root")`. Names carry this process's id. Each end is a token bucket (`tbf`) that holds one
segment and `LATE_S` of tokens: after a pause a message is early by what the bucket holds, 67 us of data, or one frame
and 20 us below 100 Mbit/s.
"""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Self

import pytest

from pready.calibrate.measure.launcher import Launcher

DEVICE = "pready0"
NETWORK = "192.0.2"  # TEST-NET-1, RFC 5737: never routed, and only ours inside the namespaces
TIMEOUT_S = 20.0
LINK_PATIENCE = 100
"""Looks at a new link, 50 ms apart."""

MTU = 576
"""Bytes: short frames, since a token bucket lets the first one pass at once."""
FRAME_BYTES = MTU + 14
"""An Ethernet frame as `tbf` counts it."""
SEGMENT_S = 47e-6
"""Duration of a segment, the bytes that `tbf` passes together: one frame at 100 Mbit/s, more at higher rates."""
LATE_S = 20e-6
"""Timers are late by up to this; the bucket saves tokens for as long, or the link would lose them."""

TCP = {"tcp_congestion_control": "reno", "tcp_slow_start_after_idle": "0", "tcp_no_metrics_save": "1"}
"""TCP remembers nothing of earlier exchanges, and never pauses to probe as BBR does, which some machines have set."""


class NoRig(Exception):
    """A command of the rig failed."""


class Rig:
    """Namespaces and a link of `mbit` 10^6 bits a second each way: up to 1000, which two cores can drive steadily."""

    def __init__(self, mbit: float) -> None:
        self.mbit = mbit
        stem = f"pready-rig-{os.getpid()}-{id(self):x}"
        self.namespaces = f"{stem}-0", f"{stem}-1"

    @property
    def bytes_per_s(self) -> float:
        return self.mbit * 1e6 / 8

    @property
    def frames(self) -> int:
        """Frames of a segment."""
        return max(round(SEGMENT_S * self.bytes_per_s / FRAME_BYTES), 1)

    @property
    def bucket_bytes(self) -> int:
        """Bytes that an end passes at once after a pause."""
        return self.frames * FRAME_BYTES + round(LATE_S * self.bytes_per_s)

    def __enter__(self) -> Self:
        try:
            self._create()
        except NoRig as error:
            self.close()
            pytest.skip(str(error))
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _create(self) -> None:
        here, there = self.namespaces
        set_tcp = " && ".join(f"echo {value} >/proc/sys/net/ipv4/{name}" for name, value in TCP.items())
        for namespace in self.namespaces:
            _ip("netns", "add", namespace)
            _ip("netns", "exec", namespace, "sh", "-c", set_tcp)
            _ip("-n", namespace, "link", "set", "lo", "up")
        _ip("link", "add", DEVICE, "netns", here, "type", "veth", "peer", "name", DEVICE, "netns", there)
        for node, namespace in enumerate(self.namespaces):
            _ip("-n", namespace, "addr", "add", f"{NETWORK}.{node + 1}/24", "dev", DEVICE)
            self._shape(namespace)
        for namespace in self.namespaces:
            _await_up(namespace)

    def _shape(self, namespace: str) -> None:
        """Bring one end up with the rig's rate on what leaves it."""
        segment = ("gso_max_size", str(self.frames * FRAME_BYTES), "gso_max_segs", str(self.frames))
        _ip("-n", namespace, "link", "set", DEVICE, "mtu", str(MTU), *segment)
        _ip("-n", namespace, "link", "set", DEVICE, "up")
        shape = ("tbf", "rate", f"{self.mbit}mbit", "burst", f"{self.bucket_bytes}b", "latency", "200ms")
        _call(["tc", "-n", namespace, "qdisc", "add", "dev", DEVICE, "root", *shape])

    def close(self) -> None:
        """Remove everything. Safe to call twice."""
        for namespace in self.namespaces:
            _remove(namespace)

    def mpich(self, prefix: Path, *, per_node: int = 1) -> Launcher:
        """Ranks of an MPICH over TCP; `per_node` on each node, one node after the other, which share memory."""
        local = {"MPIR_CVAR_NOLOCAL": "1"}  # no shared memory between the ranks
        if per_node > 1:  # all have one host name: tell MPICH which of them share memory
            local = {"MPIR_CVAR_NUM_CLIQUES": "2", "MPIR_CVAR_CLIQUES_BY_BLOCK": "1"}
        return Launcher(
            prefix=(str(prefix / "bin" / "mpiexec"),),
            parts=tuple(("-n", "1", *self._inside(rank // per_node)) for rank in range(2 * per_node)),
            environment={
                **local,
                "MPIR_CVAR_CH4_NETMOD": "ofi",
                "OMP_WAIT_POLICY": "passive",
                "FI_PROVIDER": "tcp",
                "FI_TCP_IFACE": DEVICE,
                # by default libfabric's tcp stops reading a connection at 64 unexpected messages, and the rank hangs
                "FI_TCP_MAX_SAVED": "65536",
            },
            label="MPICH over ofi in namespaces",
        )

    def openmpi(self, prefix: Path, *, per_node: int = 1) -> Launcher:
        """Ranks of an Open MPI over TCP, those of a node, too. Its runtime is on the first node and listens on the link
        instead of the loopback, so that ranks on the other reach it. Ranks yield while they wait in MPI."""
        options = (
            *("--allow-run-as-root", "--bind-to", "none", *(["--oversubscribe"] if per_node > 1 else [])),
            *("--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", DEVICE),
            *("--mca", "osc", "^ucx", "--mca", "mpi_yield_when_idle", "1", "--pmixmca", "ptl_base_if_include", DEVICE),
        )
        return Launcher(
            prefix=("ip", "netns", "exec", self.namespaces[0], str(prefix / "bin" / "mpiexec"), *options),
            parts=(("-n", "1"), *(("-n", "1", *self._inside(rank // per_node)) for rank in range(1, 2 * per_node))),
            environment={"OMP_WAIT_POLICY": "passive"},
            label="Open MPI over tcp in namespaces",
        )

    def _inside(self, node: int) -> tuple[str, ...]:
        return ("ip", "netns", "exec", self.namespaces[node])


def _call(command: Sequence[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoRig(f"{' '.join(command)}: {error}") from error
    if done.returncode != 0:
        words = (done.stderr or done.stdout).strip()
        raise NoRig(f"{' '.join(command)}: {words or f'exit status {done.returncode}'}")
    return done.stdout


def _ip(*words: str) -> str:
    return _call(["ip", *words])


def _await_up(namespace: str) -> None:
    """The kernel announces a new link up to a second late; until then libfabric finds no address to listen on."""
    for _ in range(LINK_PATIENCE):
        if "state UP" in _ip("-n", namespace, "-o", "link", "show", "dev", DEVICE):
            return
        time.sleep(0.05)
    raise NoRig(f"the link in {namespace} does not come up")


def _remove(namespace: str) -> None:
    """End what runs in a namespace and delete it; its end of the link goes with it."""
    if namespace not in _ip("netns", "list").split():
        return
    for pid in _ip("netns", "pids", namespace).split():
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(pid), signal.SIGKILL)
    _ip("netns", "del", namespace)
