"""Predictions against SST on one router: two ranks, and a halo of 64 ranks in step and out of step.

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

from pready.model.approach.interfaces import MANY, PART, SINGLE, Approach
from pready.model.common.errors import PreadyError
from pready.model.engine.layout import Layout, Step
from pready.model.engine.runs import Rows, Runs
from pready.model.engine.simulate import simulate
from pready.model.machine.machine import Machine
from pready.model.workload.arrivals import NoArrivals
from pready.model.workload.workload import Workload
from pready.sst import library
from pready.sst.firefly import Firefly
from pready.sst.kept_parameters import fitted
from pready.sst.library import MissingSST
from pready.sst.results import Record, times
from pready.sst.run import How
from pready.sst.simulate import Setup, setup, simulate_approach
from pready.validate.claims.wrong_machines import bandwidth

THREADS = 8
TWO_RANKS = 16
"""Scenes of two ranks: a size and a delay, with bulk and two ways to split."""
SMALLEST, LARGEST = 2**10, 2**24
SMALL = 16384
"""Bytes of a message below which 10 % are asked for, and 5 % from there on."""
GRID = (4, 4, 4)
HALO_SIZES = ("48 KiB", "192 KiB")
SPREAD = 0.04  # of computing, where ranks are out of step
APART, ALL_EAGER = "out of step", "out of step, eager"
ONE_CPU = "a rank of SST is one CPU"
SHARES = "in the engine each port shares evenly by itself"
IN_STEP = "a rank of SST is one CPU, which answers rendezvous requests between its sends"
OUT_OF_STEP = "in SST rendezvous requests wait in a port's queue behind payloads, and a rank is one CPU"
"""Why a halo takes longer in SST than in the engine, where progress and requests take no time from others."""
IN_STEP_LIMIT, APART_LIMIT, ETA_LIMIT = 0.07, 0.10, 0.25
"""Limits of a halo's times in step and without a handshake, and of what is left of its difference out of step without
the time that handshakes take in SST, which is measured there: the same halo with and without them. A larger difference
has another cause."""
HALO_WAYS = (Approach(SINGLE), Approach(MANY, 2), Approach(MANY, THREADS))
EXPLAINED = 0.05
"""Smallest difference of a halo whose cause is named."""
ITERATIONS = 4  # of a halo

OnRun = Callable[[int, int, str], None]
"""Called before and during each run of SST with the number of runs done, that of all, and what runs."""


@dataclass(frozen=True)
class Scene:
    """One run of SST."""

    name: str
    workload: Workload
    approach: Approach
    ranks: tuple[int, ...] = (2,)
    iterations: int = 1
    eager: bool = False
    """On a machine without handshakes."""

    @property
    def id(self) -> str:
        """Its name in the table."""
        return f"{self.name}, {self.approach.interface.key} {self.approach.transport_partitions}"

    def of(self, machine: Machine) -> Machine:
        """The machine that it runs on."""
        if not self.eager:
            return machine
        segments = tuple(s.model_copy(update={"handshake": None}) for s in machine.inter.segments)
        return machine.model_copy(update={"inter": machine.inter.model_copy(update={"segments": segments})})

    def setup(self, machine: Machine, seed: int, firefly: Firefly) -> Setup:
        return setup(
            self.of(machine),
            self.workload,
            "single",
            self.ranks,
            iterations=self.iterations,
            seed=seed,
            firefly=firefly,
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
    def small(self) -> bool:
        """Are its messages below 16 KiB?"""
        return self.scene.approach.message_size(self.scene.workload.buffer) < SMALL

    @property
    def in_step(self) -> bool:
        """Do all ranks of a halo send at once?"""
        return isinstance(self.scene.workload.arrivals, NoArrivals)

    @property
    def cause(self) -> str:
        """Why a halo takes longer in SST; empty where it hardly does, and of two ranks."""
        if self.scene.workload.pattern == "pt2pt" or abs(self.off) < EXPLAINED:
            return ""
        if self.scene.eager:
            return ONE_CPU if self.off < 0 else SHARES
        return IN_STEP if self.in_step else OUT_OF_STEP


@dataclass(frozen=True)
class Limit:
    """The worst of some rows against the limit that it has to keep; over no row it is NaN, which keeps none."""

    name: str
    worst: float
    limit: float
    rows: int
    note: str = ""

    @property
    def ok(self) -> bool:
        """Does it keep the limit?"""
        return self.worst <= self.limit

    @property
    def slack(self) -> float:
        """The share of the limit that is left."""
        return 1 - self.worst / self.limit


@dataclass(frozen=True)
class Agreement:
    """What SST and the model said."""

    machine: str
    version: str
    rows: tuple[Row, ...]
    checks: tuple[Limit, ...]
    wrong_is_rejected: bool
    """Does the model break a limit on half of the machine's bandwidth, as it must?"""
    failed: dict[str, str]
    """Runs without a time, with the reason."""

    @property
    def ok(self) -> bool:
        """Is every limit kept, and a wrong machine told apart?"""
        return all(c.ok for c in self.checks) and self.wrong_is_rejected and not self.failed


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
    """Both sizes, in step, out of step, and this without handshakes."""
    kinds = (("in step", None, 1, False), (APART, SPREAD, ITERATIONS, False), (ALL_EAGER, SPREAD, ITERATIONS, True))
    return [
        Scene(f"halo {size} {kind}", halo(size, spread), way, GRID, n, eager)
        for size in HALO_SIZES
        for kind, spread, n, eager in kinds
        for way in HALO_WAYS
    ]


