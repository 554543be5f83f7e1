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
from pready.sst.job import setup
from pready.sst.ping_pong import ping_pong
from pready.sst.results import times
from pready.sst.runs import simulate_approach
from pready.validate import sst

RECORD = Path("sst-motifs/agreement.json")
MACHINE = "meluxina"
GAMMA = Workload.model_validate(
    {
        "threads": 4,
        "buffer": "64 MiB",
        "arrivals": {"model": "laggard", "delay": "1.6777216 ms"},
    }
)
"""One thread of four is late by γ S_part: the closed form says η = 8/3 at 25 GB/s."""

ROWS: tuple[tuple[str, str, str], ...] = (
    (
        "README.md",
        "| SST, one router |",
        " {machine}: two ranks within {two} %, halos of {sizes} on 64 ranks in step within {step} % "
        "| several rendezvous of a pair, by up to {asked} %; 64 ranks out of step, by up to {apart} % |",
    ),
    (
        "docs/trust.md",
        "| [SST](archive/sst.md), one router |",
        " {machine}: two ranks within {large} % from 16 KiB up, {small} % below; halos of {sizes} on 64 ranks in step "
        "within {step} % "
        "| several rendezvous of a pair: SST up to {asked} % longer; 64 ranks out of step: up to {apart} % |",
    ),
    (
        "docs/archive/sst.md",
        "| two ranks, 16 KiB to 16 MiB |",
        " within {large} %; below 16 KiB {small} %; several rendezvous {asked} % |",
    ),
    (
        "docs/archive/sst.md",
        "| closed form: γ = 100 us/MB, 4 partitions of 64 MiB in all |",
        " η {gamma} in SST, {gamma_said} in the model (8/3) |",
    ),
    ("docs/archive/sst.md", "| 64 ranks in step, communication |", " within {step} % |"),
    (
        "docs/archive/sst.md",
        "| 64 ranks out of step (4 % spread), communication |",
        " up to {apart} % longer in SST, by the causes below; without handshakes within {eager} % |",
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
        "{sst}, {machine}'s profile, seed {seed}, by `python docs/refresh_sst.py --seed {seed}`:",
    ),
    ("sst-motifs/README.md", "| ping-pong, 8 B to 16 MiB |", " within {ping} % of the machine |"),
    (
        "sst-motifs/README.md",
        "| two ranks: 6 sizes from 1 KiB to 16 MiB, delays, in 2 to 8 messages, against `predict` |",
        " within {large} %, messages below 16 KiB {small} %; several rendezvous {asked} %, as one CPU answers requests "
        "between its receives |",
    ),
    (
        "sst-motifs/README.md",
        "| γ = 100 us/MB, 4 partitions of 64 MiB in all: η |",
        " {gamma} (closed form 8/3, `predict` {gamma_said}) |",
    ),
    (
        "sst-motifs/README.md",
        "| halo3d on 64 ranks, one router, against the engine: iteration time |",
        " within {iteration} % |",
    ),
    (
        "sst-motifs/README.md",
        "| its communication, ranks in step |",
        " {sizes}: the engine is {step_low} to {step_high} % off SST: a rank is one CPU, "
        "which answers rendezvous requests between its sends |",
    ),
    (
        "sst-motifs/README.md",
        "| the same with 4 % spread |",
        " {apart_low} to {apart_high} %: requests wait in a port's queue behind payloads, too; neither is modelled |",
    ),
    ("sst-motifs/README.md", "| the same with 4 % spread and no handshakes |", " {eager_low} to {eager_high} % |"),
)
"""A document, how its line begins, and how it goes on."""


def values(record: dict[str, Any]) -> dict[str, str]:
    """The words of the lines, by their names in `ROWS`."""
    percent = {name: f"{100 * value:.1f}" for name, value in record["worst"].items()}
    halos = {}
    for name, low_high in record["halos"].items():
        low, high = (f"{100 * v:+.1f}".replace("-", "−") for v in low_high)
        halos |= {f"{name}_low": low, f"{name}_high": high}
        halos[name] = f"{100 * max(abs(v) for v in low_high):.0f}"
    worst = record["worst"]
    return {
        **percent,
        **halos,
        "two": f"{100 * max(worst['large'], worst['small']):.1f}",
        "gamma": f"{record['gamma']['sst']:.3f}",
        "gamma_said": f"{record['gamma']['predict']:.3f}",
        **{name: str(record[name]) for name in ("seed", "machine", "sizes")},
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
    machine, folder = load(MACHINE), user_cache_path("pready") / "validate" / "sst"
    found = sst.validate(machine, folder, seed=seed, on_progress=_told)
    if found.failed:
        sys.exit(f"{len(found.failed)} runs of SST failed: {found.failed}")
    two = [r for r in found.rows if r.scene.kind == "two ranks"]
    halos = [r for r in found.rows if r.scene.kind.startswith("64 ranks")]

    def worst(small: bool) -> float:
        return max(abs(r.off) for r in two if r.small == small and not r.cause)

    def off(kind: str) -> list[float]:
        some = [r.off for r in halos if r.scene.kind == f"64 ranks {kind}"]
        return [min(some), max(some)]

    return {
        "command": f"python docs/refresh_sst.py --seed {seed}",
        "seed": seed,
        "sst": found.version,
        "machine": machine.name,
        "sizes": "1 to 192 KiB",
        "worst": {
            "ping": max(abs(r.relative) for r in ping_pong(machine)),
            **{size: worst(size == "small") for size in ("large", "small")},
            "asked": max((abs(r.off) for r in two if r.cause), default=0.0),
            "iteration": max(abs(r.model.iteration / r.sst.iteration - 1) for r in halos),
        },
        "halos": {"step": off("in step"), "apart": off("out of step"), "eager": off("out of step, eager")},
        "gamma": _gamma(),
    }


def _told(number: int, of: int, now: str) -> None:
    print(f"{number} of {of}: {now}", file=sys.stderr, flush=True)


def _gamma() -> dict[str, float]:
    machine, ways = load(MACHINE), (Approach(SINGLE), Approach(MANY, 4))
    s = setup(machine, GAMMA, "single", (2,), iterations=1)
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
