"""Does anything get slower on a better machine, or faster with more bytes?

Random workloads, each input of the machine made better, one by one; and each size at which a shipped machine changes
its protocol.

::

    python benchmarks/monotone.py --count 64

No iteration may get longer by more than 2 %, ten iterations have the mean of 45 within 2 %, and no exchange may take 2
% less of a border's size than a byte below, but those of `SOURCES`. Exit status: 0 if so, 1 if not.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from pready.model.approach.interfaces import BY_KEY, Approach
from pready.model.engine import simulate
from pready.model.engine.layout import Layout, Step
from pready.model.engine.runs import Rows, Runs
from pready.model.machine.contention_by_library import contention
from pready.model.machine.machine import Machine, load, profiles
from pready.model.machine.path import NetworkPath
from pready.model.workload.workload import Workload

BETTER = 0.75
"""Times are multiplied by it, rates divided."""
ALLOWED = 0.02

Change = Callable[[Machine], Machine]


def _scaled(value: Any, by: float) -> Any:
    return None if value is None else value.model_copy(update={"value": value.value * by, "interval": None})


def _segments(machine: Machine, names: tuple[str, ...], link: bool = False) -> Machine:
    def better(path: NetworkPath | None) -> NetworkPath | None:
        if path is None:
            return None
        segments = tuple(s.model_copy(update={n: _scaled(getattr(s, n), BETTER) for n in names}) for s in path.segments)
        rate = {"link_bandwidth": _scaled(path.link_bandwidth, 1 / BETTER)} if link else {}
        return path.model_copy(update={"segments": segments, **rate})

    return machine.model_copy(update={"inter": better(machine.inter), "intra": better(machine.intra)})


def _threads(machine: Machine, name: str) -> Machine:
    of = contention(machine) if name == "contention" else machine.threads.barrier
    curve = of.model_copy(update={"time": tuple(BETTER * t for t in of.time)})
    return machine.model_copy(update={"threads": machine.threads.model_copy(update={name: curve})})


def _adapter(machine: Machine) -> Machine:
    if machine.adapter is None:
        return machine
    update = {"rate": _scaled(machine.adapter.rate, 1 / BETTER), "gap": _scaled(machine.adapter.gap, BETTER)}
    return machine.model_copy(update={"adapter": machine.adapter.model_copy(update=update)})


CHANGES: dict[str, Change] = {
    "bandwidth": lambda m: _segments(m, ("G", "G_link"), link=True),
    "L": lambda m: _segments(m, ("L",)),
    "o": lambda m: _segments(m, ("o_s", "o_r")),
    "contention": lambda m: _threads(m, "contention"),
    "barrier": lambda m: _threads(m, "barrier"),
    "adapter": _adapter,
}


def cases(count: int, seed: int) -> Iterator[tuple[str, Workload, Approach, dict[str, Any]]]:
    """Machines, workloads and ways; the first is HPC3's halo of 4 x 4 x 4 in 64 messages."""
    halo: dict[str, Any] = {"pattern": "halo3d", "compute": {"time": "1 ms"}, "receiver": "computing"}
    noisy = {"model": "normal by thread", "spread": 0.1}
    first = Workload.model_validate(
        {"threads": 8, "partitions_per_thread": 8, "buffer": "1 MiB", "arrivals": noisy, **halo}
    )
    yield "hpc3", first, Approach(BY_KEY["many"], 64, 1), {"grid": (4, 4, 4)}
    rng = random.Random(seed)
    while count > 1:
        count -= 1
        threads, theta = rng.choice((2, 4, 8, 16)), rng.choice((1, 1, 4))
        pattern = rng.choice(("halo3d", "halo3d", "halo3d26", "pt2pt"))
        data = halo | {"threads": threads, "partitions_per_thread": theta, "pattern": pattern}
        data["buffer"] = f"{threads * theta * 8 * 4 ** rng.randint(1, 8)} B"
        data["arrivals"] = {"model": "normal by thread", "spread": rng.choice((0.02, 0.1, 0.3))}
        data["receiver"] = rng.choice(("computing", "waiting"))
        interface = BY_KEY[rng.choice(("many", "many-joined", "part", "single", "rma-single-active"))]
        way = Approach(interface, threads * theta if interface.splits else 1, 1)
        grid = (16,) if pattern == "pt2pt" else rng.choice(((2, 2, 2), (4, 4, 2), (3, 3, 3)))
        where: dict[str, Any] = {"grid": grid}
        if rng.random() < 0.3 and grid != (3, 3, 3):
            where["ranks_per_node"] = 4
        yield rng.choice(sorted(profiles())), Workload.model_validate(data), way, where


