"""The baseline and approaches simulated on all ranks, side by side on the same draws (``pready simulate``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from pready.model.approach.interfaces import BULK, Approach
from pready.model.engine.ranks.pattern import exchanges
from pready.model.engine.rows import iterations_of, row, warm_up
from pready.model.engine.simulate import simulate
from pready.model.engine.simulation import Simulation
from pready.model.machine.machine import Machine
from pready.model.result.prediction import ApproachPrediction
from pready.model.timeline.sampling import Sampler
from pready.model.timeline.setup_cost import begin
from pready.model.workload import supported_by
from pready.model.workload.arrivals import NoArrivals
from pready.model.workload.workload import Workload


def compare(
    machine: Machine,
    workload: Workload,
    approaches: Sequence[Approach],
    *,
    grid: Sequence[int],
    iterations: int,
    record: bool = False,
    on_progress: Callable[[Approach, float], None] | None = None,
    **options: Any,
) -> list[tuple[ApproachPrediction, Simulation]]:
    """Simulate what the application does today and each approach, and say what each costs against that.

    Parameters
    ----------
    iterations
        Counted ones; as in a prediction, some go before them.
    record
        Keep the end of every rank and iteration of `approaches`.
    on_progress
        Called with the approach and the share that is done.
    options
        Further arguments of `simulate`, the same for all.

    Returns
    -------
    One pair per approach, the baseline first. `low` and `high` bound 95 % of the iterations' means. An
    interrupted run is the last of the list; without a completed iteration it is left out.
    """
    supported_by.check(workload, "engine")
    out: list[tuple[ApproachPrediction, Simulation]] = []
    calm = workload.model_copy(update={"arrivals": NoArrivals()})
    barrier = machine.threads.barrier.at(workload.threads)
    bulk: Simulation | None = None
    alone: Simulation | None = None
    first = warm_up(workload, iterations, exchanges(workload.pattern, options.get("blocks", 1)))
    base, values = workload.baseline, Sampler(machine)
    if base != BULK:
        alone = simulate(machine, calm, BULK, grid=grid, iterations=first + 1, **options)
        alone = alone.after(min(first, alone.iterations - 1))
    for approach in (base, *(a for a in approaches if a != base)):
        quiet = simulate(machine, calm, approach, grid=grid, iterations=first + 1, **options)
        if quiet.iterations == 0:
            break
        told = None if on_progress is None else partial(on_progress, approach)
        run = simulate(
            machine,
            workload,
            approach,
            grid=grid,
            iterations=first + iterations,
            record=record and approach in approaches,
            on_progress=told,
            **options,
        )
        if run.iterations <= first:
            break
        run, quiet = run.after(first), quiet.after(min(first, quiet.iterations - 1))
        bulk, alone = bulk or run, alone or quiet
        done = min(run.iterations, bulk.iterations)
        samples = [iterations_of(s, done) for s in (run, bulk)]
        begins = begin(values, workload, approach), begin(values, workload, base)
        out.append((row(run, bulk, quiet, alone, workload, barrier, samples[0], samples[1], begins), run))
        if run.interrupted:
            break
    return out
