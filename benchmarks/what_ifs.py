"""How many verdicts rest on what RMA costs: random what-ifs over the shipped machines, and what turns them.

``python benchmarks/what_ifs.py --count 150 --seed 0`` prints, of the verdicts "port", the share that is RMA, and how
many verdicts turn if puts cost what sends cost (*parity*), if each synchronisation takes 5 us more (*epoch*), and if
each peer costs as much as a synchronisation with one (*peers*). A verdict turns if "port" comes or goes, or if the
advice changes to RMA or from it. Another checkout's Python runs it, too, for comparison: it uses what both have;
``--save`` and ``--against`` compare case by case.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

from pready.model.advice.predict import predict
from pready.model.approach.interfaces import BY_KEY
from pready.model.machine.machine import Machine, load
from pready.model.toml.reading import validated
from pready.model.workload.workload import Workload

PROFILES = ("bebop", "hpc3", "lichtenberg", "manzano", "meluxina", "mutrino", "niagara")
LIBRARIES = (None, None, "mpich-release", "openmpi-persist")
EPOCH_S = 5e-6
EPOCHS = ("epoch", "flush", "window")
PEER = "epoch_peer"


def what_if(rng: random.Random) -> tuple[str, str | None, dict[str, Any]]:
    """A machine, a library and the fields of a workload."""
    threads, theta = rng.choice((4, 8, 16, 32)), rng.choice((1, 1, 2, 4))
    n = threads * theta
    width = f"{100 * 10 ** rng.uniform(-2, -0.3):.3g} %"
    arrivals = rng.choice(
        (
            {"model": "laggard", "late_by": width},
            {"model": "normal by thread", "spread": width},
            {"model": "uniform", "up_to": width},
            {"model": "normal by partition", "epsilon": width},
        )
    )
    fields = {
        "threads": threads,
        "partitions_per_thread": theta,
        "buffer": f"{n * round(2 ** rng.uniform(9, 18))} B",
        "pattern": rng.choice(("pt2pt", "halo3d", "halo3d", "halo3d26")),
        "receiver": rng.choice(("waiting", "computing", "computing")),
        "compute": {"time": f"{10 ** rng.uniform(-0.7, 1.7):.3g} ms"},
        "arrivals": arrivals,
        "iterations": 1000,
    }
    if fields["pattern"] != "pt2pt":
        fields["grid"] = [2, 2, 2]
    return rng.choice(PROFILES), rng.choice(LIBRARIES), fields


def _value(table: Any, name: str, seconds: float) -> Any:
    return getattr(table, name).model_copy(update={"value": seconds, "interval": None})


def parity(machine: Machine, w: Workload) -> Machine:
    """Puts that cost what a send of one user partition costs."""
    put = machine.one_sided.put
    if put is None:
        return machine  # as they are
    if hasattr(put, "sizes"):
        return machine.model_copy(update={"one_sided": machine.one_sided.model_copy(update={"put": None})})
    segment = machine.inter.segment(w.partition_size)
    copy = 0.0 if segment.O_s is None else segment.O_s.value * w.partition_size
    put = _value(machine.one_sided, "put", segment.o_s.value + copy)
    return machine.model_copy(update={"one_sided": machine.one_sided.model_copy(update={"put": put})})


def _epochs(machine: Machine, change: Any) -> Machine:
    rma = machine.one_sided
    new = {n: _value(rma, n, change(getattr(rma, n).value)) for n in EPOCHS if getattr(rma, n) is not None}
    return machine.model_copy(update={"one_sided": rma.model_copy(update=new)})


def longer(machine: Machine, w: Workload) -> Machine:
    """Each synchronisation takes 5 us more."""
    return _epochs(machine, lambda s: s + EPOCH_S)


def by_peers(machine: Machine, w: Workload) -> Machine:
    """Each peer costs as much as a synchronisation with one: nothing of it is paid once for all."""
    rma, peers = machine.one_sided, len(w.sends)
    if peers == 1:
        return machine
    if not hasattr(rma, PEER):
        return _epochs(machine, lambda s: s * peers)
    whole = _value(rma, PEER, rma.epoch.value + rma.epoch_peer.value)
    none = {n: _value(rma, n, 0.0) for n in EPOCHS if getattr(rma, n) is not None}
    return machine.model_copy(update={"one_sided": rma.model_copy(update={**none, PEER: whole})})


CHANGES = {"parity": parity, "epoch": longer, "peers": by_peers}


def verdict(machine: Machine, library: str | None, w: Workload) -> tuple[str, bool]:
    """The verdict, and whether RMA is advised."""
    p = predict(machine, w, library=library)
    said = str(p.advice.verdict)
    return said, BY_KEY[p.advised.approach.interface.key].one_sided and said == "port"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--save", type=Path)
    parser.add_argument("--against", type=Path)
    args = parser.parse_args()
    rng, rows, turned = random.Random(args.seed), [], Counter[str]()
    for i in range(args.count):
        profile, library, fields = what_if(rng)
        machine, w = load(profile), validated(Workload, fields, f"what-if {i}")
        here = verdict(machine, library, w)
        row = {"machine": profile, "library": library, **fields, "verdict": here[0], "rma": here[1]}
        for name, change in CHANGES.items():
            other = change(machine, w)
            there = here if other is machine else verdict(other, library, w)
            row[name] = there
            turned[name] += there != here
        rows.append(row)
    ports = [r for r in rows if r["verdict"] == "port"]
    rma = sum(r["rma"] for r in ports)
    print(f"seed {args.seed}, {args.count} what-ifs: {dict(Counter(r['verdict'] for r in rows))}")
    print(f'RMA: {rma} of {len(ports)} "port"')
    for name in CHANGES:
        print(f"turned by {name}: {turned[name]}")
    if args.save:
        args.save.write_text(json.dumps(rows), encoding="utf-8")
    if args.against:
        before = json.loads(args.against.read_text(encoding="utf-8"))
        changed = sum((a["verdict"], a["rma"]) != (b["verdict"], b["rma"]) for a, b in zip(before, rows, strict=True))
        print(f"other than in {args.against}: {changed}")


if __name__ == "__main__":
    main()