THREADS = 8
_MUTRINO = "marts2024 IV.B-C: a message costs little whatever its protocol, beside its copies"
SOURCES: dict[tuple[object, ...], str] = {
    ("bebop", 65536, "halo3d", "single"): "messages that are issued further apart arrive and are received one by one",
    ("mutrino", 8192, "halo3d"): _MUTRINO,
    ("mutrino", 8192, "pt2pt"): _MUTRINO,
    ("niagara", 17298, "halo3d"): "temucin2022 4.2: the overhead of 32 partitions falls to little from about 1 MB on",
}
"""Borders beyond which more bytes are faster, and why that is so; without an approach, of several messages."""


def source_of(border: tuple[str, int, str, str]) -> str:
    """Why more bytes may be faster there; empty: they may not."""
    return SOURCES.get(border) or (SOURCES.get(border[:3], "") if border[3] != "single" else "")


def borders(names: Iterable[str]) -> Iterator[tuple[tuple[str, int, str, str], float]]:
    """What an exchange of messages of a border's size takes over one of a byte less, on these machines."""
    for name in names:
        machine = load(name)
        for border in (int(s.from_) for s in machine.inter.segments[1:]):
            for pattern in ("pt2pt", "halo3d"):
                data = {"threads": THREADS, "buffer": f"{THREADS} KiB", "pattern": pattern, "receiver": "computing"}
                workload = Workload.model_validate({**data, "compute": {"time": "100 us"}})
                for key in ("single", "many", "part"):
                    way = BY_KEY[key].into(THREADS)
                    of = Runs(machine, Step.of(workload), Rows(0))
                    below, there = (of.at_buffer(way.messages * float(m)).mean_time(way) for m in (border - 1, border))
                    yield (name, border, pattern, key), there / below


def main() -> int:
    """Print the worst, and say whether all is well."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}")
    worst: list[tuple[float, str]] = []
    for profile, workload, way, where in cases(arguments.count, arguments.seed):
        machine, what = load(profile), f"{profile} {workload.pattern} {workload.buffer:.0f} B {way.name} {way.messages}"

        def mean(
            on: Machine, iterations: int, seeds: int = 1, w: Any = workload, a: Any = way, at: Any = where
        ) -> float:
            # Of all ranks: the last of those that drift apart is later the longer they do.
            runs = (simulate(on, w, a, Layout(**at), iterations=iterations, seed=s) for s in range(seeds))
            return sum(float(run.iteration_s.mean()) for run in runs) / seeds

        base = mean(machine, 10)
        for name, change in CHANGES.items():
            worst.append((mean(change(machine), 10) / base - 1, f"{what}: better {name}"))
        # Of many seeds, so that the arrivals that are drawn do not decide.
        worst.append((abs(mean(machine, 45, 8) / mean(machine, 10, 36) - 1), f"{what}: 45 iterations beside 10"))
    worst.sort(reverse=True)
    for off, what in worst[:12]:
        print(f"{100 * off:+.1f} % {what}")
    at = dict(borders(sorted(profiles())))
    faster = {border: by for border, by in at.items() if by < 1 - ALLOWED}
    print(f"{len(at)} borders, {len(faster)} of them faster with a byte more")
    for border, by in faster.items():
        print(f"{100 * (by - 1):+.1f} % {' '.join(map(str, border))}: {source_of(border) or 'no source'}")
    return int(worst[0][0] > ALLOWED or not all(map(source_of, faster)))


if __name__ == "__main__":
    sys.exit(main())
