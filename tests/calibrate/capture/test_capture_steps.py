"""The step of runs made by hand: exchanges that not every rank takes part in, waiting that is no computing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from made import Row, capture_file, share

from pready.calibrate.capture.files import Run, parse_process
from pready.calibrate.capture.step import Step, find

STEPS = 8
US = 1000


def region(at: int, number: int, site: int, finish: tuple[int, int], rows: dict[int, list[Row]]) -> int:
    """Two threads that finish so many ns after `at`; when the region ends."""
    end = at + max(finish) + 10
    rows[0].append((at, end, "region", site, number, 2))
    for thread in (0, 1):
        rows[thread].append((at + 5, at + finish[thread], "share", site, number, share(thread)))
    return end


def exchange(at: int, site: int, sent: dict[int, int], rows: dict[int, list[Row]], took: int) -> int:
    """Sends, and a wait that lasts `took` ns."""
    for peer, size in sent.items():
        rows[0].append((at, at + 10, "isend", site, peer, size))
        at += 20
    rows[0].append((at, at + took, "wait", 0, -4, len(sent)))
    return at + took


def run(sends_down: bool = True) -> Run:
    """4 ranks in a row: after one region to both sides, after another one only to the rank below."""
    processes = []
    for rank in range(4):
        rows: dict[int, list[Row]] = {0: [], 1: []}
        at = exchange(100, 4, {(rank + 1) % 4: 8}, rows, 100)  # set-up
        for step in range(STEPS):
            at = region(at + 2 * US, 2 * step, 1, (100 * US, 110 * US), rows)
            both = {peer: 640 for peer in (rank - 1, rank + 1) if 0 <= peer < 4}
            at = exchange(at + 5 * US, 4, both, rows, 30 * US)
            rows[0].append((at, at + 40 * US, "recv", 0, 1, 8))  # waits for a message
            at = region(at + 40 * US, 2 * step + 1, 2, (50 * US, 60 * US), rows)
            if rank > 0 and sends_down:
                at = exchange(at, 4, {rank - 1: 64}, rows, 20 * US)
        data = capture_file(list(rows.items()), rank=rank, ranks=4)
        processes.append(parse_process(data, Path(f"rank-{rank}")))
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


def test_times_count_from_the_exchange_before_without_waiting() -> None:
    """First exchange: 2 us alone, the region, 5 us of packing; second: the region, not the message before it."""
    first, second = found().exchanges
    assert np.allclose(second.times, [50e-6, 60e-6], atol=1e-7)
    ranks_with_both = first.times[1:]  # after an exchange that rank 0 has no part in, it counts from the one before
    assert np.allclose(np.median(ranks_with_both, axis=0), [107e-6, 117e-6], atol=1e-7)


def test_without_a_second_exchange_its_region_counts_to_the_first() -> None:
    step = find(run(sends_down=False))
    (only,) = step.exchanges
    # 60 us of the other region, 2 us alone, the region, packing.
    assert np.allclose(np.median(only.times, axis=0), [167e-6, 177e-6], atol=1e-7)
