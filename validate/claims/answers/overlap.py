"""Checks on communication that is started before the computation and completed after it.

That is what IMB-ASYNC measures, and persistent operations are used for (jammer2022 IV): both ranks
start, compute, and wait. The time left after the computation is the overhead.
"""

from __future__ import annotations

import math

from pready.model.approach.interfaces import PERSISTENT_MATCHED, SINGLE, Approach
from pready.model.common import units
from pready.model.engine.runs import Runs
from pready.model.engine.simulate import exchanges_from_rest
from pready.model.toml.provenance import Strict
from pready.model.workload.workload import Workload
from pready.validate.claims.computed_once import ApproachTable, Lab, MachineTable


class Overlapped(Strict):
    """One message of one thread; computation that could hide all of it."""

    machine: MachineTable
    size: units.Size
    compute: units.Time
    approach: ApproachTable


class Handshake(Strict):
    """A matched persistent operation against the same operation as it is."""

    machine: MachineTable
    size: units.Size
    compute: units.Time


def _exchange(machine: MachineTable, size: float, lab: Lab) -> Runs:
    data = {"threads": 1, "buffer": f"{size:.17g} B", "receiver": "computing"}
    return lab.from_rest(machine, Workload.model_validate(data))


def _left_over(runs: Runs, approach: Approach, compute: float) -> float:
    """Seconds after the computation until the message is complete: it was ready at 0, the receive posted."""
    return exchanges_from_rest(runs.machine, runs.parts[0], approach, [[0.0]], compute)[0].end - compute


def overhead_beyond_computation(a: Overlapped, lab: Lab) -> float:
    """Seconds that the computation does not hide."""
    exchange = _exchange(a.machine, a.size, lab)
    return _left_over(exchange, a.approach.of(exchange.parts[0]), a.compute)


def operations_until_the_handshake_pays(a: Handshake, lab: Lab) -> float:
    """Operations, the first included, after which matched persistent ones have cost no more.

    The first is matched as ever and exchanges a request and a reply; each later one saves the
    difference of the overheads (jammer2022 III.C). Registration of memory and setting up connections
    are not in it.
    """
    exchange = _exchange(a.machine, a.size, lab)
    saved = _left_over(exchange, Approach(SINGLE), a.compute) - _left_over(
        exchange, Approach(PERSISTENT_MATCHED), a.compute
    )
    extra = 2 * float(exchange.costs(Approach(SINGLE)).control)
    return 1.0 + math.ceil(extra / saved)
