"""Predictions against SST on one router: two ranks, halos of 64 ranks in step and out of step, all 26 neighbours,
sweeps, and workloads by chance.

SST takes the same draws of arrivals and the model's own costs of one message, so that a single message between two
ranks agrees by construction (`Row.independent` is empty); limits are on the other rows. The shipped model is what is
compared: differences are printed with their cause (`CAUSES`), not modelled, and nothing is taken off a difference
before its limit. SST simulates one VCI: several are never compared. Each run's times are kept in the folder; a second
call goes on from there.
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
from pready.sst.job import Setup, setup
from pready.sst.library import MissingSST
from pready.sst.results import Record, times
from pready.sst.run import How
from pready.sst.runs import simulate_approach
from pready.validate.claims.wrong_machines import bandwidth

THREADS = 8
TWO_RANKS = 6
"""Scenes of two ranks: a size and a delay, with two ways to split."""
SMALLEST, LARGEST = 2**10, 2**24
SMALL = 16384
"""Bytes of a message below which 10 % are asked for of two ranks, and 5 % from there on."""
GRID = (4, 4, 4)
HALO_SIZES = ("1 KiB", "4 KiB", "16 KiB", "48 KiB", "192 KiB")
OTHER_SIZES = ("16 KiB", "256 KiB")  # of 26 neighbours and of sweeps
SPREAD = 0.04  # of computing, where ranks are out of step
CHANCES = 40  # workloads by chance
ITERATIONS = 2  # of a scene whose ranks are out of step
PACKET = 4096
"""Bytes of a packet of messages from `SMALL` on: with those of 2.5 % of a latency, runs take four times as long."""
HALO_WAYS = (Approach(SINGLE), Approach(MANY, 2), Approach(MANY, THREADS))
EXPLAINED = 0.05
"""Smallest difference whose cause is named."""

OnRun = Callable[[int, int, str], None]
"""Called before and during each run of SST with the number of runs done, that of all, and what runs."""


@dataclass(frozen=True)
class Scene:
    """One run of SST."""

    kind: str  # of which limit it is: two ranks, halo in step, …
    name: str
    workload: Workload
    approach: Approach
    ranks: tuple[int, ...] = (2,)
    iterations: int = 1
    eager: bool = False  # on a machine without handshakes

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

    def setup(self, machine: Machine, seed: int) -> Setup:
        packet = PACKET if self.message >= SMALL and self.workload.pattern != "pt2pt" else 0
        how: dict[str, Any] = {"iterations": self.iterations, "seed": seed, "packet": packet}
        return setup(self.of(machine), self.workload, "single", self.ranks, **how)

    @property
    def message(self) -> float:
        """Bytes of a message."""
        return self.approach.message_size(self.workload.buffer)

    def shakes(self, machine: Machine) -> bool:
        """Do its messages go by a rendezvous?"""
        return self.of(machine).inter.segment(self.message).handshake is not None

    @property
    def in_step(self) -> bool:
        """Do all ranks send at once?"""
        return isinstance(self.workload.arrivals, NoArrivals)


@dataclass(frozen=True)
class Times:
    """Seconds: means over ranks and iterations."""

    time: float
    """From a rank's (of two, the sender's) last ready partition to the last message; of a sweep, an iteration."""
    iteration: float


@dataclass(frozen=True)
class Row:
    """One run beside the model."""

    scene: Scene
    sst: Times
    model: Times
    shakes: bool  # do its messages go by a rendezvous?
    searches: bool = False  # does a receiver search its queue entry by entry?

    @property
    def off(self) -> float:
        """The model's time over SST's, minus 1."""
        return self.model.time / self.sst.time - 1

    @property
    def small(self) -> bool:
        """Are its messages below 16 KiB?"""
        return self.scene.message < SMALL

    @property
    def independent(self) -> str:
        """What SST and the model each work out by themselves; empty: one message, which has the model's costs."""
        w, several = self.scene.workload, self.scene.approach.messages > 1
        pairs = w.pattern == "pt2pt"
        progress = self.shakes and w.receiver_computes and not self.scene.in_step
        said = {"several messages": several, "ports": not pairs, "progress": progress, "waves": w.pattern == "sweep3d"}
        return ", ".join(name for name, holds in said.items() if holds)

    @property
    def cause(self) -> str:
        """Why the model differs; empty where it hardly does, or nobody knows."""
        if abs(self.off) < EXPLAINED:
            return ""
        return next((c.said for c in CAUSES if c.sign * self.off > 0 and c.of(self)), "")


