"""A Machine as Firefly and merlin parameters: which of SST's knobs stands for which of the model's.

Firefly sends up to `short` bytes eagerly; beyond, the header goes first, the receiver's NIC fetches the
buffer when the receiver is in MPI, and an acknowledgement follows. In Firefly's terms

* o_s, o_r: ``txSetup``, ``rxSetup`` (CPU, by size); O_s, O_r: ``txMemcpy``, ``rxMemcpy`` (CPU, per byte);
* L: two crossings host - NIC (``nic2host_lat``), the NIC's start (``txDelay``), the links and, where there are
  rendezvous, the match of a header at the receiving NIC (``rxMatchDelay``), which fetched data do not go through;
* a rendezvous: two more crossings, two more times the links, one more start, and the read at the
  sender (``hostReadDelay``), so handshake = 2 host + 2 wire + gap + read, without the sender's CPU;
* g: ``txDelay``, between the starts of messages of each of the NIC's machines (`send_machines`);
* G: the link has the rate of several messages in flight; the rest of one message alone (G − G_link) is
  charged per byte to the receiving CPU (``rxMemcpy``, or ``rxFini`` after a rendezvous). Pipelined
  messages hide it behind each other as the model's do, as long as G ≤ 2 G_link and the receiver waits.

`initial` solves these for a Machine; `pready.sst.calibrate` corrects them by SST's own ping-pong.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

from pready.model.common.errors import PreadyError
from pready.model.machine.machine import Machine
from pready.model.machine.path import PathName, Segment

HEADER_BYTES = 32
"""Firefly's match header: copied by the sender's CPU with every message."""
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
STEP, NEGLIGIBLE = 1.05, 0.002
XBAR_SPEEDUP = 4
"""Rate of merlin's crossbar over a link's. At 1, packets for a busy port block those behind them in the input queue,
and a single router passes no more than 59 % of its links' rate when all its ports are busy."""
PORT_PACKETS = 1024
"""Least buffer of a router's port, in packets. Assumed."""
LARGEST_MESSAGE = 2**31 - 1
"""Firefly computes the time of a copy in 32-bit signed bytes."""
HOP_NS = 100.0
"""Between two routers, where there is more than one: the Machine does not know. Assumed."""


@dataclass(frozen=True)
class Band:
    """CPU costs of messages from `start` bytes up to the next band."""

    start: int
    rendezvous: bool
    tx_ns: float
    rx_ns: float
    tx_ns_per_byte: float
    rx_ns_per_byte: float


@dataclass(frozen=True)
class Firefly:
    """Parameters of Firefly's host and NIC and of merlin's links."""

    link_bytes_per_s: float
    wire_ns: float
    """From NIC to NIC through one router."""
    host_ns: int
    gap_ns: int
    read_ns: int
    match_ns: int
    """Per receive that the search passes."""
    bands: tuple[Band, ...]
    header_ns: int = 0
    """Match of a message's header at the receiving NIC, where messages are fetched."""
    packet: int = 0
    """Bytes of a packet; 0: as many as the latency allows (`packet_bytes`)."""

    @property
    def short(self) -> int | None:
        """The largest eager message; None if every message is."""
        return next((b.start - 1 for b in self.bands if b.rendezvous), None)

    def band(self, size: float) -> Band:
        """The band that a message of `size` bytes falls into."""
        return [b for b in self.bands if b.start <= size][-1]

    def ping(self, size: int) -> float:
        """Firefly's time of one message to a waiting receiver, in seconds: the formula behind `initial`.

        Packets, flits and rounding to whole nanoseconds are left out; SST itself is the measure.
        """
        b = self.band(size)
        header = self.band(HEADER_BYTES).tx_ns_per_byte * HEADER_BYTES
        cpu = b.tx_ns + header + b.rx_ns + b.rx_ns_per_byte * size + self.match_ns
        stream = size / self.link_bytes_per_s * 1e9
        if b.rendezvous:
            total = cpu + 4 * self.host_ns + 3 * self.wire_ns + self.header_ns + 2 * self.gap_ns + self.read_ns + stream
        else:
            total = cpu + b.tx_ns_per_byte * size + latency_ns(self) + stream
        return total * 1e-9

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return asdict(self)

    @staticmethod
    def from_dict(data: dict[str, Any]) -> Firefly:
        """The inverse of `to_dict`.

        Raises
        ------
        PreadyError
            Data that are not such parameters.
        """
        try:
            return Firefly(**{**data, "bands": tuple(Band(**b) for b in data["bands"])})
        except (TypeError, KeyError) as error:
            raise PreadyError(f"parameters of SST: {error}", valid="those that were kept") from None


