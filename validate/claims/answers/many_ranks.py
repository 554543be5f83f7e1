"""Checks on whole patterns: stencils and sweeps over many ranks, by `pready.model.engine`."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, Literal

from pydantic import Field

from pready.model.approach.interfaces import SINGLE, Approach
from pready.model.engine.layout import layout
from pready.model.engine.runs import Means, Runs
from pready.model.equations.metrics import projected_speedup, speedup_percent
from pready.model.toml.provenance import Strict
from pready.model.workload.workload import Workload
from pready.validate.claims.computed_once import ApproachTable, Lab, MachineTable

Grid = tuple[int, ...]


class Run(Strict):
    """A pattern of ranks for some iterations."""

    machine: MachineTable
    workload: Workload
    approach: ApproachTable
    of: Literal["iteration_s", "communication_s", "speedup_percent", "messages per rank"]
    """`speedup_percent` is marts2024's, against `Pt2Pt single` on the same draws."""
    grid: Grid | None = None
    """This and the next three: absent, as the workload itself says; a step of several exchanges always does."""
    ring: Annotated[int, Field(ge=1)] | None = None
    """Neighbours on each side of a ring, for pattern "neighbours" (marts2024 III.B)."""
    blocks: Annotated[int, Field(ge=1)] | None = None
    thread_grid: tuple[int, int, int] | None = None
    iterations: Annotated[int, Field(ge=1)]


class WayTable(Strict):
    """How an application exchanges."""

    workload: Workload
    approach: ApproachTable


class Ported(Strict):
    """An application of which `share` of the run is an exchange (temucin2022 4.8)."""

    machine: MachineTable
    share: Annotated[float, Field(gt=0, le=1)]
    today: WayTable
    port: WayTable
    iterations: Annotated[int, Field(ge=1)]


def simulation(a: Run, lab: Lab) -> float:
    """One figure of a simulated run: means over ranks and iterations, of all exchanges of a step."""
    _, found = _run(a, lab)
    iteration = float(found.step.iteration[0])
    match a.of:
        case "iteration_s":
            return iteration
        case "communication_s":
            return float(found.step.communication[0])
        case "speedup_percent":
            _, bulk = _run(a, lab, Approach(SINGLE))
            return float(speedup_percent(bulk.step.iteration[0], iteration))
        case "messages per rank":
            return float(found.counts.sum())


def _run(a: Run, lab: Lab, approach: Approach | None = None) -> tuple[Runs, Means]:
    """With an approach of all exchanges; absent: the claim's."""
    way = tuple(approach or a.approach.of(w) for w in a.workload.parts)
    given: dict[str, Any] = {n: getattr(a, n) for n in ("grid", "blocks", "thread_grid") if getattr(a, n) is not None}
    if a.ring is not None:
        assert a.grid is not None
        given["neighbour_list"] = _ring(a.grid[0], a.ring)
    workload = a.workload.model_copy(update=given)
    runs = lab.ranks(a.machine, workload, a.iterations, layout(workload) if workload.exchanges is None else None)
    return runs, lab.means(runs, way)


@cache
def _ring(ranks: int, reach: int) -> tuple[tuple[int, ...], ...]:
    """Each rank's neighbours: so many on each side."""
    steps = [s for s in range(-reach, reach + 1) if s]
    return tuple(tuple((r + s) % ranks for s in steps) for r in range(ranks))


def run_time_ratio(a: Ported, lab: Lab) -> float:
    """The baseline's run time over that of the port, only the exchange getting faster (Amdahl's law)."""
    times = [
        simulation(Run(of="iteration_s", machine=a.machine, iterations=a.iterations, **dict(way)), lab)
        for way in (a.today, a.port)
    ]
    return projected_speedup(a.share, times[0] / times[1])
