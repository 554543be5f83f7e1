"""How many messages the engine simulates per second, against NumPy and, where installed, its peers.

Rates are per second of CPU time, the best of several repeats: wall time on a shared machine says more
about the neighbours than about the program. Wall time is shown for two cores.

    python benchmarks/engine.py                       # everything but the million ranks
    python benchmarks/engine.py --million             # a million ranks, 27-point: minutes
    LOGGOPSIM=/path/to/folder python benchmarks/engine.py   # with LogGOPSim and txt2bin in it
    PATH=/path/to/sst/bin:$PATH python benchmarks/engine.py  # with SST: pready's own Ember motif, the same workload
"""

from __future__ import annotations

import math
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from pready.model.approach.interfaces import BY_KEY, Approach
from pready.model.common.arrays import Array
from pready.model.engine import simulate
from pready.model.engine.layout import Layout
from pready.model.engine.plan import drawn_times
from pready.model.engine.simulate import Simulation
from pready.model.machine import machine
from pready.model.machine.machine import Machine
from pready.model.timeline.costs import costs
from pready.model.timeline.sampling import Sampler
from pready.model.workload.arrivals import Laggard, Normal
from pready.model.workload.exchange import ComputeTime
from pready.model.workload.workload import Workload
from pready.sst import library
from pready.sst.job import setup
from pready.sst.runs import simulate_approach

sys.path.insert(0, "tests/support")
from goal_text import export_goal
from machines import ideal

LAGGARD = Laggard(model="laggard", late_by=0.04, late="thread")
NORMAL = Normal(model="normal by thread", spread=0.04)
MESSAGES = 6e6
"""About as many per measurement."""


def fifo_starts(arrivals: Array, service: Array) -> Array:
    """When a FIFO server starts each of its jobs, in order along the last axis: s_i + max_{j ≤ i}(arrival_j − s_j).

    s_i is the service of all before i; `service` is of each job, or of all of them with a last axis of 1.
    """
    n = arrivals.shape[-1]
    before = np.arange(n) * service if service.shape[-1] == 1 else np.cumsum(service, axis=-1) - service
    return before + np.maximum.accumulate(arrivals - before, axis=-1)


def workload(pattern: Any, model: Any = LAGGARD, threads: int = 8) -> Workload:
    return Workload(
        threads=threads,
        buffer="64 KiB",  # type: ignore[arg-type]
        pattern=pattern,
        receiver="computing",
        compute=ComputeTime(time="1 ms"),  # type: ignore[arg-type]
        arrivals=model,
    )


def rate(run: partial[Simulation], repeats: int = 5) -> tuple[float, Simulation]:
    """Messages per CPU second of the best run."""
    best, out = 0.0, None
    for _ in range(repeats):
        began = time.process_time()
        out = run()
        best = max(best, out.messages / (time.process_time() - began))
    assert out is not None
    return best, out


