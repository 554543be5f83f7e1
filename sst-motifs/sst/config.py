"""An SST configuration: a Python file that `sst` runs, and that its reader may edit and keep."""

from __future__ import annotations

import pprint
from dataclasses import dataclass
from pathlib import Path

from pready.files.writing import write_text
from pready.model.version import VERSION
from pready.sst.firefly import (
    HOP_NS,
    LINK_PACKETS,
    XBAR_SPEEDUP,
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
    motifs: tuple[str, ...]
    """Lines for Ember's ``addMotif``, between Init and Fini."""
    largest: int
    """Bytes of the largest message."""
    receives: int
    """Receives that one rank has posted at once."""
    statistics: str = ""
    """CSV file for the counts of NICs and routers; none if empty."""


_TEMPLATE = '''\
"""{title}

Written by pready {version}; yours to edit. Run it with

    sst --add-lib-path={library} {name}
    mpirun -n 2 sst --add-lib-path={library} {name}

Times are those of the Machine where nothing is in the way; `pready sst calibrate` shows how well.
"""

import sst
from sst.ember import EmberMPIJob
from sst.merlin.base import PlatformDefinition, System, hr_router
from sst.merlin.interface import LinkControl
from sst.merlin.topology import {merlin}

RANKS = {ranks}

# What the ranks do: names and parameters, see `sst-info pready`.
MOTIFS = {motifs}

# CPU time of sends and receives by message size (LatencyMod: a time, or a time per byte, per range of bytes).
HOST = {host}

# Time in MPI functions themselves (ps): the times above are all there is.
FUNCTIONS = {functions}

NIC = {nic}

# {topology_title}; from one NIC to the next through one router takes WIRE.
TOPOLOGY = {topology}
LINK_BANDWIDTH = "{link}B/s"
HOST_LINK_LATENCY = "{host_link}ps"  # NIC to router: half of WIRE
LINK_LATENCY = "{hop}ps"  # router to router; the machine file does not know it: assumed
FLIT = "{flit}B"
BUFFER = "{buffer}B"  # per port; a link's credits must cover its round trip
STATISTICS = {statistics!r}  # CSV of what NICs and routers counted; none if empty

platform = PlatformDefinition.compose("pready", [("firefly-defaults", "ALL")])
platform.addParamSet("nic", NIC)
platform.addParamSet("firefly.functionsm", FUNCTIONS)
platform.addParamSet("firefly.ctrl", HOST)
PlatformDefinition.setCurrentPlatform("pready")

router = hr_router()
router.link_bw = LINK_BANDWIDTH
router.xbar_bw = "{xbar}B/s"  # {speedup} times a link: a packet for a busy port holds up fewer of the others
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
topology.link_latency = {link_latency}
{host_latency}
interface = LinkControl()
interface.link_bw = LINK_BANDWIDTH
interface.input_buf_size = BUFFER
interface.output_buf_size = "{nic_buffer}B"  # what it holds, later messages wait for

job = EmberMPIJob(0, RANKS)
job.network_interface = interface
for motif in ["Init", *MOTIFS, "Fini"]:
    job.addMotif(motif)

system = System()
system.setTopology(topology)
system.allocateNodes(job, "linear")
system.build()

if STATISTICS:
    sst.setStatisticLoadLevel(2)
    sst.setStatisticOutput("sst.statOutputCSV", {{"filepath": STATISTICS, "separator": ","}})
    counted = {{"type": "sst.AccumulatorStatistic", "rate": "0ns"}}
    for name in ("sentByteCount", "rcvdByteCount", "sentPkts", "rcvdPkts"):
        sst.enableStatisticForComponentType("firefly.nic", name, counted)
    for name in ("output_port_stalls", "send_bit_count"):
        sst.enableStatisticForComponentType("merlin.hr_router", name, counted)
'''


def text(simulation: Simulation, name: str = "FILE", library: str = "LIBRARY") -> str:
    """The configuration as Python source.

    Parameters
    ----------
    name, library
        For the comment at its top: the file, and the folder of ``libpready.so``.
    """
    f, topology = for_largest(simulation.firefly, simulation.largest), simulation.topology
    single = topology.name == "single"
    return _TEMPLATE.format(
        title=simulation.title.replace('"""', "'''"),
        version=VERSION,
        name=name,
        library=library,
        merlin=topology.merlin,
        ranks=simulation.ranks,
        motifs=_shown(list(simulation.motifs)),
        host=_shown(host_parameters(f, simulation.largest, simulation.receives)),
        functions=_shown({"defaultEnterLatency": 0, "defaultReturnLatency": 0}),
        nic=_shown(nic_parameters(f, simulation.largest, simulation.receives)),
        nic_buffer=LINK_PACKETS * packet_bytes(f),
        topology=_shown(topology.settings),
        topology_title=topology.title,
        link=round(f.link_bytes_per_s),
        xbar=XBAR_SPEEDUP * round(f.link_bytes_per_s),
        speedup=XBAR_SPEEDUP,
        host_link=max(1, round(1e3 * f.wire_ns / 2)),
        hop=round(1e3 * HOP_NS),
        flit=flit_bytes(f.link_bytes_per_s),
        buffer=buffer_bytes(f),
        statistics=simulation.statistics,
        link_latency="HOST_LINK_LATENCY" if single else "LINK_LATENCY",
        host_latency="" if single else "topology.host_link_latency = HOST_LINK_LATENCY\n",
    )


def _shown(value: object) -> str:
    return pprint.pformat(value, width=110, sort_dicts=False)


def write(simulation: Simulation, path: Path, library: Path | None = None) -> None:
    """Write the configuration to `path`."""
    write_text(path, text(simulation, path.name, "LIBRARY" if library is None else str(library)))
