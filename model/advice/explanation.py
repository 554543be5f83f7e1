"""The equations and the steps with a user's numbers: what `pready explain` shows.

Equations first (Eq. 1-9 of gillis2023, if the workload has their terms), then what a rank waits for after its own last
partition, with the baseline and with one approach, as the engine attributes it: the parts add up to the predicted time.

Parameters are at their values, as in the nominal part of a prediction.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pready.model.advice.predict import Engine, as_sent_by, predict, runs_of, with_library
from pready.model.approach.interfaces import Approach
from pready.model.common.errors import PreadyError
from pready.model.engine.runs import Runs
from pready.model.equations import gain
from pready.model.equations.gain import DOI, Equation
from pready.model.machine.machine import Machine
from pready.model.result.forms import rendered
from pready.model.result.prediction import Prediction
from pready.model.timeline.costs import BY_SHARING
from pready.model.timeline.rules import packed_by_one
from pready.model.timeline.terms import BY_COST
from pready.model.workload.arrivals import Gaussian
from pready.model.workload.draws import deterministic
from pready.model.workload.exchange import ComputeRate
from pready.model.workload.workload import Workload

STEPS = {
    "late": "until the last partition of the last neighbour is ready",
    "issue": "until the neighbours have issued their messages to this rank: epochs, barriers and locks",
    "nic": "until these have left the adapters: handshakes and bandwidth",
    "wire": "until the last has arrived: its own bytes, and latency",
    "receive": "until all are received through the shared port, epochs are closed and the threads have met",
    "consuming": (
        "until its threads have worked on all partitions that came, each as soon as MPI tells that it is there"
    ),
}
"""What a rank waits for after its own last partition, by the engine's cause."""
COSTS = ("hold", "gap", "handshake", "stream", "wire", "receive")
COSTS_OF_PUTS = ("put", "put_gap", "stream", "wire", "epoch")
"""Fields of `Costs` that are shown of a message."""


@dataclass(frozen=True)
class Filled:
    """An equation with numbers in SI units."""

    equation: Equation
    values: tuple[float, ...]
    note: str = ""
    """Where the numbers come from, and departures for this workload."""

    @property
    def value(self) -> float:
        """The left-hand side."""
        return float(self.equation(*self.values))

    @property
    def text(self) -> str:
        """One line of plain text."""
        unit = "" if self.equation.unit == "1" else f" {self.equation.unit}"
        return self.equation.substituted(*self.values) + unit

    @property
    def latex(self) -> str:
        """LaTeX source, without delimiters."""
        return self.equation.substituted_latex(*self.values)


@dataclass(frozen=True)
class Wait:
    """What a rank waits for, and for how long: mean over ranks and iterations."""

    name: str
    says: str
    added_s: float


@dataclass(frozen=True)
class Way:
    """One approach, step by step."""

    approach: Approach
    message_bytes: float
    protocol: str
    costs: tuple[tuple[str, float], ...]
    """Symbols and seconds of one message; those that are 0 are left out."""
    steps: tuple[Wait, ...]
    begin_s: float = 0.0
    """Set-up cost, once before the first iteration; no part of the sum."""

    @property
    def time_s(self) -> float:
        """T of Eq. 1, the sum of the steps."""
        return sum(step.added_s for step in self.steps)


@dataclass(frozen=True)
class Explanation:
    """The equations and steps of one machine, workload and approach."""

    machine: str
    library: str
    workload: str
    seed: int
    prediction: Prediction
    """Its advised approach is `way`, unless another is asked for."""
    equations: tuple[Filled, ...]
    bulk: Way
    """The baseline."""
    way: Way
    departures: tuple[str, ...]
    """Departures of equations or steps from the papers."""

    @property
    def eta(self) -> float:
        """The baseline's time over the approach's (Eq. 1), simulated: that of `predict` without draws."""
        return self.bulk.time_s / self.way.time_s

    @property
    def closed_form_eta(self) -> float:
        """η of bandwidth alone (Eq. 4)."""
        return next(f.value for f in self.equations if f.equation is gain.large_message_gain)

    def __str__(self) -> str:
        return rendered(self, "plain")

    def _repr_markdown_(self) -> str:
        return rendered(self, "markdown")


def explain(
    machine: Machine,
    workload: Workload,
    approach: Approach | None = None,
    *,
    library: str | None = None,
    seed: int = 0,
    engine: Engine | None = None,
) -> Explanation:
    """The equations and the steps with this machine's and workload's numbers.

    Parameters
    ----------
    approach
        The approach to explain beside the baseline; absent, the one that `predict` advises.
    library
        Name of a library profile, for the advice; absent, the machine's own.
    seed
        Of the arrivals; as of `predict`.
    engine
        As of `predict`.

    Raises
    ------
    PreadyError
        As `predict`; or several exchanges per step.
    """
    if workload.exchanges is not None:
        raise PreadyError("several exchanges per step", valid="a file with one of them, or 'pready predict --all'")
    prediction = predict(machine, workload, library=library, seed=seed, engine=engine)
    machine, profile = with_library(machine, library)
    workload = as_sent_by(workload, profile)
    if approach is None:
        approach = prediction.advised.approach
    runs, _ = runs_of(machine, workload, seed, engine, draws=0)
    return Explanation(
        machine.name,
        profile.name,
        workload.name,
        seed,
        prediction,
        tuple(_equations(runs)),
        _way(runs, workload.baseline),
        _way(runs, approach),
        tuple(_departures(runs)),
    )


