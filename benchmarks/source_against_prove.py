"""Does a program of `pready prove --source` take as long as what `pready prove` measures of the same way?

    python benchmarks/source_against_prove.py --mpi ~/mpich                        # two ranks of this node
    python benchmarks/source_against_prove.py --mpi ~/mpich --workload app.toml --launcher "srun -N 2 -n 2"

In each round every way is measured by the benchmark that `prove` runs and then by its program, ways in an order of
their own: what drifts falls on both. A ratio is the program's mean iteration over the benchmark's; of the rounds the
median, the least and the most. Every byte is checked by both. Exit status 1 if a median is off by more than 5 %.

Wall-clock time, so on a machine that does nothing else: about five minutes.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from pready.calibrate.measure.compile import build, find_mpicc
from pready.calibrate.measure.exchange_plan import step_plan
from pready.calibrate.measure.launcher import Launcher
from pready.calibrate.measure.raw_file import read
from pready.calibrate.measure.session import measure
from pready.model.approach.interfaces import BY_KEY
from pready.model.approach.libraries import LIBRARIES
from pready.model.workload.workload import Workload
from pready.model.workload.workload import load as load_workload
from pready.validate.prove.as_performed import as_performed
from pready.validate.prove.design import MOST, Way, order, way_of
from pready.validate.prove.performed import performed_in
from pready.validate.prove.session import ranks_of
from pready.validate.prove.source import program

WAYS = {
    **{"persistent": 1, "part": 8, "many": 8, "many-joined": 8},
    **{f"rma-{windows}-{sync}": 8 for windows in ("single", "many") for sync in ("active", "passive")},
}
"""Messages of a buffer by interface; fewer where a workload has fewer partitions."""
WARM_UP = 3
"""Iterations that do not count, of both."""
AGREE = 0.05
PATIENCE_S = 60.0
"""A program that takes longer hangs."""
DEFAULT = """format = 2
name = "laggard"
threads = 1
partitions_per_thread = 8
buffer = "512 KiB"
compute = { time = "8 ms" }
arrivals = { model = "laggard", late = "partition", delay = "4 ms" }
"""
"""All iterations of all ranks alike: a program repeats rank 0's first one. One thread, for two ranks on two cores."""


def is_open_mpi(home: Path) -> bool:
    """Does its mpiexec say so?"""
    said = subprocess.run([str(home / "bin" / "mpiexec"), "--version"], capture_output=True, text=True, check=False)
    return "Open MPI" in said.stdout or "OpenRTE" in said.stdout


def started(home: Path, words: str | None, ranks: int) -> Launcher:
    """What starts all ranks."""
    root = " --allow-run-as-root --bind-to none" if is_open_mpi(home) else ""
    return Launcher.parse(words or f"{home / 'bin' / 'mpiexec'}{root} -n {ranks}")


def compiled(folder: Path, workload: Workload, way: Way, home: Path) -> Path:
    """The folder of a way's program."""
    folder.mkdir()
    library = LIBRARIES["openmpi-persist" if is_open_mpi(home) else "mpich-release"]
    for name, text in program(workload, way.approaches, library, 0).items():
        (folder / name).write_text(text, encoding="utf-8")
    strict = "CFLAGS=-O2 -Wall -Wextra -Werror"
    subprocess.run(["make", "-s", f"CC={home / 'bin' / 'mpicc'}", strict], cwd=folder, check=True)
    return folder / "exchange"


def run_program(launcher: Launcher, file: Path, iterations: int) -> tuple[float, float]:
    """Seconds of an iteration, bulk and ported; every byte was right."""
    done = subprocess.run(
        launcher.command([str(file), str(iterations)]),
        env={**os.environ, "OMP_WAIT_POLICY": "passive", **launcher.environment},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=True,
        start_new_session=True,  # as the benchmark's
    )
    found = dict(re.findall(r"^(bulk|ported) +([0-9.]+) s", done.stdout, re.MULTILINE))
    if "wrong bytes: 0\n" not in done.stdout or len(found) != 2:
        raise SystemExit(f"{file}: {done.stdout}{done.stderr}")
    return float(found["bulk"]), float(found["ported"])


