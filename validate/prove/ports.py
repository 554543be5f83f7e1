"""How unevenly flows share ports, as a ring shows in which each rank sends to both neighbours."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np

from pready.calibrate.build import Built
from pready.calibrate.exchange_plan import StepPlan, step_plan
from pready.calibrate.launch import Launcher
from pready.calibrate.measure import Progress, measure
from pready.calibrate.records import Content
from pready.model import units
from pready.model.approach import BULK
from pready.model.files import validated
from pready.model.machine import Machine
from pready.model.predict import effective_library
from pready.model.values import Value
from pready.model.version import VERSION
from pready.model.workload import Workload
from pready.validate.live.session import nice
from pready.validate.prove import design
from pready.validate.prove.design import ROUNDS, Way, way_of
from pready.validate.prove.expected import Expected
from pready.validate.prove.performed import performed_in

FEWEST_RANKS = 3
TIMES_S = (0.01, 0.04)
"""Of what a rank sends, on its cable."""
ITERATIONS, FIRST = 12, 3
BUDGET_S = 30.0


def plans(machine: Machine, ranks: int, seed: int) -> Iterator[tuple[Workload, StepPlan]]:
    """The exchanges, all in step; none for fewer ranks than three."""
    bytes_per_s = nice(machine.bandwidth)
    for time in TIMES_S if ranks >= FEWEST_RANKS else ():
        workload = validated(
            Workload,
            {
                "name": f"ring both ways, {time * 1e3:g} ms",
                "threads": 1,
                "buffer": f"{round(time * bytes_per_s / 2)} B",
                "receiver": "computing",
                "compute": {"time": f"{time:.6g} s"},  # ranks that hardly compute pull each other out of step
                "arrivals": {"model": "none"},
                "pattern": "neighbours",
                "neighbour_list": [[(r + 1) % ranks, (r - 1) % ranks] for r in range(ranks)],
            },
            "ring",
        )
        yield workload, step_plan(workload, FIRST + ITERATIONS, seed)


def ways(machine: Machine) -> dict[str, Way]:
    """By the value that each tells: bulk, and where the library's partitions are active messages these."""
    found = {"uneven": way_of(BULK, 1)}
    part = effective_library(machine).part
    if part is not None and part.active_message:
        found["uneven_active"] = way_of(part.into(1), 1)
    return found


def measure_ring(
    machine: Machine,
    ranks: int,
    launcher: Launcher,
    built: Built,
    raw: Path,
    folder: Path,
    seed: int,
    on_point: Callable[[Progress], None],
) -> None:
    """Measure what `raw` does not hold yet; plans go to `folder`."""
    names = [plan.write(folder) for _, plan in plans(machine, ranks, seed)]
    points = [w.point(name, r, design.MOST) for r in range(ROUNDS) for name in names for w in ways(machine).values()]
    if points:
        measure(
            points, launcher, raw, BUDGET_S, on_point,
            built=built, tool=VERSION, seed=seed, folder=folder, point_budget_s=1.0,
        )  # fmt: skip


def known(machine: Machine, ranks: int, seed: int, content: Content, environment: str) -> Machine:
    """The machine with what was measured: by how much the ring took longer than with ports shared evenly."""
    even = _with(machine, dict.fromkeys(("uneven", "uneven_active")))
    found: dict[str, Value[float] | None] = {}
    for name, way in ways(machine).items():
        shares = []
        for workload, plan in plans(machine, ranks, seed):
            done = performed_in(content, way, environment, plan.name, FIRST, 1)
            if done is not None:
                expected = Expected(even, workload, seed, FIRST, ITERATIONS).of(way.approach).time_s
                together = 2 * float(machine.inter.segment(workload.buffer).G.value) * workload.buffer
                shares += [max(float(t) - expected, 0.0) / together for t in done.communication_s]
        if shares:
            centre, low, high = (f"{100 * x:.6g} %" for x in (np.median(shares), min(shares), max(shares)))
            about = f"{way.approach.name} in a ring of {ranks} ranks that send both ways, {len(shares)} rounds"
            data: dict[str, object] = {
                "value": centre,
                "source": "measured",
                "why": f"{about}, against ports shared evenly",
            }
            if max(shares) > min(shares) > 0:
                data |= {"interval": (low, high)}
            found[name] = validated(Value[units.Share], data, name)
    return _with(machine, found)


def _with(machine: Machine, shares: Mapping[str, Value[float] | None]) -> Machine:
    return machine.model_copy(update={"inter": machine.inter.model_copy(update=dict(shares))})
