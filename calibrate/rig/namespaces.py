"""A cluster of known bandwidth on one machine: network namespaces joined by shaped links.

    with Rig("100 Mbit") as rig:                # two nodes, one cable
        measure(points, rig.mpich(prefix), ...)
    with Rig("50 Mbit", nodes=4) as rig: ...    # four on a switch

It shows that the pipeline works and what a library does, never what the link of a cluster costs.

Needs Linux, root, `ip` and `tc`; raises `RigUnavailable` where one is missing. The names of the namespaces carry this
process's id and start time. They are removed when the context ends; those of a killed process, when the next rig is set
up.

More than two nodes hang on a switch: a namespace with a bridge, and a cable (veth pair) from each node to a port of it,
shaped at both ends, so that the port into a node is as narrow as the one out of it. The switch itself is fast.

Each end is shaped by a token bucket (`tbf`) that holds one segment and `LATE_S` of tokens. Tokens saved during a pause
are spent at once, so a message arrives early by what the bucket holds: 67 us of data, or one frame and 20 us below
100 Mbit/s. Beyond that a message takes as long after a pause as in a row. `OFF_LOGGP` says what else differs from the
model.

MPICH's and Open MPI's ping-pong after a pause of 10 ms beside one in a row: at 100 Mbit/s within 1.1 % from 4 KiB up,
at 0.5 and 1 Gbit/s within 3.6 % from 16 KiB up; windows of messages keep the rate within 2 % (4 % once). Smaller
messages show the bucket, and cold caches, some 5 us. Other shapings, at 100 Mbit/s with a plain TCP ping-pong:

- frames of 1500 bytes: messages are 120 us early, not 40, and 4 KiB take 4.4 % longer after a pause;
- no room above the segment: the link loses 10 % to late timers;
- `tbf` with `peakrate` and a second bucket of one frame: -4 to +4 %, since the large bucket still passes 4 % faster;
- `htb`: sends while any token is left, so one frame more at once, and 4 KiB take 12 % less after a pause.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from pready.calibrate.measure.launcher import Launcher
from pready.model.common.errors import PreadyError

DEVICE = "pready0"
NETWORK = "192.0.2"  # TEST-NET-1, RFC 5737: never routed, and only ours inside the namespaces
MOST_NODES = 64
BRIDGE, SWITCH = "pready-br", "switch"
PREFIX = "pready-rig"
_LABEL = "rig "
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

OFF_LOGGP = (
    "the rig differs from LogGP in its link, its sockets and its cores. Link: a bucket lets 67 us of data pass at once "
    "(840 B at 100 Mbit/s, 8.4 KB at 1 Gbit/s), so L comes out that much shorter, and smaller messages take no time "
    "per byte. Sockets: every second frame is acknowledged, so data sent both ways at once move 5 % slower; several "
    "flows share a port unevenly. Cores: all ranks and the link share this machine's; a message after a pause takes 5 "
    "to 30 us longer, and threads without a core of their own wait for one, up to 4 ms at a time"
)
"""What `pready validate live` says of measurements on the rig."""

TCP = {"tcp_congestion_control": "reno", "tcp_slow_start_after_idle": "0", "tcp_no_metrics_save": "1"}
"""Settings of the nodes: TCP remembers nothing of earlier exchanges.

A namespace inherits its machine's congestion control. BBR, the default of some machines, estimates a rate and now and
then pauses to probe: some exchanges take 1.7 times as long. Reno is in every kernel and never waits on a link without
losses.
"""

LOWEST_BITS_PER_S = 10e6
HIGHEST_BITS_PER_S = 1e9
"""Above, two cores cannot drive the link steadily."""

_UNITS = {"kbit": 1e3, "mbit": 1e6, "gbit": 1e9}


class RigUnavailable(PreadyError):
    """This machine cannot host a rig; `reason` says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def parse_bandwidth(text: str) -> float:
    """Bits per second from "500 Mbit", "1Gbit" or "1 Gbit/s".

    Raises
    ------
    PreadyError
        For anything else, and outside 10 Mbit/s to 1 Gbit/s.
    """
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([kMG]bit)(?:/s)?\s*", text, re.IGNORECASE)
    if match is None:
        raise PreadyError(
            f"bandwidth = '{text}' is not valid", valid="a number and kbit, Mbit or Gbit, such as '500 Mbit'"
        )
    rate = float(match[1]) * _UNITS[match[2].lower()]
    if not LOWEST_BITS_PER_S <= rate <= HIGHEST_BITS_PER_S:
        raise PreadyError(f"bandwidth = '{text}' is not valid", valid="10 Mbit to 1 Gbit")
    return rate