@dataclass(frozen=True)
class Cause:
    """A known difference."""

    said: str
    sign: int  # -1: the model is faster than SST
    of: Callable[[Row], bool]  # the rows that have it


def _collective(row: Row) -> bool:
    return row.scene.workload.pattern != "pt2pt"


SEARCHED = "the engine searches half of all receives; in SST partitions match in the order of their receives"
CAUSES = (
    Cause(
        "in SST rendezvous requests wait in a port's queue behind payloads, and a rank is one CPU",
        -1,
        lambda r: _collective(r) and r.shakes and not r.scene.in_step,
    ),
    Cause(
        "a rank of SST is one CPU, which answers rendezvous requests between its sends and its receives",
        -1,
        lambda r: r.shakes and (_collective(r) or r.scene.approach.messages > 1),
    ),
    Cause(
        "in SST two messages to one rank may stream at once; in the engine one follows the other",
        -1,
        lambda r: r.scene.workload.pattern.startswith("halo") and 2 in r.scene.ranks,
    ),
    Cause(SEARCHED, 1, lambda r: _collective(r) and r.searches and r.scene.approach.messages > 1),
    Cause("in the engine each port shares evenly by itself", 1, lambda r: _collective(r) and not r.scene.in_step),
)
"""In the order in which they are looked at."""


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
    wrong_is_rejected: bool  # does the model break a limit on half of the machine's bandwidth, as it must?
    failed: dict[str, str]  # runs without a time, with the reason

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
        fields = {"name": f"two-{number}", "threads": THREADS, "buffer": f"{buffer} B", "receiver": "waiting"}
        workload = Workload.model_validate(fields | {"arrivals": {"model": "laggard", "delay": f"{delay:.9g} s"}})
        ways = (Approach(interface, int(rng.choice([2, 4, 8]))) for interface in (MANY, PART))
        out += [Scene("two ranks", f"two-{number}", workload, way) for way in ways]
    return out


def exchange(pattern: str, grid: Sequence[int], size: str, spread: float | None, **more: Any) -> Workload:
    """Ranks that compute for half a millisecond and exchange buffers of a size."""
    fields: dict[str, Any] = {
        "name": pattern,
        "threads": THREADS,
        "buffer": size,
        "pattern": pattern,
        "grid": list(grid),
    }
    fields |= {"receiver": "computing", "compute": {"time": "500 us"}} | more
    if spread is not None:
        fields["arrivals"] = {"model": "normal by thread", "spread": spread}
    return Workload.model_validate(fields)


def halo_scenes() -> list[Scene]:
    """All sizes, in step, out of step, and this without handshakes; some with 26 neighbours, and as sweeps."""
    kinds = (("in step", None, 1, False), ("out of step", SPREAD, ITERATIONS, False))
    apart = ("out of step, eager", SPREAD, ITERATIONS, True)
    some = [(size, *kind) for size in HALO_SIZES for kind in kinds]
    some += [(size, *apart) for size in HALO_SIZES[-2:]]  # where there is a handshake
    out = [
        Scene(f"64 ranks {kind}", f"halo {size} {kind}", exchange("halo3d", GRID, size, spread), way, GRID, n, eager)
        for size, kind, spread, n, eager in some
        for way in HALO_WAYS
    ]
    for size in OTHER_SIZES:
        all_26, waves = exchange("halo3d26", (3, 3, 3), size, None), exchange("sweep3d", (4, 4), size, None, blocks=4)
        for way in HALO_WAYS:
            out.append(Scene("26 neighbours", f"27 points {size}", all_26, way, (3, 3, 3)))
            out.append(Scene("sweeps", f"sweep {size}", waves, way, (4, 4)))
    return out


