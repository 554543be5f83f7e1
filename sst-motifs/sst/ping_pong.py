"""SST's own ping-pong beside the machine's: how well Firefly's parameters take its times."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from pready.model.machine.machine import Machine
from pready.model.workload.workload import Workload
from pready.sst import config, results
from pready.sst.firefly import Priced
from pready.sst.run import How
from pready.sst.run import run as run_sst
from pready.sst.topology import topology

SIZES = tuple(8 << i for i in range(22))
"""8 B to 16 MiB."""
ROUNDS = 3
"""Round trips, of which the last counts."""


@dataclass(frozen=True)
class Residual:
    """One size of the comparison; times in seconds, one way."""

    size: int
    machine: float
    simulated: float

    @property
    def relative(self) -> float:
        """(simulated − machine) / machine."""
        return self.simulated / self.machine - 1


def sizes_for(machine: Machine) -> list[int]:
    """`SIZES` with both sides of every protocol threshold."""
    edges = [round(s.from_) for s in machine.inter.segments[1:]]
    return sorted({*SIZES, *(n for e in edges for n in (e - 1, e) if SIZES[0] <= n <= SIZES[-1])})


def ping_pong(machine: Machine, how: How | None = None) -> list[Residual]:
    """Messages of each size between two ranks on one router: half a round trip.

    One run for all eager sizes and one for all others, since their parameters differ.
    """
    priced = Priced(machine, Workload.model_validate({"threads": 1, "buffer": "8 B", "cache": "hot"}))
    sizes = sizes_for(machine)
    out: list[Residual] = []
    with tempfile.TemporaryDirectory(prefix="pready-sst-") as folder:
        for late in (False, True):
            if alike := [n for n in sizes if priced.firefly.fetches(n) == late]:
                out += _of(priced, alike, Path(folder), how)
    return out


def _of(priced: Priced, sizes: list[int], folder: Path, how: How | None) -> list[Residual]:
    alike: dict[str, object] = {"iterations": ROUNDS, "pong": 1}
    motifs = [("pready.PartPingPong", {"bytes": n, **alike, "record": f"ping-{n}.csv"}) for n in sizes]
    cpu = {n: priced.cpu(n) for n in sizes}
    made = config.Simulation("ping-pong", priced.firefly, topology("single", 2), 2, motifs, cpu, receives=1)
    path = folder / "ping-pong.py"
    config.write(made, path)
    run_sst(path, how)
    out = []
    for n in sizes:
        record = results.read_records(folder / f"ping-{n}.csv", 2, ROUNDS)
        sender = (record.rank == 0) & (record.iteration == ROUNDS - 1)
        begun = record.start[sender & (record.phase == 0)][0]
        took = float(record.completion[sender & (record.phase == 1)][0] - begun) / 2
        out.append(Residual(n, priced.alone(n), took))
    return out
