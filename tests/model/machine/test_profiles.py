"""Shipped profiles hold together: no message gets faster by being larger."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from pready.model.approach.interfaces import SINGLE, Approach
from pready.model.engine.evaluate import Evaluation
from pready.model.machine import machine as machines
from pready.model.machine.machine import Machine
from pready.model.workload.workload import Workload

LARGEST = 64 << 20


def alone(machine: Machine, size: int, cache: str = "hot") -> float:
    """Seconds that one message of one thread takes, both sides in MPI."""
    workload = Workload.model_validate({"threads": 1, "buffer": f"{size} B", "cache": cache})
    return Evaluation(machine, workload, draws=0).mean_time(Approach(SINGLE))


def sizes(machine: Machine) -> list[int]:
    """A grid of 16 sizes for each factor of ten, and both sides of every border."""
    grid = {int(s) for s in np.geomspace(1, LARGEST, 126)}
    borders = [int(s.from_) for s in machine.inter.segments[1:]]
    return sorted(grid | {b - 1 for b in borders} | set(borders))


@pytest.mark.parametrize("name", machines.profiles())
def test_no_message_gets_faster_by_being_larger(name: str) -> None:
    machine = machines.load(name)
    times = [(size, alone(machine, size)) for size in sizes(machine)]
    assert [(a, b) for a, b in pairwise(times) if b[1] < a[1]] == []


@pytest.mark.parametrize("name", machines.profiles())
def test_from_cold_caches_only_a_rendezvous_is_faster_and_by_what_it_need_not_copy(name: str) -> None:
    # A rendezvous is written where it belongs: from memory that is in no cache, the two copies of the largest
    # buffered message take longer than the handshake that does without them, and libraries keep their threshold.
    machine = machines.load(name)
    for (a, before), (b, after) in pairwise((size, alone(machine, size, "cold")) for size in sizes(machine)):
        segment = machine.inter.segment(b)
        border = segment.protocol == "rendezvous" and segment.from_ == b
        copies = 2 * a / machine.memory.copy_cold.value if border else 0.0
        assert after >= before - copies, f"{a} B: {before:g} s, {b} B: {after:g} s"
