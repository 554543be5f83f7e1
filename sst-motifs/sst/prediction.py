"""A Prediction from runs in SST, in the rows that the engine's are in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pready.model.advice.predict import effective_library
from pready.model.approach.interfaces import BULK, Approach
from pready.model.approach.libraries import LibraryProfile
from pready.model.common.arrays import Array
from pready.model.common.units import format_time
from pready.model.equations import metrics
from pready.model.equations.closed_form import closed_form
from pready.model.result.prediction import Advice, ApproachPrediction, Prediction
from pready.model.result.row import Averages, Terms, row
from pready.model.result.verdict import MIN_GAIN, enough, from_iterations, simplest, verdict_on
from pready.model.timeline.sampling import Sampler
from pready.model.timeline.setup_cost import begin
from pready.model.version import VERSION
from pready.sst.job import Setup, ready_times
from pready.sst.results import Times
from pready.sst.runs import kept_or_not, simulated

RESAMPLES = 400


def simulate(s: Setup, *, mpi: str | None = None, folder: Path | None = None, **options: Any) -> Prediction:
    """A prediction from `simulated`; without a folder nothing stays of its runs."""
    with kept_or_not(s, folder) as where:
        return prediction(s, mpi, simulated(s, where, mpi=mpi, **options))


def prediction(s: Setup, mpi: str | None, runs: Sequence[tuple[Approach, Times]]) -> Prediction:
    """A Prediction from the times of several runs, bulk first."""
    w = s.workload
    bulk = runs[0][1]
    spread = np.ptp(ready_times(s), axis=1).reshape(s.ranks, -1)
    delay = float(spread[:, s.phases :].mean())
    rows = [_row(s, approach, t, bulk, delay) for approach, t in runs]
    rate = 1 / s.machine.path(w.path).segments[-1].G.value
    form = closed_form(w.threads, w.partitions_per_thread, delay / w.partition_size, rate)
    profile = effective_library(s.machine, mpi)
    return Prediction(
        version=VERSION,
        seed=s.seed,
        machine=s.machine.name,
        library=profile.name,
        workload=w.model_dump(mode="json"),
        closed_form={"eta": form.eta, "gamma_s_per_byte": form.gamma, "delay_s": delay},
        approaches=rows,
        advice=_advice(s, profile, rows),
        engine="sst",
        ranks=s.grid or (s.ranks,),
        network=s.topology.title,
        iterations=s.iterations,
    )


def _resampled(values: Array, seed: int) -> Array:
    """Means of resampled iterations (rows): ranks of one iteration are not independent of each other."""
    means = values.mean(axis=1)
    chosen = np.random.default_rng(seed).integers(len(means), size=(RESAMPLES, len(means)))
    return np.asarray(means[chosen].mean(axis=1), dtype=np.float64)


def _averages(s: Setup, approach: Approach, t: Times, delay: float) -> Averages:
    after, share = t.after_ready[1:], t.arrived[1:]
    time = float(after.mean())
    return Averages(
        communication_s=time,
        iteration_s=float((t.compute[1:] + after).mean()),
        spread_s=delay,  # the first MPI_Pready is so long before the last
        to_join_s=min(float(t.join[1:].mean()), time),
        arrived_early=0.0 if np.isnan(share).all() else float(np.nanmean(share)),
        work_s=0.0,
        messages=approach.messages * s.workload.peers,
    )


def _row(s: Setup, approach: Approach, t: Times, bulk: Times, delay: float) -> ApproachPrediction:
    w, once = s.workload, float(begin(Sampler(s.machine), s.workload, approach, approach.messages * s.workload.peers))
    terms = Terms(
        buffer=w.buffer,
        iterations=w.iterations,
        barrier_s=s.machine.threads.barrier.at(w.threads),
        bulk_alone_s=float(bulk.after_ready[0].mean()),
        today=_averages(s, BULK, bulk, delay),
        today_begin_s=0.0,
    )
    made = row(approach, _averages(s, approach, t, delay), float(t.after_ready[0].mean()), once, terms)
    # The same resampled iterations for both: they had the same draws.
    after, after_bulk = t.after_ready[1:], bulk.after_ready[1:]
    drawn, drawn_bulk = _resampled(after, s.seed), _resampled(after_bulk, s.seed)
    iterations, iterations_bulk = t.compute[1:] + after, bulk.compute[1:] + after_bulk
    once_each = made.begin_per_iteration_s
    whole, whole_bulk = (_resampled(x, s.seed) for x in (iterations + once_each, iterations_bulk))
    saved = metrics.speedup_percent(whole_bulk, whole)
    made = made.with_draws(drawn, metrics.eta(drawn_bulk, drawn), saved)
    return replace(made, probability=float(enough(saved, MIN_GAIN).mean()))


def _advice(s: Setup, profile: LibraryProfile, rows: list[ApproachPrediction]) -> Advice:
    best = simplest(rows[1:] or rows, s.workload.iterations)
    verdict = verdict_on(best, MIN_GAIN)
    because = (
        f"in SST on {s.topology.title}, {s.ranks} ranks, {best.name} takes {format_time(best.time_s)} after the last "
        f"partition is ready, bulk {format_time(rows[0].time_s)}"
    )
    w = s.workload
    settings = profile.settings(best.approach, w.buffer, w.threads, w.n_partitions)
    return Advice(
        verdict=verdict,
        best=best,
        min_gain=MIN_GAIN,
        here=None,
        pays=None,
        from_iterations=from_iterations(best, rows[0]),
        settings=settings if verdict != "do not port" else [],
        because=because,
    )
