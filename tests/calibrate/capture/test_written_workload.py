"""The workload file of a step made by hand: what the writer changes, rounds, fills in or puts in a file beside it."""

import tomllib
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tables import table_of

from pready.calibrate.capture import step as steps
from pready.calibrate.capture.alignment import Aligned
from pready.calibrate.capture.dependence import Chain
from pready.calibrate.capture.exchanges import Group, today_of
from pready.calibrate.capture.patterns import Recognised
from pready.calibrate.capture.step import ONE_THREAD, Exchange, Step, with_threads
from pready.calibrate.capture.workload_file import Writer
from pready.model.common.errors import PreadyError
from pready.model.common.units import Unit, parse
from pready.model.workload.workload import load

US = 1e-6
STEPS, TIMES = table_of("calibrate/step_names"), table_of("calibrate/kept_times")


def lists(ranks: int) -> tuple[tuple[tuple[int, int], ...], ...]:
    """Each rank sends to the next one, and less to the one after."""
    return tuple((((r + 1) % ranks, 720), ((r + 2) % ranks, 72)) for r in range(ranks))


PAIR = Recognised("pt2pt", faces=(960,) * 3, lists=(((1, 960),), ((0, 960),)))
MANY = Exchange("a", PAIR, np.full((1, 4), 90 * US), today="several messages", messages=6)
SWEEP = replace(
    MANY, pattern=Recognised("sweep3d", (2, 3, 1), "open", faces=(1001,) * 3, blocks=5), today="nonblocking", messages=1
)
LISTED = replace(MANY, name="b", pattern=Recognised("neighbours", lists=lists(4)))
ODD = replace(PAIR, faces=(964,) * 3, lists=(((1, 964),), ((0, 964),)))
CORNERS = Recognised("halo3d26", (2, 2, 1), "open", faces=(6000, 600, 0), edges=(0, 0, 48))


def step(*exchanges: Exchange, threads: int = 4, ranks: int = 2, **of: Any) -> Step:
    return Step(exchanges, ranks, of.pop("ranks_per_node", 1), threads, 10, 5000 * US, 1.0, of.pop("notes", ()), **of)


def writer(folder: Path, arrivals: str = "auto") -> Writer:
    def beside(name: str, data: bytes) -> None:
        (folder / name).write_bytes(data)

    return Writer("w", beside, arrivals, 0)


@pytest.mark.parametrize(
    ("made", "fields", "said"),
    [
        (step(MANY), {"pattern": "pt2pt", "grid": None, "today": "several messages", "partitions_per_thread": 2}, []),
        (step(MANY, ranks=4), {"grid": (4,), "buffer": 960}, []),
        (step(MANY, replace(MANY, name="b", messages=2)), {"partitions_per_thread": 2}, []),
        (step(LISTED, MANY, ranks=4), {"grid": (4,)}, []),
        (step(replace(MANY, today="partitioned", partitions=9)), {"partitions_per_thread": 3}, []),
        (step(replace(MANY, today="partitioned")), {"partitions_per_thread": 1}, []),
        (step(replace(MANY, today="blocking")), {"today": "blocking", "partitions_per_thread": 1}, []),
        (step(replace(MANY, today="blocking"), ranks_per_node=2), {"today": "nonblocking", "ranks_per_node": 2},
         ["sends that block are taken as nonblocking ones: ranks share a node"]),
        *((step(replace(MANY, pattern=Recognised("neighbours", lists=lists(n)))), {
            "pattern": "neighbours", "neighbour_lists": tuple(tuple(to for to, _ in of) for of in lists(n)),
            "neighbour_sizes": ((720.0, 72.0),) * n, "neighbour_list": None if n == 64 else "w-neighbours.txt"}, [])
          for n in (64, 65)),
        (step(SWEEP), {"pattern": "sweep3d", "grid": (2, 3), "boundaries": "open", "blocks": 5, "buffer": 1004},
         ["buffer of 1001 B is rounded to 1004 B, a multiple of 4 partitions"]),
        (step(replace(SWEEP, today="partitioned", partitions=8)), {"buffer": 1008},
         ["buffer of 1001 B is rounded to 1008 B, a multiple of 8 partitions"]),
        # A pair's buffer that its partitions do not divide is listed.
        (step(replace(MANY, pattern=ODD)), {"pattern": "neighbours", "neighbour_sizes": ((964.0,),) * 2}, []),
        (step(replace(MANY, pattern=ODD, messages=4)), {"pattern": "pt2pt", "buffer": 964}, []),
        # Nothing is sent along the axis of one rank: its sizes are those of another axis.
        (step(replace(MANY, pattern=CORNERS)),
         {"faces": (6000, 600, 6000), "edges": (48, 48, 48), "corner": 48, "grid": (2, 2, 1)}, []),
        (step(replace(MANY, pattern=replace(CORNERS, grid=(2, 2, 2), edges=(24, 32, 40), corner=8))),
         {"edges": (24, 32, 40), "corner": 8}, []),
    ],
)  # fmt: skip
def test_fields_of_a_step(made: Step, fields: dict[str, object], said: list[str], tmp_path: Path) -> None:
    made_by = writer(tmp_path)
    (tmp_path / "w.toml").write_text(made_by.text(made, "w", ""))
    w = load(tmp_path / "w.toml")
    if fields.get("neighbour_list", "") is None:  # in the file itself
        fields |= {"neighbour_list": w.neighbour_list}
        assert isinstance(w.neighbour_list, tuple)
    assert {name: getattr(w, name) for name in fields} == fields
    assert made_by.said == said


