"""What congestion does to the choice, by size and network, and what runs of 512 ranks take.

``python docs/sst_congestion.py [--keep FOLDER]``, where SST is. What SST said goes into ``sst-motifs/congestion.json``;
the tables in the documents are made of that alone.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from platformdirs import user_cache_path

from pready.model.approach.interfaces import PART, SINGLE, Approach
from pready.model.common.units import Unit, parse
from pready.model.machine.machine import load
from pready.model.workload.workload import Workload
from pready.sst import library
from pready.sst.congestion import beside
from pready.sst.firefly import packet_bytes
from pready.sst.job import Setup, setup
from pready.sst.kept_parameters import fitted
from pready.sst.results import Times, times
from pready.sst.simulate import prediction, simulate_approach

RECORD = Path("sst-motifs/congestion.json")
MACHINE, GRID, ITERATIONS, SEED = "meluxina", (8, 8, 8), 10, 0
PACKETS = {"4 KiB": "16 KiB", "16 KiB": "16 KiB", "64 KiB": "16 KiB", "256 KiB": "16 KiB", "1 MiB": "64 KiB"}
"""By bytes per peer."""
NETWORKS = ("dragonfly:adaptive", "fattree:4:adaptive")
WAYS = (Approach(SINGLE), Approach(PART, 8))
CHECKED = (("16 KiB", (4, 4, 4)), ("64 KiB", (4, 4, 4)), ("16 KiB", GRID))
"""Sizes and grids that are simulated with small packets, too, three iterations on the first network."""


def halo(size: str, grid: tuple[int, ...], network: str, packet: int, iterations: int = ITERATIONS) -> Setup:
    """Eight threads a rank, 0.5 ms of computing that takes 4 % longer or shorter from thread to thread."""
    fields = {"threads": 8, "buffer": size, "pattern": "halo3d", "grid": list(grid), "receiver": "computing"}
    more = {"compute": {"time": "500 us"}, "arrivals": {"model": "normal by thread", "spread": 0.04}}
    machine, w = load(MACHINE), Workload.model_validate(fields | more)
    f = fitted(machine)
    return setup(machine, w, network, iterations=iterations, seed=SEED, firefly=f, packet=packet)


def packet_of(size: str) -> int:
    """Bytes of a packet."""
    return int(parse(PACKETS[size], Unit.SIZE))


class Runs:
    """Runs that are kept, with the processor's seconds that each took."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, s: Setup, way: Approach) -> tuple[Times, float]:
        where = self.folder / "-".join(
            [
                s.topology.name,
                *map(str, s.grid),
                f"{s.workload.buffer:.0f}",
                str(s.packet),
                str(s.iterations),
                way.interface.key,
            ]
        )
        where.mkdir(parents=True, exist_ok=True)
        print(where.name, file=sys.stderr, flush=True)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        found = times("halo3d", simulate_approach(s, way, where))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        took, file = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, where / "seconds"
        if took > 0.1 or not file.exists():
            file.write_text(f"{took:.1f}")
        return found, float(file.read_text())


def measured(runs: Runs) -> dict[str, Any]:
    """The curve by network and size; and runs with small packets beside those with large ones."""
    curve: dict[str, list[dict[str, Any]]] = {network: [] for network in NETWORKS}
    took: list[dict[str, Any]] = []
    for size in PACKETS:
        packet = packet_of(size)
        router = halo(size, GRID, "single", packet)
        alone = [runs(router, way) for way in WAYS]
        for network in NETWORKS:
            s = halo(size, GRID, network, packet)
            here = [runs(s, way) for way in WAYS]
            made, of_router = (
                prediction(x, None, [(way, t) for way, (t, _) in zip(WAYS, some, strict=True)])
                for x, some in ((s, here), (router, alone))
            )
            rows = beside([t for t, _ in alone], [t for t, _ in here], made, of_router)
            curve[network].append({"size": size, **asdict(rows[1]), "said": rows[1].said})
            took += [
                {"network": s.topology.title, "ranks": s.ranks, "size": size, "way": way.interface.key, "s": seconds}
                for way, (_, seconds) in zip(WAYS, here, strict=True)
            ]
    packets = []
    for size, grid in CHECKED:
        for way in WAYS:
            coarse, fine = (runs(halo(size, grid, NETWORKS[0], p, 3), way) for p in (packet_of(size), 0))
            times_ = [float(t.after_ready[1:].mean()) for t, _ in (coarse, fine)]
            of = {"ranks": halo(size, grid, NETWORKS[0], 0).ranks, "size": size, "way": way.interface.key}
            of["packet"] = PACKETS[size]
            packets.append(of | {"coarse_s": coarse[1], "fine_s": fine[1], "error": times_[0] / times_[1] - 1})
    small = packet_bytes(fitted(load(MACHINE)))
    head = {
        "command": "python docs/sst_congestion.py",
        "sst": library.find().version,
        "packets of": PACKETS,
        "small": small,
    }
    return {**head, "curve": curve, "took": took, "packets": packets}


def tables(record: dict[str, Any]) -> dict[str, list[str]]:
    """The documents' tables, by the name of their markers."""
    names = list(record["curve"])
    head = "| per peer | η, one router | " + " | ".join(f"η, {name} | change (95 %)" for name in names) + " |"
    curve = [head, "|" + " --- |" * (2 + 2 * len(names))]
    for rows in zip(*record["curve"].values(), strict=True):
        cells = [c for r in rows for c in (f"{r['eta']:.2f}", r["said"] or "not told from 0")]
        curve.append(f"| {rows[0]['size']} | {rows[0]['eta_alone']:.2f} | " + " | ".join(cells) + " |")
    whole = "| ranks | per peer | way | packets of | seconds | packets of | seconds | communication |"
    packets = [whole, "|" + " --- |" * 8]
    for r in record["packets"]:
        fine, coarse = (f"{r[f'{name}_s']:.1f}" for name in ("fine", "coarse"))
        cells = [str(r["ranks"]), r["size"], r["way"], f"{record['small']} B", fine, r["packet"], coarse]
        packets.append(f"| {' | '.join(cells)} | {100 * r['error']:+.1f} % |")
    took = ["| ranks | " + " | ".join(record["packets of"]) + " |", "|" + " --- |" * (1 + len(record["packets of"]))]
    for name in sorted({(r["ranks"], r["network"], r["way"]) for r in record["took"]}):
        some = [r for r in record["took"] if (r["ranks"], r["network"], r["way"]) == name]
        took.append(f"| {name[0]}, {name[1]}, {name[2]} | " + " | ".join(f"{r['s']:.1f}" for r in some) + " |")
    return {"curve": curve, "packets": packets, "seconds": took}


def with_tables(text: str, record: dict[str, Any]) -> str:
    """A document with the tables between their markers."""
    for name, made in tables(record).items():
        begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        before, _, rest = text.partition(begin)
        _, found, after = rest.partition(end)
        if not found:
            raise ValueError(f"no {begin} … {end}")
        text = "\n\n".join([before + begin, "\n".join(made), end + after])
    return text


DOCUMENTS = (Path("sst-motifs/README.md"),)

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    kept = user_cache_path("pready") / "sst-congestion"
    parser.add_argument(
        "--keep", type=Path, default=kept, help="folder of runs; those that are there are not made again"
    )
    record = measured(Runs(parser.parse_args().keep))
    RECORD.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    for path in DOCUMENTS:
        path.write_text(with_tables(path.read_text(encoding="utf-8"), record), encoding="utf-8")
