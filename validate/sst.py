"""Predictions against SST: two ranks without congestion, and a halo of 64 ranks on one router and on networks.

SST takes the same draws of arrivals and a Machine fitted to the same ping-pong. The shipped model is what is compared:
differences are printed with their cause (`IN_STEP`, `OUT_OF_STEP`), not modelled. Each run's times are kept in the
folder; a second call goes on from there.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pready.model.advice.congestion import bound, share_taken
from pready.model.approach.interfaces import MANY, PART, SINGLE, Approach
from pready.model.common.errors import PreadyError
from pready.model.common.units import format_size, format_time
from pready.model.engine.evaluate import Evaluation
from pready.model.engine.simulate import simulate
from pready.model.machine.machine import Machine, Network
from pready.model.workload.arrivals import Laggard, NoArrivals
from pready.model.workload.workload import Workload
from pready.sst import library
from pready.sst.firefly import Firefly
from pready.sst.kept_parameters import fitted
from pready.sst.library import MissingSST
from pready.sst.results import Record, times
from pready.sst.run import How
from pready.sst.simulate import Setup, setup, simulate_approach
from pready.validate.claims.wrong_machines import bandwidth
from pready.validate.result import CaseResult, Check, Comparison, Control, Failed

THREADS = 8
TWO_RANKS = 16
"""Scenes of two ranks: a size and a delay, with bulk and two ways to split."""
SMALLEST, LARGEST = 2**10, 2**24
SMALL = 16384
"""Bytes of a message below which 10 % are asked for, and 5 % from there on."""
GRID = (4, 4, 4)
HALO_SIZES = ("48 KiB", "192 KiB")
HALO_SPREAD = (None, 0.04)
"""None: all ranks in step, so that no two messages meet at a port."""
IN_STEP = "a rank of SST is one CPU, which answers rendezvous requests between its sends"
OUT_OF_STEP = "in SST rendezvous requests wait in a port's queue behind payloads, and a rank is one CPU"
"""Why a halo takes longer in SST than in the engine, where progress and requests take no time from others."""
IN_STEP_LIMIT, OUT_OF_STEP_LIMIT = 0.07, 0.20
"""Measured and explained: with these causes put into the engine it met SST within 1.8 and 7.4 %, without them within
5.9 and 18.5 % (MeluXina, 64 ranks, SST of 2026-08). A larger difference has another cause."""
HALO_WAYS = (Approach(SINGLE), Approach(MANY, 2), Approach(MANY, THREADS))
ASSUMED = {"source": "assumed", "why": "to compare with SST"}
NETWORKS = (
    Network.model_validate({"topology": "torus", "extents": (8, 8), **ASSUMED}),
    Network.model_validate({"topology": "fattree", "nodes_per_switch": 8, "taper": 4.0, **ASSUMED}),
)
"""Where congestion takes some of the gain: a torus that is not the halo's own, and a fat tree tapered 4:1."""
EXPLAINED = 0.05
"""Smallest difference of a halo whose cause is named."""
ITERATIONS = 4

Told = Callable[[int, int, str], None]
"""Called before and during each run of SST with the number of runs done, that of all, and what runs."""


@dataclass(frozen=True)
class Scene:
    """One run of SST."""

    name: str
    workload: Workload
    approach: Approach
    network: str = "single"
    ranks: tuple[int, ...] = (2,)
    iterations: int = 1

    @property
    def id(self) -> str:
        """Its name in a report."""
        where = "" if self.network == "single" else f" on {self.network}"
        return f"{self.name}{where}, {self.approach.interface.key} {self.approach.transport_partitions}"

    def setup(self, machine: Machine, seed: int, firefly: Firefly) -> Setup:
        """The same in the words of `pready.sst`."""
        return setup(
            machine, self.workload, self.network, self.ranks, iterations=self.iterations, seed=seed, firefly=firefly
        )


@dataclass(frozen=True)
class Simulated:
    """SST's times in seconds: means over ranks and iterations."""

    time: float
    """From a rank's (of two, the sender's) last ready partition until everything is received."""
    iteration: float


@dataclass(frozen=True)
class Predicted:
    """The model's; of two ranks, `time` is the timeline's and `engine` the engine's."""

    time: float
    engine: float
    iteration: float


