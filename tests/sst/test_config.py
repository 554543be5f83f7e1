"""The configuration that is written: run against stand-ins for SST's Python modules."""

import sys
import types
from typing import Any

import pytest

from pready.model.approach.interfaces import MANY, SINGLE, Approach
from pready.model.common.errors import PreadyError
from pready.model.machine.machine import load
from pready.model.workload.workload import Workload
from pready.sst import config
from pready.sst.job import setup, simulation


class Recorder:
    """Takes any attribute, remembers what was set and called."""

    made: "list[Recorder]"

    def __init__(self, *arguments: object) -> None:
        self.__dict__["arguments"], self.__dict__["calls"], self.__dict__["set"] = arguments, [], {}
        type(self).made.append(self)

    def __setattr__(self, name: str, value: object) -> None:
        self.__dict__["set"][name] = value

    def __getattr__(self, name: str) -> Any:
        def call(*arguments: object) -> None:
            self.__dict__["calls"].append((name, *arguments))

        call.enableStatistics = lambda *a: self.__dict__["calls"].append((f"{name}.statistics", *a))  # type: ignore[attr-defined]
        return call


def executed(monkeypatch: pytest.MonkeyPatch, source: str) -> dict[str, list[Any]]:
    """Run a configuration; what it made, by class."""
    made: dict[str, list[Any]] = {}

    def recorder(name: str) -> type:
        made[name] = []
        return type(name, (Recorder,), {"made": made[name]})

    platform = recorder("Platform")
    platform.compose = classmethod(lambda cls, *a: cls(*a))  # type: ignore[attr-defined]
    platform.setCurrentPlatform = classmethod(lambda cls, name: None)  # type: ignore[attr-defined]
    sst = types.ModuleType("sst")
    top = recorder("Sst")()
    sst.__getattr__ = lambda name: getattr(top, name)  # type: ignore[method-assign]
    base: dict[str, object] = {
        "PlatformDefinition": platform,
        "System": recorder("System"),
        "hr_router": recorder("Router"),
    }
    topologies = ("Single", "Torus", "Mesh", "FatTree", "DragonFly", "HyperX")
    contents: dict[str, dict[str, object]] = {
        "sst.ember": {"EmberMPIJob": recorder("EmberMPIJob")},
        "sst.merlin": {},
        "sst.merlin.base": base,
        "sst.merlin.interface": {n: recorder(n) for n in ("LinkControl", "ReorderLinkControl")},
        "sst.merlin.topology": {f"topo{n}": recorder(f"topo{n}") for n in topologies},
    }
    monkeypatch.setitem(sys.modules, "sst", sst)
    for name, items in contents.items():
        module = types.ModuleType(name)
        module.__dict__.update(items)
        monkeypatch.setitem(sys.modules, name, module)
    exec(compile(source, "config.py", "exec"), {"__name__": "__main__", "__file__": "/my runs/a=b/config.py"})
    return made


def workload(**fields: Any) -> Workload:
    return Workload.model_validate({"name": "w", "threads": 4, "buffer": "1 MiB", "pattern": "halo3d", **fields})


