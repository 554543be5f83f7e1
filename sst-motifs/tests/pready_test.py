# Copyright (c) 2026, the pready developers
# SPDX-License-Identifier: BSD-3-Clause
"""Four ranks on one router; the motif and its arguments are SST's model options. The statistics go to the output."""

import os
import sys
from pathlib import Path

import sst
from sst.ember import EmberMPIJob
from sst.merlin.base import PlatformDefinition, System, hr_router
from sst.merlin.interface import LinkControl
from sst.merlin.topology import topoSingle

PlatformDefinition.setCurrentPlatform("firefly-defaults")
topology, router, interface = topoSingle(), hr_router(), LinkControl()
topology.num_ports, topology.router, topology.link_latency = 4, router, "100ns"
router.link_bw = router.xbar_bw = interface.link_bw = "25GB/s"
router.flit_size, router.num_vns, router.xbar_arb = "32B", 1, "merlin.xbar_arb_lru"
router.input_buf_size = router.output_buf_size = interface.input_buf_size = interface.output_buf_size = "64kB"
router.input_latency = router.output_latency = "20ns"

motif = " ".join(sys.argv[1:])
if motif.startswith("PartExchange"):
    # Phase, sender, receiver, bytes, tag: a ring both ways, or a line if ranks compute on what they receive.
    line = "receives_first=1" in motif
    edges = (
        [(0, r, r + 1, 32768, 0) for r in range(3)]
        if line
        else [(0, r, (r + by) % 4, 32768, tag) for r in range(4) for tag, by in enumerate((-1, 1))]
    )
    Path(f"{os.getpid()}.edges").write_text("\n".join(" ".join(map(str, edge)) for edge in edges))
    motif += f" edges={os.getpid()}.edges"

job = EmberMPIJob(0, 4)
job.network_interface = interface
job.addMotif(f"pready.{motif} iterations=3")
job.addMotif("Fini")
system = System()
system.setTopology(topology)
system.allocateNodes(job, "linear")
system.build()

sst.setStatisticLoadLevel(1)
sst.setStatisticOutput("sst.statOutputConsole")
sst.enableAllStatisticsForComponentType("ember.EmberEngine")
