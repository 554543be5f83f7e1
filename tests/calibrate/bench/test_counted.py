"""The benchmarks under a clock that counts calls (counting_clock.c): every time is known, and every message.

The points of messages/, threads/ and exchange/, with what core/ and main do for each of them. Their times follow by
hand from the costs of calls: the formulas of tests/data/calibrate/counted.toml. Of what is called, the messages and
what is freed follow from the point and its plan.
"""

import json
import os
import re
import subprocess
from collections import Counter
from dataclasses import dataclass
from itertools import accumulate
from math import ceil, comb, floor
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from counted_jobs import COSTS, JOBS, PLANS, asked, write_plans
from given import Request
from mpi_home import home_of
from real_mpi import LIBRARIES, benchmark, compiled_once, kept

from pready.calibrate.measure.compile import find_mpicc

CLOCK = Path(__file__).parent / "counting_clock.c"
WARMUP = 3


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


@dataclass(frozen=True)
class Found:
    """Of the start of a job (no line), or of a point: what is recorded, and what each rank's threads call."""

    line: str
    record: dict[str, Any]
    calls: tuple[tuple[str, ...], ...]


def counted(library: str, job: dict[str, Any], request: Request, folder: Path) -> list[Found]:
    """What is found of each point of a job."""
    prefix, ranks = home_of(library), len(job["places"].split())
    mpicc = find_mpicc(str(prefix / "bin" / "mpicc"))
    costs = [f"-DCOST_{call.upper()}={ns}" for call, ns in (COSTS | job.get("costs", {})).items()]
    words = [*mpicc, "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", *costs, str(CLOCK)]
    preloaded = compiled_once(kept(request), words, "counting_clock.so", made_of=[CLOCK.read_text()])
    settings = {"LD_PRELOAD": str(preloaded), "COUNTING_CLOCK": str(folder), "COUNTING_PLACES": job["places"]}
    settings |= job.get("settings", {})
    free = {name: value for name, value in os.environ.items() if not name.startswith("OMP_")}
    write_plans(folder, job)
    command = [str(prefix / "bin" / "mpiexec"), *LIBRARIES[library][1], "-n", str(ranks)]
    command += [str(benchmark(prefix, request).program), "seed=7", "tool=test", f"folder={folder}"]
    lines = [line for line, _ in asked(job)]
    how: dict[str, Any] = {"env": free | settings | {"OMP_WAIT_POLICY": "passive"}, "text": True, "timeout": 60}
    given = "\n".join(lines) + job.get("ends", "\nend\n")
    done = subprocess.run(command, input=given, capture_output=True, check=False, **how)
    assert done.returncode == job.get("status", 0), done.stderr
    calls: dict[str, list[tuple[str, ...]]] = {}
    for rank in range(ranks):
        for of_point in (folder / str(rank)).read_text().split("# ")[1:]:
            line, *threads = of_point.splitlines()
            calls.setdefault(line, []).append(tuple(" ".join(threads).split()))
    out = done.stdout.replace(str(folder), "FOLDER")
    records = [{}, *map(json.loads, re.findall("^{.*", out, re.MULTILINE))]
    return [Found(line, record, tuple(calls[line])) for line, record in zip(["start", *lines], records, strict=True)]


ONE = re.compile(r"(i?send|i?recv|send_init|recv_init):(\d+)\.(\d+)[abd-z]\*(\d+)(\+\d+)?(?:\*(\d+))?")
PARTS = re.compile(r"p(send|recv)_init:(\d+)\.(\d+)\w\*(\d+)x(\d+)(\+\d+)")
START = re.compile(r"start:(.)(\d+)\.(\d+)\w(\+\d+)(?:\*(\d+))?")
PUT = re.compile(r"put:[A-Z](\d+)\*(\d+)(?:\*(\d+))?")

Moved = Counter[tuple[int, int, int, int]]
"""How often from a rank to another: a message of a tag and so many bytes; -1 is the tag of a put."""