def test_of_too_many_exchanges_the_longest_are_kept(tmp_path: Path) -> None:
    """Of 67 three are short: two in a row, whose 202 us the next one computes, and the last, whose 101 the first does.

    Threads compute for 80 and 100 us before each, 10 less before the first. Of 64 all are kept.
    """
    each = Exchange("", PAIR, np.array([[80 * US, 100 * US]]), exchange_s=10 * US)
    first = replace(each, name="first", times=each.times - 10 * US)
    made = step(first, *(replace(each, exchange_s=US) if n in (5, 6, 66) else each for n in range(1, 67)), threads=2)
    made_by = writer(tmp_path)
    found = tomllib.loads(made_by.text(made, "w", ""))["exchanges"]
    times = [parse(e["compute"]["time"], Unit.TIME, "time") for e in found]
    assert found[0]["name"] == "first"
    assert times == pytest.approx([181 * US, *[90 * US] * 4, 292 * US, *[90 * US] * 58])
    made_by.text(replace(made, exchanges=made.exchanges[:64]), "w", "")
    assert made_by.said == ["3 exchanges, the shortest, count as computing"]


def test_the_whole_text(tmp_path: Path) -> None:
    """Of a pipeline: one exchange has a region; of two without, one has 20 us of computing before it."""
    halo = Recognised("halo3d", (2, 1, 1), "open", faces=(640, 0, 0))
    first = replace(MANY, name="halo", pattern=halo, region="r", exchange_s=20 * US)
    second = replace(MANY, name="", pattern=ODD, times=np.array([[20 * US]]), exchange_s=5 * US)
    last = replace(second, name="last", pattern=PAIR, times=np.zeros((1, 1)))
    of: dict[str, Any] = {"others_s": 150 * US, "shares_cores": True}
    made = replace(step(first, second, last, ranks_per_node=2, chain=Chain(5, 3), **of), share=0.98765)
    assert writer(tmp_path).text(made, "case", "a run\nof two ranks") == TIMES["text"]
    assert "ranks_per_node = 1\n" in writer(tmp_path).text(step(second), "w", "")  # seen, and so no open question


@pytest.mark.parametrize(("threads", "asked", "model", "why"), TIMES["times"])
def test_times_are_kept_where_asked_or_where_no_distribution_fits(
    threads: int, asked: str, model: str, why: str, tmp_path: Path
) -> None:
    times = np.where(np.arange(60).reshape(30, 2) % 3 > 0, 80 * US, 100 * US)
    if asked == "trace":
        times = np.linspace(80 * US, 100 * US, 60).reshape(30, 2)  # as from one distribution
    made = step(replace(MANY, times=times, region="r", messages=1), threads=threads)
    text = writer(tmp_path, asked).text(made, "w", "")
    assert f'arrivals = {{model = "{model}", file = "w-arrivals.npy", unit = "s"}} # {why}' in text
    assert np.array_equal(np.load(tmp_path / "w-arrivals.npy"), times)


