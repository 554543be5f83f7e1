"""A Workload on a Machine, simulated by SST: runs of bulk and of each approach, and a Prediction from them.

Every run draws the same ready times (the model's, from a file). Iteration 0 has no arrival spread and
serves as warm-up and as the papers' "without noise"; means are taken over the others.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from pready.files.writing import make_folder, replacing, texts, write_all, write_text
from pready.model.advice.predict import allowed_transports, effective_library
from pready.model.approach.interfaces import BULK, MANY, PART, SINGLE, Approach
from pready.model.approach.libraries import LibraryProfile
from pready.model.approach.vcis import issuing_threads, transport_counts
from pready.model.common.arrays import Array, Wholes
from pready.model.common.errors import PreadyError
from pready.model.common.units import format_time
from pready.model.equations import metrics
from pready.model.equations.closed_form import closed_form
from pready.model.machine.contention_by_library import contention, waiting
from pready.model.machine.machine import Machine
from pready.model.result.prediction import Advice, ApproachPrediction, Prediction
from pready.model.result.row import Averages, Terms, row
from pready.model.result.verdict import MIN_GAIN, enough, from_iterations, simplest, verdict_on
from pready.model.timeline import rules
from pready.model.timeline.costs import costs
from pready.model.timeline.sampling import Sampler
from pready.model.timeline.setup_cost import begin
from pready.model.version import VERSION
from pready.model.workload import draws as model_arrivals
from pready.model.workload import supported_by
from pready.model.workload.edges import HALOS, PATTERNS, WITH_ENDS, Edge, Ranks, edges
from pready.model.workload.workload import Workload
from pready.sst import config, library, results
from pready.sst.calibrate import Fit, fit
from pready.sst.firefly import LARGEST_MESSAGE, Firefly, initial
from pready.sst.of_workload import check_approach, largest_message, of_workload
from pready.sst.parameters import arguments
from pready.sst.results import Record, Times, times
from pready.sst.run import How, Run
from pready.sst.run import run as run_sst
from pready.sst.topology import Topology, near_cube, topology

SIMULATED = (SINGLE, PART, MANY)
"""The interfaces that the motifs have, under the same keys."""
PROGRESS_NS = 500.0
"""How often a rank with asynchronous progress enters MPI while computing. Assumed."""
RECORDED_MESSAGES = 200_000
"""Above it, the record does not list every message, unless threads work on them."""
TRANSPORTS = 4
"""How many counts of transport partitions are tried if none are named."""
RESAMPLES = 400


@dataclass(frozen=True)
class Setup:
    """A workload on a machine, on ranks of a topology."""

    machine: Machine
    workload: Workload
    topology: Topology
    ranks: int
    grid: tuple[int, ...] = ()
    """Ranks along x, y, z; empty: the motif chooses."""
    iterations: int = 10
    """Counted ones; one more goes before them."""
    seed: int = 0
    firefly: Firefly | None = None
    """Calibrated parameters; None: the formula's."""
    extra: dict[str, object] = field(default_factory=dict)
    """Further arguments of the motif."""
    allocation: str = "linear"
    """How hosts are given to ranks: linear, or random."""
    background: int = 0
    """Bytes of a message of another job, on as many hosts again; 0: there is none."""
    packet: int = 0
    """Bytes of a packet; 0: as many as the latency allows."""

    @property
    def motif(self) -> str:
        """The motif of the workload's pattern."""
        return "PartPingPong" if self.workload.pattern == "pt2pt" else "PartExchange"

    @property
    def phases(self) -> int:
        """Exchanges of an iteration: of a sweep, octants × blocks."""
        return PATTERNS[self.workload.pattern].octants * self.workload.blocks

    @cached_property
    def edges(self) -> Wholes:
        """Who sends to whom: once, what is alike in several phases in a row; of pairs, whose motif knows it, none."""
        w, of = self.workload, PATTERNS[self.workload.pattern]
        if self.motif == "PartPingPong":
            return np.zeros((0, 5), np.int64)
        x, y, z = (*self.grid, 1, 1)[:3] if self.grid else (self.ranks, 1, 1)
        if not self.grid and w.pattern in WITH_ENDS:
            x, y, z = near_cube(self.ranks, len(of.grid))
        tables = of.edges(Ranks((x, y, z), (w.boundaries == "periodic",) * 3, w.neighbour_lists))
        return edges(tables, len(tables), w.buffer, w.sizes, w.neighbour_sizes)

    @property
    def parameters(self) -> Firefly:
        """Firefly's parameters."""
        of = self.firefly or initial(self.machine, self.workload.path, self.workload.cache)
        return replace(of, packet=self.packet)

    @property
    def ranks_per_node(self) -> int:
        """Ranks that share a host."""
        return self.workload.ranks_of_a_node or 1

    def alone(self) -> Setup:
        """This set-up on one router, without another job."""
        return replace(self, topology=topology("single", self.ranks // self.ranks_per_node), background=0)


def setup(
    machine: Machine,
    workload: Workload,
    network: str = "single",
    ranks: Sequence[int] = (),
    **options: Any,
) -> Setup:
    """A `Setup` from names and sizes.

    Parameters
    ----------
    network
        See `pready.sst.topology.topology`.
    ranks
        Their number, or their grid; empty: the workload's, else 2 for pt2pt, 8 otherwise.

    Raises
    ------
    PreadyError
        A topology, number of ranks or pattern that does not fit.
    """
    supported_by.check(workload, "sst")
    if workload.thread_grid is not None:
        raise PreadyError("thread_grid is not simulated by SST", valid="a workload without one")
    some = (2,) if workload.pattern == "pt2pt" else (len(workload.neighbour_lists or range(8)),)
    shape = tuple(ranks) or workload.grid or some
    count = int(np.prod(shape))
    grid = shape if len(shape) > 1 and workload.pattern != "pt2pt" else ()
    if len(shape) > 1 and len(shape) != (2 if workload.pattern == "sweep3d" else 3):
        raise PreadyError(f"ranks = {','.join(map(str, shape))}", valid="a number, or one per dimension of the pattern")
    if count < 2:
        raise PreadyError(f"ranks = {count}", valid="at least 2")
    each = workload.ranks_of_a_node or 1
    if workload.node_grid is not None:
        raise PreadyError("node_grid is not simulated by SST", valid="ranks_per_node: ranks of a node in a row")
    if count % each:
        raise PreadyError(f"ranks_per_node = {each} does not divide {count} ranks", valid=f"a divisor of {count}")
    hosts = count // each * (2 if options.get("background") else 1)
    options["extra"] = {**of_workload(workload), **options.get("extra", {})}
    made = Setup(machine, workload, topology(network, hosts), count, grid, **options)
    if made.background and made.topology.name == "single":
        raise PreadyError("a background job on one router meets no other", valid="a --topology with several")
    if made.iterations < 1:
        raise PreadyError(f"iterations = {made.iterations}", valid="at least 1")
    if workload.buffer > LARGEST_MESSAGE:
        raise PreadyError(f"buffer = {workload.buffer:g} B", valid=f"at most {LARGEST_MESSAGE} B for SST")
    if workload.buffer != int(workload.buffer):
        raise PreadyError(f"buffer = {workload.buffer:g} B", valid="whole bytes")
    ends = (len(np.unique(made.edges[:, column])) for column in (1, 2))
    if made.motif == "PartExchange" and made.phases == 1 and min(ends) < count:
        raise PreadyError("a rank that only sends or only receives", valid="for SST, ranks that do both")
    return made


def ready_times(s: Setup) -> Array:
    """Ready times of all ranks as the motifs read them, in seconds.

    Returns
    -------
    Array of shape (ranks · draws, N_part), draws = (1 + iterations) · draws per iteration. A rank's first
    iteration has no spread; its draw k after that is the model's iteration k.
    """
    w, each = s.workload, s.phases
    calm = np.full((each, w.n_partitions), w.thread_time)
    return np.concatenate(
        [
            part
            for rank in range(s.ranks)
            for part in (calm, model_arrivals.draw(w, s.iterations * each, s.seed, rank=rank))
        ]
    )


def motif_values(s: Setup, approach: Approach, arrivals: str, record: str, listed: str = "") -> dict[str, object]:
    """The motif's parameters for one approach."""
    m, w, transports = s.machine, s.workload, approach.messages
    halo = w.pattern in HALOS
    # In a halo all ranks compute: a receiver that waits in MPI is one whose messages progress meanwhile.
    progress = m.progress.value != "on-call" or (halo and w.receiver == "waiting")
    waits = not w.receiver_computes and w.pattern == "pt2pt"
    values: dict[str, object] = {
        "approach": approach.interface.key,
        "threads": w.threads,
        "partitions": w.partitions_per_thread,
        "transport": transports,
        "iterations": s.iterations + 1,
        "arrivals": arrivals,
        "barrier_ns": m.threads.barrier.at(w.threads) * 1e9,
        "contention_ns": contention(m).at(_sharing(s, approach)) * 1e9,
        "tested_ns": tested_s(s, approach) * 1e9,
        "progress_ns": PROGRESS_NS if progress and not waits else 0.0,
        "record": record,
        "messages": int(
            w.consume is not None or s.ranks * w.peers * transports * (s.iterations + 1) <= RECORDED_MESSAGES
        ),
    }
    if s.motif == "PartPingPong":
        values |= {"bytes": int(w.buffer), "receiver": "waiting" if waits else "computing"}
    else:
        values |= {"edges": listed, "phases": s.phases, "receives_first": int(s.phases > 1)}
    return values | s.extra


def _sharing(s: Setup, approach: Approach) -> int:
    """Threads that share the VCI."""
    w, transports = s.workload, approach.messages
    return issuing_threads(list(range(transports)), transports, w.threads, w.partitions_per_thread)


def tested_s(s: Setup, approach: Approach) -> float:
    """Seconds from an arrival until a thread that tests its partitions sees it, as the engine has it."""
    w, setting = s.workload, rules.setting_of(s.machine, s.workload)
    if w.consume is None or not approach.interface.tells:
        return 0.0
    partitions = rules.received_in(approach.messages, w.n_partitions // approach.messages, setting)
    own = costs(Sampler(s.machine), w, approach.message_size(w.buffer))
    return float(rules.tested(own, w.peers * approach.messages, partitions, setting))


def receiving(s: Setup, approach: Approach) -> Firefly:
    """Firefly's parameters for an approach: where each thread waits for messages of its own, handing over costs time.

    Of each message its share of all waits, as of `pready.model.timeline.rules.received`.
    """
    if approach.interface.completes != "threads":
        return s.parameters
    k = _sharing(s, approach)
    more = 1e9 * waiting(s.machine).at(k) * k / (s.workload.peers * approach.messages)
    return replace(s.parameters, bands=tuple(replace(b, rx_ns=b.rx_ns + more) for b in s.parameters.bands))


def simulation(
    s: Setup, approach: Approach, arrivals: str, record: str, counts: str = "", listed: str = ""
) -> config.Simulation:
    """The configuration of one approach."""
    w = s.workload
    transports = approach.messages
    check_approach(s.machine, w, approach)
    values = motif_values(s, approach, arrivals, record, listed)
    return config.Simulation(
        title=f"{w.name or w.pattern}: {approach.name}, {transports} message(s) per peer, on {s.machine.name}",
        firefly=receiving(s, approach),
        topology=s.topology,
        ranks=s.ranks,
        motifs=((f"pready.{s.motif}", arguments(s.motif, values)),),
        largest=largest_message(w, approach, max(int(w.buffer), int(s.edges[:, 3].max(initial=0)))),
        receives=w.peers * transports,
        ranks_per_node=s.ranks_per_node,
        allocation=s.allocation,
        seed=s.seed,
        background=s.background,
        statistics=counts,
    )


def write_config(s: Setup, approach: Approach, path: Path) -> Path:
    """Write a configuration and, beside it, its arrivals and edges.

    Returns
    -------
    The record that a run of it will write, beside it too.
    """
    arrivals, record = path.with_suffix(".arrivals.npy"), path.with_suffix(".csv")
    times = ready_times(s)
    listed, counts = path.with_suffix(".edges"), path.with_suffix(".counts.csv")
    made = simulation(s, approach, arrivals.name, record.name, counts.name, listed.name)
    lines = [f"# {' '.join(Edge._fields)}", *(" ".join(map(str, row)) for row in s.edges.tolist()), ""]
    write = {listed: texts("\n".join(lines))} if len(s.edges) else {}
    write_all({arrivals: lambda file: np.save(file, times), **write, path: config.written(made, path)})
    return record


@dataclass(frozen=True)
class Outcome:
    """One approach's run."""

    approach: Approach
    record: Record
    run: Run
    counts: dict[str, int]
    """Sums over all NICs and routers of what SST counted."""


def simulate_approach(s: Setup, approach: Approach, folder: Path, how: How | None = None) -> Outcome:
    """Write, run and read one approach in `folder`; a run that is there, whole and of the same, is only read."""
    name = f"{approach.interface.key}-{approach.transport_partitions}"
    path, done = folder / f"{name}.py", folder / f"{name}.done"
    with replacing():
        record = write_config(s, approach, path)
    asked = hashlib.sha256(path.read_bytes() + path.with_suffix(".arrivals.npy").read_bytes() + s.edges.tobytes())
    asked.update(library.fingerprint(library.find()).encode())
    ran = _done(done, asked.hexdigest())
    if ran is None:
        done.unlink(missing_ok=True)
        for old in (*folder.glob(f"{name}.csv*"), *folder.glob(f"{name}.counts*.csv")):
            old.unlink()
        ran = run_sst(path, how)
        write_text(done, json.dumps({"of": asked.hexdigest(), **asdict(ran)}))
    idle = s.ranks % 2 if s.motif == "PartPingPong" else 0
    times = results.read_records(record, s.ranks - idle, s.iterations + 1)
    counts: dict[str, int] = {}
    for part in folder.glob(f"{name}.counts*.csv"):
        for key, value in results.statistics(part.read_text().splitlines()).items():
            counts[key] = counts.get(key, 0) + value
    return Outcome(approach, times, ran, counts)


def _done(path: Path, of: str) -> Run | None:
    """The run that a file says is whole; None if it is of something else, or cut short."""
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
        return Run(said["simulated_s"], said["wall_s"]) if said["of"] == of else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


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
        said += [s.allocation, s.background]
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


def candidates(s: Setup, mpi: str | None, chosen: Sequence[Approach] = ()) -> list[Approach]:
    """The approaches to run: bulk, then `chosen` or those of the library on one VCI."""
    if chosen:
        return [BULK, *(a for a in chosen if a != BULK)]
    w, profile = s.workload, effective_library(s.machine, mpi)
    counts = list(w.transport_partitions or transport_counts(w.n_partitions, TRANSPORTS))
    ways = [i for i in SIMULATED if i.splits and (not i.partitioned or i is profile.part)]
    return [BULK, *(i.into(t) for i in ways for t in allowed_transports(w, profile, i, counts))]


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
        record = simulate_approach(s, approach, folder, how).record
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


def _between(drawn: Any, value: float) -> tuple[float, float]:
    """95 % of what was drawn, and the value."""
    low, high = np.percentile(drawn, [2.5, 97.5])
    return min(float(low), value), max(float(high), value)


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
    (t0, t1), (e0, e1), (s0, s1) = (
        _between(some, value)
        for some, value in (
            (drawn, made.time_s),
            (metrics.eta(drawn_bulk, drawn), made.eta),
            (saved, made.speedup_percent),
        )
    )
    made = replace(made, time_low_s=t0, time_high_s=t1, eta_low=e0, eta_high=e1)
    made = replace(made, speedup_low_percent=s0, speedup_high_percent=s1)
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


def ping_pong(firefly: Firefly, sizes: Sequence[int], folder: Path, how: How | None = None) -> list[float]:
    """SST's one-way time (s) of messages of each size between two ranks on one router: half a round trip.

    One run for all eager sizes and one for all others, since their parameters differ; of three round trips the last
    counts.
    """
    out: dict[int, float] = {}
    for late in (False, True):
        if alike := [n for n in sizes if firefly.band(n).rendezvous == late]:
            out |= _ping_pong(firefly, alike, folder, how)
    return [out[n] for n in sizes]


def _ping_pong(firefly: Firefly, sizes: Sequence[int], folder: Path, how: How | None) -> dict[int, float]:
    alike: dict[str, object] = {"iterations": 3, "pong": 1}
    motifs = [("pready.PartPingPong", {"bytes": n, **alike, "record": f"ping-{n}.csv"}) for n in sizes]
    made = config.Simulation("ping-pong", firefly, topology("single", 2), 2, motifs, largest=max(sizes), receives=1)
    path = folder / "ping-pong.py"
    config.write(made, path)
    run_sst(path, how)
    out = {}
    for n in sizes:
        record = results.read_records(folder / f"ping-{n}.csv", 2, 3)
        sender = (record.rank == 0) & (record.iteration == 2)
        begun = record.start[sender & (record.phase == 0)][0]
        out[n] = float(record.completion[sender & (record.phase == 1)][0] - begun) / 2
    return out


def calibrate(machine: Machine, path: str = "inter", cache: str = "hot", how: How | None = None) -> Fit:
    """Fit Firefly's parameters to the Machine by SST's own ping-pong."""
    with tempfile.TemporaryDirectory(prefix="pready-sst-") as folder:
        return fit(
            machine,
            lambda firefly, sizes: ping_pong(firefly, sizes, Path(folder), how),
            "intra" if path == "intra" else "inter",
            cache,
        )
