"""The benchmarks under a clock that counts calls (counting_clock.c): every call and every time is known.

The points of messages/, threads/ and exchange/ and the questions of probes/, with what core/ and main do for each of
them. Their times follow by hand from the costs of calls: the formulas of tests/data/calibrate/counted.toml. What is
recorded and called is in counted_calls.toml; PREADY_WRITE_COUNTED=1 writes it anew, to be read before it is kept.
"""

import hashlib
import json
import os
import re
import subprocess
import textwrap
from collections.abc import Iterator
from itertools import accumulate
from math import ceil, comb, floor
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from given import Request
from mpi_home import home_of
from real_mpi import LIBRARIES, benchmark, compiled_once, kept
from tables import table_of, write_plans

from pready.calibrate.measure.compile import find_mpicc

TABLE = table_of("calibrate/counted")
JOBS: list[dict[str, Any]] = TABLE["jobs"]
WRITES = "PREADY_WRITE_COUNTED" in os.environ
FOUND: list[dict[str, Any]] = [] if WRITES else table_of("calibrate/counted_calls")["jobs"]
COSTS: dict[str, int] = TABLE["costs"]
CLOCK = Path(__file__).parent / "counting_clock.c"
WARMUP, LONGEST = 3, 100000
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


Found = list[dict[str, str]]
"""Of the start of a job and of each of its points: the record, and what is called."""


def folded(calls: list[str]) -> str:
    """A line for each thread; what is repeated is written once, and how often: "(a b)3"."""
    text = "".join(calls)
    if len(text) > LONGEST:
        return f"{len(text)} characters: {hashlib.sha256(text.encode()).hexdigest()}\n"
    text = ""
    for of_thread in calls:
        once = re.sub(r"((?:\S+ ){1,60}?)\1+", lambda m: f"({m[1][:-1]}){len(m[0]) // len(m[1])} ", of_thread)
        for name, phrase in TABLE["phrases"].items():
            once = once.replace(phrase, name)
        text += textwrap.fill(once, 118, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False) + "\n"
    return text


def said(record: str) -> str:
    """A record, but what it says of this machine and its compilers."""
    if not record.startswith('{"measurement":"environment"'):
        return record
    return json.dumps({k: v for k, v in json.loads(record).items() if k not in OF_MACHINE}, separators=(",", ":"))


def counted(library: str, job: dict[str, Any], request: Request, folder: Path) -> Found:
    prefix, ranks = home_of(library), len(job["places"].split())
    mpicc = find_mpicc(str(prefix / "bin" / "mpicc"))
    costs = [f"-DCOST_{call.upper()}={ns}" for call, ns in (COSTS | job.get("costs", {})).items()]
    words = [*mpicc, "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", *costs, str(CLOCK)]
    preloaded = compiled_once(kept(request), words, "counting_clock.so", made_of=[CLOCK.read_text()])
    settings = {"LD_PRELOAD": str(preloaded), "COUNTING_CLOCK": str(folder), "COUNTING_PLACES": job["places"]}
    settings |= {f"COUNTING_{name.upper()}": str(job[name]) for name in ("serialized", "signal", "lies") if name in job}
    free = {name: value for name, value in os.environ.items() if not name.startswith("OMP_")}
    write_plans(folder)
    command = [str(prefix / "bin" / "mpiexec"), *LIBRARIES[library][1], "-n", str(ranks)]
    command += [str(benchmark(prefix, request).program), *job.get("words", ["seed=7", "tool=test", f"folder={folder}"])]
    lines = [point["line"] for point in job.get("points", [])]
    how: dict[str, Any] = {"env": free | settings | {"OMP_WAIT_POLICY": "passive"}, "text": True, "timeout": 60}
    given = "\n".join(lines) + job.get("ends", "\nend\n")
    done = subprocess.run(command, input=given, capture_output=True, check=False, **how)
    assert "signal" in job or done.returncode == job.get("status", 0), done.stderr  # then a launcher's choice
    calls: dict[str, list[str]] = {}
    for rank in range(ranks):
        for of_point in (folder / str(rank)).read_text().split("# ")[1:]:
            line, *threads = of_point.splitlines()
            calls.setdefault(line, []).extend(f"{rank} {of_thread}" for of_thread in threads)
    out = done.stdout.replace(str(folder), "FOLDER")
    records = ["\n".join(re.findall("^@pready .*", out, re.MULTILINE)), *re.findall("^{.*", out, re.MULTILINE)]
    return [
        {"line": line, "record": said(record), "calls": folded(calls[line])}
        for line, record in zip(["start", *lines], records, strict=True)
    ]


def libraries_of(job: dict[str, Any]) -> list[str]:
    return list(job.get("libraries", sorted(LIBRARIES)))


@pytest.fixture(scope="module")
def of_jobs() -> Iterator[dict[tuple[int, str], Found]]:
    """What was found of jobs, by number and library; with PREADY_WRITE_COUNTED=1 it is kept, of all jobs."""
    found: dict[tuple[int, str], Found] = {}
    yield found
    if WRITES:
        text = "# Written by test_counted.py, which says how.\n"
        for number, job in enumerate(JOBS):
            text += f"\n[[jobs]] # {number}: {job['places'][:80]}\n"
            first, *others = libraries_of(job)
            for i, own in enumerate(found[number, first]):
                text += f"[[jobs.found]]\n{as_toml(own)}"
                differ = [library for library in others if found[number, library][i] != own]
                text += "".join(f"[jobs.found.{library}]\n{as_toml(found[number, library][i])}" for library in differ)
        Path("tests/data/calibrate/counted_calls.toml").write_text(text)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("library", "number"), [(library, number) for number, job in enumerate(JOBS) for library in libraries_of(job)]
)
def test_every_call_and_every_time_is_known(
    library: str, number: int, of_jobs: dict[tuple[int, str], Found], request: Request, tmp_path: Path
) -> None:
    found = of_jobs[number, library] = counted(library, JOBS[number], request, tmp_path)
    for of_point, expected in zip(found, found if WRITES else FOUND[number]["found"], strict=True):
        assert of_point == {name: (expected | expected.get(library, {}))[name] for name in of_point}


def as_toml(found: dict[str, str]) -> str:
    line, record, calls = found.values()
    return f"line = {json.dumps(line)}\nrecord = '''{record}'''\ncalls = '''\n{calls}'''\n"


def line(point: dict[str, Any]) -> str:
    return str(point["line"])


HALF = (COSTS["send"] + COSTS["recv"] + min(clock(1 + 2 * n) for n in range(5, 36))) / 2
"""Of the fastest ping-pong, of those after the warm-up."""


POINTS = [
    {"record": found["record"], **p}
    for job, of_job in zip(JOBS, FOUND, strict=not WRITES)
    for p, found in zip(job.get("points", []), of_job["found"][1:], strict=not WRITES)
    if len(p) > 1
]


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
    quantities = {record["quantity"]: record} | record["also"]
    assert {*point} - {"line", "record"} <= {*quantities, *record["derived"]}
    for name, quantity in ((name, quantity) for name, quantity in quantities.items() if name in point):
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
