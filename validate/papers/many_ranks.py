"""Checks on whole patterns: stencils and sweeps over many ranks, by `pready.model.engine`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from pready.model.approach import SINGLE, Approach
from pready.model.engine import Simulation, pattern
from pready.model.engine.mapping import mapped
from pready.model.metrics import speedup_percent
from pready.model.values import Strict
from pready.model.workload import Workload
from pready.validate.papers.computed_once import ApproachTable, Lab, MachineTable

Grid = tuple[int, ...]


class Run(Strict):
    """A pattern of ranks for some iterations."""

    machine: MachineTable
    workload: Workload
    approach: ApproachTable
    of: Literal["iteration_s", "communication_s", "speedup_percent", "messages per rank", "throughput"]
    """`speedup_percent` is marts2024's, against `Pt2Pt single` on the same draws; `throughput` is a
    rank's sent bytes per iteration over the iteration's time."""
    grid: Grid
    ring: Annotated[int, Field(ge=1)] | None = None
    """Neighbours on each side of a ring, for pattern "neighbours" (marts2024 III.B)."""
    iterations: Annotated[int, Field(ge=1)]
    blocks: int = 1
    thread_grid: tuple[int, int, int] | None = None


class Face(Strict):
    """Threads arranged in space."""

    thread_grid: tuple[int, int, int]


def simulation(a: Run, lab: Lab) -> float:
    """One figure of a simulated run: means over ranks and iterations."""
    approach = a.approach.of(a.workload)
    run = _run(a, lab, approach)
    iteration = float(run.mean_s.mean())
    match a.of:
        case "iteration_s":
            return iteration
        case "communication_s":
            return float(run.communication_s.mean())
        case "speedup_percent":
            bulk = _run(a, lab, Approach(SINGLE))
            return float(speedup_percent(bulk.mean_s.mean(), iteration))
        case "messages per rank":
            ranks = run.grid[0] * run.grid[1] * run.grid[2]
            return run.messages / run.iterations / ranks
        case "throughput":
            ranks = run.grid[0] * run.grid[1] * run.grid[2]
            size = approach.message_size(a.workload.buffer)
            return run.messages / run.iterations / ranks * size / iteration


def _run(a: Run, lab: Lab, approach: Approach) -> Simulation:
    options: dict[str, Any] = {"grid": a.grid, "iterations": a.iterations, "blocks": a.blocks}
    if a.thread_grid is not None:
        options["thread_grid"] = a.thread_grid
    if a.ring is not None:
        n = a.grid[0]
        steps = [s for s in range(-a.ring, a.ring + 1) if s]
        options["neighbours"] = tuple(tuple((r + s) % n for s in steps) for r in range(n))
    return lab.simulation(a.machine, a.workload, approach, **options)


def partitions_of_a_face(a: Face, lab: Lab) -> float:
    """User partitions of one face's buffer when each thread that touches it has one."""
    threads = a.thread_grid[0] * a.thread_grid[1] * a.thread_grid[2]
    data = {"threads": threads, "buffer": f"{threads} B", "pattern": "halo3d"}
    shape = pattern("halo3d", (2, 2, 2))
    found = mapped(shape, Workload.model_validate(data), Approach(SINGLE), a.thread_grid, 1)
    return float(len(found.partitions[0]))
