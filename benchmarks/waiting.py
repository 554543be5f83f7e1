"""How long users wait: whole commands, in turns with those of an older checkout.

    python benchmarks/waiting.py                                  # seconds, least of three
    python benchmarks/waiting.py --before ../pready-before        # and as ratios to another checkout's, in turns
    python benchmarks/waiting.py --only workers                   # 400 points on one and on two workers of Dask
    python benchmarks/waiting.py --only fit --raw points.jsonl    # the fit of one's own calibration

Wall-clock time, so on a machine that does nothing else. The first run compiles Python's sources; the least counts.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
PAIRS = ("--over", "buffer=64KiB:128MiB:2x", "--over", "seed=0:8:1", "--csv")
HALO = (
    "--over",
    "buffer=64KiB:32MiB:2x",
    "--over",
    "compute.time=1ms,2ms,4ms,8ms,16ms",
    "--over",
    "seed=0:19:1",
    "--csv",
)
POINTS_400 = ("--over", "buffer=64KiB:32MiB:2x", "--over", "seed=0:39:1", "--csv")
STEP = "format = 2\nthreads = 4\ngrid = [2, 2, 2]\n" + "".join(
    f'[[exchanges]]\nname = "halo_{n}"\npattern = "halo3d"\nbuffer = "{4 << n} KiB"\nreceiver = "computing"\n'
    f'compute = {{ time = "{100 * (n + 1)} us" }}\narrivals = {{ model = "normal by thread", spread = 0.02 }}\n'
    for n in range(12)
)
"""A captured step of twelve exchanges."""


def commands(raw: Path | None) -> dict[str, tuple[float, list[str]]]:
    """By name: the seconds that are asked for, and the words of `pready`."""
    halo, pair = (str(HERE / "examples" / f"{name}.toml") for name in ("halo3d", "laggard"))
    found = {
        "import pready": (0.15, []),
        "predict": (0.7, ["predict", halo]),
        "step of twelve exchanges": (2.0, ["predict", "step.toml"]),
        "report": (3.0, ["predict", halo, "-o", "report"]),
        "108 points of pairs, one core": (0.0, ["sweep", pair, *PAIRS, "--cores", "1"]),
        "108 points of pairs, two cores": (0.0, ["sweep", pair, *PAIRS, "--cores", "2"]),
        "1000 points of the halo, two cores": (40.0, ["sweep", halo, *HALO, "--cores", "2"]),
    }
    if raw is not None:
        found["fit of a calibration"] = (
            5.0,
            ["calibrate", "--fit-only", "--raw", str(raw.resolve()), "-o", "machine.toml"],
        )
    return found


def seconds(checkout: Path, words: list[str]) -> float:
    """Wall-clock time of one command."""
    python = str(checkout / ".venv" / "bin" / "python")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "step.toml").write_text(STEP, encoding="utf-8")
        began = time.perf_counter()
        subprocess.run(
            [python, "-m", "pready", *words] if words else [python, "-c", "import pready"],
            cwd=folder,
            check=True,
            capture_output=True,
            env={k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"},
        )
        return time.perf_counter() - began


CLUSTER = """
import sys
from distributed import LocalCluster
workers = int(sys.argv[1])
with LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
    print(cluster.scheduler_address, flush=True)
    sys.stdin.read()
"""


@contextmanager
def cluster(checkout: Path, workers: int) -> Iterator[str]:
    """The address of a Dask cluster on this machine."""
    words = [str(checkout / ".venv" / "bin" / "python"), "-c", CLUSTER, str(workers)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        try:
            yield child.stdout.readline().strip()
        finally:
            child.communicate("")


def workers(repeats: int) -> None:
    """The same sweep on one worker and on two, each warm."""
    words, best = ["sweep", str(HERE / "examples" / "halo3d.toml"), *POINTS_400], {}
    for number in (1, 2):
        with cluster(HERE, number) as address:
            runs = [seconds(HERE, [*words, "--dask", address]) for _ in range(1 + repeats)]
        best[number] = min(runs[1:])
    print(f"| 400 points on Dask, one worker | {best[1]:.1f} | | |")
    print(f"| on two | {best[2]:.1f} | | {best[1] / best[2]:.2f} times as fast |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", type=Path, help="another checkout, with its .venv")
    parser.add_argument("--only", default="", help="names that contain this; workers")
    parser.add_argument("--raw", type=Path, help="records of pready calibrate")
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args([] if sys.argv[0].endswith("run.py") else None)
    print("| command | s | asked | over the older one |\n| --- | ---: | ---: | ---: |")
    for name, (asked, words) in commands(given.raw).items():
        if given.only not in name:
            continue
        times: dict[Path, list[float]] = {}
        for _ in range(given.repeats):
            for checkout in [HERE] if given.before is None else [HERE, given.before.resolve()]:
                times.setdefault(checkout, []).append(seconds(checkout, words))
        least = [min(some) for some in times.values()]
        ratio = f"{least[0] / least[1]:.2f}" if given.before else ""
        print(f"| {name} | {least[0]:.2f} | {asked or ''} | {ratio} |", flush=True)
    if given.only in ("", "workers"):
        workers(given.repeats)


if __name__ == "__main__":
    main()
