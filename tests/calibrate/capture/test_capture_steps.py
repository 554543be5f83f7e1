"""The step of runs made by hand: exchanges that not every rank takes part in, waiting that is no computing."""

from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made import Row, capture_file, plain, share, written
from tables import table_of

from pready.calibrate.capture.dependence import Chain
from pready.calibrate.capture.files import Run, parse_process
from pready.calibrate.capture.step import Step, find
from pready.model.common.errors import PreadyError
from pready.show.tables.workload import bytes_said

STEPS = 8
US = 1000


def region(at: int, number: int, site: int, finish: tuple[int, int], rows: dict[int, list[Row]]) -> int:
    """Two threads that finish so many ns after `at`; when the region ends."""
    end = at + max(finish) + 10
    rows[0].append((at, end, "region", site, number, 2))
    for thread in (0, 1):
        rows[thread].append((at + 5, at + finish[thread], "share", site, number, share(thread)))
    return end


def run() -> Run:
    """4 ranks in a row: after one region to both sides, after another one only to the rank below."""
    processes = []
    for rank in range(4):
        # Set-up: a word from rank to rank + 2, which computes before it answers, and one round the ring.
        first, then = ("send", "recv") if rank < 2 else ("recv", "send")
        setup = f"0 0 0.01 {first} 3 {rank ^ 2} 8\n0 50 50.01 {then} 3 {rank ^ 2} 8\n"
        setup += f"0 51 51.01 isend 4 {(rank + 1) % 4} 8\n0 51 51.1 wait 0 -4 1"
        beside = [peer for peer in (rank - 1, rank + 1) if 0 <= peer < 4]
        step = "0 2 112 region 1 0 2\n0 2 102 share 1 0 0\n1 2 112 share 1 0 1\n"
        step += (
            "".join(f"0 117 117.01 isend 4 {peer} 640\n" for peer in beside) + f"0 117 147 wait 0 -4 {len(beside)}\n"
        )
        step += "0 147 187 recv 0 1 8\n"  # waits for a message
        step += "0 187 247 region 2 1 2\n0 187 237 share 2 1 0\n1 187 247 share 2 1 1\n"
        step += f"0 247 247.01 isend 4 {rank - 1} 64\n0 247 267 wait 0 -4 1" if rank > 0 else ""
        processes.append(written([setup, *[step] * STEPS], rank, 4, 267, 0.1))
    return Run(Path("made"), tuple(processes))


def found() -> Step:
    return find(run())


def test_exchanges_that_some_ranks_take_no_part_in() -> None:
    step = found()
    assert step.steps == STEPS
    first, second = step.exchanges
    assert (first.pattern.name, first.pattern.grid, first.pattern.boundaries) == ("halo3d", (4, 1, 1), "open")
    assert first.pattern.faces == (640, 0, 0)
    assert second.pattern.lists == ((), ((0, 64),), ((1, 64),), ((2, 64),))
    assert (step.threads, step.ranks) == (2, 4)
    assert not any("sizes differ" in note for note in step.notes)
    assert bytes_said(step.exchanges) == "64 B … 640 B"


def test_times_count_from_the_exchange_before_without_waiting() -> None:
    """First exchange: 2 us alone, the region, 5 us of packing; second: the region, not the message before it."""
    first, second = found().exchanges
    assert np.allclose(second.times, [50e-6, 60e-6], atol=1e-7)
    ranks_with_both = first.times[1:]  # after an exchange that rank 0 has no part in, it counts from the one before
    assert np.allclose(np.median(ranks_with_both, axis=0), [107e-6, 117e-6], atol=1e-7)


def test_a_message_once_is_no_step() -> None:
    made = (written([f"0 10 11 isend 1 {1 - rank} 64\n0 14 20 wait 2 -4 1"], rank, 2) for rank in (0, 1))
    said = "^made: 1 exchanges of rank 0 do not repeat; valid: several steps that send to the same ranks: a .*$"
    with pytest.raises(PreadyError, match=said):
        find(Run(Path("made"), tuple(made)))


