"""Nothing gets slower on a better machine, or faster with more bytes: some of the cases of `benchmarks/monotone.py`."""

from itertools import islice
from typing import Any

import pytest
from monotone import ALLOWED, CHANGES, borders, cases, source_of
from on_ranks import simulate

from pready.model.machine.machine import Machine, load

SOME = [*islice(cases(64, seed=0), 6)]
"""HPC3's halo of 4 × 4 × 4 in 64 messages first: with queues for ports, contention × 0.75 made it 16.7 % longer."""


@pytest.mark.thorough
@pytest.mark.parametrize("case", SOME, ids=lambda case: f"{case[0]}-{case[1].pattern}-{case[2].interface.key}")
def test_no_iteration_gets_longer(case: Any) -> None:
    profile, workload, way, where = case

    def mean(machine: Machine, iterations: int = 10, seed: int = 0) -> float:
        run = simulate(machine, workload, way, iterations=iterations, seed=seed, **where)
        return float(run.iteration_s.mean())

    machine = load(profile)
    before = mean(machine)
    for name, better in CHANGES.items():
        assert mean(better(machine)) <= (1 + ALLOWED) * before, name
    longer = sum(mean(machine, 45, s) for s in range(4)) / 4
    assert longer == pytest.approx(sum(mean(machine, 10, s) for s in range(18)) / 18, rel=ALLOWED)


@pytest.mark.parametrize("name", ["meluxina", "mutrino", "lichtenberg", "hawk", "summit"])
def test_more_bytes_are_not_faster(name: str) -> None:
    """Lichtenberg's and Hawk's halos by threads took 0.6 of what they took below the rendezvous: copies vanished
    without a price."""
    for border, by in borders([name]):
        assert by >= 1 - ALLOWED or source_of(border), border