def compared(
    workload: Workload, ways: Sequence[Way], launcher: Launcher, home: Path, folder: Path, rounds: int, iterations: int
) -> dict[str, list[tuple[float, float]]]:
    """By way, a pair of each round: seconds of an iteration of the program, and of `prove`."""
    plan = step_plan(workload, WARM_UP + iterations, 0)
    for exchange in plan.exchanges:
        if np.ptp(exchange.ready, axis=(0, 1)).max() > 0:
            raise SystemExit(
                f"{workload.name}: iterations or ranks differ; valid: arrivals of model 'none' or 'laggard'"
            )
    name, built, raw = (
        plan.write(folder / "plans"),
        build(find_mpicc(str(home / "bin" / "mpicc"))),
        folder / "raw.jsonl",
    )
    bulk = way_of([w.baseline for w in workload.parts], workload)
    programs = {way: compiled(folder / str(way), workload, way, home) for way in ways}
    of_bulk: dict[int, list[float]] = {r: [] for r in range(rounds)}
    of_way: dict[Way, list[float]] = {way: [] for way in ways}
    environment = ""
    for way, round_ in order([bulk, *ways], 0, rounds):
        point = way.point(name, round_, MOST)
        done = measure([point], launcher, raw, PATIENCE_S, built=built, folder=folder / "plans")
        environment = done.environment
        if str(point) in done.failures:
            raise SystemExit(f"{way}: {done.failures[str(point)]}")
        if way in programs:
            today, ported = run_program(launcher, programs[way], iterations)
            of_bulk[round_].append(today)
            of_way[way].append(ported)
        print(f"\rround {round_ + 1} of {rounds}: {way}".ljust(50), end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    content, found = read(raw), {}
    of_way[bulk] = [float(np.median(times)) for times in of_bulk.values()]
    for way in (bulk, *ways):
        seen = performed_in(content, way, environment, name, WARM_UP, 1, rounds)
        if seen is None:
            raise SystemExit(f"{way} was not measured in every round: {content.unsupported()}")
        t = seen.times[:, WARM_UP:]
        measured = (t[..., 2] - t[..., 0]).mean(axis=(1, 2))
        found[str(way)] = [*zip(of_way[way], measured.tolist(), strict=True)]
    return found


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpi", type=Path, required=True, help="the MPI's prefix, with bin/mpiexec and bin/mpicc")
    parser.add_argument("--launcher", metavar="WORDS", help="how all ranks are started")
    parser.add_argument("--workload", help="a TOML file; default: two ranks, one of eight partitions late")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--iterations", type=int, default=40)
    parser.add_argument("--only", nargs="*", choices=WAYS, default=[*WAYS], help="default: all eight ways")
    options = parser.parse_args()
    home = options.mpi.absolute()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "default.toml").write_text(DEFAULT, encoding="utf-8")
        workload, _ = as_performed(load_workload(options.workload or str(folder / "default.toml")))
        messages = {key: min(count, workload.n_partitions) for key, count in WAYS.items() if key in options.only}
        ways = [way_of([BY_KEY[k].into(m)] * len(workload.parts), workload) for k, m in messages.items()]
        launcher = started(home, options.launcher, ranks_of(workload))
        found = compared(workload, ways, launcher, home, folder, options.rounds, options.iterations)
    off = 0
    print(f"{'way':<24}{'program':>12}{'prove':>12}{'ratio':>8}   least to most of {options.rounds} rounds")
    for way, pairs in found.items():
        program_s, measured_s = np.array(pairs).T
        ratios = program_s / measured_s
        middle = float(np.median(ratios))
        off += abs(middle - 1) > AGREE
        print(
            f"{way:<24}{1e3 * np.median(program_s):>9.3f} ms{1e3 * np.median(measured_s):>9.3f} ms{middle:>8.3f}   "
            f"{ratios.min():.3f} to {ratios.max():.3f}{'  off by more than 5 %' * (abs(middle - 1) > AGREE)}"
        )
    return int(off > 0)


if __name__ == "__main__":
    sys.exit(main())
