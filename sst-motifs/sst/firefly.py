"""A Machine as Firefly and merlin parameters: which of SST's knobs stands for which of the model's.

Firefly sends up to `short` bytes eagerly; beyond, the header goes first, the receiver's NIC fetches the
buffer when the receiver is in MPI, and an acknowledgement follows. In Firefly's terms

* o_s + O_s m: ``txSetup``; o_r + O_r m and matching: ``rxFini``, in the call that completes a receive (a send receives
  nothing, and answers requests in no time), by size;
* L: two crossings host - NIC (``nic2host_lat``), the NIC's start (``txDelay``), the links and, where there are
  rendezvous, the match of a header at the receiving NIC (``rxMatchDelay``), which fetched data do not go through;
* a rendezvous: two more crossings, two more times the links, one more start, and the read at the
  sender (``hostReadDelay``), so handshake = 2 host + 2 wire + gap + read, without the sender's CPU;
* g: ``txDelay``, between the starts of messages of each of the NIC's machines (`send_machines`);
* G: the link has the rate of several messages in flight; the rest of one message alone (G − G_link) is
  charged to the receiving CPU. Pipelined messages hide it behind each other as the model's do, as long as
  G ≤ 2 G_link and the receiver waits.

Costs are the model's (`pready.model.timeline.costs`), so that what one message takes agrees; SST's own ping-pong shows
how well (`pready.sst.ping_pong`). Nothing is fitted to SST.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from pready.model.common.errors import PreadyError
from pready.model.machine.machine import Machine
from pready.model.timeline.costs import Costs, costs
from pready.model.timeline.sampling import Sampler
from pready.model.workload.workload import Workload

HEADER_BYTES = 32
"""Firefly's match header, which goes with every message."""
CONTROL = 64
"""Bytes of the largest message that is no payload: those that match partitioned requests."""
LARGEST_PACKET, SMALLEST_PACKET = 2048, 256
FLITS = 16
"""Flits of a packet larger than usual."""
QUEUED_PACKETS = 1
"""Packets of a message that wait at the NIC: the least that keeps it busy, since another one is on its way. A
rendezvous request waits for those queued before it."""
LINK_PACKETS = 2
"""Packets of all messages that wait before the link. With one, a NIC can stop for ever: Firefly (`Nic::feedTheNetwork`)
finds no space, and registers for space one event later; if the only packet leaves in between, no notice comes. With
two, the other packet brings it."""
CROSSING = 0.005
"""One crossing between host and NIC, as a share of the latency or the handshake, whichever is shorter. Assumed."""
PACKET = 0.025
"""Largest share of the latency that a packet takes on the link. A rendezvous' request, fetch and acknowledgement each
wait for the packets before the link."""
MOST_MACHINES = 64
XBAR_SPEEDUP = 4
"""Rate of merlin's crossbar over a link's. At 1, packets for a busy port block those behind them in the input queue,
and a single router passes no more than 59 % of its links' rate when all its ports are busy."""
PORT_PACKETS = 1024
"""Least buffer of a router's port, in packets. Assumed."""
LARGEST_MESSAGE = 2**31 - 1
"""Firefly computes the time of a copy in 32-bit signed bytes."""
HOP_NS = 100.0
"""Between two routers, where there is more than one: the Machine does not know. Assumed."""


class Cpu(NamedTuple):
    """Nanoseconds of a processor for one message of a size."""

    send: float
    receive: float


@dataclass(frozen=True)
class Firefly:
    """Parameters of Firefly's host and NIC and of merlin's links."""

    link_bytes_per_s: float
    wire_ns: float  # from NIC to NIC through one router
    host_ns: int
    gap_ns: int
    read_ns: int
    match_ns: int  # per receive that the search passes
    header_ns: int = 0  # match of a message's header at the receiving NIC, where messages are fetched
    short: int | None = None  # the largest eager message; None if every message is
    packet: int = 0  # bytes of a packet; 0: as many as the latency allows (`packet_bytes`)

    def fetches(self, size: float) -> bool:
        """Does a message of that size go by a rendezvous?"""
        return self.short is not None and size > self.short