def moved(found: Found) -> tuple[Moved, Moved]:
    """What is sent or put, and what is received."""
    sent, received = Moved(), Moved()
    for rank, calls in enumerate(found.calls):
        ready: dict[tuple[str, ...], int] = {}
        for call in calls:
            if m := ONE.fullmatch(call):
                kind, peer, tag, size, at, times = m.groups()
                if kind.endswith("_init"):
                    ready[kind[0], peer, tag, at if int(size) > 1 else "+0"] = int(size)
                elif kind.endswith("send"):
                    sent[rank, int(peer), int(tag), int(size)] += int(times or 1)
                else:
                    received[int(peer), rank, int(tag), int(size)] += int(times or 1)
            elif m := PARTS.fullmatch(call):
                kind, peer, tag, parts, size, at = m.groups()
                ready[kind[0], peer, tag, at if int(parts) * int(size) > 1 else "+0"] = int(parts) * int(size)
            elif m := START.fullmatch(call):
                kind, peer, tag, at, times = m.groups()
                size = ready[kind, peer, tag, at]
                if kind == "s":
                    sent[rank, int(peer), int(tag), size] += int(times or 1)
                else:
                    received[int(peer), rank, int(tag), size] += int(times or 1)
            elif m := PUT.fullmatch(call):
                sent[rank, int(m[1]), -1, int(m[2])] += int(m[3] or 1)
    return sent, received


def words_of(line: str) -> dict[str, str]:
    """What a line says, by name."""
    return dict(word.split("=", 1) for word in line.split()[1:])


def per_plan(line: str, plans: dict[str, str]) -> dict[tuple[int, int], tuple[int, int]]:
    """Messages and bytes from rank to rank of an exchange that is performed: in each iteration, and in that before and
    that after, whose bytes are checked; of partitions one message, of other ways as many as are asked for."""
    said = words_of(line)
    ways = [way.split(".") for way in said.get("ways", "").split("_") if way]
    found: dict[tuple[int, int], tuple[int, int]] = {}
    texts = plans[said["plan"]].split("end\n")[:-1]
    alike = [said.get("approach", "single"), said.get("transport", "0")]
    for text, (way, transport) in zip(texts, ways or [alike] * len(texts), strict=True):
        threads, partitions, _, iterations = map(int, text.split()[2:6])
        one = way.startswith("part") or way in ("single", "blocking", "persistent")
        messages = 1 if one else int(transport) or (threads if way == "per-thread" else threads * partitions)
        for edge in re.findall("^edge (.*)", text, re.MULTILINE):
            _, sender, receiver, size, *_ = map(int, edge.split())
            before = found.get((sender, receiver), (0, 0))
            times = iterations + 2
            found[sender, receiver] = before[0] + times * messages, before[1] + times * size
    return found


def of_messages(found: Found, plans: dict[str, str]) -> None:
    """All that is sent is received; of an exchange, that is what its plan says."""
    sent, received = moved(found)
    if len(found.calls) == 2 or "plan=" in found.line:  # else a point's pairs have ranks of their own
        assert {m: n for m, n in sent.items() if m[2] >= 0} == received
    if "plan=" in found.line:
        by_pair: dict[tuple[int, int], tuple[int, int]] = {}
        for (sender, receiver, _, size), times in sent.items():
            if size > 0:
                n, total = by_pair.get((sender, receiver), (0, 0))
                by_pair[sender, receiver] = n + times, total + times * size
        assert by_pair == per_plan(found.line, plans)


