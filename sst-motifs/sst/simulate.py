"""Runs of a job in SST, one for each approach, and a Prediction from them: in the rows that the engine's are in."""

from __future__ import annotations

import fcntl
import hashlib
import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pready.files.writing import make_folder, replacing, write_text
from pready.model.advice.predict import effective_library
from pready.model.approach.interfaces import BULK, Approach
from pready.model.approach.libraries import LibraryProfile
from pready.model.common.arrays import Array
from pready.model.common.errors import PreadyError
from pready.model.common.units import format_time
from pready.model.equations import metrics
from pready.model.equations.closed_form import closed_form
from pready.model.result.prediction import Advice, ApproachPrediction, Prediction
from pready.model.result.row import Averages, Terms, row
from pready.model.result.verdict import MIN_GAIN, enough, from_iterations, simplest, verdict_on
from pready.model.timeline.sampling import Sampler
from pready.model.timeline.setup_cost import begin
from pready.model.version import VERSION
from pready.sst import library, results
from pready.sst.job import Setup, candidates, check_approach, ready_times, write_config
from pready.sst.results import Record, Times, times
from pready.sst.run import How
from pready.sst.run import run as run_sst
from pready.sst.topology import Topology

RESAMPLES = 400


def simulate_approach(s: Setup, approach: Approach, folder: Path, how: How | None = None) -> Record:
    """Write, run and read one approach in `folder`; a run that is there, whole and of the same, is only read."""
    name = f"{approach.interface.key}-{approach.transport_partitions}"
    path, done = folder / f"{name}.py", folder / f"{name}.done"
    with replacing():
        record = write_config(s, approach, path)
    asked = hashlib.sha256(path.read_bytes() + path.with_suffix(".arrivals.npy").read_bytes() + s.edges.tobytes())
    asked.update(library.fingerprint(library.find()).encode())
    if not done.exists() or done.read_bytes() != asked.hexdigest().encode():
        done.unlink(missing_ok=True)
        for old in (*folder.glob(f"{name}.csv*"), *folder.glob(f"{name}.counts*.csv")):
            old.unlink()
        run_sst(path, how)
        write_text(done, asked.hexdigest())  # of a whole run
    idle = s.ranks % 2 if s.motif == "PartPingPong" else 0
    return results.read_records(record, s.ranks - idle, s.iterations + 1)


@contextmanager
def kept_or_not(s: Setup, folder: Path | None) -> Iterator[Path]:
    """Where runs are made: `folder`; or, if None, one in the user's cache that goes at the end.

    What an interruption or a failure leaves there, the same simulation goes on from.

    Raises
    ------
    PreadyError
        Another process simulates there.
    """
    if folder is not None:
        make_folder(folder, (".lock",))
        where = folder
    else:
        said: list[object] = [s.machine.model_dump_json(), s.workload.model_dump_json(), s.parameters.to_dict()]
        said += [s.topology.title, str(s.topology.settings), s.ranks, s.grid, s.iterations, s.seed, str(s.extra)]
        said += [s.allocation, s.background, s.load]
        digest = hashlib.sha256(json.dumps(said).encode()).hexdigest()
        where = library.cache_folder() / "runs" / digest[:16]
        where.mkdir(parents=True, exist_ok=True)
    with (where / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise PreadyError(
                f"another process simulates in {where}", valid="--keep with a folder of its own"
            ) from None
        yield where
        if folder is None:  # a failure leaves it, with the log that its message names
            shutil.rmtree(where, ignore_errors=True)


def simulated(
    s: Setup,
    folder: Path,
    *,
    mpi: str | None = None,
    approaches: Sequence[Approach] = (),
    how: How | None = None,
    on_run: Callable[[int, int, Approach, Topology], None] | None = None,
) -> list[tuple[Approach, Times]]:
    """Bulk and the approaches, each in a run of its own with the same draws.

    Parameters
    ----------
    folder
        Of configurations, arrivals, records and logs; runs that are there are not made again.
    mpi
        MPI library profile; absent, the machine's own.
    approaches
        To compare with bulk; absent, those of the library.
    on_run
        Called before each run with its number, the number of runs, the approach and the topology.

    Raises
    ------
    MissingSST
        There is no SST.
    PreadyError
        A run failed.
    """
    todo = candidates(s, mpi, approaches)
    for approach in todo:
        check_approach(s.machine, s.workload, approach)
    folder.mkdir(parents=True, exist_ok=True)
    out = []
    for number, approach in enumerate(todo):
        if on_run is not None:
            on_run(number, len(todo), approach, s.topology)
        record = simulate_approach(s, approach, folder, how)
        out.append((approach, times(s.workload.pattern, record)))
    return out


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
    after, share, w = t.after_ready[1:], t.arrived[1:], s.workload
    met = s.machine.threads.barrier.at(w.threads) if approach.interface.completes == "threads" else 0.0
    time = float(after.mean())
    return Averages(
        communication_s=time,
        iteration_s=float((t.compute[1:] + after).mean()),
        spread_s=delay,  # the first MPI_Pready is so long before the last
        to_join_s=min(float(t.join[1:].mean()), time),
        arrived_early=0.0 if np.isnan(share).all() else float(np.nanmean(share)),
        work_s=0.0 if w.consume is None else float(np.nanmean(t.after_last[1:])) - met,
        messages=approach.messages * w.peers,
    )


def _row(s: Setup, approach: Approach, t: Times, bulk: Times, delay: float) -> ApproachPrediction:
    w, once = s.workload, float(begin(Sampler(s.machine), s.workload, approach))
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
