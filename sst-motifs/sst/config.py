"""An SST configuration: a Python file that `sst` runs, and that its reader may edit and keep."""

from __future__ import annotations

import pprint
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pready.files.writing import Write, replacing, texts, write_with
from pready.model.version import VERSION
from pready.sst.firefly import (
    HOP_NS,
    LINK_PACKETS,
    XBAR_SPEEDUP,
    Cpu,
    Firefly,
    buffer_bytes,
    flit_bytes,
    for_largest,
    host_parameters,
    nic_parameters,
    packet_bytes,
)
from pready.sst.topology import Topology


@dataclass(frozen=True)
class Simulation:
    """The contents of a configuration."""

    title: str
    firefly: Firefly
    topology: Topology
    ranks: int
    motifs: Sequence[tuple[str, Mapping[str, object]]]
    """For Ember's ``addMotif``: names and arguments, of files their names beside the configuration."""
    cpu: Mapping[int, Cpu]  # by the bytes of each message
    receives: int  # receives that one rank has posted at once
    peers: int = 1  # ranks that one rank sends to
    ranks_per_node: int = 1
    allocation: str = "linear"
    seed: int = 0  # seed of a random allocation and of the background's partners
    background: int = 0  # bytes of a message of a job on the other hosts; 0: there is none
    pause_ns: float = 0.0  # between two of them
    statistics: str = ""  # CSV file for the counts of NICs and routers; none if empty


_TEMPLATE = '''\
"""{title}

Written by pready {version}; yours to edit. Run it from anywhere with

    sst {name}
    mpirun -n 2 sst {name}

The library of the motifs is registered with SST, by `pready sst info` where it is not. Times are those of the Machine
where nothing is in the way; `pready sst ping-pong` shows how well.
"""

import os
from urllib.parse import quote

import sst
from sst.ember import EmberMPIJob
from sst.merlin.base import PlatformDefinition, System, hr_router
from sst.merlin.interface import {interface}
from sst.merlin.topology import {merlin}

HERE = os.path.dirname(os.path.abspath(__file__))  # of the files below
RANKS = {ranks}
RANKS_PER_NODE = {ranks_per_node}

# What the ranks do: motifs and their arguments, see `sst-info pready`.
MOTIFS = {motifs}

# CPU time of sends and receives by message size, of the sizes that are sent (LatencyMod: a time per range of bytes).
HOST = {host}

# Time in MPI functions themselves (ps): the times above are all there is.
FUNCTIONS = {functions}

NIC = {nic}

# {topology_title}; from one NIC to the next through one router takes WIRE.
TOPOLOGY = {topology}
LINK_BANDWIDTH = "{link:.9g}GB/s"
HOST_LINK_LATENCY = "{host_link}ps"  # {host_link_meaning}
LINK_LATENCY = "{hop}ps"  # router to router; the machine file does not know it: assumed
FLIT = "{flit}B"
BUFFER = "{buffer}B"  # per port; a link's credits must cover its round trip
ALLOCATION = {allocation}  # of hosts to ranks
STATISTICS = {statistics!r}  # CSV of what NICs and routers counted; none if empty

platform = PlatformDefinition.compose("pready", [("firefly-defaults", "ALL")])
platform.addParamSet("nic", NIC)
platform.addParamSet("firefly.functionsm", FUNCTIONS)
platform.addParamSet("firefly.ctrl", HOST)
PlatformDefinition.setCurrentPlatform("pready")

router = hr_router()
router.link_bw = LINK_BANDWIDTH
router.xbar_bw = "{xbar:.9g}GB/s"  # {speedup} times a link: a packet for a busy port holds up fewer of the others
router.flit_size = FLIT
router.input_latency = "0ns"
router.output_latency = "0ns"
router.input_buf_size = BUFFER
router.output_buf_size = BUFFER
router.num_vns = 1
router.xbar_arb = "merlin.xbar_arb_lru"

topology = {merlin}()
for key, value in TOPOLOGY.items():
    setattr(topology, key, value)
topology.router = router
{latencies}


def network_interface():
    """One for each job."""
    interface = LinkControl()
    interface.link_bw = LINK_BANDWIDTH
    interface.input_buf_size = BUFFER
    interface.output_buf_size = "{nic_buffer}B"  # what it holds, later messages wait for
{reorder}    return interface


def line(motif, arguments):
    """A motif for Ember, which splits at blanks and "=": in values they are written as in an address."""
    files = {{k: os.path.join(HERE, v) for k, v in arguments.items() if k in ("arrivals", "edges", "record")}}
    return " ".join([motif, *(f"{{k}}={{quote(str(v), safe='/,.:')}}" for k, v in {{**arguments, **files}}.items())])


system = System()
system.setTopology(topology)

job = EmberMPIJob(0, RANKS // RANKS_PER_NODE, RANKS_PER_NODE)
job.network_interface = network_interface()
for motif, arguments in MOTIFS:
    job.addMotif(line(motif, arguments))
job.addMotif("Fini")
system.allocateNodes(job, *ALLOCATION)
{background}
system.build()

if STATISTICS:
    sst.setStatisticLoadLevel(2)
    sst.setStatisticOutput("sst.statOutputCSV", {{"filepath": os.path.join(HERE, STATISTICS), "separator": ","}})
    counted = {{"type": "sst.AccumulatorStatistic", "rate": "0ns"}}
    for name in ("sentByteCount", "rcvdByteCount", "sentPkts", "rcvdPkts"):
        sst.enableStatisticForComponentType("firefly.nic", name, counted)
    for name in ("output_port_stalls", "send_bit_count"):
        sst.enableStatisticForComponentType("merlin.hr_router", name, counted)
    sst.enableAllStatisticsForComponentType("ember.EmberEngine", counted)  # the motifs'
'''