def available() -> None:
    """Raise `RigUnavailable` unless a rig can be set up here."""
    if sys.platform != "linux":
        raise RigUnavailable(f"the rig needs Linux network namespaces; this is {sys.platform}")
    if os.geteuid() != 0:
        raise RigUnavailable("the rig needs root, to create network namespaces")
    for tool in ("ip", "tc"):
        if shutil.which(tool) is None:
            raise RigUnavailable(f"the rig needs the command '{tool}' (package iproute2)")


class Rig:
    """Namespaces and shaped links between them, as a context manager.

    Parameters
    ----------
    bandwidth
        Such as "500 Mbit"; bits on the wire per second, in both directions, of each node.
    nodes
        2 share a cable; more hang on a switch.

    Raises
    ------
    RigUnavailable
        On entering, if this machine cannot host it; the reason names what is missing.
    PreadyError
        For a bandwidth or a number of nodes that makes no sense.
    """

    def __init__(self, bandwidth: str, nodes: int = 2) -> None:
        if not 2 <= nodes <= MOST_NODES:
            raise PreadyError(f"nodes = {nodes} is not valid", valid=f"2 to {MOST_NODES}")
        self.bandwidth = bandwidth
        self.nodes = nodes
        self.bits_per_s = parse_bandwidth(bandwidth)
        stem = f"{PREFIX}-{os.getpid()}-{_start_time(os.getpid())}-{id(self):x}"
        self.namespaces = tuple(f"{stem}-{node}" for node in range(nodes))
        self._switch = f"{stem}-{SWITCH}" if nodes > 2 else None

    @property
    def every_namespace(self) -> tuple[str, ...]:
        """The nodes' and the switch's."""
        return (*self.namespaces, *([self._switch] if self._switch else []))

    @property
    def frames(self) -> int:
        """Frames of a segment."""
        return max(round(SEGMENT_S * self.bits_per_s / 8 / FRAME_BYTES), 1)

    @property
    def bucket_bytes(self) -> int:
        """Bytes that an end passes at once after a pause."""
        return self.frames * FRAME_BYTES + round(LATE_S * self.bits_per_s / 8)

    def __enter__(self) -> Self:
        available()
        remove_stale()
        try:
            self._create()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _create(self) -> None:
        set_tcp = " && ".join(f"echo {value} >/proc/sys/net/ipv4/{name}" for name, value in TCP.items())
        for namespace in self.namespaces:
            _ip("netns", "add", namespace)
            _ip("netns", "exec", namespace, "sh", "-c", set_tcp)
            _ip("-n", namespace, "link", "set", "lo", "up")
        ends = self._cable() if self._switch is None else self._star(self._switch)
        for node, namespace in enumerate(self.namespaces):
            _ip("-n", namespace, "addr", "add", f"{NETWORK}.{node + 1}/24", "dev", DEVICE)
        for namespace, device in ends:
            self._shape(namespace, device)
        for namespace, device in ends:
            _await_up(namespace, device)

    def _cable(self) -> list[tuple[str, str]]:
        """Two nodes joined directly; namespace and device of each end."""
        here, there = self.namespaces
        _ip("link", "add", DEVICE, "netns", here, "type", "veth", "peer", "name", DEVICE, "netns", there)
        return [(here, DEVICE), (there, DEVICE)]

    def _star(self, switch: str) -> list[tuple[str, str]]:
        """All nodes joined to a switch; namespace and device of each end."""
        _ip("netns", "add", switch)
        _ip("-n", switch, "link", "add", BRIDGE, "type", "bridge")
        _ip("-n", switch, "link", "set", BRIDGE, "up")
        ends = []
        for node, namespace in enumerate(self.namespaces):
            port = f"port{node}"
            _ip("link", "add", DEVICE, "netns", namespace, "type", "veth", "peer", "name", port, "netns", switch)
            _ip("-n", switch, "link", "set", port, "master", BRIDGE)
            ends += [(namespace, DEVICE), (switch, port)]
        return ends

    def _shape(self, namespace: str, device: str) -> None:
        """Bring one end up with the rig's rate on what leaves it."""
        segment = ("gso_max_size", str(self.frames * FRAME_BYTES), "gso_max_segs", str(self.frames))
        _ip("-n", namespace, "link", "set", device, "mtu", str(MTU), *segment)
        _ip("-n", namespace, "link", "set", device, "up")
        rate, bucket = f"{self.bits_per_s:.0f}bit", f"{self.bucket_bytes}b"
        shape = ("tbf", "rate", rate, "burst", bucket, "latency", "200ms")
        _call(["tc", "-n", namespace, "qdisc", "add", "dev", device, "root", *shape])

    def close(self) -> None:
        """Remove everything. Safe to call twice."""
        for namespace in self.every_namespace:
            _remove(namespace)

    def mpich(self, prefix: Path, *, ranks: int | None = None, per_node: int = 1) -> Launcher:
        """Ranks of an MPICH found under `prefix` (the wheel's environment), over TCP between nodes.

        Parameters
        ----------
        ranks
            Fewer than the nodes hold, on the first ones.
        per_node
            Ranks on each node, one node after the other; they share memory.
        """
        count = ranks or self.nodes * per_node
        local = {"MPIR_CVAR_NOLOCAL": "1"}  # no shared memory between the ranks
        if per_node > 1:  # all have one host name: tell MPICH which of them share memory
            local = {"MPIR_CVAR_NUM_CLIQUES": str(self.nodes), "MPIR_CVAR_CLIQUES_BY_BLOCK": "1"}
        return Launcher(
            prefix=(_executable(prefix),),
            parts=tuple(("-n", "1", *self._inside(rank // per_node)) for rank in range(count)),
            environment={
                **local,
                "MPIR_CVAR_CH4_NETMOD": "ofi",
                "OMP_WAIT_POLICY": "passive",
                "FI_PROVIDER": "tcp",
                "FI_TCP_IFACE": DEVICE,
                # by default libfabric's tcp stops reading a connection at 64 unexpected messages, and the rank hangs
                "FI_TCP_MAX_SAVED": "65536",
            },
            label=f"{_LABEL}{self._size}{_each(per_node)}, MPICH over ofi",
            ranks=count,
        )

    def openmpi(self, prefix: Path, *, crowded: bool = False, ranks: int | None = None, per_node: int = 1) -> Launcher:
        """Ranks of an Open MPI found under `prefix`, over TCP.

        Its runtime runs on the first node and listens on the link instead of the loopback, so that ranks on other
        nodes reach it (`ptl_base_if_include`). It is idle while ranks measure.

        Parameters
        ----------
        ranks, per_node
            As for `mpich`; ranks of a node reach each other over TCP, too.
        crowded
            More threads than cores wait in MPI at once. They yield then, since threads that poll keep a core for
            whole time slices: 4 puts of 90 KiB took 7 ms instead of 1.3 ms.
        """
        count = ranks or self.nodes * per_node
        options = (
            *("--allow-run-as-root", "--bind-to", "none", *(["--oversubscribe"] if count > 2 else [])),
            *("--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", DEVICE),
            *("--mca", "osc", "^ucx"),
            # a yielding rank loses a time slice to any busy neighbour
            *("--mca", "mpi_yield_when_idle", "1" if crowded else "0"),
            *("--pmixmca", "ptl_base_if_include", DEVICE),
        )
        return Launcher(
            prefix=("ip", "netns", "exec", self.namespaces[0], _executable(prefix), *options),
            parts=(
                ("-n", "1", *_preferred()),
                *(("-n", "1", *self._inside(rank // per_node)) for rank in range(1, count)),
            ),
            environment={"OMP_WAIT_POLICY": "passive"},
            label=f"{_LABEL}{self._size}{_each(per_node)}, Open MPI over tcp{', yielding' * crowded}",
            ranks=count,
        )

    @property
    def _size(self) -> str:
        """In words; two nodes are not mentioned."""
        return self.bandwidth if self.nodes == 2 else f"{self.bandwidth}, {self.nodes} nodes"

    def _inside(self, node: int) -> tuple[str, ...]:
        return (*_preferred(), "ip", "netns", "exec", self.namespaces[node])


_RAISE = 'read -r group rest </proc/self/autogroup && [ "$group" != "$0" ] && echo -20 >/proc/self/autogroup'
PREFER = f'{{ {_RAISE}; }} 2>/dev/null; exec "$@"'
"""Gives the session that runs it precedence over others, unless it is the session named by $0."""


def on_rig(launcher: str) -> bool:
    """Is a launcher of this name a rig's? Then messages go over TCP."""
    return launcher.startswith(_LABEL)


def _each(per_node: int) -> str:
    return f", {per_node} ranks each" if per_node > 1 else ""


def _preferred() -> tuple[str, ...]:
    """A command's prefix that makes a rank less sensitive to a busy machine.

    The kernel shares the cores among sessions first (sched_autogroup), so a rank's own nice value has no effect. With
    five other busy processes on two cores, 1 MiB over Open MPI at 1 Gbit/s took 3.6 times as long as on idle cores;
    with a session's nice value of -20, 1.00 times. This process's own session would keep the value, and is left alone.
    """
    try:
        own = Path("/proc/self/autogroup").read_text().split()[0]
    except (OSError, IndexError):
        return ()
    return ("sh", "-c", PREFER, own)


def _executable(prefix: Path) -> str:
    path = prefix / "bin" / "mpiexec"
    if not os.access(path, os.X_OK):
        raise RigUnavailable(f"no mpiexec at {path}")
    return str(path)


# ---- namespaces -----------------------------------------------------------------------------------------------------


def _call(command: Sequence[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RigUnavailable(f"{' '.join(command)}: {error}") from error
    if done.returncode != 0:
        words = (done.stderr or done.stdout).strip()
        raise RigUnavailable(f"{' '.join(command)}: {words or f'exit status {done.returncode}'}")
    return done.stdout


def _ip(*words: str) -> str:
    return _call(["ip", *words])


def _start_time(pid: int) -> str:
    """When a process started, in clock ticks since boot: with its id, unique until the next boot. Empty if gone."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ""
    return stat.rpartition(")")[2].split()[19]  # field 22 of proc_pid_stat(5), counted after the name


def _await_up(namespace: str, device: str) -> None:
    """The kernel announces a new link up to a second late; until then libfabric finds no address to listen on."""
    for _ in range(LINK_PATIENCE):
        if "state UP" in _ip("-n", namespace, "-o", "link", "show", "dev", device):
            return
        time.sleep(0.05)
    raise RigUnavailable(f"the link in {namespace} does not come up")


def _existing() -> list[str]:
    return [line.split()[0] for line in _ip("netns", "list").splitlines() if line.strip()]


def _remove(namespace: str) -> None:
    """End what runs in a namespace and delete it; its end of the link goes with it."""
    try:
        if namespace not in _existing():
            return
        for pid in _ip("netns", "pids", namespace).split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        _ip("netns", "del", namespace)
    except RigUnavailable:
        if shutil.which("ip") is not None and namespace in _existing():
            raise


def remove_stale() -> list[str]:
    """Remove the namespaces of processes that are gone; returns their names."""
    stale = []
    for namespace in _existing():
        match = re.fullmatch(rf"{PREFIX}-(\d+)-(\d*)-[0-9a-f]+-(?:\d+|{SWITCH})", namespace)
        if match is not None and _start_time(int(match[1])) != match[2]:
            _remove(namespace)
            stale.append(namespace)
    return stale