def ping_time(machine: Machine, size: float, path: PathName = "inter", cache: str = "hot") -> float:
    """The Machine's time of one message to a receiver that waits with one receive posted, in seconds."""
    s = machine.path(path).segment(size)
    o_s, o_r = copies(machine, s, cache)
    times = (s.o_s, s.L, s.o_r, machine.matching.base)
    handshake = 0.0 if s.handshake is None else s.handshake.value
    return sum(t.value for t in times) + handshake + (s.G.value + o_s + o_r) * size


def copies(machine: Machine, segment: Segment, cache: str) -> tuple[float, float]:
    """O_s and O_r in s/B: the segment's own, else the node's copy for the buffered protocol, else none."""
    rate = machine.memory.copy_hot if cache == "hot" else machine.memory.copy_cold
    default = 1 / rate.value if segment.protocol == "bcopy" else 0.0
    given = (segment.O_s, segment.O_r)
    o_s, o_r = (default if v is None else float(v.value) for v in given)
    return o_s, o_r


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


def initial(machine: Machine, path: PathName = "inter", cache: str = "hot") -> Firefly:
    """Firefly's parameters for a Machine, by its formula.

    Raises
    ------
    PreadyError
        An eager protocol above a rendezvous: Firefly has one threshold.
    """
    network = machine.path(path)
    segments = network.segments
    kinds = [s.protocol == "rendezvous" for s in segments]
    if kinds != sorted(kinds):
        raise PreadyError(
            "segments: an eager protocol above a rendezvous",
            valid="for SST, one threshold between eager and rendezvous",
        )
    late = [s for s in segments if s.handshake is not None]
    gap = max(0, round(segments[0].g.value * 1e9))
    # Segments may differ in L and handshake; Firefly has one wire: the first's go there, the rest to the receiving CPU.
    latency = segments[0].L.value
    handshake = late[0].handshake.value + late[0].L.value - latency if late and late[0].handshake else None
    wire, host, header, read = split(latency * 1e9, None if handshake is None else handshake * 1e9, gap)
    large = segments[-1].G_link
    link = 1 / network.link_bandwidth.value if large is None else large.value
    # Where short messages move faster than the link, SST's link is as fast, and its CPU slows long messages down.
    link = min([link, *(s.G.value for s in segments)])
    bands: list[Band] = []
    copied = copies(machine, segments[0], cache)[0] * 1e9 * HEADER_BYTES
    for s, following in zip(segments, [*segments[1:], None], strict=True):
        o_s, o_r = copies(machine, s, cache)
        extra = s.L.value - latency
        if s.handshake is not None and handshake is not None:
            extra += s.handshake.value - handshake
        band = Band(
            start=round(s.from_),
            rendezvous=s.handshake is not None,
            tx_ns=max(0.0, s.o_s.value * 1e9 - copied),
            rx_ns=0.0,
            tx_ns_per_byte=o_s * 1e9,
            rx_ns_per_byte=(o_r + s.G.value - link) * 1e9,
        )
        constant = (s.o_r.value + machine.matching.base.value + extra) * 1e9
        bands += _shifted(band, constant, math.inf if following is None else following.from_)
    match = round(machine.matching.per_entry.value * 1e9)
    return Firefly(1 / link, wire, host, gap, read, match, tuple(bands), header)


def _shifted(band: Band, constant: float, end: float) -> list[Band]:
    """The band with `constant` ns on the receiver; what would be below zero comes off the sender, then off the slope.

    A line with a negative intercept becomes steps of `STEP` in size, each a slope through the line's middle.
    """
    rx = band.rx_ns + constant
    tx = band.tx_ns + min(rx, 0.0)
    if tx >= 0 or band.start == 0:
        return [replace(band, rx_ns=max(rx, 0.0), tx_ns=max(tx, 0.0))]
    bands, start = [], float(band.start)
    while start < end:
        stop = min(start * STEP, end)
        slope = band.rx_ns_per_byte + tx / math.sqrt(start * stop)
        bands.append(replace(band, start=round(start), rx_ns=0.0, tx_ns=0.0, rx_ns_per_byte=max(0.0, slope)))
        if -tx < NEGLIGIBLE * band.rx_ns_per_byte * start:
            bands[-1] = replace(bands[-1], rx_ns_per_byte=band.rx_ns_per_byte)
            break
        start = stop
    return bands