def _equations(runs: Runs) -> Iterator[Filled]:
    (w,) = runs.parts
    n, theta, size = float(w.threads), float(w.partitions_per_thread), w.partition_size
    compute, arrivals = w.compute, w.arrivals
    if isinstance(compute, ComputeRate):
        flops = (compute.arithmetic_intensity, compute.communication_intensity, compute.frequency)
        yield Filled(gain.computation_rate, (*flops, compute.flops_per_cycle))
    if isinstance(arrivals, Gaussian):
        mu = w.thread_time / (theta * size)
        parameters = arrivals.parameters(w.partitions_per_thread)
        terms = (mu, theta, *parameters)
        given = isinstance(compute, ComputeRate)
        by_spread = "" if arrivals.spread is None else "ε is 2 √θ × the spread of a thread's time"
        yield Filled(gain.noise, parameters, by_spread)
        yield Filled(gain.delay_rate, terms, "" if given else "μ is the workload's compute time over θ S_part")
        yield Filled(gain.delay, (*terms, size))
    delay, beta = runs.delay(), runs.bandwidth()
    rate = delay / size
    samples = "" if deterministic(w) else ", mean of the arrivals drawn"
    yield Filled(gain.bulk_time, (n, theta, size, beta), "β is 1/G of the largest messages")
    yield Filled(gain.pipelined_time, (n, theta, size, beta, delay), f"D is first to last ready{samples}")
    yield Filled(gain.large_message_gain, (n, theta, rate, beta), "γ_θ is that D over S_part")
    yield Filled(gain.small_message_gain, (n, theta))


def _departures(runs: Runs) -> Iterator[str]:
    (w,) = runs.parts
    for filled in _equations(runs):
        e = filled.equation
        if e.departure:
            yield f"Eq. {e.number} of gillis2023 (doi:{DOI}): {e.departure}"
    if isinstance(w.arrivals, Gaussian):
        yield (
            "Eq. 8 is the expected extreme of a simplified distribution; Eq. 3 and 4 take D from the arrivals drawn, "
            "which the simulation sees too"
        )
    if len(set(runs.compiler().messages(w.baseline).sizes)) > 1:
        yield "sizes differ between neighbours: a message's costs are those of the buffer, the steps those of each"
    yield "times are those of the machine at its values: 'pready predict' shows the medians of all drawn machines"
    yield (
        "Eq. 2-5 know bandwidth, delay and the number of messages only; the simulation adds overheads, contention, "
        "protocol, NIC, latency, matching, synchronisation (LogGP) and late neighbours, and equals Eq. 3 where those "
        "are 0"
    )


def _way(runs: Runs, approach: Approach) -> Way:
    (w,), costs = runs.parts, runs.costs(approach)
    size = approach.message_size(w.buffer)
    shown = [
        (BY_COST[name].symbol, float(getattr(costs, name)))
        for name in (COSTS_OF_PUTS if approach.interface.one_sided else COSTS)
    ]
    sharing = 1 if approach.interface.joins else min(w.threads, approach.messages) // approach.vcis
    if sharing > 1:
        shown += [(f"{BY_COST[name].symbol}({sharing})", float(getattr(costs, name)[sharing])) for name in BY_SHARING]
    return Way(
        approach,
        size,
        runs.machine.path(w.path).segment(size).protocol,
        tuple((symbol, seconds) for symbol, seconds in shown if seconds),
        tuple(_steps(runs, approach)),
        float(runs.set_up((approach,))[0]),
    )


def _steps(runs: Runs, approach: Approach) -> Iterator[Wait]:
    """What the time after a rank's own last partition is for, as the engine attributes it."""
    times, names = (
        runs.at_values((approach,)).exchange(),
        {"nic": "NIC", "late": "late neighbour", "consuming": "consume"},
    )
    (w,), setting = runs.parts, runs.compiler().setting
    for field, says in STEPS.items():
        added = float(getattr(times, field)[0]) / runs.steps
        if field == "issue" and setting.pack and packed_by_one(approach.interface, setting):
            packed = min(added, setting.pack * sum(w.sends))
            added -= packed
            yield Wait("packing", "until their one thread has packed what it sends", packed)
        if field != "consuming" or w.consume is not None:
            yield Wait(names.get(field, field), says, added)