class Priced:
    """What messages of a workload cost on a machine: in the model, and so in Firefly's terms. Raises PreadyError: an
    eager protocol above a rendezvous: Firefly has one threshold."""

    def __init__(self, machine: Machine, workload: Workload, packet: int = 0) -> None:
        self._sampler, self._workload = Sampler(machine), workload
        network = machine.path(workload.path)
        kinds = [s.protocol == "rendezvous" for s in network.segments]
        if kinds != sorted(kinds):
            raise PreadyError(
                "segments: an eager protocol above a rendezvous",
                valid="for SST, one threshold between eager and rendezvous",
            )
        fetched = next((s.from_ for s in network.segments if s.handshake is not None), None)
        # Segments may differ in L and handshake; Firefly has one wire: the first's go there, the rest to the receiver.
        first = self.costs(1)
        self._latency, self._handshake = float(first.wire), 0.0
        if fetched is not None:
            late = self.costs(fetched)
            self._handshake = float(late.handshake + late.wire) - self._latency
        gap = max(0, round(1e9 * float(first.gap)))
        delays = split(1e9 * self._latency, None if fetched is None else 1e9 * self._handshake, gap)
        large = network.segments[-1].G_link
        link = 1 / network.link_bandwidth.value if large is None else large.value
        # Where short messages move faster than the link, SST's link is as fast, and its CPU slows long messages down.
        self._link = min([link, *(s.G.value for s in network.segments)])
        self.firefly = Firefly(
            link_bytes_per_s=1 / self._link,
            wire_ns=delays.wire,
            host_ns=delays.host,
            gap_ns=gap,
            read_ns=delays.read,
            match_ns=round(1e9 * machine.matching.per_entry.value),
            header_ns=delays.header,
            short=None if fetched is None else round(fetched) - 1,
            packet=packet,
        )

    def costs(self, size: float) -> Costs:
        """The model's costs of a message."""
        return costs(self._sampler, self._workload, size)

    def alone(self, size: float) -> float:
        """Seconds of one message to a receiver that waits with one receive posted."""
        c = self.costs(size)
        return float(c.hold + c.copy_in + c.wire + c.handshake + c.stream + c.receive)

    def cpu(self, size: int) -> Cpu:
        """What is left of a message's time for the processors; what would be below zero at the receiver comes off the
        sender."""
        c = self.costs(size)
        late = self.firefly.fetches(size)
        on_the_wire = self._latency + self._handshake * late + size * self._link
        send = float(c.hold + c.copy_in)
        receive = self.alone(size) - send - on_the_wire
        return Cpu(1e9 * max(0.0, send + min(0.0, receive)), 1e9 * max(0.0, receive))


class Delays(NamedTuple):
    """Nanoseconds of the wire, a crossing host - NIC, the match of a header and the read of a rendezvous' buffer."""

    wire: float
    host: int
    header: int
    read: int


def split(latency_ns: float, handshake_ns: float | None, gap_ns: int) -> Delays:
    """Delays that give an eager latency and a rendezvous' handshake.

    latency = 2 host + wire + header + gap and handshake = 2 host + 2 wire + gap + read. A crossing is short: in Firefly
    a CPU that has completed a receive may wait for the acknowledgement's way to the NIC and back before it answers the
    next request. The wire is as long as both times allow.
    """
    rest = max(latency_ns - gap_ns, 2.0)
    late = math.inf if handshake_ns is None else max(handshake_ns - gap_ns, 2.0)
    host = int(CROSSING * min(rest, late))
    wire = min(rest, late / 2 + host) - 2 * host
    header = round(rest - 2 * host - wire)
    wire = rest - 2 * host - header
    read = 0 if handshake_ns is None else max(0, round(late - 2 * host - 2 * wire))
    return Delays(wire, host, header, read)


def for_largest(firefly: Firefly, largest: int) -> Firefly:
    """The parameters of a run with messages of up to `largest` bytes.

    Where nothing is fetched, the match of the header belongs to the wire: packets behind a header that is being matched
    wait at the receiver and then pass all at once, so that the link's time for them would be hidden.
    """
    if firefly.fetches(largest):
        return firefly
    return replace(firefly, wire_ns=firefly.wire_ns + firefly.header_ns, header_ns=0)


def latency_ns(firefly: Firefly) -> float:
    """Eager latency without CPU."""
    return 2 * firefly.host_ns + firefly.wire_ns + firefly.header_ns + firefly.gap_ns


