"""The benchmarks under a clock that counts calls (counting_clock.c): every call and every time is known.

The points of messages/ (pairs, pingpong, prtt, rate, receive) and of threads/ (begin, contention, early, memcpy,
overlap), with what core/ (binding, clock, parameters, payload, record, statistics, team, timing, transfer) and main do
for each of them. Their times follow by hand from the costs of calls: the formulas of tests/data/calibrate/counted.toml.
"""

import json
import os
import re
import subprocess
from itertools import accumulate
from math import ceil, comb, floor
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
JOBS: list[dict[str, Any]] = TABLE["jobs"]
COSTS: dict[str, int] = TABLE["costs"]
CLOCK = Path(__file__).parent / "counting_clock.c"
WARMUP = 3
OF_MACHINE = {"library", "mpi_version", "cpus", "tcp", "cores_online", "compiler", "openmp", "openmp_threads"}
"""What a record of the environment says of this machine and its compilers."""


def clock(phase: int) -> int:
    """What a reading takes, PHASE_NS."""
    return 7 + 30 * (37 * phase % 101)


def spin(time: float, reading: int) -> int:
    """By readings until a time from the first on."""
    return reading * (1 + ceil(time / reading))


def late(phase: int, thread: int) -> int:
    """After the time of 0.3 ms at which a team begins, by readings: the master's first, then a thread's own."""
    own = clock(phase + thread)
    return clock(phase) + own * (1 + ceil((300000 - clock(phase)) / own)) - 300000


def folded(calls: str) -> str:
    """With what is repeated written once, and how often: "(a b)3"."""
    return re.sub(r"((?:\S+ ){1,60}?)\1+", lambda m: f"({m[1][:-1]}){len(m[0]) // len(m[1])} ", calls)


def counted(
    library: str, job: dict[str, Any], request: Request, folder: Path
) -> tuple[list[str], dict[str, list[str]]]:
    """The records of a job's points, and what the ranks call for each of these lines."""
    prefix, ranks = home_of(library), len(job["places"].split())
    mpicc = find_mpicc(str(prefix / "bin" / "mpicc"))
    costs = [f"-DCOST_{call.upper()}={ns}" for call, ns in COSTS.items()]
    words = [*mpicc, "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", *costs, str(CLOCK)]
    preloaded = compiled_once(kept(request), words, "counting_clock.so", made_of=[CLOCK.read_text()])
    settings = {"LD_PRELOAD": str(preloaded), "COUNTING_CLOCK": str(folder), "COUNTING_PLACES": job["places"]}
    settings |= {"COUNTING_SERIALIZED": ""} if job.get("serialized") else {}
    free = {name: value for name, value in os.environ.items() if not name.startswith("OMP_")}
    command = [str(prefix / "bin" / "mpiexec"), *LIBRARIES[library][1], "-n", str(ranks)]
    done = subprocess.run(
        [*command, str(benchmark(prefix, request).program), "seed=7", "tool=test"],
        input="\n".join(point["line"] for point in job["points"]) + job.get("ends", "\nend\n"),
        env=free | settings | {"OMP_WAIT_POLICY": "passive"},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == job.get("status", 0), done.stderr
    calls: dict[str, list[str]] = {}
    for rank in range(ranks):
        for of_point in (folder / str(rank)).read_text().split("# ")[1:]:
            line, *threads = of_point.splitlines()
            calls.setdefault(line, []).extend(f"{rank} {of_thread}" for of_thread in threads)
    return [line for line in done.stdout.splitlines() if line.startswith("{")], calls


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("library", "job"),
    [(library, job) for job in JOBS for library in job.get("libraries", sorted(LIBRARIES))],
    ids=lambda given: given if isinstance(given, str) else given["places"],
)
def test_every_call_and_every_time_is_known(
    library: str, job: dict[str, Any], request: Request, tmp_path: Path
) -> None:
    records, calls = counted(library, job, request, tmp_path)
    assert len(records) == len(job["points"])
    for got, point in zip(records, job["points"], strict=True):
        record = json.loads(got)
        if record["measurement"] == "environment":
            record = {name: value for name, value in record.items() if name not in OF_MACHINE}
        assert record == json.loads((point | point.get(library, {}))["record"]), point["line"]
    for point in ({"line": "start"} | job, *job["points"]):
        expected = (point | point.get(library, {})).get("calls")
        found = None if expected is None else " ".join(map(folded, calls[point["line"]])).split()
        assert found == (expected and expected.format_map(TABLE["phrases"]).split()), point["line"]


def line(point: dict[str, Any]) -> str:
    return str(point["line"])


HALF = (COSTS["send"] + COSTS["recv"] + min(clock(1 + 2 * n) for n in range(5, 36))) / 2
"""Of the fastest ping-pong, of those after the warm-up."""


POINTS = [p for job in JOBS for p in job["points"] if json.loads(p["record"]).get("quantity") in p]


@pytest.mark.parametrize("point", POINTS, ids=line)
def test_known_times_follow_from_the_calls(point: dict[str, Any]) -> None:
    """Each sample by its formula, and what is said of all of them."""
    record = json.loads(point["record"])
    functions = {"clock": clock, "spin": spin, "late": late, "median": median}
    known = {**COSTS, **functions, "half": HALF, "median_s": record["median_s"]}
    assert record.get("half_round_trip_s", HALF * 1e-9) == pytest.approx(HALF * 1e-9, rel=1e-8)
    for name, value in record["derived"].items():
        known[name] = eval(point[name], known)
        assert value == pytest.approx(known[name], rel=1e-8), name
    for name, quantity in ({record["quantity"]: record} | record["also"]).items():
        repeats, keep = record["repeats"], record["parameters"].get("keep", 64)
        shown = {i: quantity["warmup_ns"][i] for i in range(WARMUP)}
        apart = (repeats - 1) / (min(keep, repeats) - 1) if min(keep, repeats) > 1 else 0
        shown |= {WARMUP + floor(n * apart + 0.5): ns for n, ns in enumerate(quantity["samples_ns"])}
        expected = []
        for i in range(WARMUP + repeats):
            inner = 1 if i < WARMUP else record["inner"]
            of_repeat = {"i": i, "inner": inner, "copies": i if i < WARMUP else WARMUP + inner * (i - WARMUP)}
            expected.append(eval(point[name], known | of_repeat))
        assert len(quantity["samples_ns"]) == min(keep, repeats)
        assert shown == pytest.approx({i: expected[i] for i in shown}, abs=0.06), name
        samples = sorted(ns * 1e-9 for ns in expected[WARMUP:])
        # r-th smallest and largest, r the largest with P(Binomial(n, 1/2) < r) <= 2.5 %
        r = sum(below <= 2**repeats // 40 for below in accumulate(comb(repeats, k) for k in range(repeats)))
        assert (r == 0) == (repeats < 6)
        said = {"median_s": median(samples), "min_s": samples[0], "max_s": samples[-1]}
        said |= {"low_s": samples[r - 1], "high_s": samples[-r]} if r else {}
        assert [quantity["low_s"] is None, quantity["high_s"] is None] == [r == 0] * 2
        assert {name: quantity[name] for name in said} == pytest.approx(said, rel=1e-8)
