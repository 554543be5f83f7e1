"""Shipped profiles hold together: no message gets faster by being larger."""

from itertools import pairwise

import numpy as np
import pytest
from from_rest import exchange
from tables import table_of

from pready.model.approach.interfaces import BULK
from pready.model.common.errors import PreadyError
from pready.model.machine import machine as machines
from pready.model.machine.machine import Machine, Network
from pready.model.timeline.costs import costs
from pready.model.timeline.rules import setting_of
from pready.model.timeline.sampling import Sampler
from pready.model.toml.reading import validated
from pready.model.workload.workload import Workload

LARGEST = 64 << 20


def sizes(machine: Machine) -> list[int]:
    """A grid of 5 sizes for each factor of ten, and both sides of every border."""
    grid = {int(s) for s in np.geomspace(1, LARGEST, 40)}
    borders = [int(s.from_) for s in machine.inter.segments[1:]]
    return sorted(grid | {b - 1 for b in borders} | set(borders))


@pytest.mark.parametrize("cache", ["hot", "cold"])
@pytest.mark.parametrize("name", machines.profiles())
def test_no_message_gets_faster_by_being_larger(name: str, cache: str) -> None:
    # But a rendezvous from memory that is in no cache: it is written where it belongs, while the two copies of the
    # largest buffered message take longer than its handshake, and libraries keep their threshold.
    machine = machines.load(name)
    one = Workload.model_validate({"threads": 1, "buffer": "1 B", "cache": cache})
    sampler, setting = Sampler(machine), setting_of(machine, one)

    def seconds(size: int) -> float:
        """Of one message, both sides in MPI."""
        return exchange([costs(sampler, one.at_buffer(size), size)], BULK, setting, [0.0]).end

    for (a, before), (b, after) in pairwise((size, seconds(size)) for size in sizes(machine)):
        segment = machine.inter.segment(b)
        border = cache == "cold" and segment.protocol == "rendezvous" and segment.from_ == b
        copies = 2 * a / machine.memory.copy_cold.value if border else 0.0
        assert after >= before - copies, f"{a} B: {before:g} s, {b} B: {after:g} s"


@pytest.mark.parametrize(("fields", "name"), table_of("model/known")["networks"])
def test_a_network_has_the_fields_of_its_topology(fields: dict[str, object], name: str) -> None:
    given = {"source": "literature", "why": "its description", **fields}
    if not name:
        with pytest.raises(PreadyError, match="with the other's fields, or without its own"):
            validated(Network, given, "m")
    else:
        assert validated(Network, given, "m").sst_name == name
