"""What a calibration measures: sizes, passes from coarse to fine, whole exchanges; as points for `pready-bench`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, product

from pready.calibrate.fit.sizes_to_measure import LARGEST, default_sizes
from pready.calibrate.measure.catalogue import MEASUREMENTS
from pready.calibrate.measure.raw_file import Point, Value
from pready.model.common.errors import PreadyError

LARGEST_RECEIVED = 8 << 10
"""Bytes. Larger messages may not have arrived before the receives are completed: their transfer would be timed."""


def ping(size: int, mode: str = "isend", round_: int = 0) -> Point:
    return Point.of("pingpong", bytes=size, mode=mode, **_again(round_))


def _again(round_: int) -> dict[str, Value]:
    """The parameter by which a point differs from the same point of the first round."""
    return {"round": round_} if round_ else {}


def pings_again(round_: int) -> Iterator[Point]:
    """Powers of two once more, at another time: 8 B took 6.9 us in one minute, and 8.8 us in the next."""
    for size in _powers(1, LARGEST, 1):
        yield ping(size, round_=round_)


def _of_rma(point: Point) -> bool:
    """Does a point show puts, epochs, or threads that put at once?"""
    return str(point.get("approach") or "").startswith("rma")


GROUPS: dict[str, Callable[[Point], bool]] = {"rma": _of_rma}
"""Parts of several measurements that answer one question, by name."""


def plan(*, threads: int, only: Iterable[str] | None = None, coarse: bool = False) -> list[Point]:
    """The points of a calibration, the most valuable first.

    First one coarse pass over everything a Machine cannot do without, then finer ones. A budget that ends early
    therefore leaves a coarse but whole picture. Within a pass, the values that move predictions most come first: with
    each value of two shipped machines three times larger and three times smaller, in five exchanges, all approaches'
    times changed by a mean factor of 2.2 for G, 1.14 for L, 1.07 for RMA's synchronisation, 1.06 for o_s, 1.03 to 1.04
    for handshake, progress and copies, 1.02 for contention and o_r, less for the rest. Whether MPI_Pready sends early
    decides an approach as a whole. The largest team comes before smaller ones, so that curves over threads reach the
    threads asked for. Raises PreadyError: a name that is not a measurement, or fewer than one thread.

    Parameters
    ----------
    threads
        Most threads of one rank.
    only
        Names from `pready.calibrate.measure.catalogue.MEASUREMENTS`, or of `GROUPS`, beside the coarse ping-pongs that
        every fit takes; all of them if None.
    coarse
        The first pass alone.
    """
    chosen = list(MEASUREMENTS if only is None else only)
    unknown = sorted(set(chosen) - {*MEASUREMENTS, *GROUPS})
    if unknown:
        raise PreadyError(f"measure = {unknown} is not valid", valid=", ".join((*MEASUREMENTS, *GROUPS)))
    if threads < 1:
        raise PreadyError(f"threads = {threads} is not valid", valid="at least 1")
    powers = {1 << k for k in range(threads.bit_length())}
    teams = list(dict.fromkeys([1, threads, *sorted(powers, reverse=True)]))  # the others are compared with one thread
    finer = () if coarse else (_second_pass(teams), _third_pass(teams))
    passes = chain(_first_pass(teams), *finer)
    groups = [GROUPS[name] for name in chosen if name in GROUPS]
    needed = {*_coarse_pings()}
    return [p for p in dict.fromkeys(passes) if p in needed or p.measurement in chosen or any(h(p) for h in groups)]


def _powers(low: int, high: int, step: int) -> list[int]:
    return [low << k for k in range(0, high.bit_length(), step) if low << k <= high]


def _coarse_pings() -> Iterator[Point]:
    for size in _powers(1, LARGEST, 2):
        yield ping(size)


def _first_pass(teams: list[int]) -> Iterator[Point]:
    yield from _coarse_pings()
    for delay_by in ("sleep", "test"):
        for size in (64 << 10, 1 << 20):
            yield Point.of("early", bytes=size, delay_by=delay_by)
    for size in (1, 1 << 10, 1 << 14):
        yield from trains(size)
    for size in (1, 256, 4 << 10):
        yield Point.of("receive", bytes=size)
    for approach in SINGLE_WINDOW:
        yield exchange(approach, SMALL_EXCHANGE)
    for size in (1 << 10, 1 << 20):
        yield Point.of("overlap", bytes=size)
    for cache in ("hot", "cold"):
        yield Point.of("memcpy", bytes=256 << 10, cache=cache)
    for size in (1 << 16, 1 << 18, 1 << 20):  # the bandwidth of many messages, from three sizes of the last segment
        yield from trains(size)
    for team in teams:
        if team > 1:
            yield from contended(team)
        yield Point.of("rate", mechanism="communicators", threads=team)


def trains(size: int) -> Iterator[Point]:
    """One message, a train, and a train with a delay before each message: o_s and g."""
    for n, delay in ((1, 0.0), (16, 0.0), (16, -1.0)):
        yield Point.of("prtt", bytes=size, n=n, delay_s=delay)


CONTENDED_SIZES, CONTENDED_TOTALS = (8, 256), (32, 192)
"""Bytes, and messages of all threads together: few and small enough for any library and send buffer to hold them while
the receiver sleeps."""


def contended(team: int, round_: int = 0) -> Iterator[Point]:
    """Threads that issue at once, beside one alone: the slope over the messages is the cost of waiting for a lock."""
    for size in CONTENDED_SIZES:
        for messages in dict.fromkeys(max(total // team, 2) for total in CONTENDED_TOTALS):
            yield Point.of(
                "contention",
                threads=team,
                bytes=size,
                messages=messages,
                sleep_s=0.004,
                max_repeats=60,
                budget_s=0.4,
                **_again(round_),
            )


def _second_pass(teams: list[int]) -> Iterator[Point]:
    for size in default_sizes():
        yield ping(size)
    for size in _powers(1, 1 << 20, 2):
        yield from trains(size)
    for size in _powers(1, LARGEST_RECEIVED, 1):
        yield Point.of("receive", bytes=size)
    yield from exchanges(teams)
    for team in teams:
        yield Point.of("rate", mechanism="one", threads=team)
    for team in (team for team in teams if team > 1):
        yield from contended(team, 1)
    for size in PERSISTENT_SIZES:
        yield ping(size, "persistent")
    for what in ("persistent", "partitioned", "window", "communicator"):
        yield Point.of("begin", what=what, bytes=SMALL_EXCHANGE, max_repeats=200, budget_s=1.0)
    yield Point.of("begin", what="window", bytes=LARGE_WINDOW, count=2, max_repeats=200, budget_s=1.0)
    for size in _powers(1 << 10, LARGEST, 4):
        for cache in ("hot", "cold"):
            yield Point.of("memcpy", bytes=size, cache=cache)
    yield from exchanges(teams, 1)
    yield from pings_again(1)


LARGE_WINDOW = LARGEST
"""Bytes. The difference to a small window is the registration of its memory."""
PERSISTENT_SIZES = (1, 16, 64, 256, 1 << 10)
SMALL_EXCHANGE = 1 << 10  # bytes of an exchange of small puts
SINGLE_WINDOW = ("rma-single-active", "rma-single-passive")
PUTS = 8  # of an epoch
SMALLER_PUT, MORE_PUTS = 256, 32
EARLY_SIZES, EARLY_PUTS, EARLY_DELAY_S = (1 << 20, 4 << 20), 4, 0.15
"""Bytes of a put; a delay in which three of the largest pass a link of 0.7 Gbit/s."""
EARLY_APPROACH = "rma-single-passive"
TEAM_PARTITIONS, TEAM_TIME_S = (128, 1 << 10), 4e-3
TEAM_LATE_S = 1e-3
"""Small exchanges have short delays, and a core that has slept for long wakes up slower than one that has not."""
TEAM_THETA = 4
"""Partitions per thread, in case a thread has several."""


def exchange(approach: str, size: int, theta: int = 1, threads: int = 1, **when: Value) -> Point:
    return Point.of(
        "approach",
        approach=approach,
        bytes=size,
        threads=threads,
        theta=theta,
        min_repeats=6,
        max_repeats=200,
        budget_s=0.5,
        **{"delay_s": 0.0, **when},
    )


def exchanges(teams: Iterable[int], round_: int = 0) -> Iterator[Point]:
    """Whole exchanges, each for its difference to another (`machine/values/rma_and_teams.py`).

    One put and several: the costs of a put and an epoch. Puts with the last one late: do any move without the sender?
    Last, small exchanges by teams, ready together, in turn, or with the last one late: the barrier before bulk, epochs
    of several threads, and their spread from one exchange to the next. Later rounds repeat all but the long exchanges,
    at other times: a machine may be slower in one minute than in the next.
    """

    def one(approach: str, size: int, theta: int = 1, threads: int = 1, **when: Value) -> Point:
        return exchange(approach, size, theta, threads, **when, **_again(round_))

    for approach in SINGLE_WINDOW:
        yield one(approach, SMALL_EXCHANGE)
        yield one(approach, SMALL_EXCHANGE * PUTS, PUTS)
        yield one(approach, SMALLER_PUT * MORE_PUTS, MORE_PUTS)
    for size, delay in () if round_ else product(EARLY_SIZES, (0.0, EARLY_DELAY_S)):  # seconds each on a slow link
        yield one(EARLY_APPROACH, size * EARLY_PUTS, EARLY_PUTS, delay_s=delay)
    for team in (team for team in teams if team > 1):
        in_turn = tuple(round(TEAM_TIME_S * (k + 1) / team, 7) for k in range(team))
        for size in TEAM_PARTITIONS:
            yield one("single", size * team, 1, team)
            yield one("single", size * team, 1, team, ready_s=in_turn)
            yield one("single", size * team, 1, team, delay_s=TEAM_LATE_S)
        yield one("single", TEAM_PARTITIONS[-1] * team, TEAM_THETA, team, delay_s=TEAM_LATE_S)
        for approach in (*SINGLE_WINDOW, "rma-many-active"):
            for delay in (0.0, TEAM_LATE_S):
                yield one(approach, TEAM_PARTITIONS[-1] * team, 1, team, delay_s=delay)
        for approach in SINGLE_WINDOW:
            yield one(approach, TEAM_PARTITIONS[0] * team * PUTS, PUTS, team)


def _third_pass(teams: list[int]) -> Iterator[Point]:
    for size in _powers(1 << 12, LARGEST, 2):
        yield Point.of("overlap", bytes=size)
    yield from exchanges(teams, 2)
    yield from pings_again(2)
