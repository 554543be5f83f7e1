"""What a calibration measures: sizes, passes from coarse to fine, whole exchanges; as points for `pready-bench`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, product

from pready.calibrate import send_completion
from pready.calibrate.benchmark_list import APPROACHES, MEASUREMENTS
from pready.calibrate.records import Point, Value
from pready.calibrate.rested import PAUSE_S, PAUSED_FROM
from pready.model.errors import PreadyError


def sizes(largest: int = 4 << 20) -> list[int]:
    """Message sizes in bytes: powers of two, four to the octave from 256 B to 256 KiB, where protocols change.

    Defaults of released libraries lie in between: 4 KiB (Open MPI, btl_sm) to 64 KiB (Open MPI, btl_tcp); MPICH and
    UCX change at 1-16 KiB.
    """
    found = {1 << k for k in range(0, largest.bit_length()) if 1 << k <= largest}
    for k in range(8, 18):
        found |= {(1 << k) * quarter // 4 for quarter in (5, 6, 7)}
    return sorted(size for size in found if size <= largest)


LARGEST_RECEIVED = 8 << 10
"""Bytes; several larger ones are not all there before somebody receives them, and what is timed is their transfer."""


def ping(size: int, mode: str = "isend", round_: int = 0) -> Point:
    """A ping-pong; of smaller ones `rested.from_rest` says later whether they need a pause, too."""
    when: dict[str, Value] = {"pause_s": PAUSE_S} if size >= PAUSED_FROM else {}
    return Point.of("pingpong", bytes=size, mode=mode, **when, **_again(round_))


def _again(round_: int) -> dict[str, Value]:
    """What tells a point of a later round from the same one of the first."""
    return {"round": round_} if round_ else {}


def pings_again(largest: int, round_: int) -> Iterator[Point]:
    """At another time: 8 B took 6.9 us in one minute, and 8.8 us in the next."""
    for size in _powers(1, largest, 1):
        yield ping(size, round_=round_)


def plan(
    *,
    threads: int,
    only: Iterable[str] | None = None,
    largest: int = 4 << 20,
    coarse: bool = False,
) -> list[Point]:
    """The points of a calibration, the most valuable first.

    First one coarse pass over everything a Machine cannot do without, then finer ones. A budget that
    ends early therefore leaves a coarse but whole picture. Within a pass, what moves predictions most comes
    first: with each value of two shipped machines three times larger and three times smaller, in five
    exchanges, all approaches' times changed by a mean factor of 2.2 for G, 1.14 for L, 1.07 for RMA's
    synchronisation, 1.06 for o_s, 1.03 to 1.04 for handshake, progress and copies, 1.02 for contention and
    o_r, less for the rest. Whether MPI_Pready sends early decides an approach as a whole. The largest team
    comes before smaller ones, so that curves over threads reach what was asked for.

    Parameters
    ----------
    threads
        Most threads of one rank.
    only
        Names from `pready.calibrate.benchmark_list.MEASUREMENTS`; all of them if None.
    largest
        Largest message in bytes.
    coarse
        The first pass alone.

    Raises
    ------
    PreadyError
        A name that is not a measurement, or fewer than one thread.
    """
    chosen = list(MEASUREMENTS if only is None else only)
    unknown = sorted(set(chosen) - set(MEASUREMENTS))
    if unknown:
        raise PreadyError(f"measure = {unknown} is not valid", valid=", ".join(MEASUREMENTS))
    if threads < 1:
        raise PreadyError(f"threads = {threads} is not valid", valid="at least 1")
    powers = {1 << k for k in range(threads.bit_length()) if 1 << k <= threads}
    teams = list(dict.fromkeys([1, threads, *sorted(powers, reverse=True)]))  # one is what the others are compared with
    finer = () if coarse else (_second_pass(teams, largest), _third_pass(teams, largest))
    passes = chain(_first_pass(teams, largest), *finer)
    return [point for point in dict.fromkeys(passes) if point.measurement in chosen]


def _powers(low: int, high: int, step: int) -> list[int]:
    found = []
    for size in (low << (step * k) for k in range(64)):
        if size > high:
            break
        found.append(size)
    return found


def _first_pass(teams: list[int], largest: int) -> Iterator[Point]:
    for size in _powers(1, largest, 2):
        yield ping(size)
    for delay_by in ("sleep", "test"):
        for size in (64 << 10, 1 << 20):
            yield Point.of("early", bytes=size, delay_by=delay_by)
    for size in (1, 1 << 10, 1 << 14):
        yield from trains(size)
    for size in (1, 256, 4 << 10):
        yield Point.of("receive", bytes=size)
    for approach in APPROACHES:
        if approach.startswith("rma"):
            yield exchange(approach, SMALL_EXCHANGE)
    for who in ("receiver", "sender"):
        for size in (1 << 10, 1 << 20):
            yield Point.of("overlap", bytes=size, who=who)
    for parameters in send_completion.points(largest):
        yield Point.of("completion", **parameters)
    for cache in ("hot", "cold"):
        yield Point.of("memcpy", bytes=256 << 10, cache=cache)
    for window in (1, 4, 16):  # of fewer, nothing is known of messages in flight
        for size in (1 << 16, min(largest, 1 << 20)):
            yield in_flight(size, window)
    for team in teams:
        if team > 1:
            yield from bursts(team, "one")
            yield Point.of("barrier", threads=team)
        yield Point.of("rate", mechanism="communicators", threads=team)
        yield Point.of("pready", threads=team)


MUCH = 4 << 20
"""Bytes of a window that fill any link for so long that few repeats say what it does."""


def in_flight(size: int, window: int) -> Point:
    """A window of messages. 64 MiB take a second on a link of 0.5 Gbit/s, and as many as elsewhere half a minute."""
    few: dict[str, Value] = {"warmup": 1, "min_repeats": 6} if size * window >= MUCH else {}
    return Point.of("bandwidth", bytes=size, window=window, **few)


def trains(size: int) -> Iterator[Point]:
    """One message, a train, and a train with a delay before each message: o_s and g."""
    for n, delay in ((1, 0.0), (16, 0.0), (16, -1.0)):
        yield Point.of("prtt", bytes=size, n=n, delay_s=delay)


BURST_SIZES, BURST_TOTALS = (8, 256), (32, 192)
"""Bytes, and messages of all threads together: few and small enough for any library and socket to take them while
the receiver sleeps."""


def bursts(team: int, mechanism: str, round_: int = 0) -> Iterator[Point]:
    """Threads that issue at once, beside one alone: the slope over the messages is what a taken lock costs."""
    for size in BURST_SIZES:
        for messages in dict.fromkeys(max(total // team, 2) for total in BURST_TOTALS):
            yield Point.of(
                "contention",
                mechanism=mechanism,
                threads=team,
                bytes=size,
                messages=messages,
                sleep_s=0.004,
                max_repeats=60,
                budget_s=0.4,
                **_again(round_),
            )


def _second_pass(teams: list[int], largest: int) -> Iterator[Point]:
    for size in sizes(largest):
        yield ping(size)
    # Of a link with a bucket the segment from 256 B on has no larger trains that pass at once (`rested`).
    for size in sorted({*_powers(1, min(largest, 1 << 20), 2), 1 << 9, 1 << 11}):
        yield from trains(size)
    for size in _powers(1, LARGEST_RECEIVED, 1):
        yield Point.of("receive", bytes=size)
    yield from exchanges(teams)
    for window in (1, 2, 4, 8, 16, 32, 64):
        for size in _powers(1 << 12, min(largest, 1 << 20), 4):
            yield in_flight(size, window)
    yield from after_pauses(1)
    for size in _powers(1 << 10, largest, 4):
        yield in_flight(size, 16)
    for mechanism in ("one", "tags", "windows"):
        for team in teams:
            yield Point.of("rate", mechanism=mechanism, threads=team)
    for team in (team for team in teams if team > 1):
        yield from bursts(team, "window")
        yield from bursts(team, "one", 1)
    yield from after_pauses(2)
    for size in PERSISTENT_SIZES:
        yield ping(size, "persistent")
    for what in ("persistent", "partitioned", "window", "communicator"):
        yield Point.of("begin", what=what, bytes=SMALL_EXCHANGE, max_repeats=200, budget_s=1.0)
    yield Point.of("begin", what="window", bytes=LARGE_WINDOW, count=2, max_repeats=200, budget_s=1.0)
    for size in _powers(1 << 10, largest, 4):
        for cache in ("hot", "cold"):
            yield Point.of("memcpy", bytes=size, cache=cache)
    for length in (0, 16, 128, 1024):
        yield Point.of("matching", queue="posted", length=length)
    yield from exchanges(teams, 1)
    yield from pings_again(largest, 1)
    yield Point.of("noise", max_repeats=2000, keep=2000, budget_s=3.0)


LARGE_WINDOW = 4 << 20
"""Bytes; beside a small one, it shows what registering memory takes."""
PERSISTENT_SIZES = (1, 16, 64, 256, 1 << 10)
SMALL_EXCHANGE = 1 << 10
PUTS = 8
SMALLER_PUT, MORE_PUTS = 256, 32
COLD_SIZES = (256, 4 << 10, 32 << 10, 256 << 10)
COLD_PAUSES = (1e-3, 4e-3, 16e-3)
ACTIVE_PAUSES = (0.0, *COLD_PAUSES[:2])
EARLY_SIZES, EARLY_PUTS, EARLY_DELAY_S = (64 << 10, 1 << 20, 4 << 20), 4, 0.15
"""Bytes of a put or send; a delay in which three of the largest pass a link of 0.7 Gbit/s."""
EARLY_APPROACHES = ("rma-single-passive", "many")
TEAM_PARTITIONS, TEAM_TIME_S = (128, 1 << 10), 4e-3
TEAM_LATE_S = 1e-3
"""Small exchanges have short delays, and a core that has slept for long wakes up slower than one that has not."""
TEAM_THETA = 4
"""Partitions per thread, in case a thread has several."""


def exchange(approach: str, size: int, theta: int = 1, threads: int = 1, **when: Value) -> Point:
    """One whole exchange."""
    return Point.of(
        "approach",
        approach=approach,
        bytes=size,
        threads=threads,
        receive_threads=1,
        theta=theta,
        pause_s=PAUSE_S,
        min_repeats=6,
        max_repeats=200,
        budget_s=0.5,
        **{"delay_s": 0.0, **when},
    )


def after_pauses(round_: int) -> Iterator[Point]:
    """A send after pauses. Waking up differs by the minute: 65 us, then 150 us, after 3 ms on a virtual core."""
    for size in COLD_SIZES:
        for delay in (0.0, *COLD_PAUSES):
            yield exchange("single", size, 1, 1, delay_s=delay, **_again(round_))


def exchanges(teams: Iterable[int], round_: int = 0) -> Iterator[Point]:
    """Whole exchanges, each for what it has more than another (`terms_from_exchanges`).

    One put and several, in every way to synchronise: what a put, an epoch and a further window cost. Puts with the
    last one late, and sends: how much moves without the sender? ``MPI_Psend`` and a send of the same size. A send
    after pauses. Last, small ones by teams, ready together, in turn, or with the last one late: what meeting, and
    waking up to send, cost, and how much that differs from one exchange to the next. Rounds after the first repeat
    all but the long ones, at other times: a machine may be colder in one minute than in the next.
    """

    def one(approach: str, size: int, theta: int = 1, threads: int = 1, **when: Value) -> Point:
        return exchange(approach, size, theta, threads, **when, **_again(round_))

    def early(approach: str) -> Iterator[Point]:  # seconds each on a slow link
        for size, delay in () if round_ else product(EARLY_SIZES, (0.0, EARLY_DELAY_S)):
            yield one(approach, size * EARLY_PUTS, EARLY_PUTS, delay_s=delay)

    puts, sends = EARLY_APPROACHES
    for approach in APPROACHES:
        if approach.startswith("rma"):
            yield one(approach, SMALL_EXCHANGE)
            yield one(approach, SMALL_EXCHANGE * PUTS, PUTS)
        if approach.startswith("rma-single"):
            yield one(approach, SMALLER_PUT * MORE_PUTS, MORE_PUTS)
    yield from after_pauses(round_)
    for size in COLD_SIZES:
        for delay in ACTIVE_PAUSES:
            yield one("part", size, delay_s=delay)
    yield from early(puts)
    for team in (team for team in teams if team > 1):
        in_turn = tuple(round(TEAM_TIME_S * (k + 1) / team, 7) for k in range(team))
        for approach in ("single", "many"):
            for size in TEAM_PARTITIONS:
                yield one(approach, size * team, 1, team)
                yield one(approach, size * team, 1, team, ready_s=in_turn)
                yield one(approach, size * team, 1, team, delay_s=TEAM_LATE_S)
            yield one(approach, TEAM_PARTITIONS[-1] * team, TEAM_THETA, team, delay_s=TEAM_LATE_S)
        for approach in (a for a in APPROACHES if a.startswith("rma")):
            for delay in (0.0, TEAM_LATE_S):
                yield one(approach, TEAM_PARTITIONS[-1] * team, 1, team, delay_s=delay)
            if approach.startswith("rma-single"):
                yield one(approach, TEAM_PARTITIONS[0] * team * PUTS, PUTS, team)
    yield from early(sends)


def _third_pass(teams: list[int], largest: int) -> Iterator[Point]:
    for who in ("receiver", "sender"):
        for size in _powers(1 << 12, largest, 2):
            yield Point.of("overlap", bytes=size, who=who)
    for mode in ("send", "persistent"):
        for size in _powers(1, largest, 2):
            yield ping(size, mode)
    yield from exchanges(teams, 2)
    yield from pings_again(largest, 2)
    # last: a provider that keeps few unexpected messages hangs here, and the watchdog takes its time
    for length in (0, 16, 128, 1024):
        yield Point.of("matching", queue="unexpected", length=length)