def chance_scenes(machine: Machine, seed: int, count: int = CHANCES) -> list[Scene]:
    """Workloads by chance: 2 to 64 ranks, four patterns, 1 KiB to 1 MiB, in step or not, one way of sending each."""
    rng = np.random.default_rng([seed, 1])
    out = []
    for number in range(count):
        pattern = str(rng.choice(["pt2pt", "halo3d", "halo3d26", "sweep3d"]))
        axes = {"pt2pt": 1, "sweep3d": 2}.get(pattern, 3)
        most = 3 if pattern == "halo3d26" else 4  # of 64 such ranks a run takes minutes
        grid = (2,) if axes == 1 else tuple(int(n) for n in rng.integers(2, 1 + most, size=axes))
        threads = int(rng.choice([1, 2, 4, 8]))
        buffer = threads * round(2 ** float(rng.uniform(10, 20)) / threads)
        splits = [t for t in (1, 2, 4, 8) if threads % t == 0]
        way = Approach(MANY, int(rng.choice(splits))) if rng.uniform() < 0.7 else Approach(SINGLE)
        spread = None if rng.uniform() < 0.5 else float(rng.choice([0.01, 0.04]))
        eager = bool(rng.uniform() < 0.3)
        if pattern == "pt2pt":
            spread = None  # the model's pair has draws of its own
        w = exchange(pattern, grid, f"{buffer} B", spread, name=f"chance-{number}", threads=threads)
        name = (
            f"{number}: {pattern} {'x'.join(map(str, grid))}, {threads} threads, {buffer} B, spread {spread or 0:.0%}"
        )
        out.append(
            Scene("by chance", name + ", eager" * eager, w, way, grid, 1 if spread is None else ITERATIONS, eager)
        )
    return out


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

    Raises MissingSST: there is no SST; PreadyError: the library does not build. A run that fails is a failed case.

    Parameters
    ----------
    folder
        Where each run's times are kept; those are not run again.
    seed
        Of sizes, delays, arrivals and workloads by chance.
    scenes
        Other than the usual ones, for tests.
    """
    installation = library.find()
    usual = [*two_rank_scenes(machine, seed), *halo_scenes(), *chance_scenes(machine, seed)]
    todo = usual if scenes is None else list(scenes)
    folder.mkdir(parents=True, exist_ok=True)

    def told(number: int, name: str) -> How:
        """Say what runs, and again while it does."""
        if on_progress is None:
            return how or How()
        on_progress(number, len(todo), name)
        return replace(how or How(), on_wait=lambda s, _: on_progress(number, len(todo), f"{name}, for {s:.0f} s"))

    library.build(lambda: told(0, "builds the element library"))
    seen: list[tuple[Scene, Times]] = []
    failed: dict[str, str] = {}
    for number, scene in enumerate(todo):
        each = told(number, f"{scene.name}, {scene.approach.interface.key}")
        try:
            seen.append((scene, simulated(scene, machine, seed, folder, installation.version, each)))
        except MissingSST:
            raise
        except PreadyError as error:
            failed[scene.id] = str(error)

    def beside(machine: Machine) -> tuple[Row, ...]:
        searches = machine.matching.per_entry.value > 0
        return tuple(Row(s, of, predicted(s, machine, seed), s.shakes(machine), searches) for s, of in seen)

    rows, wrong = beside(machine), beside(bandwidth(machine, 0.5))
    rejected = not all(c.ok for c in checks(wrong))
    return Agreement(machine.name, installation.version, rows, checks(rows), rejected, failed)


def simulated(scene: Scene, machine: Machine, seed: int, folder: Path, version: str, how: How | None) -> Times:
    """SST's times: from the folder, or from a run that is kept there. Of a run that fails everything is kept."""
    asked = [scene.of(machine).model_dump_json(), scene.workload.model_dump_json(), version, seed]
    asked += [library.fingerprint(library.find())]
    asked += [path.read_text(encoding="utf-8") for path in sorted(Path(library.__file__).parent.glob("*.py"))]
    asked += [scene.approach.name, scene.approach.transport_partitions, "single", scene.ranks, scene.iterations]
    file = folder / f"{hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:20]}.json"
    if file.exists():
        try:
            return Times(**json.loads(file.read_text(encoding="utf-8"))["simulated"])
        except (ValueError, KeyError, TypeError):
            pass  # cut short: run it again
    where = file.with_suffix(".run")
    where.mkdir(exist_ok=True)
    found = simulate_approach(scene.setup(machine, seed), scene.approach, where, how)
    shutil.rmtree(where, ignore_errors=True)
    out = seconds(scene.workload, found)
    partial = file.with_suffix(".partial")
    partial.write_text(json.dumps({"scene": scene.name, "simulated": asdict(out)}) + "\n", encoding="utf-8")
    partial.replace(file)
    return out