@dataclass(frozen=True)
class Row:
    """One run beside the model."""

    scene: Scene
    sst: Simulated
    model: Predicted

    @property
    def off(self) -> float:
        """The model's time over SST's, minus 1."""
        return self.model.time / self.sst.time - 1

    @property
    def cause(self) -> str:
        """Why a halo takes longer in SST."""
        return IN_STEP if in_step(self.scene) else OUT_OF_STEP


def two_rank_scenes(machine: Machine, seed: int, count: int = TWO_RANKS) -> list[Scene]:
    """Sizes spread over the logarithm, and the last partition late by none or up to twice bulk's time."""
    rng = np.random.default_rng(seed)
    exponents = (np.arange(count) + rng.uniform(size=count)) / count
    out = []
    for number, exponent in enumerate(exponents):
        buffer = THREADS * max(1, round(SMALLEST * (LARGEST / SMALLEST) ** exponent / THREADS))
        delay = float(rng.uniform(0, 2)) * buffer / machine.bandwidth if number % 4 else 0.0
        workload = Workload.model_validate(
            {
                "name": f"two-{number}",
                "threads": THREADS,
                "buffer": f"{buffer} B",
                "receiver": "waiting",
                "arrivals": {"model": "laggard", "delay": f"{delay:.9g} s"},
            }
        )
        split = (Approach(MANY, int(rng.choice([1, 2, 4, 8]))), Approach(PART, int(rng.choice([1, 2, 4, 8]))))
        out += [Scene(f"two-{number}", workload, way) for way in (Approach(SINGLE), *split)]
    return out


def halo(size: str, spread: float | None) -> Workload:
    """64 ranks that compute for half a millisecond and exchange faces."""
    fields: dict[str, Any] = {
        "name": "halo",
        "threads": THREADS,
        "buffer": size,
        "pattern": "halo3d",
        "grid": list(GRID),
        "receiver": "computing",
        "compute": {"time": "500 us"},
    }
    if spread is not None:
        fields["arrivals"] = {"model": "normal by thread", "spread": spread}
    return Workload.model_validate(fields)


def halo_scenes() -> list[Scene]:
    """On one router: both sizes, in step and out of step; on networks: the larger out of step."""
    out = [
        Scene(
            f"halo {size} {'in step' if spread is None else 'out of step'}", halo(size, spread), way, "single", GRID, n
        )
        for size in HALO_SIZES
        for spread in HALO_SPREAD
        for n in (1 if spread is None else ITERATIONS,)
        for way in HALO_WAYS
    ]
    spread = HALO_SPREAD[-1]
    return out + [
        Scene(f"halo {HALO_SIZES[-1]}", halo(HALO_SIZES[-1], spread), way, network.sst_name, GRID, ITERATIONS)
        for network in NETWORKS
        for way in HALO_WAYS[:2]
    ]


def validate(
    machine: Machine,
    folder: Path,
    *,
    seed: int = 0,
    on_progress: Told | None = None,
    how: How | None = None,
    scenes: Sequence[Scene] | None = None,
) -> Comparison:
    """Compare `predict` and the engine with SST.

    Parameters
    ----------
    folder
        Where each run's times are kept; those are not run again.
    seed
        Of sizes, delays and arrivals.
    scenes
        Other than the usual ones, for tests.

    Raises
    ------
    MissingSST
        There is no SST.
    PreadyError
        The fit failed. A run that fails is a failed case.
    """
    installation = library.find()
    todo = [*two_rank_scenes(machine, seed), *halo_scenes()] if scenes is None else list(scenes)
    folder.mkdir(parents=True, exist_ok=True)

    def told(number: int, name: str) -> How:
        """Say what runs, and again while it does."""
        if on_progress is None:
            return how or How()
        on_progress(number, len(todo), name)
        return replace(how or How(), on_wait=lambda s: on_progress(number, len(todo), f"{name}, for {s:.0f} s"))

    library.build(lambda: told(0, "builds the element library"))
    firefly = fitted(machine, how=told(0, f"is fitted to {machine.name}"))
    seen: list[tuple[Scene, Simulated]] = []
    failed: list[Failed] = []
    for number, scene in enumerate(todo):
        each = told(number, f"{scene.name}, {scene.approach.interface.key}")
        try:
            seen.append((scene, simulated(scene, machine, seed, firefly, folder, installation.version, each)))
        except MissingSST:
            raise
        except PreadyError as error:
            failed.append(Failed(scene.id, str(error)))

    def beside(machine: Machine) -> list[Row]:
        return [Row(scene, times, predicted(scene, machine, seed)) for scene, times in seen]

    rows, wrong = beside(machine), bandwidth(machine, 0.5)
    return Comparison(
        "sst",
        f"against SST, {machine.name}: two ranks, and a halo of {int(np.prod(GRID))}",
        _cases(rows, machine),
        (*_checks(rows), Check("runs of SST that failed", float(len(failed)), 0, "at most", "runs", cases=len(todo))),
        (Control("half the bandwidth", "the machine's β halved in the model, not in SST", _checks(beside(wrong))),),
        (*differences(rows), *congestion_notes(rows, machine)),
        {"SST": installation.version, "machine": machine.name, "seed": str(seed), "runs": str(folder)},
        tuple(failed),
    )


