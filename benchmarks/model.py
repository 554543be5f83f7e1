"""How fast the model is, against the plain Python loop a user would write, in one run.

Single core; each figure is the best of several repeats, because other work on the machine only ever
slows it down.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

from pready.model.approach.interfaces import BY_KEY, Approach
from pready.model.engine.layout import Step
from pready.model.engine.plan import drawn_times
from pready.model.engine.runs import Runs
from pready.model.engine.simulate import run_step
from pready.model.equations import gain_numpy
from pready.model.machine import machine
from pready.model.workload import workload

sys.path.insert(0, "tests/support")
from oracle import Ranks, State, exchange

HALO = "examples/halo3d.toml"
STEP = "".join(
    f'[[exchanges]]\nname = "halo_{n}"\npattern = "halo3d"\nbuffer = "{4 << n} KiB"\nreceiver = "computing"\n'
    f'compute = {{ time = "{100 * (n + 1)} us" }}\narrivals = {{ model = "normal by thread", spread = 0.02 }}\n'
    for n in range(12)
)
WAITS = {
    "pready --version": "--version",
    f"pready predict {HALO}": f"predict {HALO}",
    "pready predict examples/stencil-unequal.toml": "predict examples/stencil-unequal.toml",
    "a step of twelve exchanges": "predict -",
    "20 points of the halo": f"sweep {HALO} --set buffer=64KiB:32MiB:2x --set compute.time=1ms,4ms -o -",
    "20 points of pairs": "sweep examples/laggard.toml --set buffer=1MiB:512MiB:2x --set seed=0:1:1 -o -",
}
"""Commands, by what their user waits for. A sweep of so few points runs on threads of the command, not on processes."""


def best(function: Callable[[], object], repeats: int = 7) -> float:
    """Seconds of the fastest call."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def closed_forms(n: int = 1_000_000) -> tuple[str, float, float]:
    """Eq. 4 over arrays and in a loop; configurations per second."""
    gamma = np.linspace(0.0, 1e-9, n)

    def loop() -> None:
        out = []
        for g in gamma[: n // 20].tolist():
            out.append(32 / max(32 - g * 25e9, 1))

    fast = n / best(lambda: gain_numpy.large_message_gain(8, 4, gamma, 25e9))
    slow = n // 20 / best(loop)
    return "closed form, configurations/s", fast, slow


def from_rest(key: str, transports: int, vcis: int, rows: int = 512) -> tuple[str, float, float]:
    """Exchanges from rest of the README's example, by the engine and by its oracle; messages per second."""
    what = workload.load(HALO)
    approach = Approach(BY_KEY[key], transports, vcis)
    runs = Runs(machine.load("meluxina"), Step.from_rest(what))
    (many,), (few,) = (runs.plans((approach,), exchanges=n) for n in (rows, 8))
    times = [drawn_times(what, 8, few.seed, rank=rank).tolist() for rank in (0, 1)]
    each = transports * what.peers
    fast = rows * each / best(lambda: run_step([many], 1))
    slow = 8 * each / best(lambda: exchange(Ranks(few), [*times[0], *times[1]], State.at_rest(16)), 3)
    return f"from rest, {approach.name}, {transports} × {vcis} VCI, messages/s", fast, slow


def waited(words: str) -> tuple[float, float]:
    """CPU and wall seconds of a whole command, the least of three."""
    command, step = (
        [sys.executable, "-m", "pready", *words.split()],
        f"format = 2\nthreads = 4\ngrid = [2, 2, 2]\n{STEP}",
    )

    runs = []
    for _ in range(3):
        before, began = os.times(), time.perf_counter()
        subprocess.run(command, check=True, capture_output=True, text=True, input=step)
        after, wall = os.times(), time.perf_counter() - began
        runs.append((sum(after[2:4]) - sum(before[2:4]), wall))
    return min(cpu for cpu, _ in runs), min(wall for _, wall in runs)


def main() -> None:
    """Print the table."""
    print(f"{'':52} {'pready':>12} {'Python loop':>12} {'ratio':>7}")
    rows = [closed_forms()]
    rows += [
        from_rest(*case) for case in (("part", 32, 1), ("many", 32, 8), ("rma-single-active", 32, 1), ("part", 4, 1))
    ]
    for name, fast, slow in rows:
        print(f"{name:52} {fast:12.3g} {slow:12.3g} {fast / slow:6.0f}×")
    loop = best(lambda: sum(range(10_000_000)))
    print(f"\n{'':52} {'CPU s':>7} {'wall s':>7}  CPU over a sum of 10 million numbers")
    for name, words in WAITS.items():
        cpu, wall = waited(words)
        print(f"{name:52} {cpu:7.2f} {wall:7.2f} {cpu / loop:7.1f}×", flush=True)


if __name__ == "__main__":
    main()