def test_a_step_is_as_long_as_its_parts() -> None:
    """Means of ranks that differ: 2400 us of computing and 300 in each of two exchanges, of a step of 5000."""
    each = Exchange("a", PAIR, np.full((1, 2), 2400 * US), exchange_s=300 * US, early=True)
    made, said = steps._adds_up(step(each, each, others_s=150 * US), "run")
    assert made.step_s == pytest.approx(5550 * US)
    assert said == ["ranks differ: their times add up to 5.55 ms in a step of 5 ms"]
    # Of a second 1.05 s are within what is borne: of all parts, and of one.
    second, none = replace(step(), step_s=1.0), np.zeros((1, 1))
    for times, in_mpi, parts in ((1.0, 0.05, 1.05), (0.0, 1.05, 1.05), (0.5, 0.25, 1.0)):
        borne = replace(second, exchanges=(replace(each, times=none + times, exchange_s=in_mpi),))
        assert steps._adds_up(borne, "run") == (replace(borne, step_s=parts), [])
    for times, in_mpi, what in (
        (1.0, 1.06, "1.06 s in MPI"),
        (1.06, 0.0, "1.06 s computing"),
        (1.1, 1.06, "1.06 s in"),
    ):
        with pytest.raises(PreadyError, match=f"a: {what}.* in a step of 1 s; valid: records that agree"):
            steps._adds_up(replace(second, exchanges=(replace(each, times=none + times, exchange_s=in_mpi),)), "run")


@pytest.mark.parametrize("case", STEPS["notes"], ids=lambda case: "; ".join(case["said"]))
def test_what_is_said_of_a_step(case: dict[str, Any]) -> None:
    each = Exchange("", PAIR, np.full((1, 2), 2.4e-3), early=case["early"], collectives=1.5)
    made = replace(step(*(replace(each, name=name) for name in case["exchanges"])), **case["step"])
    assert steps._notes(made, Aligned([], 0, 9, [], **case["found"])) == case["said"]


@pytest.mark.parametrize(("patterns", "today"), STEPS["today"])
def test_how_most_bytes_are_sent(patterns: list[tuple[Any, Any, Any]], today: str) -> None:
    """Of messages of so many bytes in lists, or in faces."""
    of = (replace(PAIR, lists=((tuple(enumerate(sizes))),), faces=faces) for sizes, faces, _ in patterns)
    ways = zip(of, patterns, strict=True)
    assert step(*(replace(MANY, pattern=p, today=how) for p, (*_, how) in ways)).today == today


@pytest.mark.parametrize(("kinds", "counts", "teams", "in_turn", "said"), STEPS["ways"])
def test_how_an_exchange_is_sent(kinds: list[str], counts: list[int], teams: int, in_turn: int, said: Any) -> None:
    """Of five exchanges with such messages, and so many to each peer, how many a team sends, and how many in turn."""
    peers = dict(enumerate(counts))
    each = [Group(0.0, kinds=Counter(kinds), counts=peers, team=n < teams, one_by_one=n < in_turn) for n in range(5)]
    assert today_of(each) == tuple(said)


def test_names_are_told_apart_and_partitions_counted() -> None:
    for names, axes, expected in STEPS["names"]:
        assert steps._told_apart(names, [replace(PAIR, axis=axis) for axis in axes]) == expected
    assert replace(step(MANY), step_s=0.0).share_of([1.0]) == 0
    assert steps._partitions(Group(0.0, sent={1: 60, 2: 120}, counts={1: 1, 2: 2}, parts={1: 10, 2: 30, 3: 5})) == 6


def test_one_threads_step_as_with_several() -> None:
    """Of 5000 us 400 and 800 us are computing before two exchanges: of these 1200 us 4 threads save 900."""
    each = Exchange("a", PAIR, np.array([[300 * US], [500 * US]]), exchange_s=10 * US)
    one = step(each, replace(each, times=each.times * 2), threads=1, notes=(f"{ONE_THREAD}; and so on", "another"))
    four = with_threads(one, 4)
    assert four.threads == 4
    assert four.step_s == pytest.approx(4100 * US)
    assert [e.times.ravel().tolist() for e in four.exchanges] == [[75 * US, 125 * US], [150 * US, 250 * US]]
    assert four.notes == ("4 threads, each with 1/4 of the one thread's computing", "another")
    with pytest.raises(PreadyError, match="threads = 8 of a run with 4 threads; valid: no threads: they are found"):
        with_threads(four, 8)