def seconds(workload: Workload, record: Record) -> Times:
    """The times of a run, without its first iteration."""
    after = times(workload.pattern, record).after_ready[1:]
    whole = (record.end - record.start)[record.iteration > 0]
    if workload.pattern == "sweep3d":  # `after` is the whole iteration, of all phases
        return Times(float(after.mean()), float(after.mean()))
    return Times(float(after.mean()), float(whole.mean()))


def predicted(scene: Scene, machine: Machine, seed: int) -> Times:
    """The model's times with the same draws, every parameter at its value."""
    w, machine = scene.workload, scene.of(machine)
    run = simulate(machine, w, scene.approach, Layout(scene.ranks), iterations=scene.iterations, seed=seed)
    whole = float(run.mean_s.mean())
    if w.pattern == "sweep3d":
        return Times(whole, whole)
    if w.pattern == "pt2pt":
        return Times(Runs(machine, Step.of(w), Rows(0, seed)).mean_time(scene.approach), whole)
    return Times(float(run.communication_s.mean()), whole)


LIMITS = {
    "64 ranks in step": 0.10,
    "64 ranks out of step": 0.25,
    "64 ranks out of step, eager": 0.10,
    "26 neighbours": 0.10,
    "sweeps": 0.10,
}
"""Of the communication (of sweeps, the iteration) of the rows of a kind."""
WITHOUT_CAUSE, WITH_CAUSE, ETA_LIMIT, SEARCH_LIMIT, PAIR_LIMIT = 0.10, 0.30, 0.25, 0.45, 0.20
"""Of workloads by chance, of the gain of halos, of several messages to 26 neighbours where queues are searched, and of
several rendezvous of a pair."""


def checks(rows: Sequence[Row]) -> tuple[Limit, ...]:
    """Limits of what is independent, by kind."""
    free = [r for r in rows if r.independent]

    def worst(name: str, errors: Sequence[float], limit: float, note: str = "") -> Limit:
        return Limit(name, max(map(abs, errors), default=float("nan")), limit, len(errors), note)

    searched = [r for r in free if r.scene.kind == "26 neighbours" and r.cause == SEARCHED]

    def of(kind: str) -> list[Row]:
        return [r for r in free if r.scene.kind == kind and r not in searched]

    two, chance = of("two ranks"), of("by chance")
    halos = [r for r in free if r.scene.kind.startswith("64 ranks")]
    bulk = {r.scene.name: r for r in halos if r.scene.approach.interface is SINGLE}
    split = [(r, bulk[r.scene.name]) for r in halos if r.scene.approach.messages > 1 and r.scene.name in bulk]
    etas = [(b.model.time / r.model.time) / (b.sst.time / r.sst.time) - 1 for r, b in split]
    left = beyond_handshakes(halos)
    without = f"without the time that SST's handshakes take, {100 * max(left, default=0):.1f} %"
    notes = {"64 ranks out of step": without}
    out = [
        worst("two ranks, several messages", [r.off for r in two if not r.small and not r.cause], 0.05),
        worst("two ranks, several rendezvous", [r.off for r in two if not r.small and r.cause], PAIR_LIMIT),
        worst("two ranks, several messages below 16 KiB", [r.off for r in two if r.small], 0.10),
        *(worst(kind, [r.off for r in of(kind)], limit, notes.get(kind, "")) for kind, limit in LIMITS.items()),
        worst("26 neighbours, queues searched", [r.off for r in searched], SEARCH_LIMIT, SEARCHED),
        worst("64 ranks, iteration time", [r.model.iteration / r.sst.iteration - 1 for r in halos], 0.10),
        worst("64 ranks, η", etas, ETA_LIMIT),
        worst("by chance, without a known cause", [r.off for r in chance if not r.cause], WITHOUT_CAUSE),
        worst("by chance, with one", [r.off for r in chance if r.cause], WITH_CAUSE, "the causes are in the table"),
    ]
    return tuple(c for c in out if c.rows)


def beyond_handshakes(halos: Sequence[Row]) -> list[float]:
    """What is left of each difference out of step without the time that SST takes longer than for the same halo
    without handshakes, as a share of SST's time: a second figure, which no limit is on."""
    eager = {(r.scene.name.removesuffix(", eager"), r.scene.approach): r for r in halos if r.scene.eager}
    apart = [(r, eager.get((r.scene.name, r.scene.approach))) for r in halos if not r.scene.eager]
    return [max(0.0, abs(r.off) - abs(r.sst.time - e.sst.time) / r.sst.time) for r, e in apart if e is not None]
