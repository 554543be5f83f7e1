"""How long users wait: whole commands, in turns with those of an older checkout.

    python benchmarks/waiting.py                                  # seconds, least of three
    python benchmarks/waiting.py --before ../pready-before        # and as ratios to another checkout's, in turns
    python benchmarks/waiting.py --only workers                   # 400 points on one and on two workers
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
PAIRS = ("--set", "buffer=64KiB:128MiB:2x", "--set", "seed=0:8:1", "-o", "-")
HALO = (
    "--set",
    "buffer=64KiB:32MiB:2x",
    "--set",
    "compute.time=1ms,2ms,4ms,8ms,16ms",
    "--set",
    "seed=0:19:1",
    "-o",
    "-",
)
WIDE = ("--set", "buffer=64KiB:32MiB:2x", "--set")
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
        "108 points of pairs": (0.0, ["sweep", pair, *PAIRS]),
        "1000 points of the halo": (40.0, ["sweep", halo, *HALO]),
    }
    if raw is not None:
        found["fit of a calibration"] = (
            5.0,
            ["calibrate", "--fit-only", "--raw", str(raw.resolve()), "-o", "machine.toml"],
        )
    return found


def seconds(checkout: Path, words: list[str]) -> float:
    """Wall-clock time of one command."""
    return timed(checkout, words)[0]


def timed(checkout: Path, words: list[str], before: tuple[str, ...] = (), **variables: str) -> tuple[float, bytes]:
    """Wall-clock time of a command and its output; `before`: the words of its launcher."""
    python = str(checkout / ".venv" / "bin" / "python")
    launched = [*before, python, *(("-m", "mpi4py.futures") if before else ()), "-m", "pready", *words]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"} | variables
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "step.toml").write_text(STEP, encoding="utf-8")
        began = time.perf_counter()
        done = subprocess.run(
            launched if words else [python, "-c", "import pready"],
            cwd=folder,
            check=True,
            capture_output=True,
            env=environment,
        )
        return time.perf_counter() - began, done.stdout


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


def on_mpi(words: list[str], number: int) -> tuple[float, bytes]:
    """The same on ranks of MPICH, with one more that hands out the points."""
    prefix = os.environ.get("PREADY_MPICH_PREFIX", str(HERE / ".venv-mpich"))
    launcher = (f"{prefix}/bin/mpiexec", "-n", str(number + 1))
    return timed(HERE, words, launcher, MPI4PY_LIBMPI=f"{prefix}/lib/libmpi.so.12")


def workers(points: int) -> None:
    """The same sweep on one worker and on two: how much faster, and whether the bytes are those of this machine."""
    words = ["sweep", str(HERE / "examples" / "halo3d.toml"), *WIDE, f"seed=0:{points // 10 - 1}:1", "-o", "-"]
    took, plain = timed(HERE, words)
    print(f"| {points} points, this machine | {took:.1f} | | |", flush=True)
    for name, run in (("mpi4py.futures", on_mpi),):
        (one, first), (two, second) = (run(words, number) for number in (1, 2))
        same = "the same bytes" if first == second == plain else "OTHER BYTES"
        print(f"| on {name}, one worker | {one:.1f} | | |")
        print(f"| two workers | {two:.1f} | | {one / two:.2f} times as fast, {same} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", type=Path, help="another checkout, with its .venv")
    parser.add_argument("--only", default="", help="names that contain this; workers")
    parser.add_argument("--raw", type=Path, help="records of pready calibrate")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--points", type=int, default=400, help="of the sweep on workers")
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
        workers(given.points)


if __name__ == "__main__":
    main()