def speed(on: Machine) -> None:
    print("| pattern, 8 transport partitions | noise | VCIs | ranks | messages/s | memory, MiB |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    for pattern, grids in (("halo3d", ((16,) * 3, (32,) * 3, (64,) * 3)), ("halo3d26", ((32,) * 3,))):
        for noise, model in (("laggard", LAGGARD), ("normal", NORMAL)):
            for key, vcis in (("part", 1), ("many", 8)):
                for grid in grids:
                    ranks = int(np.prod(grid))
                    steps = max(1, round(MESSAGES / ranks / (48 if pattern == "halo3d" else 208)))
                    approach, what = Approach(BY_KEY[key], 8, vcis), workload(pattern, model)
                    best, out = rate(partial(simulate, on, what, approach, Layout(grid), iterations=steps))
                    print(
                        f"| {pattern} | {noise} | {vcis} | {ranks} | {best / 1e6:.0f} M "
                        f"| {out.memory_bytes / 2**20:.1f} |",
                        flush=True,
                    )


def scaling(on: Machine) -> None:
    print("\n| ranks (halo3d, 10 iterations) | CPU s | per message, ns |")
    print("| ---: | ---: | ---: |")
    sizes, times = [], []
    for grid in ((10, 10, 10), (20, 20, 25), (40, 50, 50), (100, 100, 100)):
        best, out = rate(partial(simulate, on, workload("halo3d"), PART, Layout(grid), iterations=10), 3)
        sizes.append(out.messages)
        times.append(out.messages / best)
        print(f"| {np.prod(grid)} | {times[-1]:.3g} | {1e9 / best:.2f} |", flush=True)
    slope = np.polyfit(np.log(sizes), np.log(times), 1)[0]
    print(f"\ncost grows as ranks to the power {slope:.3f} over three decades", flush=True)
    sizes, times = [], []
    for iterations in (3, 30, 300, 3000):
        best, out = rate(
            partial(simulate, on, workload("halo3d"), PART, Layout((16, 16, 16)), iterations=iterations), 3
        )
        sizes.append(out.messages)
        times.append(out.messages / best)
    print(f"as iterations to the power {np.polyfit(np.log(sizes), np.log(times), 1)[0]:.3f}", flush=True)
    sizes, times = [], []
    for transports in (1, 4, 16, 64, 128):
        w, a = workload("halo3d", threads=128), Approach(BY_KEY["part"], transports, 1)
        best, out = rate(partial(simulate, on, w, a, Layout((16, 16, 16)), iterations=10), 3)
        sizes.append(out.messages)
        times.append(out.messages / best)
    each = ", ".join(f"{t / m * 1e9:.1f}" for t, m in zip(times, sizes, strict=True))
    print(f"ns per message with 1, 4, 16, 64, 128 transport partitions of 128 threads: {each}", flush=True)


def nodes(on: Machine) -> None:
    """What it costs that ranks share a node's adapter: CPU time over that of the same run without nodes."""
    both, grid = on.model_copy(update={"intra": on.inter}), (16, 16, 16)
    placed: dict[str, dict[str, Any]] = {
        "alone": {},
        "1": {"ranks_per_node": 1},
        "2 × 2 × 2": {"ranks_per_node": 8, "node_grid": (2, 2, 2)},
        "8 in a row": {"ranks_per_node": 8},
        "4 × 4 × 4": {"ranks_per_node": 64, "node_grid": (4, 4, 4)},
        "128 in rows": {"ranks_per_node": 128},
    }
    print("\n| ranks of a node | " + " | ".join(list(placed)[1:]) + " |")
    print("| --- |" + " ---: |" * (len(placed) - 1))
    for pattern in ("halo3d", "halo3d26"):
        for key, transports, vcis in NODE_APPROACHES:
            for noise, model in (("laggard", LAGGARD), ("normal", NORMAL)):
                what, approach = workload(pattern, model), Approach(BY_KEY[key], transports, vcis)
                steps = max(1, round(MESSAGES / 4096 / transports / (6 if pattern == "halo3d" else 26)))
                least = dict.fromkeys(placed, math.inf)
                for _ in range(15):  # in turns, so that what else runs on the machine meets all of them
                    for name, options in placed.items():
                        began = time.process_time()
                        simulate(both, what, approach, Layout(grid, **options), iterations=steps)
                        least[name] = min(least[name], time.process_time() - began)
                ratios = " | ".join(f"{least[name] / least['alone']:.2f}" for name in list(placed)[1:])
                print(f"| {pattern}, {approach.name}, {noise} | {ratios} |", flush=True)


NODE_APPROACHES = (("single", 1, 1), ("part", 8, 1), ("part", 8, 8), ("many", 8, 8), ("rma-single-active", 8, 1))


def fixed_cost(on: Machine) -> None:
    """What a rank costs whatever it sends: why few messages per rank give fewer messages per second."""
    bulk = Approach(BY_KEY["single"])
    cases: tuple[tuple[str, Any, tuple[int, ...], Approach], ...] = (
        ("pairs, bulk", "pt2pt", (4096,), bulk),
        ("halo3d in a row (2 neighbours), bulk", "halo3d", (4096,), bulk),
        ("halo3d (6 neighbours), bulk", "halo3d", (16, 16, 16), bulk),
        ("halo3d (6 neighbours), 8 partitions", "halo3d", (16, 16, 16), PART),
    )
    print("\n| | messages per rank | ns per rank and exchange | ns per message |")
    print("| --- | ---: | ---: | ---: |")
    for name, pattern, grid, approach in cases:
        best, out = rate(partial(simulate, on, workload(pattern), approach, Layout(grid), iterations=200))
        messages = out.messages / out.iterations / 4096
        print(f"| {name} | {messages:.0f} | {1e9 * messages / best:.0f} | {1e9 / best:.1f} |", flush=True)


def two_cores(on: Machine) -> None:
    def wall(cores: int) -> float:
        return min(
            simulate(on, workload("halo3d"), PART, Layout((64, 64, 64)), iterations=10, cores=cores).wall_s
            for _ in range(5)
        )

    one, two = wall(1), wall(2)
    print(f"\ntwo cores: {one / two:.2f}× ({one:.2f} s, {two:.2f} s wall; on an idle machine)", flush=True)


PART = Approach(BY_KEY["part"], 8, 1)


def in_numpy(on: Machine, what: Workload, grid: tuple[int, int, int], ready: Array) -> Array:
    """The same recurrence for a periodic halo3d on one VCI, eager, in NumPy: every rank's end."""
    c = costs(Sampler(on), what, what.buffer / 8)
    shape, ranks = grid[::-1], int(np.prod(grid))
    hold, taken, service = float(c.hold + c.copy_in), float(c.contention[8]), float(c.gap + c.link)
    receive = float(c.receive + c.per_entry * (48 - 1) / 2)
    nth = np.arange(6)
    start, nic = np.zeros(ranks), np.full(ranks, -np.inf)
    for times in ready:
        join = start + times.max(axis=1) + float(c.barrier)
        turns = fifo_starts(np.sort(times, axis=1) + 6 * hold, np.asarray([6 * (hold + receive + taken)]))
        issued = (turns[:, :, None] - (5 - nth) * hold).reshape(ranks, -1)
        issued[:, 0] = np.maximum(issued[:, 0], nic - start)
        left = fifo_starts(issued, np.asarray([service])) + start[:, None]
        nic = left[:, -1] + service
        arrived = (left + float(c.stream + c.wire)).reshape(*shape, 8, 6)
        faces = [
            np.roll(arrived[..., d], sign, axis).reshape(ranks, 8)
            for d, (axis, sign) in enumerate(((2, -1), (2, 1), (1, -1), (1, 1), (0, -1), (0, 1)))
        ]
        inbox = np.sort(np.concatenate(faces, axis=1), axis=1)
        floor = join if what.receiver == "computing" and on.progress.value != "thread" else start
        inbox = np.maximum(inbox, floor[:, None])
        end = fifo_starts(inbox, np.asarray([receive]))[:, -1] + receive
        start = np.maximum(np.maximum(end, join), issued[:, -1] + start)
    return start


def against_numpy(on: Machine) -> None:
    grid, iterations = (16, 16, 16), 20
    w = workload("halo3d")
    ready = np.stack([drawn_times(w, iterations, 0, rank=r) for r in range(16**3)], axis=1)
    slow = float("inf")
    for _ in range(3):
        began = time.process_time()
        ends = in_numpy(on, w, grid, ready)
        slow = min(slow, time.process_time() - began)
    best, out = rate(partial(simulate, on, w, PART, Layout(grid), iterations=iterations))
    recorded = simulate(on, w, PART, Layout(grid), iterations=iterations, record=True).ends_s
    assert recorded is not None
    np.testing.assert_allclose(recorded[-1], ends, rtol=1e-12)
    peer = out.messages / slow
    print(
        f"\nNumPy, without its draws: {peer / 1e6:.1f} M messages/s; the engine, with them: {best / peer:.0f}×; "
        "ends equal to 1e-12",
        flush=True,
    )


def against_loggopsim(iterations: int = 5) -> None:
    folder = os.environ.get("LOGGOPSIM")
    if not folder:
        print("\nLogGOPSim: set LOGGOPSIM to the folder with LogGOPSim and txt2bin", flush=True)
        return
    # Costs that both can express: whole nanoseconds, o_s = o_r, nothing per byte.
    on = ideal(L=1e-6, o_s=1e-7, o_r=1e-7, g=5e-8, G=1e-18, link=1e18)
    print("\n| against LogGOPSim | ranks | its end, ns | ours, ns | difference | its messages/s | ratio |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for grid in ((4, 4, 4), (16, 16, 16)):
        for approach in (Approach(BY_KEY["single"]), PART):
            w = workload("halo3d").changed(buffer="8 B")
            with tempfile.TemporaryDirectory() as scratch:
                text, binary = Path(scratch) / "run.goal", Path(scratch) / "run.bin"
                with text.open("w") as file:
                    flags = export_goal(file, on, w, approach, grid=grid, iterations=iterations)
                tools = Path(folder)
                subprocess.run([tools / "txt2bin", "-i", text, "-o", binary], check=True, capture_output=True)
                took = math.inf
                for _ in range(3):  # the best, as of ours
                    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
                    done = subprocess.run(
                        [tools / "LogGOPSim", "-f", binary, "-b", *str(flags).split()],
                        check=True, capture_output=True, text=True,
                    )  # fmt: skip
                    took = min(took, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)
            theirs = max(int(t) for t in re.findall(r"finishing time at host \d+: (\d+)", done.stdout))
            out = simulate(on, w, approach, Layout(grid), iterations=iterations)
            best, _ = rate(partial(simulate, on, w, approach, Layout(grid), iterations=40 * iterations))
            ours = out.time_s * 1e9
            its = out.messages / max(took, 1e-3)
            print(
                f"| {approach.name} | {int(np.prod(grid))} | {theirs} | {ours:.0f} | "
                f"{(theirs - ours) / ours:+.2%} | {its:.3g} | {best / its:.0f}× |",
                flush=True,
            )


def against_ember(profile: Machine) -> None:
    """SST Ember with pready's motif on the same workload and grid: messages per second of wall time."""
    if not library.available():
        print("\nSST Ember: put sst, sst-config and sst-info on PATH", flush=True)
        return
    grid, iterations = (8, 8, 8), 2
    approach, what = Approach(BY_KEY["many"], 8, 1), workload("halo3d")
    with tempfile.TemporaryDirectory() as folder:
        library.build()
        began = time.perf_counter()
        simulate_approach(setup(profile, what, "torus", grid, iterations=iterations), approach, Path(folder))
        wall_s = time.perf_counter() - began
    messages = 512 * 6 * 8 * (iterations + 1)  # one more iteration, without noise, goes before
    theirs = messages / wall_s
    ours, _ = rate(partial(simulate, profile, what, approach, Layout(grid), iterations=100))
    print(
        f"\nSST Ember, halo3d, 512 ranks on a torus, 8 transport partitions: {messages} messages in "
        f"{wall_s:.1f} s, {theirs:.3g} messages/s; the engine {ours:.3g}: {ours / theirs:.0f}×",
        flush=True,
    )


def million(on: Machine) -> None:
    for key, vcis in (("part", 1), ("many", 8)):
        began = time.process_time()
        out = simulate(
            on, workload("halo3d26"), Approach(BY_KEY[key], 8, vcis), Layout((100, 100, 100)), iterations=10, cores=2
        )
        took = time.process_time() - began
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(
            f"\na million ranks, 27-point, {vcis} VCIs, 2 cores: {out.messages:.3g} messages in "
            f"{out.wall_s:.0f} s wall, {took:.0f} s CPU, {out.memory_bytes / 2**30:.2f} GiB, "
            f"peak of the process {peak:.2f} GiB",
            flush=True,
        )


if __name__ == "__main__":
    profile = machine.load("meluxina")
    if "--million" in sys.argv[1:]:
        million(profile)
        raise SystemExit
    speed(profile)
    scaling(profile)
    nodes(profile)
    fixed_cost(profile)
    two_cores(profile)
    against_numpy(profile)
    against_loggopsim()
    against_ember(profile)