def validate(
    machine: Machine,
    folder: Path,
    *,
    seed: int = 0,
    on_progress: OnRun | None = None,
    how: How | None = None,
    scenes: Sequence[Scene] | None = None,
) -> Agreement:
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
    kinds = {s.eager: s for s in todo}
    firefly = {e: fitted(s.of(machine), how=told(0, f"is fitted to {machine.name}")) for e, s in kinds.items()}
    seen: list[tuple[Scene, Simulated]] = []
    failed: dict[str, str] = {}
    for number, scene in enumerate(todo):
        each = told(number, f"{scene.name}, {scene.approach.interface.key}")
        try:
            seen.append(
                (scene, simulated(scene, machine, seed, firefly[scene.eager], folder, installation.version, each))
            )
        except MissingSST:
            raise
        except PreadyError as error:
            failed[scene.id] = str(error)

    def beside(machine: Machine) -> tuple[Row, ...]:
        return tuple(Row(scene, times, predicted(scene, machine, seed)) for scene, times in seen)

    rows, wrong = beside(machine), beside(bandwidth(machine, 0.5))
    rejected = not all(c.ok for c in checks(wrong))
    return Agreement(machine.name, installation.version, rows, checks(rows), rejected, failed)


def simulated(
    scene: Scene, machine: Machine, seed: int, firefly: Firefly, folder: Path, version: str, how: How | None
) -> Simulated:
    """SST's times: from the folder, or from a run that is kept there. Of a run that fails everything is kept."""
    asked = [scene.of(machine).model_dump_json(), scene.workload.model_dump_json(), firefly.to_dict(), version, seed]
    asked += [path.read_text(encoding="utf-8") for path in sorted(Path(library.__file__).parent.glob("*.py"))]
    asked += [scene.approach.name, scene.approach.transport_partitions, "single", scene.ranks, scene.iterations]
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
    w, machine = scene.workload, scene.of(machine)
    ranks = Layout(scene.ranks)
    run = simulate(machine, w, scene.approach, ranks, iterations=scene.iterations, seed=seed)
    engine, iteration = float(run.communication_s.mean()), float(run.mean_s.mean())
    if w.pattern != "pt2pt":
        return Predicted(engine, engine, iteration)
    line = Runs(machine, Step.of(w), Rows(0, seed)).mean_time(scene.approach)
    return Predicted(line, engine, iteration)


def checks(rows: Sequence[Row]) -> tuple[Limit, ...]:
    """The limits of two ranks, and of halos."""
    two = [r for r in rows if r.scene.workload.pattern == "pt2pt"]
    halos = [r for r in rows if r not in two]

    def worst(name: str, errors: list[float], limit: float, note: str = "") -> Limit:
        return Limit(name, max(map(abs, errors), default=float("nan")), limit, len(errors), note)

    def of_two(by: str, small: bool) -> Limit:
        errors = [getattr(r.model, by) / r.sst.time - 1 for r in two if r.small == small]
        name = f"two ranks, {'predict' if by == 'time' else by}{', messages below 16 KiB' * small}"
        return worst(name, errors, 0.10 if small else 0.05)

    bulk = {r.scene.name: r for r in halos if r.scene.approach.interface is SINGLE}
    split = [(r, bulk[r.scene.name]) for r in halos if r.scene.approach.messages > 1 and r.scene.name in bulk]
    etas = [(b.model.time / r.model.time) / (b.sst.time / r.sst.time) - 1 for r, b in split]
    return (
        *(of_two(by, small) for by in ("time", "engine") for small in (False, True)),
        worst("64 ranks, iteration time", [r.model.iteration / r.sst.iteration - 1 for r in halos], 0.1),
        worst("64 ranks in step, communication", [r.off for r in halos if r.in_step], IN_STEP_LIMIT, IN_STEP),
        worst("64 ranks out of step, eager", [r.off for r in halos if r.scene.eager], APART_LIMIT, SHARES),
        worst("64 ranks out of step, without SST's handshakes", beyond_handshakes(halos), APART_LIMIT, SHARES),
        worst("64 ranks, η", etas, ETA_LIMIT, OUT_OF_STEP),
    )


def beyond_handshakes(halos: Sequence[Row]) -> list[float]:
    """What is left of each difference out of step without the time that SST takes longer than for the same halo
    without handshakes, as a share of SST's time."""
    eager = {(r.scene.name.removesuffix(", eager"), r.scene.approach): r for r in halos if r.scene.eager}
    apart = [(r, eager.get((r.scene.name, r.scene.approach))) for r in halos if not (r.in_step or r.scene.eager)]
    return [max(0.0, abs(r.off) - (0.0 if e is None else abs(r.sst.time - e.sst.time) / r.sst.time)) for r, e in apart]