def flit_bytes(firefly: Firefly) -> int:
    """A flit takes at least 1 ns, so that the period's rounding to picoseconds stays below a thousandth.

    merlin's crossbars work flit by flit: larger packets save time if their flits grow with them.
    """
    flit = 8
    while flit < firefly.link_bytes_per_s * 1e-9:
        flit *= 2
    return max(flit, firefly.packet // FLITS)


def packet_bytes(firefly: Firefly) -> int:
    """Bytes of a packet: a power of two that takes no more than `PACKET` of the latency.

    A packet is there when its head is, so that a message's last packet costs no time on the link.
    """
    if firefly.packet:
        return firefly.packet
    packet = LARGEST_PACKET
    while packet > SMALLEST_PACKET and packet / firefly.link_bytes_per_s > 1e-9 * PACKET * latency_ns(firefly):
        packet //= 2
    return packet


def buffer_bytes(firefly: Firefly) -> int:
    """Buffers of a port: twice the data on its way between two credits, and at least `PORT_PACKETS`."""
    round_trip = 2 * max(firefly.wire_ns / 2, HOP_NS) * 1e-9
    packet = packet_bytes(firefly)
    return max(PORT_PACKETS * packet, int(2 * round_trip * firefly.link_bytes_per_s) // packet * packet)


def by_size(name: str, times: Mapping[int, float]) -> dict[str, str]:
    """Times (ns) of messages of up to each size in the words of ``firefly.LatencyMod``: ``range.0: "0-2048:30ns"``."""
    out = {f"{name}Mod": "firefly.LatencyMod", f"{name}ModParams.base": "0ns"}
    starts = [0, *(n + 1 for n in times)]
    for i, (start, (size, ns)) in enumerate(zip(starts, times.items(), strict=False)):
        out[f"{name}ModParams.range.{i}"] = f"{start}-{size}:{ns:.6g}ns"
    return out


def host_parameters(firefly: Firefly, cpu: Mapping[int, Cpu], receives: int) -> dict[str, object]:
    """The parameter set ``firefly.ctrl``.

    Parameters
    ----------
    cpu
        By the bytes of each message. Firefly allocates real memory of the eager limit, or of the largest, per receive.
    receives
        Receives that a rank has posted at once.
    """
    sizes = sorted(cpu)
    eager = sizes[-1] if firefly.short is None else min(firefly.short, sizes[-1])
    nothing = {sizes[-1]: 0.0}
    times = {
        "txSetup": {n: cpu[n].send for n in sizes},
        "rxFini": {n: cpu[n].receive for n in sizes},
        **dict.fromkeys(("rxSetup", "txMemcpy", "rxMemcpy"), nothing),
    }
    return {
        "shortMsgLength": max(eager, CONTROL),
        "matchDelay_ns": firefly.match_ns,
        "regRegionBaseDelay_ns": 0,
        "regRegionPerPageDelay_ns": 0,
        "sendAckDelay_ns": 0,
        "pqs.maxPostedShortBuffers": max(16, 2 * receives + 8),
        "pqs.maxUnexpectedMsg": max(16, 2 * receives + 8),
        **{key: value for name, each in times.items() for key, value in by_size(name, each).items()},
    }


def send_machines(firefly: Firefly, largest: int, messages: int, peers: int) -> int:
    """How many messages a NIC streams at once.

    Adapters share the cable among destinations and keep the order to each: queue pairs take turns, and hfi1 chooses
    one of Omni-Path's 16 DMA engines by the destination (Linux, `dlid_to_selector`
    of its driver). So as many as there are peers; of two ranks one, and g lies between messages. Where there are
    rendezvous, all: their headers and requests then pass the data of others instead of waiting behind them.
    """
    return min(messages + 2 if firefly.fetches(largest) else peers, MOST_MACHINES)


def nic_parameters(firefly: Firefly, largest: int, messages: int, peers: int) -> dict[str, object]:
    """The parameter set ``nic``; `largest` bytes of a message, `messages` that a host sends at once, to so many."""
    return {
        "nic2host_lat": f"{firefly.host_ns}ns",
        "txDelay_ns": firefly.gap_ns,
        "rxMatchDelay_ns": firefly.header_ns,
        "hostReadDelay_ns": firefly.read_ns,
        "packetSize": f"{packet_bytes(firefly)}B",
        "packetOverhead": 0,
        "numSendMachines": send_machines(firefly, largest, messages, peers),
        "maxSendMachineQsize": QUEUED_PACKETS,
        "maxRecvMachineQsize": 100,
        "maxActiveRecvStreams": 1024,
        "maxPendingRecvPkts": 1024,
    }
