"""Random workload files: every pattern, arrival model and baseline, the sizes and counts anything in their ranges."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

NODES = ("nodes-halo3d", "nodes-halo3d26", "nodes-list")
PATTERNS = (
    "pair", "pair-both-ways", "halo3d", "halo3d-faces", "halo3d26", "halo3d26-sizes", "sweep3d", "list", "list-uneven",
    "step", *NODES,
)  # fmt: skip
THREADS = (1, 2, 3, 4, 8, 16)
Table = dict[str, Any]


def size(rng: random.Random, multiple: int = 1, largest: float = 17) -> str:
    """From 8 B to 2**largest, times `multiple`."""
    return f"{multiple * round(2 ** rng.uniform(3, largest))} B"


def arrivals(rng: random.Random, threads: int, computes: bool) -> Table:
    model = rng.choice(
        ("none", "laggard", "laggard", "uniform", "normal by thread", "normal by partition", "trace", "kde")
    )
    if model == "none":
        return {"model": model}
    if model in ("trace", "kde"):
        return {"model": model, "file": f"times-{threads}.txt", "unit": "us"}
    share, delay = f"{rng.uniform(0.1, 20):.3f} %", f"{10 ** rng.uniform(0, 3):.3f} us"
    widths: Table = {
        "laggard": {"delay": delay, "delay_rate": f"{rng.uniform(1, 200):.3f} us/MB", "late_by": share},
        "uniform": {"up_to": share},
        "normal by thread": {"sd": delay},
        "normal by partition": {"epsilon": share},
    }[model]
    if threads > 1:
        widths["spread"] = share
    able = [w for w in widths if computes or w in ("delay", "delay_rate", "sd")]
    if not able:
        return {"model": "none"}
    width = rng.choice(able)
    table = {"model": model, width: widths[width]}
    if model == "laggard":
        table["late"] = rng.choice(("partition", "thread"))
    elif model != "normal by partition":
        table["partitions"] = rng.choice(("together", "in turn"))
    elif width == "epsilon" and rng.random() < 0.5:
        table["delta"] = "2 %"
    return table


def computing(rng: random.Random, threads: int) -> Table:
    """What an exchange's threads do before it."""
    compute: Table = {"time": f"{10 ** rng.uniform(0, 3.7):.3f} us"}
    kind = rng.random()
    if kind < 0.15:
        compute = {"arithmetic_intensity": rng.uniform(0.1, 4), "communication_intensity": 0.2, "frequency": "2.5 GHz"}
    computes = kind < 0.9
    return {**({"compute": compute} if computes else {}), "arrivals": arrivals(rng, threads, computes)}


def neighbour_list(rng: random.Random, ranks: int, uneven: bool) -> list[list[Any]]:
    if uneven:
        lists = [rng.sample([r for r in range(ranks) if r != me], rng.randint(0, 4)) for me in range(ranks)]
        lists[0] = lists[0] or [1]
        return [[{"to": to, "size": size(rng)} if rng.random() < 0.5 else to for to in row] for row in lists]
    steps = rng.sample(range(1, ranks), rng.randint(1, 4))
    sizes = [size(rng) for _ in steps] if rng.random() < 0.3 else None
    to = [[(me + step) % ranks for step in steps] for me in range(ranks)]
    return to if sizes is None else [[{"to": r, "size": s} for r, s in zip(row, sizes, strict=True)] for row in to]


def workload(rng: random.Random, pattern: str, intra: bool) -> Table:
    """A workload file's fields."""
    threads, theta = rng.choice(THREADS), rng.choice((1, 1, 2, 4))
    n = threads * theta
    base = pattern.removeprefix("nodes-").partition("-")[0]
    what: Table = {"format": 2, "threads": threads, "partitions_per_thread": theta, "buffer": size(rng, n)}
    what |= {"iterations": rng.choice((1, 2, 5, 100, 10000)), "cache": rng.choice(("hot", "cold"))}
    what["receiver"] = rng.choice(("waiting", "computing"))
    every = ("nonblocking", "nonblocking", "persistent", "one message per thread", "rma", "blocking")
    what["today"] = rng.choice(every[:5] if pattern in NODES else every)
    if rng.random() < 0.7:
        divisors = [d for d in range(1, n + 1) if n % d == 0]
        what["transport_partitions"] = sorted(rng.sample(divisors, min(3, len(divisors))))
    what |= computing(rng, threads) if base != "step" else {}
    what["pattern"] = {"pair": "pt2pt", "list": "neighbours", "step": "halo3d"}.get(base, base)
    if pattern == "pair" and intra and rng.random() < 0.3:
        what["path"] = "intra"
    if pattern == "pair-both-ways":
        what["both_ways"] = True
    if base in ("halo3d", "halo3d26", "step"):
        grids = ([2, 2, 2], [4, 2, 1], [3, 3, 1], [8, 1, 1], [3, 3, 3], [4, 4, 4])
        what["grid"] = rng.choice([[2, 2, 2], [4, 2, 2]] if pattern in NODES else grids[: 6 if base == "halo3d" else 5])
        what["boundaries"] = rng.choice(("periodic", "open"))
        if rng.random() < 0.25:
            what.pop("transport_partitions", None)  # would have to divide each face's
            what["thread_grid"] = [2, 2, threads // 4] if threads % 4 == 0 else [1, threads, 1]
    if pattern in ("halo3d-faces", "halo3d26-sizes"):
        del what["buffer"]
        what["faces"] = [size(rng) for _ in "xyz"]
    if pattern == "halo3d26-sizes":
        what |= {"edges": [size(rng, 1, 12) for _ in "xyz"], "corner": size(rng, 1, 8)}
    if base == "sweep3d":
        what |= {"grid": rng.choice([[2, 2], [4, 3], [6, 1], [8, 8]]), "blocks": rng.choice((1, 2, 5))}
    if base == "list":
        ranks = rng.choice((8, 12, 16, 24)) if pattern in NODES else rng.randint(6, 24)
        lists = what["neighbour_list"] = neighbour_list(rng, ranks, pattern == "list-uneven")
        if all(isinstance(to, dict) for row in lists for to in row):  # no neighbour is left for it
            del what["buffer"]
    if pattern in NODES:
        what |= {"node_grid": [2, 2, 1]} if "grid" in what and rng.random() < 0.5 else {"ranks_per_node": 4}
    if base == "step":
        what.pop("buffer", None)
        what["exchanges"] = [{"buffer": size(rng, n), **computing(rng, threads)} for _ in range(rng.choice((2, 3)))]
    return what


def toml(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{k} = {toml(v)}" for k, v in value.items()) + " }"
    return f"[{', '.join(map(toml, value))}]" if isinstance(value, list) else json.dumps(value)


def write_times(folder: Path) -> None:
    """The files that the arrivals "trace" and "kde" read: microseconds, a column per thread."""
    for threads in THREADS:
        rng = random.Random(threads)
        rows = [[f"{100 + rng.gammavariate(2, 9):.3f}" for _ in range(threads)] for _ in range(7)]
        (folder / f"times-{threads}.txt").write_text("\n".join(map(" ".join, rows)) + "\n", encoding="utf-8")


def write_workload(path: Path, rng: random.Random, pattern: str, intra: bool) -> None:
    """A workload of one of `PATTERNS`; `intra`: the machine describes the path within a node."""
    lines = [f"{name} = {toml(value)}\n" for name, value in workload(rng, pattern, intra).items()]
    path.write_text("".join(lines), encoding="utf-8")
