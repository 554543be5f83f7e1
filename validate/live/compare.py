"""Every measured case beside the Machine's prediction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from pready.calibrate.measure.catalogue import interface_of
from pready.calibrate.measure.raw_file import Content
from pready.model.advice.predict import with_library
from pready.model.approach.interfaces import Approach
from pready.model.approach.libraries import LibraryProfile
from pready.model.common.arrays import Array
from pready.model.equations import gain_numpy
from pready.model.machine.machine import Machine
from pready.model.result.prediction import ApproachPrediction
from pready.model.result.verdict import simplest, verdict_of
from pready.model.workload.arrivals import Measured
from pready.model.workload.workload import Workload
from pready.validate.limits import Judged
from pready.validate.live.as_measured import Completed
from pready.validate.live.design import Scene, Way, point
from pready.validate.live.suspect import suspect
from pready.validate.over_rounds import over_rounds
from pready.validate.result import CaseResult
from pready.validate.site import ARRIVALS, ROUNDS

BULK = Way("single", 1)


@dataclass(frozen=True)
class Repeats:
    """One way of a scene in all its rounds.

    Attributes
    ----------
    centres
        Shape (rounds,): the median time after the last partition was ready, seconds.
    mean
        The mean of all repeats of all rounds.
    ready
        Shape (repeats, user partitions): when each was really ready, seconds after the start.
    """

    centres: Array
    ready: Array
    mean: float

    @property
    def time(self) -> float:
        """The median of the rounds."""
        return float(np.median(self.centres))

    @property
    def until_ready(self) -> float:
        """An iteration's compute time: seconds until the last partition is ready, the median of the repeats."""
        return float(np.median(self.ready.max(axis=1)))

    @property
    def spread(self) -> float:
        """Half the range of the rounds over their median: how well the case repeats itself."""
        return float(np.ptp(self.centres) / 2 / self.time)


def gather(
    content: Content, environment: str, scene: Scene, receive_threads: int, budget_s: float
) -> dict[Way, Repeats]:
    """The ways of a scene that were measured in every round."""
    found: dict[Way, Repeats] = {}
    for way in scene.ways:
        keys = [point(scene, way, r, receive_threads, budget_s).key(environment) for r in range(ROUNDS)]
        records = [content.points[k]["record"] for k in keys if k in content.points]
        if len(records) == ROUNDS and all("median_s" in r for r in records):
            centres = np.array([r["also"]["after"]["median_s"] for r in records])
            if (centres > 0).all():
                samples = np.concatenate([r["also"]["after"]["samples_ns"] for r in records])
                ready = np.concatenate([np.array(r["lists"]["ready_s"]) for r in records])
                found[way] = Repeats(centres, ready, float(samples.mean()) * 1e-9)
    return found


def compare(
    machine: Machine,
    scene: Scene,
    measured: Mapping[Way, Repeats],
    library: str,
    folder: Path,
    seed: int,
    *,
    explain: bool = False,
) -> Judged | None:
    """A scene's predictions beside its measurements, bulk first; None if bulk or all else is missing.

    A way's time is predicted from its own measured ready times: that judges the model of the exchange. Its saving, and
    which way is advised, are predicted from bulk's ready times: before porting nothing else is known.

    With `explain`, a case that is off names the suspected term. `folder` receives the measured ready times, one file
    per case, as the trace that is predicted from.
    """
    if BULK not in measured or len(measured) < 2:
        return None
    machine, profile = with_library(machine)
    cases: list[CaseResult] = []
    rows: list[ApproachPrediction] = []

    def evaluated(way: Way) -> Completed:
        ready = measured[way].ready
        workload = workload_of(scene, ready, folder, f"{library}-{scene.name}-{way}")
        return Completed(machine, workload, seed, alone=True, samples=len(ready))

    baseline = evaluated(BULK)
    for way, seen in measured.items():
        approach = approach_of(way, profile)
        if approach is None:
            continue
        evaluation = baseline if way == BULK else evaluated(way)
        before_porting = baseline.predict(approach)
        rows.append(before_porting)
        predicted = before_porting if way == BULK else evaluation.predict(approach)
        case = _case(machine, scene, way, seen, measured[BULK], predicted, before_porting, library)
        case = replace(case, measured_mean_s=seen.mean, predicted_mean_s=evaluation.mean_time(approach))
        cases.append(replace(case, suspect=suspect(evaluation, approach, case) if explain else ""))
    best = simplest(rows[1:], baseline.workload.iterations)
    chosen = 0 if verdict_of(best) == "do not port" else rows.index(best)
    return Judged(tuple(cases), tuple(c.iteration_s for c in cases), chosen)