@pytest.mark.parametrize(("place", "exchanges"), [(7, [((), ((0, 64),)), (((1, 64),), ())]), (5, None)])
def test_what_a_rank_sends_once_it_has_received_is_another_exchange(place: int, exchanges: Any) -> None:
    """If it is of another routine: a blocking exchange, in which one rank receives first, has one."""
    ranks = (f"0 500 520 recv 1 1 64\n0 521 531 send {place} 1 64", "0 500 510 send 5 0 64\n0 511 540 recv 2 0 64")
    step = find(Run(Path("made"), tuple(written([calls] * 10, r, 2, 1000) for r, calls in enumerate(ranks))))
    assert [e.pattern.lists for e in step.exchanges] == (exchanges or [(((1, 64),), ((0, 64),))])


@pytest.mark.parametrize(
    ("team", "barrier", "beside"), [(False, True, 0), (True, True, 0), (False, False, 0), (True, True, 1)]
)
def test_a_pipeline_computes_between_its_messages(team: bool, barrier: bool, beside: int) -> None:
    """Four ranks in a row: of each of 6 blocks, 10 us in a message of the rank before, 50 of computing, 10 in one to
    the next. Without regions the first and the last rank compute for 60, the first 60 before the first call; a team's
    threads compute for 50 and 40, and for 5 in one step of 8, which its median does not see. A rank beside them calls
    nothing.
    """
    processes, blocks, ranks = [], 6, 4 + beside
    for rank in range(4):
        rows: dict[int, list[Row]] = {0: [], 1: []}
        mine = rows[0]
        for step in range(STEPS):
            at = (step * (2000 if barrier else 70 * blocks) + rank * 70) * US + 100
            for block, begin in enumerate(range(at, at + 70 * US * blocks, 70 * US)):
                if team:
                    finish = (5 * US, 5 * US) if step == 3 else (50 * US, 40 * US)
                    region(begin + 10 * US, step * blocks + block, 1, finish, rows)
                if rank > 0:
                    mine.append((begin, begin + 10 * US, "recv", 3, rank - 1, 4096))
                if rank < 3:
                    mine.append((begin + 60 * US, begin + 70 * US, "send", 4, rank + 1, 4096))
            if barrier:
                mine.append((at + 420 * US, at + 2000 * US, "barrier", 2, -4, 0))
        processes.append(parse_process(capture_file([*rows.items()], rank=rank, ranks=ranks), Path(f"rank-{rank}")))
    processes += [
        parse_process(capture_file([(0, [])], rank=r, ranks=ranks), Path(f"rank-{r}")) for r in range(4, ranks)
    ]
    found = find(Run(Path("made"), tuple(processes)))
    if not barrier:  # the steps cannot be told apart
        assert found.chain == Chain(blocks * STEPS, 0)
        assert found.notes[0] == "this is a pipeline of 48 messages from rank to rank: not predicted"
        return
    assert (found.chain, found.today) == (Chain(blocks, STEPS), "pipeline")
    assert found.notes[0] == "this is a pipeline of 6 blocks: not predicted"
    (exchange,) = found.exchanges
    serial = [[(60 * blocks * STEPS - 60) / STEPS], [50 * blocks], [50 * blocks], [60 * blocks]]
    np.testing.assert_allclose(exchange.times, np.array([[50 * blocks, 40 * blocks]] * 4 if team else serial) * 1e-6)
    # Of the rank with most exchanges: the first one of a team; else the second one, which waits for 10 us before.
    assert found.step_s == pytest.approx((14420.1 if team else 14490.1 - 10) / 8 * 1e-6)
    assert exchange.exchange_s == pytest.approx(blocks * (10 + 20 + 20 + 10) / 4 * 1e-6)


@pytest.mark.parametrize("case", table_of("calibrate/steps")["cases"], ids=lambda case: case["says"])
def test_a_step_of_calls_that_are_written_down(case: dict[str, Any]) -> None:
    ranks = case["calls"]
    made = [written(s * case["times"], r, len(ranks), case["apart"], case["since"]) for r, s in enumerate(ranks)]
    step = find(Run(Path("made"), tuple(made)))
    assert {name: plain(getattr(step, name)) for name in case["step"]} == case["step"]
    of = zip(step.exchanges, case["exchanges"], strict=True)
    assert [{name: plain(attrgetter(name)(e)) for name in wanted} for e, wanted in of] == case["exchanges"]
