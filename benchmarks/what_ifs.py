"""How many verdicts rest on what RMA costs: random what-ifs over the shipped machines, and what turns them.

``python benchmarks/what_ifs.py --count 150 --seed 0`` prints, of the verdicts "port", the share that is RMA, and how
many verdicts turn if puts cost what sends cost (*parity*), if each synchronisation takes 5 us more (*epoch*), and if
each peer costs as much as a synchronisation with one (*peers*). A verdict turns if "port" comes or goes, or if the
advice changes to RMA or from it. It is *told* if the answer before names the input under "would turn if", or if only
the choice among approaches changes that do as well. ``--save`` and ``--against`` compare case by case.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

from pready.model.advice.predict import predict
from pready.model.approach.interfaces import BY_KEY, Interface
from pready.model.machine.machine import Machine, load
from pready.model.result.prediction import Prediction
from pready.model.toml.reading import validated
from pready.model.workload.workload import Workload

PROFILES = ("bebop", "hpc3", "lichtenberg", "manzano", "meluxina", "mutrino", "niagara")
LIBRARIES = (None, None, "mpich-release", "openmpi-persist")
EPOCH_S = 5e-6
EPOCHS = ("epoch",)
INPUTS = {"parity": "puts", "epoch": "synchronisation of RMA", "peers": "synchronisation of RMA"}
"""What `pready.model.advice.unknowns` calls the input of each change."""


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


def _value(value: Any, seconds: float) -> Any:
    """A cost that is known to be so."""
    return value.model_copy(update={"value": seconds, "interval": None})


def parity(machine: Machine, w: Workload) -> Machine:
    """Puts that cost what a send costs."""
    if machine.one_sided.put is None:
        return machine  # as they are
    return machine.model_copy(update={"one_sided": machine.one_sided.model_copy(update={"put": None})})


def longer(machine: Machine, w: Workload) -> Machine:
    """Each synchronisation takes 5 us more."""
    rma = machine.one_sided
    new = {n: _value(v, v.value + EPOCH_S) for n in EPOCHS if (v := getattr(rma, n)) is not None}
    return machine.model_copy(update={"one_sided": rma.model_copy(update=new)})


def by_peers(machine: Machine, w: Workload) -> Machine:
    """Each peer costs as much as a synchronisation with one: nothing of it is paid once for all."""
    rma = machine.one_sided
    if len(w.sends) == 1:
        return machine
    none = {n: _value(v, 0.0) for n in EPOCHS if (v := getattr(rma, n)) is not None}
    whole = _value(rma.epoch_peer, rma.epoch_peer.value + rma.epoch.value)
    return machine.model_copy(update={"one_sided": rma.model_copy(update={**none, "epoch_peer": whole})})


CHANGES = {"parity": parity, "epoch": longer, "peers": by_peers}


def answered(machine: Machine, library: str | None, w: Workload) -> tuple[Prediction, tuple[str, bool]]:
    """The prediction; its verdict, and whether RMA is advised."""
    p = predict(machine, w, library=library)
    said = str(p.advice.verdict)
    return p, (said, BY_KEY[p.advised.approach.interface.key].one_sided and said == "port")


def told(before: Prediction, after: Prediction, name: str) -> bool:
    """Does an answer name the input, or is the advice only another of approaches that do as well, before or after?"""
    named = any(x.turns for x in before.sensitivity if x.name == INPUTS[name])
    one, other = (p.advised.approach.interface for p in (before, after))
    alike = other in _as_good(before) or one in _as_good(after)
    return named or (alike and before.advice.verdict == after.advice.verdict)


def _as_good(of: Prediction) -> list[Interface]:
    return [p.approach.interface for p in of.advice.as_good]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--save", type=Path)
    parser.add_argument("--against", type=Path)
    args = parser.parse_args()
    rng, rows, turned, warned = random.Random(args.seed), [], Counter[str](), Counter[str]()
    for i in range(args.count):
        profile, library, fields = what_if(rng)
        machine, w = load(profile), validated(Workload, fields, f"what-if {i}")
        p, here = answered(machine, library, w)
        row = {"machine": profile, "library": library, **fields, "verdict": here[0], "rma": here[1]}
        for name, change in CHANGES.items():
            other = change(machine, w)
            q, there = (p, here) if other is machine else answered(other, library, w)
            row[name] = there
            turned[name] += there != here
            warned[name] += there != here and told(p, q, name)
        rows.append(row)
    ports = [r for r in rows if r["verdict"] == "port"]
    rma = sum(r["rma"] for r in ports)
    print(f"seed {args.seed}, {args.count} what-ifs: {dict(Counter(r['verdict'] for r in rows))}")
    print(f'RMA: {rma} of {len(ports)} "port"')
    for name in CHANGES:
        print(f"turned by {name}: {turned[name]}, {warned[name]} of them told")
    if args.save:
        args.save.write_text(json.dumps(rows), encoding="utf-8")
    if args.against:
        before = json.loads(args.against.read_text(encoding="utf-8"))
        changed = sum((a["verdict"], a["rma"]) != (b["verdict"], b["rma"]) for a, b in zip(before, rows, strict=True))
        print(f"other than in {args.against}: {changed}")


if __name__ == "__main__":
    main()