def approach_of(way: Way, profile: LibraryProfile) -> Approach | None:
    """The model's approach for the benchmark's way with this library."""
    if way.approach == "part":
        if profile.part is None:
            return None
        return profile.part.into(way.transport)
    return interface_of(way.approach).into(way.transport)


def workload_of(scene: Scene, ready: Array, folder: Path, name: str) -> Workload:
    """The scene as a Workload that replays the measured moments."""
    (folder / ARRIVALS).mkdir(parents=True, exist_ok=True)
    file = f"{ARRIVALS}/{name}.npy"
    np.save(folder / file, ready)
    return Workload(
        name=name,
        threads=scene.threads,
        partitions_per_thread=scene.partitions_per_thread,
        buffer=f"{scene.buffer} B",  # type: ignore[arg-type]
        today="persistent",
        arrivals=Measured(model="trace", file=file, unit="s"),
        folder=str(folder),
    )


def _case(
    machine: Machine,
    scene: Scene,
    way: Way,
    seen: Repeats,
    bulk: Repeats,
    predicted: ApproachPrediction,
    before_porting: ApproachPrediction,
    library: str,
) -> CaseResult:
    until, until_bulk = seen.until_ready, bulk.until_ready
    return CaseResult(
        id=f"{library}-{scene.name}-{way}",
        library=library,
        approach=way.approach,
        transport_partitions=way.transport,
        vcis=1,
        threads=scene.threads,
        partitions_per_thread=scene.partitions_per_thread,
        buffer=scene.buffer,
        arrivals=scene.kind,
        spread=seen.spread,
        predicted_s=predicted.time_s,
        predicted_low_s=predicted.time_low_s,
        predicted_high_s=predicted.time_high_s,
        eta_predicted=predicted.eta,
        eta_predicted_low=predicted.eta_low,
        eta_predicted_high=predicted.eta_high,
        eta_closed_form=closed_form(machine, scene, way, seen.ready),
        until_ready_s=until,
        saving_predicted=before_porting.speedup_percent / 100,
        saving_predicted_low=before_porting.speedup_low_percent / 100,
        saving_predicted_high=before_porting.speedup_high_percent / 100,
        **over_rounds(seen.centres, until + seen.centres, bulk.centres, until_bulk + bulk.centres),
    )


def closed_form(machine: Machine, scene: Scene, way: Way, ready: Array) -> float:
    """η of Eq. 2 and 3 of gillis2023 alone, with the measured delay between first and last partition."""
    if way == BULK:
        return 1.0
    delay = float(np.median(np.ptp(ready, axis=1)))
    n, part = scene.n_partitions, scene.buffer / scene.n_partitions
    bulk = gain_numpy.bulk_time(n, 1, part, machine.bandwidth)
    return float(bulk / gain_numpy.pipelined_time(n, 1, part, machine.bandwidth, delay))


def without_laggard(measured: Mapping[Way, Repeats]) -> dict[Way, Repeats]:
    """The same measurements with all partitions ready at once: a workload made wrong on purpose."""
    return {
        w: replace(m, ready=np.broadcast_to(m.ready.max(axis=1, keepdims=True), m.ready.shape).copy())
        for w, m in measured.items()
    }
