"""A halo of 72 ranks on a dragonfly with adaptive routing, partitioned: sst dragonfly_partitioned.py"""

from pathlib import Path

import sst
from sst.ember import EmberMPIJob
from sst.merlin.base import PlatformDefinition, System, hr_router
from sst.merlin.interface import LinkControl, ReorderLinkControl
from sst.merlin.topology import topoDragonFly

PlatformDefinition.setCurrentPlatform("firefly-defaults")
topology, router, interface = topoDragonFly(), hr_router(), LinkControl()
topology.hosts_per_router, topology.routers_per_group, topology.num_groups = 2, 4, 9
topology.intergroup_links, topology.algorithm = 1, "adaptive-local"
topology.router, topology.link_latency, topology.host_link_latency = router, "100ns", "20ns"
router.link_bw = router.xbar_bw = interface.link_bw = "25GB/s"
router.flit_size, router.num_vns, router.xbar_arb = "32B", 1, "merlin.xbar_arb_lru"
router.input_buf_size = router.output_buf_size = interface.input_buf_size = interface.output_buf_size = "64kB"
router.input_latency = router.output_latency = "20ns"

job = EmberMPIJob(0, topology.getNumNodes())
job.network_interface = ReorderLinkControl()  # adaptive packets overtake each other, which Firefly does not expect
job.network_interface.setNetworkInterface(interface)
# Phase, sender, receiver, bytes, tag: the neighbours of a 6 x 4 x 3 grid whose rows go on one in the next.
steps = (-1, 1, -6, 6, -24, 24)
edges = [f"0 {rank} {(rank + by) % 72} 65536 {tag}" for rank in range(72) for tag, by in enumerate(steps)]
Path("halo.edges").write_text("\n".join(edges))
job.addMotif("pready.PartExchange edges=halo.edges approach=part threads=8 transport=8 iterations=4 laggard_ns=400000")
job.addMotif("Fini")
system = System()
system.setTopology(topology)
system.allocateNodes(job, "linear")
system.build()

sst.setStatisticLoadLevel(1)
sst.setStatisticOutput("sst.statOutputConsole")
sst.enableAllStatisticsForComponentType("ember.EmberEngine")  # time of an iteration, what left early, wait
