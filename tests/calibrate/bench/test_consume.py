"""Threads that work on what comes, performed by real MPI: a partition's bytes are looked at as soon as it is there."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from test_exchange import RANKS, Started, exchange_plan, performed, started, ways_in, workload

from pready.calibrate.measure.raw_file import read

_ = started  # a fixture

WORK = 0.25e-3
"""Of one thread on a user partition; 4 of them come, from each neighbour."""


@pytest.mark.thorough
@pytest.mark.parametrize("threads", [1, 3])
def test_every_way_performs_it_and_every_byte_is_right(started: Started, tmp_path: Path, threads: int) -> None:
    what = workload(pattern="halo3d", grid=[2, 2], consume={"time": f"{WORK} s", "threads": threads})
    plan = exchange_plan(what, 2, seed=0)
    ways = ways_in(2) if threads == 1 else ways_in(1, 2, 4)
    assert performed(started, plan, tmp_path, ways).failures == {}
    for line in read(tmp_path / "raw.jsonl").points.values():
        rows = np.array(line["record"]["lists"]["ranks_s"])
        begun, computed, ended = np.moveaxis(rows[:, : 3 * RANKS].reshape(2, RANKS, 3), 2, 0)
        # 4 neighbours (two of them twice), 4 partitions each, 1 or 3 threads.
        assert (ended - begun - computed >= WORK * np.ceil(16 / threads)).all()


@pytest.mark.thorough
@pytest.mark.alone
def test_what_waits_for_nothing_starts_early(started: Started, tmp_path: Path) -> None:
    # Rank 0's last thread is late by 200 ms. The others' 4 partitions of 25 ms each: two have come long before.
    late, work = 0.2, 0.025
    small = {"buffer": "256 B", "arrivals": {"model": "none"}, "consume": {"time": f"{work} s", "threads": 1}}
    what = workload(pattern="neighbours", neighbour_list=[[1], [], [], []], **small)
    plan = exchange_plan(what, 1, 0)
    ready = np.zeros(plan.ready.shape)
    ready[0, 0, 0, 2:] = late
    took = {}
    for approach, transport in (("single", 1), ("many-joined", 4)):
        out = tmp_path / approach
        out.mkdir()
        # The median of some rounds: another program may keep rank 1 from its core for as long.
        rounds = [{"approach": approach, "transport": transport, "round": n} for n in range(5)]
        assert performed(started, replace(plan, ready=ready), out, rounds).failures == {}
        times = [line["record"]["lists"]["ranks_s"][0] for line in read(out / "raw.jsonl").points.values()]
        begun, _, ended = np.array(times)[:, 3:6].T  # rank 1's
        took[approach] = np.median(ended - begun)
    assert took["single"] >= late + 4 * work
    assert late + 2 * work <= took["many-joined"] < took["single"] - work