def simulated(
    scene: Scene, machine: Machine, seed: int, firefly: Firefly, folder: Path, version: str, how: How | None
) -> Simulated:
    """SST's times: from the folder, or from a run that is kept there. Of a run that fails everything is kept."""
    asked = [machine.model_dump_json(), scene.workload.model_dump_json(), firefly.to_dict(), version, seed]
    asked += [scene.approach.name, scene.approach.transport_partitions, scene.network, scene.ranks, scene.iterations]
    file = folder / f"{hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:20]}.json"
    if file.exists():
        try:
            return Simulated(**json.loads(file.read_text(encoding="utf-8"))["simulated"])
        except (ValueError, KeyError, TypeError):
            pass  # cut short: run it again
    where = file.with_suffix(".run")
    where.mkdir(exist_ok=True)
    found = simulate_approach(scene.setup(machine, seed, firefly), scene.approach, where, how)
    shutil.rmtree(where, ignore_errors=True)
    out = seconds(scene.workload, found.record)
    partial = file.with_suffix(".partial")
    partial.write_text(json.dumps({"scene": scene.name, "simulated": asdict(out)}) + "\n", encoding="utf-8")
    partial.replace(file)
    return out


def seconds(workload: Workload, record: Record) -> Simulated:
    """The times of a run, without its first iteration."""
    after = times(workload.pattern, record).after_ready[1:]
    return Simulated(float(after.mean()), float((record.end - record.start)[record.iteration > 0].mean()))


def predicted(scene: Scene, machine: Machine, seed: int) -> Predicted:
    """The model's times with the same draws, every parameter at its value."""
    w = scene.workload
    run = simulate(machine, w, scene.approach, grid=scene.ranks, iterations=scene.iterations, seed=seed)
    engine, iteration = float(run.communication_s.mean()), float(run.mean_s.mean())
    if w.pattern != "pt2pt":
        return Predicted(engine, engine, iteration)
    line = Evaluation(machine, w, seed, draws=0).mean_time(scene.approach)
    return Predicted(line, engine, iteration)


