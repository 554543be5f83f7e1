"""The engine against LogGOPSim: the same in bulk, and different by stated rules."""

import io
import os
import re
import subprocess
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from goal_replay import replay
from goal_text import Flags, export_goal, write_goal
from machines import ideal
from workloads import workload_of

from pready.model.approach.interfaces import MANY, PART, SINGLE, Approach
from pready.model.engine import simulate
from pready.model.engine.evaluate import plans
from pready.model.engine.simulation import run_step
from pready.model.timeline.rules import POLL_O_S
from pready.model.toml.reading import validated
from pready.model.workload.workload import Workload

MACHINE = ideal(L=1e-6, o_s=1e-7, o_r=1e-7, g=5e-8, G=1e-18, link=1e18)
"""Whole nanoseconds, o_s = o_r, g < o, nothing per byte: what both can express."""
BULK, PART_8 = Approach(SINGLE), Approach(PART, 8, 1)
GRID, ITERATIONS = (4, 4, 4), 5
RECORDED = {("1 ms", BULK): 5208500, ("1 ms", PART_8): 5229500, ("10 us", BULK): 60500, ("10 us", PART_8): 101500}
"""LogGOPSim's ends in ns on 2026-11-20: `LogGOPSim -f run.bin -b -L 1000 -o 100 -g 50 -G 0 -O 0 -S 2147483647`."""


def workload(compute: str) -> Workload:
    late = {"model": "laggard", "late_by": 0.04, "late": "thread"}
    fields = {"threads": 8, "buffer": "8 B", "pattern": "halo3d", "receiver": "computing", "arrivals": late}
    return workload_of(compute={"time": compute}, **fields)


@cache
def exported(compute: str, approach: Approach) -> tuple[str, Flags]:
    text = io.StringIO()
    flags = export_goal(text, MACHINE, workload(compute), approach, grid=GRID, iterations=ITERATIONS)
    return text.getvalue(), flags


@pytest.mark.thorough
@pytest.mark.parametrize(("case", "end"), RECORDED.items(), ids=lambda x: str(x)[:12])
def test_it_ends_when_loggopsim_says(case: tuple[str, Approach], end: int) -> None:
    compute, approach = case
    text, flags = exported(compute, approach)
    assert (flags.L, flags.o, flags.g) == (1000, 100, 50)
    assert replay(text, L=flags.L, o=flags.o, g=flags.g) == end
    ours = simulate(MACHINE, workload(compute), approach, grid=GRID, iterations=ITERATIONS).time_s * 1e9
    # Partitions are received by another server than sends, and when the threads have joined, not after the last send.
    assert ours == pytest.approx(end, abs=ITERATIONS) if approach is BULK else 0.989 * end < ours < end


FACES = {"faces": ["256 KiB", "64 KiB", "1 MiB"], "compute": {"time": "1 ms"}}
SMALL = {"buffer": "8 KiB", "compute": {"time": "200 us"}}
RING = {
    "pattern": "neighbours",
    "neighbour_list": [
        [{"to": (r + 1) % 64, "size": "256 KiB"}, {"to": (r - 1) % 64, "size": "16 KiB"}] for r in range(64)
    ],
    "compute": {"time": "1 ms"},
}
STEPS: dict[str, list[dict[str, Any]]] = {"faces": [FACES], "faces, then small": [FACES, SMALL], "a ring": [RING]}


LATE = {"arrivals": {"model": "laggard", "late_by": 0.1, "late": "thread"}}


def goal_of(exchanges: list[dict[str, Any]], approach: Approach = BULK, link: float = 25e9) -> tuple[str, Flags, float]:
    """Text, flags and the engine's end in ticks of exchanges on a link of so many bytes/s."""
    machine = ideal(L=1e-6, o_s=1e-7, o_r=1e-7, g=5e-8, G=1 / link, link=link)
    data = {"threads": 8, "pattern": "halo3d", "grid": [4, 4, 4], "receiver": "computing"}
    step = validated(Workload, {**data, "exchanges": exchanges}, "w")
    made, text = plans(machine, step, [approach] * len(exchanges), 0), io.StringIO()
    flags = write_goal(text, made, 4)
    return text.getvalue(), flags, run_step(made, 4)[0].time_s * 1e9 * flags.ticks_per_ns


UNLIKE = [5, 3, 3, 1, 1, 1, 1, 1]
MANY_8 = Approach(MANY, 8)
WORK = {"receiver": "consuming", "consume": {"time": "20 us", "threads": 1}}


def messages(text: str, kind: str) -> Counter[tuple[int, int, int, int]]:
    """From, to, tag and bytes of all lines of a kind."""
    out: Counter[tuple[int, int, int, int]] = Counter()
    for rank, part in enumerate(text.split("rank ")[1:]):
        for size, peer, tag in re.findall(rf"{kind} (\d+)b (?:to|from) (\d+) tag (\d+)", part):
            ends = (rank, int(peer)) if kind == "send" else (int(peer), rank)
            out[*ends, int(tag), int(size)] += 1
    return out


@pytest.mark.parametrize("link", [25e9, 1e18])
def test_parts_that_differ_are_received_as_they_are_sent(link: float) -> None:
    sized = {"buffer": "1600 KB", "compute": {"time": "1 ms"}, **LATE}
    alike, flags, _ = goal_of([sized], MANY_8, link)
    text, unlike, _ = goal_of([sized | {"thread_shares": UNLIKE}], MANY_8, link)
    sent = messages(text, "send")
    assert sent == messages(text, "recv")
    assert set(sent.values()) == {1}
    # 16 parts in all: 100 kB each, and of each rank and iteration six neighbours get all eight.
    of_rank = Counter(size for (of, _, tag, size) in sent if of == 0 and tag < 8)
    assert of_rank == Counter({500_000: 6, 300_000: 12, 100_000: 30})
    if link == 1e18:  # bytes cost nothing: LogGOPSim sees no difference
        given = {"L": flags.L, "o": flags.o, "g": flags.g}
        assert unlike == flags
        assert replay(text, **given) == replay(alike, **given)