_REORDER = """\
    in_order = ReorderLinkControl()  # packets take several ways, and Firefly wants them in order
    in_order.setNetworkInterface(interface)
    interface = in_order
"""

_BACKGROUND = """
# Another job on the hosts that are left: each sends messages to a random one until the job above ends.
background = EmberMPIJob(1, {hosts})
background.network_interface = network_interface()
background.addMotif("Init")
background.addMotif(line("pready.Traffic", {arguments}))
system.allocateNodes(background, *ALLOCATION)
"""


def text(simulation: Simulation, name: str = "FILE") -> str:
    """The configuration as Python source; `name` is the file's, for the comment at its top."""
    f, topology = for_largest(simulation.firefly, max(simulation.cpu)), simulation.topology
    # Every host's cable is half of WIRE long at each of its ends together.
    host_link, hop = max(1, round(1e3 * f.wire_ns / 2)), round(1e3 * HOP_NS)
    meaning = "NIC to router: half of WIRE"
    latencies = "topology.link_latency = LINK_LATENCY\ntopology.host_link_latency = HOST_LINK_LATENCY"
    if topology.name == "single":
        latencies = "topology.link_latency = HOST_LINK_LATENCY"
    elif topology.name == "fattree":
        # merlin gives a host's cable LINK_LATENCY at the router's end: both ends together are right.
        hop = min(hop, host_link)
        host_link, meaning = 2 * host_link - hop, "at the NIC's end; at the router's merlin takes LINK_LATENCY: WIRE"
    nodes = simulation.ranks // simulation.ranks_per_node
    allocation: list[object] = [simulation.allocation, simulation.seed][: 1 + (simulation.allocation == "random")]
    traffic = {"bytes": simulation.background, "pause_ns": round(simulation.pause_ns), "seed": simulation.seed}
    messages = simulation.receives * simulation.ranks_per_node
    return _TEMPLATE.format(
        title=simulation.title.replace("\\", "/").replace('"""', "'''"),
        version=VERSION,
        name=name,
        merlin=topology.merlin,
        interface="LinkControl" if topology.in_order else "LinkControl, ReorderLinkControl",
        reorder="" if topology.in_order else _REORDER,
        ranks=simulation.ranks,
        ranks_per_node=simulation.ranks_per_node,
        motifs=_shown([(motif, dict(arguments)) for motif, arguments in simulation.motifs]),
        host=_shown(host_parameters(f, simulation.cpu, simulation.receives)),
        functions=_shown({"defaultEnterLatency": 0, "defaultReturnLatency": 0}),
        nic=_shown(nic_parameters(f, max(simulation.cpu), messages, simulation.peers * simulation.ranks_per_node)),
        nic_buffer=LINK_PACKETS * packet_bytes(f),
        topology=_shown(topology.settings),
        topology_title=topology.title,
        link=f.link_bytes_per_s / 1e9,
        xbar=XBAR_SPEEDUP * f.link_bytes_per_s / 1e9,
        speedup=XBAR_SPEEDUP,
        host_link=host_link,
        host_link_meaning=meaning,
        hop=hop,
        latencies=latencies,
        flit=flit_bytes(f),
        buffer=buffer_bytes(f),
        allocation=_shown(allocation),
        background=_BACKGROUND.format(hosts=topology.hosts - nodes, arguments=traffic) if simulation.background else "",
        statistics=simulation.statistics,
    )


def _shown(value: object) -> str:
    return pprint.pformat(value, width=110, sort_dicts=False)


def write(simulation: Simulation, path: Path) -> None:
    """Write the configuration to `path`, a file of a run's own folder."""
    with replacing():
        write_with(path, written(simulation, path))


def written(simulation: Simulation, path: Path) -> Write:
    """The configuration that `path` is to have."""
    return texts(text(simulation, path.name))
