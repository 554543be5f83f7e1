"""The benchmarks under a clock that counts calls (counting_clock.c): every call and every time is known.

The points of messages/ (pairs, pingpong, prtt, rate, receive) and of threads/ (begin, contention, early, memcpy,
overlap), with what core/ (binding, clock, measurements, parameters, payload, record, statistics, timing, transfer) does
for each of them. Their times follow by hand from the costs of calls: the formulas of tests/data/calibrate/counted.toml.
"""

import json
import os
import re
import subprocess
from math import ceil, comb
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from given import Request
from mpi_home import home_of
from real_mpi import LIBRARIES, benchmark, compiled_once, kept
from tables import table_of

from pready.calibrate.measure.compile import find_mpicc

TABLE = table_of("calibrate/counted")
COSTS: dict[str, int] = TABLE["costs"]
POINTS: list[dict[str, Any]] = TABLE["points"]
CLOCK = Path(__file__).parent / "counting_clock.c"
WARMUP = 3


def clock(phase: int) -> int:
    """What a reading takes, PHASE_NS."""
    return 7 + 30 * (37 * phase % 101)


def spin(time: float, reading: int) -> int:
    """By readings until a time from the first on."""
    return reading * (1 + ceil(time / reading))


def folded(calls: str) -> str:
    """With what is repeated written once, and how often: "(a b)3"."""
    return re.sub(r"((?:\S+ )+?)\1+", lambda m: f"({m[1][:-1]}){len(m[0]) // len(m[1])} ", calls)


def counted(library: str, request: Request, folder: Path) -> tuple[list[str], dict[str, list[str]]]:
    """The records of the points, and what the ranks call for each of these lines."""
    prefix = home_of(library)
    mpicc = find_mpicc(str(prefix / "bin" / "mpicc"))
    costs = [f"-DCOST_{call.upper()}={ns}" for call, ns in COSTS.items()]
    words = [*mpicc, "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", *costs, str(CLOCK)]
    preloaded = compiled_once(kept(request), words, "counting_clock.so", made_of=[CLOCK.read_text()])
    settings = {"LD_PRELOAD": str(preloaded), "COUNTING_CLOCK": str(folder), "OMP_WAIT_POLICY": "passive"}
    command = [str(prefix / "bin" / "mpiexec"), *LIBRARIES[library][1], "-n", "2"]
    done = subprocess.run(
        [*command, str(benchmark(prefix, request).program), "seed=7", "tool=test"],
        input="\n".join([*(point["line"] for point in POINTS), "end\n"]),
        env=os.environ | settings, capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    calls: dict[str, list[str]] = {}
    for rank in range(2):
        for of_point in (folder / str(rank)).read_text().split("# ")[1:]:
            line, *threads = of_point.splitlines()
            calls.setdefault(line, []).extend(f"{rank} {folded(of_thread)}" for of_thread in threads)
    return [line for line in done.stdout.splitlines() if line.startswith("{")], calls


@pytest.mark.thorough
@pytest.mark.parametrize("library", sorted(LIBRARIES))
def test_every_call_and_every_time_is_known(library: str, request: Request, tmp_path: Path) -> None:
    records, calls = counted(library, request, tmp_path)
    assert len(records) == len(POINTS)
    for got, point in zip(records, POINTS, strict=True):
        known = point | point.get(library, {})
        assert json.loads(got) == json.loads(known["record"]), point["line"]
        expected = known["calls"].format_map(TABLE["phrases"])
        assert " ".join(calls[point["line"]]).split() == expected.split(), point["line"]


def test_known_times_follow_from_the_calls() -> None:
    """Each sample by its formula, and what is said of all of them."""
    for point in POINTS:
        record = json.loads(point["record"])
        known = {**COSTS, "clock": clock, "spin": spin, "median": median, "median_s": record["median_s"]}
        for name, value in record["derived"].items():
            known[name] = eval(point[name], known)
            assert value == pytest.approx(known[name], rel=1e-8), (point["line"], name)
        for name, quantity in ({record["quantity"]: record} | record["also"]).items():
            for i, time in enumerate(quantity["warmup_ns"] + quantity["samples_ns"]):
                of_repeat = {"i": i, "inner": 1 if i < WARMUP else record["inner"]}
                assert time == pytest.approx(eval(point[name], known | of_repeat), abs=0.06), (point["line"], name, i)
            samples = sorted(sample * 1e-9 for sample in quantity["samples_ns"])
            n = len(samples)
            # r-th smallest and largest, r the largest with P(Binomial(n, 1/2) < r) <= 2.5 %
            r = max(r for r in range(n) if sum(comb(n, k) for k in range(r)) <= 0.025 * 2**n)
            assert (r == 0) == (n < 6)
            said = {"median_s": median(samples), "min_s": samples[0], "max_s": samples[-1]}
            said |= {"low_s": samples[r - 1] if r else None, "high_s": samples[n - r] if r else None}
            assert {name: quantity[name] for name in said} == pytest.approx(said, abs=1e-10), point["line"]