@pytest.mark.parametrize("approach", [BULK, MANY_8], ids=str)
def test_one_thread_that_works_on_what_comes_is_the_rank(approach: Approach) -> None:
    # 48 partitions of 20 us each after 1 ms: the work is all but o for each message, which its CPU takes in between.
    text, flags, ours = goal_of([IN_STEP | WORK], approach, link=1e18)
    theirs = replay(text, L=flags.L, o=flags.o, g=flags.g)
    assert ours > 4 * (1e6 + 48 * 20e3)
    in_between = 0 if approach is BULK else 4 * 2 * 6 * approach.messages * flags.o
    polls = 0 if approach is BULK else 4 * 48 * POLL_O_S * flags.o  # a pass over all partitions; GOAL has none
    assert -4 - polls <= theirs - ours <= in_between + 4  # whole ticks


IN_STEP = {"buffer": "1 MiB", "compute": {"time": "1 ms"}}
BYTES = {BULK: 503_543_200_000, PART_8: 523_702_528_000}
"""LogGOPSim's ends of four iterations in ticks on 2026-11-22: -L 100000000 -o 10000000 -g 5000000 -G 4000 -O 0."""


@pytest.mark.parametrize(("approach", "theirs"), BYTES.items(), ids=str)
def test_loggopsim_sends_nothing_while_a_message_comes_in(approach: Approach, theirs: int) -> None:
    # A rank's i-th send has left the NIC after G m, when the first byte of its neighbour's has long come, after o + L:
    # the CPU takes that in for o + G m, and sends then. From one send to the next LogGOPSim needs o + L + o + G m, the
    # engine g + G m. There the six messages begin o apart, o/i in the virtual time of i that share the port, and are
    # through 5, 2, 1, 1/2 and 1/5 o apart: the last waits 1/2 + 4/5 o for the CPU.
    text, flags, ours = goal_of([IN_STEP], approach)
    each = (1e-6 + 2 * 1e-7 - 5e-8) * 1e9 * flags.ticks_per_ns
    assert theirs - ours == pytest.approx(4 * ((6 * approach.messages - 1) * each - 1.3 * flags.o), rel=1e-4)
    assert "LogGOPSim's CPU takes in every byte" in text.splitlines()[1]


def test_nothing_is_said_of_bytes_that_cost_nothing() -> None:
    text, flags, _ = goal_of([IN_STEP], PART_8, link=1e18)
    assert flags.G == 0
    assert "takes in every byte" not in text


NEEDS_LOGGOPSIM = pytest.mark.skipif(
    "LOGGOPSIM" not in os.environ, reason="LOGGOPSIM names no folder with LogGOPSim and txt2bin"
)


ENDS: dict[str, tuple[list[dict[str, Any]], Approach, float]] = {
    # LogGOPSim receives no byte while a rank computes, and sends none while it receives, so that early messages gain
    # nothing there: bytes are counted in bulk only.
    **{f"bulk, {name}": ([LATE | e for e in some], BULK, 25e9) for name, some in STEPS.items()},
    **{f"in step, {name}": (some, PART_8, 1e18) for name, some in STEPS.items()},
    **{f"late, {name}": ([LATE | e for e in some], PART_8, 1e18) for name, some in STEPS.items()},
    "parts": ([LATE | IN_STEP | {"buffer": "1600 KB", "thread_shares": UNLIKE}], MANY_8, 1e18),
    "work": ([LATE | IN_STEP | {"buffer": "1600 KB"} | WORK], MANY_8, 1e18),
}


@NEEDS_LOGGOPSIM
@pytest.mark.parametrize("case", ENDS.values(), ids=ENDS)
def test_steps_parts_and_work_end_when_loggopsim_says(
    case: tuple[list[dict[str, Any]], Approach, float], tmp_path: Path
) -> None:
    text, flags, end = goal_of(*case)
    assert loggopsim(text, flags, tmp_path) == pytest.approx(end, rel=0.01)


@NEEDS_LOGGOPSIM
@pytest.mark.parametrize(("approach", "end"), BYTES.items(), ids=str)
def test_what_is_recorded_of_bytes_is_what_loggopsim_says(approach: Approach, end: int, tmp_path: Path) -> None:
    text, flags, _ = goal_of([IN_STEP], approach)
    assert loggopsim(text, flags, tmp_path) == end


@NEEDS_LOGGOPSIM
@pytest.mark.parametrize(("case", "end"), RECORDED.items(), ids=str)
def test_what_is_recorded_is_what_loggopsim_says(case: tuple[str, Approach], end: int, tmp_path: Path) -> None:
    assert loggopsim(*exported(*case), tmp_path) == end


def loggopsim(text: str, flags: Flags, folder: Path) -> int:
    """When its last host ends."""
    tools, goal, binary = Path(os.environ["LOGGOPSIM"]), folder / "run.goal", folder / "run.bin"
    goal.write_text(text, encoding="ascii")
    subprocess.run([tools / "txt2bin", "-i", goal, "-o", binary], check=True, capture_output=True)
    run = subprocess.run(
        [tools / "LogGOPSim", "-f", binary, "-b", *str(flags).split()], check=True, capture_output=True, text=True
    )
    return max(int(t) for t in re.findall(r"finishing time at host \d+: (\d+)", run.stdout))