def of_places(found: Found) -> None:
    """Copies from a cold cache begin page after page, until the pool is through; others stay where they are."""
    said = words_of(found.line)
    size, pool = int(said["bytes"]), int(said.get("pool_bytes", 0))
    pages = -(-size // 4096)
    back = max((pool - size) // (pages * 4096), 0) * pages
    jumps = {int(jump) for jump in re.findall(r"memcpy:\d+([+-]\d+)", " ".join(found.calls[0]))} - {0}
    assert jumps == ({pages, -back} if back else set())


def of_moments(found: Found) -> None:
    """A user partition is ready when it is asked for, or later: after the one before of its thread, and its start."""
    asked_s = [float(at) for at in words_of(found.line)["ready_s"].split(",")]
    for moments in found.record["lists"]["ready_s"]:
        assert all(at <= moment < max(asked_s) + 40e-6 for at, moment in zip(asked_s, moments, strict=True)), moments


TIMES = r"(?:\*(\d+))?"
MADE_AND_FREED = {
    kind: (re.compile(f"(?:{made}){TIMES}"), re.compile(f"(?:{freed}){TIMES}"))
    for kind, made, freed in (
        ("request", r"p?(?:send|recv)_init:\d+\.\d+\w\*[\dx]+\+\d+", r"request_free:\w+\.\w+\+\d+"),
        ("communicator", r"comm_dup:\w|comm_split:\w,\d+,\d+", r"comm_free:\w"),
        ("window", r"win_create:\w\*\d+x\d+\+\d+", r"win_free:\w"),
        ("epoch", r"win_lock_all:\w+", r"win_unlock_all:\w"),
    )
}


def of_what_is_freed(points: list[Found]) -> None:
    """Of a job, each rank frees what it makes."""
    for of_rank in zip(*(found.calls for found in points), strict=True):
        calls = [call for of_point in of_rank for call in of_point]
        for kind, patterns in MADE_AND_FREED.items():
            made, freed = (sum(int(m[1] or 1) for m in map(p.fullmatch, calls) if m) for p in patterns)
            assert made == freed, kind


HALF = (COSTS["send"] + COSTS["recv"] + min(clock(1 + 2 * n) for n in range(5, 36))) / 2
"""Of the fastest ping-pong, of those after the warm-up."""


def of_times(point: dict[str, Any], record: dict[str, Any]) -> None:
    """Each sample by its formula, and what is said of all of them."""
    functions = {"clock": clock, "spin": spin, "late": late, "median": median}
    known = {**COSTS, **functions, "half": HALF, "median_s": record["median_s"]}
    most = re.search(r"max_repeats=(\d+)", point["line"])
    assert [record["repeats"], record["inner"]] == point.get("times", [int(most[1]) if most else 1, 1])
    for name, value in record["derived"].items():
        known[name] = eval(point[name], known)
        assert value == pytest.approx(known[name], rel=1e-8), name
    quantities = {record["quantity"]: record} | record["also"]
    assert {*point} - {"line", "library", "times"} <= {*quantities, *record["derived"]}
    for name, quantity in ((name, quantity) for name, quantity in quantities.items() if name in point):
        repeats = record["repeats"]
        kept = min(100, repeats)
        shown = {i: quantity["warmup_ns"][i] for i in range(WARMUP)}
        apart = (repeats - 1) / (kept - 1) if kept > 1 else 0
        shown |= {WARMUP + floor(n * apart + 0.5): ns for n, ns in enumerate(quantity["samples_ns"])}
        expected = []
        for i in range(WARMUP + repeats):
            inner = 1 if i < WARMUP else record["inner"]
            of_repeat = {"i": i, "inner": inner, "copies": i if i < WARMUP else WARMUP + inner * (i - WARMUP)}
            expected.append(eval(point[name], known | of_repeat))
        assert len(quantity["samples_ns"]) == kept
        assert shown == pytest.approx({i: expected[i] for i in shown}, abs=0.06), name
        samples = sorted(ns * 1e-9 for ns in expected[WARMUP:])
        # r-th smallest and largest, r the largest with P(Binomial(n, 1/2) < r) <= 2.5 %
        r = sum(below <= 2**repeats // 40 for below in accumulate(comb(repeats, k) for k in range(repeats)))
        assert (r == 0) == (repeats < 6)
        said = {"median_s": median(samples), "min_s": samples[0], "max_s": samples[-1]}
        said |= {"low_s": samples[r - 1], "high_s": samples[-r]} if r else {}
        assert [quantity["low_s"] is None, quantity["high_s"] is None] == [r == 0] * 2
        assert {name: quantity[name] for name in said} == pytest.approx(said, rel=1e-8)


def judged(library: str, job: dict[str, Any], found: list[Found]) -> None:
    """All that is known of a job."""
    of_what_is_freed(found)
    if "pins" in job:  # the cores that threads of each rank take
        taken = [{call for of_point in found for call in of_point.calls[n]} for n in range(len(job["pins"]))]
        assert [sorted(int(c[4:].split("*")[0]) for c in calls if c[:4] == "pin:") for calls in taken] == job["pins"]
    for (line, known), point in zip(asked(job), found[1:], strict=True):
        record = point.record
        if isinstance(known, str):
            assert (line, record.get("error", record.get("unsupported"))) == (line, known)
            continue
        assert "error" not in record, record
        if line == "environment":
            assert record.items() >= known.items()
            continue
        of_messages(point, PLANS)
        if line.startswith("memcpy"):
            of_places(point)
        if " ready_s=" in line and "lists" in record:
            of_moments(point)
        if isinstance(known, dict) and known.get("library", library) == library:
            of_times(known, record)
        elif isinstance(known, list):
            means = record["samples_ns"] + record["also"]["communication"]["samples_ns"]
            assert (line, means) == (line, known)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("library", "number"),
    [(library, n) for n, job in enumerate(JOBS) for library in job.get("libraries", sorted(LIBRARIES))],
)
def test_every_time_and_every_message_is_known(library: str, number: int, request: Request, tmp_path: Path) -> None:
    job = JOBS[number]
    judged(library, job, counted(library, job, request, tmp_path))