@pytest.mark.parametrize("network", ["single", "torus", "mesh", "fattree:2", "dragonfly:ugal", "hyperx"])
def test_a_configuration_builds_what_was_asked_for(monkeypatch: pytest.MonkeyPatch, network: str) -> None:
    made_ = setup(load("meluxina"), workload(), network, (4, 2, 1))
    source = config.text(simulation(made_, Approach(MANY, 4), "a.npy", "r.csv", "counts.csv", "e.edges"), "f.py")
    made = executed(monkeypatch, source)
    (job,) = made["EmberMPIJob"]
    assert job.arguments == (0, 8, 1)
    motifs = [c[1] for c in job.calls if c[0] == "addMotif"]
    assert motifs[-1] == "Fini"
    words = motifs[0].split()
    assert words[0] == "pready.PartExchange"
    files = ("edges=/my%20runs/a%3Db/e.edges", "arrivals=/my%20runs/a%3Db/a.npy", "record=/my%20runs/a%3Db/r.csv")
    assert {"approach=many", "transport=4", "threads=4", *files} <= {*words}  # Ember splits at blanks and "="
    (topology,) = made[made_.topology.merlin]
    assert {k: topology.set[k] for k in made_.topology.settings} == made_.topology.settings
    # A host's cable is as long on every network: a fat tree has merlin's link_latency at the router's end.
    wire = round(1e3 * made_.priced.firefly.wire_ns)
    ends = [int(str(topology.set.get(f"{end}link_latency", "0ps")).removesuffix("ps")) for end in ("host_", "")]
    ends[0] = ends[0] or ends[1]  # one router has hosts' cables only
    assert sum(ends) == wire if network.startswith("fattree") else 2 * ends[0] == wire
    (router,) = made["Router"]
    assert router.set["link_bw"] == "25GB/s"
    sets = {c[1]: c[2] for c in made["Platform"][0].calls if c[0] == "addParamSet"}
    assert sets["firefly.ctrl"]["shortMsgLength"] == 16383
    assert sets["firefly.functionsm"]["defaultEnterLatency"] == 0
    # The model's handshake without the gap, 1150 - 709 - 10 ns, is two crossings and two wires; the match of the header
    # is the latency's rest, 1110 - 10 - 2 x 2 - 213 ns.
    nic = sets["nic"]
    assert (nic["nic2host_lat"], nic["rxMatchDelay_ns"]) == ("2ns", 883)
    # Firefly ends where packets overtake each other.
    assert len(made["ReorderLinkControl"]) == (network == "dragonfly:ugal")
    # With room for one packet before the link, a NIC whose wake-up is lost waits for ever.
    (interface,) = made["LinkControl"]
    assert interface.set["output_buf_size"] == "1024B"
    assert nic["packetSize"] == "512B"
    assert [c[0] for c in made["System"][0].calls] == ["setTopology", "allocateNodes", "build"]
    assert made["System"][0].calls[1][1:] == (job, "linear")
    assert "/root" not in source
    assert ".cache" not in source


def test_a_background_job_has_the_other_hosts_and_hosts_may_be_random(monkeypatch: pytest.MonkeyPatch) -> None:
    w = workload(ranks_per_node=4)
    s = setup(load("meluxina"), w, "dragonfly", (4, 2, 2), seed=7, allocation="random", background=65536)
    made = executed(monkeypatch, config.text(simulation(s, Approach(MANY, 4), "a.npy", "r.csv")))
    job, other = made["EmberMPIJob"]
    # 16 ranks on 4 hosts, and as many hosts again at least for the other job.
    assert job.arguments == (0, 4, 4)
    assert other.arguments == (1, s.topology.hosts - 4)
    assert s.topology.hosts >= 8
    # An interface says which job it belongs to.
    assert other.set["network_interface"] is not job.set["network_interface"]
    assert [c[1] for c in other.calls] == ["Init", "pready.Traffic bytes=65536 pause_ns=0 seed=7"]
    placed = [c[1:] for c in made["System"][0].calls if c[0] == "allocateNodes"]
    assert placed == [(job, "random", 7), (other, "random", 7)]


def test_another_job_has_a_load() -> None:
    options: dict[str, Any] = {"background": 2**20, "load": 0.3}
    s = setup(load("meluxina"), workload(), "dragonfly", (4, 2, 1), **options)
    # 1 MiB at 25 GB/s takes its link 41.9 us, and 4.27 us longer in all: a message each 139.8 us is 30 %.
    assert s.pause == pytest.approx(2**20 / 25e9 / 0.3 - (4.27e-6 + 2**20 / 25e9), rel=1e-3)
    assert simulation(s, Approach(SINGLE), "a.npy", "r.csv").pause_ns == pytest.approx(1e9 * s.pause)
    with pytest.raises(PreadyError, match=r"sst\.load = 95 % by messages of 1048576 B; valid: above 0, at most 90.8 %"):
        _ = setup(load("meluxina"), workload(), "dragonfly", (4, 2, 1), **options | {"load": 0.95}).pause


def test_an_odd_title_ends_no_docstring_and_without_counts_nothing_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    made = setup(load("meluxina"), workload(name='""" + open("/x").read() + """'), "single", (8,))
    found = executed(monkeypatch, config.text(simulation(made, Approach(SINGLE), "a.npy", "r.csv")))
    assert not found["Sst"][0].calls
