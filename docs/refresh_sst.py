"""Refresh what the documents say of SST, all from one seed: ``python docs/refresh_sst.py --seed 0``, where SST is.

What SST and the model said goes into ``sst-motifs/agreement.json``; the documents' lines are made of that alone, so
that a test without SST finds one that is not. Runs are kept where ``pready validate sst`` keeps its own.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from platformdirs import user_cache_path

from pready.model.advice.predict import predict
from pready.model.approach.interfaces import MANY, SINGLE, Approach
from pready.model.machine.machine import load
from pready.model.workload.workload import Workload
from pready.sst import kept_parameters, library
from pready.sst.calibrate import calibrate
from pready.sst.job import setup
from pready.sst.results import times
from pready.sst.simulate import simulate_approach
from pready.validate import sst

RECORD = Path("sst-motifs/agreement.json")
MACHINES = ("meluxina", "bebop")
GAMMA = Workload.model_validate(
    {
        "threads": 4,
        "buffer": "64 MiB",
        "arrivals": {"model": "laggard", "delay": "1.6777216 ms"},
    }
)
"""One thread of four is late by γ S_part: the closed form says η = 8/3 at 25 GB/s."""
KINDS = {
    "two ranks": "two ranks, several messages, 1 KiB to 16 MiB",
    "64 ranks in step": "halos of 64 ranks in step, 1 to 192 KiB",
    "64 ranks out of step": "the same with 4 % spread",
    "64 ranks out of step, eager": "the same without handshakes, 48 and 192 KiB",
    "26 neighbours": "26 neighbours of 27 ranks, 16 and 256 KiB",
    "sweeps": "sweeps of 16 ranks, 16 and 256 KiB, whole iterations",
    "by chance": "40 workloads by chance, 2 to 64 ranks, 1 KiB to 1 MiB",
}
"""In words, what a kind of run is."""
ROWS: tuple[tuple[str, str, str], ...] = (
    (
        "README.md",
        "| SST, one router |",
        " {machines}: two ranks within {two} %, halos of 64 ranks in step, 1 to 192 KiB, within {step} % "
        "| halos out of step, by up to {apart} % |",
    ),
    (
        "docs/trust.md",
        "| [SST](archive/sst.md), one router |",
        " {machines}: two ranks, several messages, within {two} %; halos of 64 ranks in step, 1 to 192 KiB, within "
        "{step} % | 64 ranks out of step: by up to {apart} %; workloads by chance: by up to {chance} % |",
    ),
    ("docs/archive/sst.md", "| two ranks, several messages, 1 KiB to 16 MiB |", " within {two} % |"),
    (
        "docs/archive/sst.md",
        "| closed form: γ = 100 us/MB, 4 partitions of 64 MiB in all |",
        " η {gamma} in SST, {gamma_said} in the model (8/3) |",
    ),
    ("docs/archive/sst.md", "| 64 ranks in step, communication |", " within {step} % |"),
    (
        "docs/archive/sst.md",
        "| 64 ranks out of step (4 % spread), communication |",
        " within {apart} %, by the causes below; without handshakes within {eager} % |",
    ),
    (
        "docs/limits.md",
        "| RTS and CTS that queue behind data in a port |",
        " bulk rendezvous in rings up to 16 % too fast; in SST up to {apart} % out of step ([figures](archive/sst.md)) "
        "| they pass data |",
    ),
    (
        "docs/limits.md",
        "| a processor that answers RTS between its own sends |",
        " up to {step} % in SST | answers beside sends |",
    ),
    (
        "sst-motifs/README.md",
        "Recorded with SST ",
        "{sst}, seed {seed}, by `python docs/refresh_sst.py --seed {seed}`:",
    ),
    (
        "sst-motifs/README.md",
        "| γ = 100 us/MB, 4 partitions of 64 MiB in all: η |",
        " {gamma} (closed form 8/3, `predict` {gamma_said}) | |",
    ),
    *(
        ("sst-motifs/README.md", f"| {said} |", f" {{{MACHINES[0]} {kind}}} | {{{MACHINES[1]} {kind}}} |")
        for kind, said in KINDS.items()
    ),
    (
        "sst-motifs/README.md",
        "| ping-pong after calibration, 8 B to 16 MiB |",
        f" {{{MACHINES[0]} ping}} | {{{MACHINES[1]} ping}} |",
    ),
)
"""A document, how its line begins, and how it goes on."""


def values(record: dict[str, Any]) -> dict[str, str]:
    """The words of the lines, by their names in `ROWS`."""
    by_machine, out = record["machines"], dict[str, str]()
    for name, of in by_machine.items():
        out[f"{name} ping"] = f"within {100 * of['ping']:.1f} %"
        for kind in KINDS:
            low, high = (f"{100 * v:+.1f}".replace("-", "−") for v in of["off"][kind])
            out[f"{name} {kind}"] = f"{low} to {high} %"

    def most(kind: str) -> str:
        return f"{100 * max(abs(v) for of in by_machine.values() for v in of['off'][kind]):.0f}"

    short = {"two": "two ranks", "step": "64 ranks in step", "apart": "64 ranks out of step", "chance": "by chance"}
    return {
        **out,
        **{name: most(kind) for name, kind in short.items()},
        "eager": most("64 ranks out of step, eager"),
        "machines": " and ".join(of["name"] for of in by_machine.values()),
        "gamma": f"{record['gamma']['sst']:.3f}",
        "gamma_said": f"{record['gamma']['predict']:.3f}",
        "seed": str(record["seed"]),
        "sst": str(record["sst"]).removeprefix("SST-Core Version ").strip("()"),
    }


def lines(record: dict[str, Any]) -> dict[str, dict[str, str]]:
    """By document and beginning: the whole line."""
    said = values(record)
    out: dict[str, dict[str, str]] = {}
    for path, begins, rest in ROWS:
        out.setdefault(path, {})[begins] = begins + rest.format(**said)
    return out


def measured(seed: int) -> dict[str, Any]:
    """Run SST and the model; runs that are kept are not run again."""
    folder, machines = user_cache_path("pready") / "validate" / "sst", dict[str, Any]()
    for name in MACHINES:
        machine = load(name)
        fit = calibrate(machine)
        found = sst.validate(machine, folder, seed=seed, on_progress=_told)
        if found.failed:
            sys.exit(f"{len(found.failed)} runs of SST failed: {found.failed}")
        off: dict[str, list[float]] = {}
        for r in found.rows:
            if r.independent:
                off.setdefault(r.scene.kind, []).append(r.off)
        limits = {c.name: [c.worst, c.limit] for c in found.checks}
        ends = {kind: [min(some), max(some)] for kind, some in off.items()}
        machines[name] = {"name": machine.name, "ping": fit.worst, "off": ends, "limits": limits}
    return {
        "command": f"python docs/refresh_sst.py --seed {seed}",
        "seed": seed,
        "sst": library.find().version,
        "machines": machines,
        "gamma": _gamma(kept_parameters.fitted(load(MACHINES[0]))),
    }


def _told(number: int, of: int, now: str) -> None:
    print(f"{number} of {of}: {now}", file=sys.stderr, flush=True)


def _gamma(firefly: Any) -> dict[str, float]:
    machine, ways = load(MACHINES[0]), (Approach(SINGLE), Approach(MANY, 4))
    s = setup(machine, GAMMA, "single", (2,), iterations=1, firefly=firefly)
    with tempfile.TemporaryDirectory() as folder:
        bulk, many = (
            float(times("pt2pt", simulate_approach(s, way, Path(folder))).after_ready[1:].mean()) for way in ways
        )
    model = {
        (r.approach.interface, r.approach.messages, r.approach.vcis): r
        for r in predict(machine, GAMMA, draws=0).approaches
    }
    return {"sst": bulk / many, "predict": model[MANY, 4, 1].eta}


def refresh(record: dict[str, Any]) -> None:
    """Put the lines into the documents."""
    for path, made in lines(record).items():
        text = Path(path).read_text(encoding="utf-8").splitlines()
        new = [next((line for begins, line in made.items() if old.startswith(begins)), old) for old in text]
        Path(path).write_text("\n".join(new) + "\n", encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="of sizes, delays and arrivals")
    record = json.loads(json.dumps(measured(parser.parse_args().seed), default=np.ndarray.tolist))
    RECORD.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    refresh(record)