def for_largest(firefly: Firefly, largest: int) -> Firefly:
    """The parameters of a run with messages of up to `largest` bytes.

    Where nothing is fetched, the match of the header belongs to the wire: packets behind a header that is being matched
    wait at the receiver and then pass all at once, so that the link's time for them would be hidden.
    """
    if firefly.band(largest).rendezvous:
        return firefly
    return replace(firefly, wire_ns=firefly.wire_ns + firefly.header_ns, header_ns=0)


def with_gap_kept(firefly: Firefly, latency_ns: float, handshake_ns: float | None) -> Firefly:
    """Firefly with the delays of another latency and handshake, and its gap."""
    wire, host, header, read = split(latency_ns, handshake_ns, firefly.gap_ns)
    return replace(firefly, wire_ns=wire, host_ns=host, header_ns=header, read_ns=read)


def latency_ns(firefly: Firefly) -> float:
    """Eager latency without CPU."""
    return 2 * firefly.host_ns + firefly.wire_ns + firefly.header_ns + firefly.gap_ns


def handshake_ns(firefly: Firefly) -> float | None:
    """Time that a rendezvous adds; None if there is none."""
    if firefly.short is None:
        return None
    return 2 * firefly.host_ns + 2 * firefly.wire_ns + firefly.gap_ns + firefly.read_ns


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


def ranges(firefly: Firefly, prefix: str, values: list[float], unit: str) -> dict[str, str]:
    """A value per band in the words of ``firefly.LatencyMod``: ``range.0: "0-2047:30ns"``."""
    out = {}
    ends = [b.start - 1 for b in firefly.bands[1:]] + [None]
    for i, (band, end, value) in enumerate(zip(firefly.bands, ends, values, strict=True)):
        out[f"{prefix}.range.{i}"] = f"{band.start}-{'' if end is None else end}:{value:.6g}{unit}"
    return out


def host_parameters(firefly: Firefly, largest: int, receives: int) -> dict[str, object]:
    """The parameter set ``firefly.ctrl``.

    Parameters
    ----------
    largest
        Bytes of the largest message: Firefly allocates real memory of the eager limit per receive.
    receives
        Receives that a rank has posted at once.
    """
    bands = firefly.bands
    eager = largest if firefly.short is None else min(firefly.short, largest)
    out: dict[str, object] = {
        "shortMsgLength": max(eager, 64),
        "matchDelay_ns": firefly.match_ns,
        "regRegionBaseDelay_ns": 0,
        "regRegionPerPageDelay_ns": 0,
        "sendAckDelay_ns": 0,
        "pqs.maxPostedShortBuffers": max(16, 2 * receives + 8),
        "pqs.maxUnexpectedMsg": max(16, 2 * receives + 8),
    }
    setups = {"txSetup": [b.tx_ns for b in bands], "rxSetup": [b.rx_ns for b in bands]}
    per_byte = {
        "txMemcpy": [b.tx_ns_per_byte for b in bands],
        "rxMemcpy": [0.0 if b.rendezvous else b.rx_ns_per_byte for b in bands],
        "rxFini": [b.rx_ns_per_byte if b.rendezvous else 0.0 for b in bands],
    }
    for name, values in (setups | per_byte).items():
        each, unit = ([1e3 * v for v in values], "ps") if name in per_byte else (values, "ns")
        out |= {f"{name}Mod": "firefly.LatencyMod", f"{name}ModParams.base": "0ns"}
        out |= {f"{name}ModParams.op": "Mult"} if name in per_byte else {}
        out |= ranges(firefly, f"{name}ModParams", each, unit)
    return out


def send_machines(firefly: Firefly, largest: int, messages: int, peers: int) -> int:
    """How many messages a NIC streams at once.

    Adapters share the cable among destinations and keep the order to each: queue pairs take turns, and hfi1 chooses
    one of Omni-Path's 16 DMA engines by the destination (Linux, `dlid_to_selector`
    of its driver). So as many as there are peers; of two ranks one, and g lies between messages. Where there are
    rendezvous, all: their headers and requests then pass the data of others instead of waiting behind them.
    """
    late = firefly.short is not None and largest > firefly.short
    return min(messages + 2 if late else peers, MOST_MACHINES)


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