def _on_one_router(rows: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """Of two ranks, and of halos."""
    here = [r for r in rows if r.scene.network == "single"]
    two = [r for r in here if r.scene.workload.pattern == "pt2pt"]
    return two, [r for r in here if r not in two]


def _checks(rows: Sequence[Row]) -> tuple[Check, ...]:
    """The worst errors on one router. A figure over no case at all is NaN, which keeps no limit."""
    two, halos = _on_one_router(rows)
    large = [r for r in two if r.scene.approach.message_size(r.scene.workload.buffer) >= SMALL]
    small = [r for r in two if r not in large]
    step = [r for r in halos if in_step(r.scene)]
    apart = [r for r in halos if r not in step]

    def worst(name: str, errors: list[float], limit: float, note: str = "") -> Check:
        value = max(map(abs, errors), default=float("nan"))
        return Check(name, value, limit, "at most", note=note, cases=len(errors))

    def of_engine(some: Sequence[Row]) -> list[float]:
        return [r.model.engine / r.sst.time - 1 for r in some]

    few, many = "two ranks, {} against SST, worst error{}", "64 ranks{} on one router, {}, worst error"
    below = ", messages below 16 KiB"
    iterations = [r.model.iteration / r.sst.iteration - 1 for r in halos]
    return (
        worst(few.format("predict", ""), [r.off for r in large], 0.05),
        worst(few.format("predict", below), [r.off for r in small], 0.10),
        worst(few.format("engine", ""), of_engine(large), 0.05),
        worst(few.format("engine", below), of_engine(small), 0.10),
        worst(many.format("", "iteration time"), iterations, 0.1),
        worst(many.format(" in step", "communication"), [r.off for r in step], IN_STEP_LIMIT, IN_STEP),
        worst(many.format(" out of step", "communication"), [r.off for r in apart], OUT_OF_STEP_LIMIT, OUT_OF_STEP),
    )


def _cases(rows: Sequence[Row], machine: Machine) -> tuple[CaseResult, ...]:
    """Those on one router. Where bulk's run failed there is no η; the times count all the same."""
    two, halos = _on_one_router(rows)
    bulks = {r.scene.name: r for r in (*two, *halos) if r.scene.approach.interface is SINGLE}
    return tuple(_case(r, bulks[r.scene.name], machine) for r in (*two, *halos) if r.scene.name in bulks)


def _case(row: Row, bulk: Row, machine: Machine) -> CaseResult:
    scene, w, time = row.scene, row.scene.workload, row.model.time
    eta, eta_said = bulk.sst.time / row.sst.time, bulk.model.time / time
    late = f"last {format_time(w.arrivals.delay or 0.0)} late" if isinstance(w.arrivals, Laggard) else w.arrivals.model
    values = {"measured{}_s": row.sst.time, "predicted{}_s": time, "eta_measured{}": eta, "eta_predicted{}": eta_said}
    same: dict[str, Any] = {n.format(end): value for n, value in values.items() for end in ("", "_low", "_high")}
    return CaseResult(
        id=scene.id,
        library=machine.library.name,
        approach=scene.approach.interface.key,
        transport_partitions=scene.approach.transport_partitions,
        vcis=scene.approach.vcis,
        threads=w.threads,
        partitions_per_thread=w.partitions_per_thread,
        buffer=int(w.buffer),
        arrivals=late,
        spread=0.0,
        **same,
        suspect="" if w.pattern == "pt2pt" or abs(row.off) < EXPLAINED else row.cause,
    )


def in_step(scene: Scene) -> bool:
    """Do all ranks of a halo send at once?"""
    return isinstance(scene.workload.arrivals, NoArrivals)


def differences(rows: Sequence[Row]) -> list[str]:
    """How far the engine's halos on one router are from SST's, and why."""
    by_cause: dict[str, list[float]] = {}
    for row in _on_one_router(rows)[1]:
        by_cause.setdefault(row.cause, []).append(row.off)
    return [
        f"ranks {'in step' if cause == IN_STEP else 'out of step'}: the engine's communication is {min(off):+.1%} to "
        f"{max(off):+.1%} off SST's: {cause}; not modelled"
        for cause, off in by_cause.items()
    ]


def congestion_notes(rows: Sequence[Row], machine: Machine) -> list[str]:
    """η on each network, beside that on one router."""
    noisy = [r.scene for r in rows if r.scene.workload.arrivals.model == "normal by thread"]
    at = {(r.scene.network, r.scene.workload.buffer, r.scene.approach): r.sst.time for r in rows if r.scene in noisy}
    bulk, out = Approach(SINGLE), []
    for network in NETWORKS:
        for s in noisy:
            if s.network != network.sst_name or s.approach == bulk:
                continue
            size, one = s.workload.buffer, s.approach
            others = [(n, size, a) for n, a in (("single", bulk), ("single", one), (s.network, bulk))]
            if not all(o in at for o in others):
                continue  # a run failed
            bulk_alone, once, bulk_here = (at[o] for o in others)
            here = at[s.network, size, one]
            found = bound(machine.model_copy(update={"network": network}), s.workload)
            assert found is not None
            expected = share_taken(bulk_alone, once, found.link)
            out.append(
                f"{network.title}, {format_size(size)} per face in {one.transport_partitions} messages: η "
                f"{bulk_alone / once:.2f} on one router, {bulk_here / here:.2f} there ({s.iterations} iterations, "
                f"too few for an interval); the most loaded link alone ({format_time(found.link)} per exchange) says "
                f"{100 * expected:.0f} % of the gain"
            )
    return out
