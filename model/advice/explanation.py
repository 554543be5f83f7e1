"""The equations and the steps with a user's numbers: what `pready explain` shows.

Equations first (Eq. 1-9 of gillis2023, if the workload has their terms), then the steps of the baseline and of one
approach, by the engine that `predict` uses. Each step of the timeline says when the last message has passed it, so that
the differences add up to the predicted time, overlap included. For many ranks the steps are what a rank waits for
after its own last partition; they add up to the predicted time, too.

Parameters are at their values, as in the nominal part of a prediction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pready.model.advice.one_figure import Figures, figures_of
from pready.model.advice.predict import Engine, evaluator, with_library
from pready.model.advice.summary import advised
from pready.model.approach.interfaces import Approach
from pready.model.approach.vcis import issuing_threads, vci_members
from pready.model.common.errors import PreadyError
from pready.model.engine.evaluate import Evaluation
from pready.model.engine.simulation import CONSUME
from pready.model.equations import gain
from pready.model.equations.gain import DOI, Equation
from pready.model.machine.machine import Machine
from pready.model.machine.path import Segment
from pready.model.result.forms import rendered
from pready.model.timeline.costs import Costs, beyond_the_cache
from pready.model.timeline.messages import Message
from pready.model.timeline.plain_run import Alone
from pready.model.timeline.rules import (
    Setting,
    acknowledgement,
    answers_inside,
    asks,
    confirmed,
    counted,
    delivered,
    late_puts,
    received_between,
    receivers,
    released,
    work,
)
from pready.model.timeline.sampling import Sampler
from pready.model.timeline.setup_cost import begin
from pready.model.timeline.terms import BY_COST
from pready.model.workload.arrivals import Gaussian
from pready.model.workload.draws import deterministic
from pready.model.workload.exchange import ComputeRate
from pready.model.workload.workload import Workload


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
class Amount:
    """A term in a step: its symbol as text and as LaTeX, and seconds."""

    symbol: str
    latex: str
    seconds: float


@dataclass(frozen=True)
class Step:
    """One step of the timeline."""

    name: str
    rule: str
    """What happens, in words."""
    terms: tuple[Amount, ...]
    passed_s: float
    """When the last message has passed it, after the last partition was ready; mean over the arrivals drawn."""
    added_s: float
    """The difference to the step before; negative if a segment's L is."""


@dataclass(frozen=True)
class Way:
    """One approach, step by step; `time_s` is the last step's."""

    approach: Approach
    message_bytes: float
    protocol: str
    steps: tuple[Step, ...]
    begin_s: float = 0.0
    """Set-up cost, once before the first iteration; no part of the sum."""

    @property
    def time_s(self) -> float:
        """T of Eq. 1, the sum of the steps."""
        return self.steps[-1].passed_s


@dataclass(frozen=True)
class Explanation:
    """The equations and steps of one machine, workload and approach."""

    machine: str
    library: str
    workload: str
    seed: int
    equations: tuple[Filled, ...]
    bulk: Way
    """The baseline."""
    way: Way
    departures: tuple[str, ...]
    """Departures of equations or steps from the papers."""
    figures: Figures

    @property
    def eta(self) -> float:
        """The baseline's time over the approach's (Eq. 1), from the timeline."""
        return self.bulk.time_s / self.way.time_s

    def __str__(self) -> str:
        return rendered(self, "plain")

    def _repr_latex_(self) -> str:
        return rendered(self, "latex")

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
        As of `predict`; "timeline" shows the terms of each step of one exchange.

    Raises
    ------
    PreadyError
        As `predict`.
    """
    if workload.exchanges is not None:
        raise PreadyError("several exchanges per step", valid="a file with one of them, or 'pready predict --all'")
    machine, profile = with_library(machine, library)
    if approach is None:
        (approach,) = advised(machine, workload, library=library, seed=seed, engine=engine)
    evaluation, _ = evaluator(machine, workload, seed, engine, draws=0)
    way = _way if evaluation.rest else _simulated_way
    return Explanation(
        machine.name,
        profile.name,
        workload.name,
        seed,
        tuple(_equations(evaluation)),
        way(evaluation, workload.baseline),
        way(evaluation, approach),
        tuple(_departures(evaluation)),
        figures_of(machine, workload, approach, seed, engine, evaluation.delay),
    )


def _equations(evaluation: Evaluation) -> Iterator[Filled]:
    w = evaluation.workload
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
    delay, rate, beta = evaluation.delay, evaluation.delay / size, evaluation.bandwidth
    samples = "" if deterministic(w) else ", mean of the arrivals drawn"
    yield Filled(gain.bulk_time, (n, theta, size, beta), "β is 1/G of the largest messages")
    yield Filled(gain.pipelined_time, (n, theta, size, beta, delay), f"D is first to last ready{samples}")
    yield Filled(gain.large_message_gain, (n, theta, rate, beta), "γ_θ is that D over S_part")
    yield Filled(gain.small_message_gain, (n, theta))


def _departures(evaluation: Evaluation) -> Iterator[str]:
    for filled in _equations(evaluation):
        e = filled.equation
        if e.departure:
            yield f"Eq. {e.number} of gillis2023 (doi:{DOI}): {e.departure}"
    if isinstance(evaluation.workload.arrivals, Gaussian):
        yield (
            "Eq. 8 is the expected extreme of a simplified distribution; Eq. 3 and 4 take D from the arrivals drawn, "
            "which the timeline sees too"
        )
    if len(set(evaluation.message_sizes(evaluation.workload.baseline))) > 1:
        yield "sizes differ between neighbours: messages and terms are those of the buffer, steps those of each message"
    if evaluation.workload.weights is not None:
        yield "parts differ between threads: messages and terms are those of the mean, steps those of each message"
    if not evaluation.rest:
        steps = "the steps are means over the simulated ranks and iterations, where late neighbours delay bulk and "
        yield steps + "approach alike"
    yield (
        "PLogGP (LogGP of two ranks, one partition late) knows no threads, contention, rendezvous, further peers or "
        "late neighbours; only its abstract was read, the rest is LogGP"
    )
    yield (
        "Eq. 2-5 know bandwidth, delay and the number of messages only; the timeline adds overheads, contention, "
        "protocol, NIC, latency, matching and synchronisation (LogGP), and equals Eq. 3 where those are 0"
    )


WAITS: Mapping[str, str] = {
    "late_neighbour": "until the last partition of the last neighbour is ready",
    "issue": "until the neighbours have issued their messages to this rank: epochs, barriers and locks",
    "nic": "until these have left the adapters: handshakes and bandwidth",
    "wire": "until the last has arrived: its own bytes, and latency",
    "receive": "until all are received through the shared port, epochs are closed and the threads have met",
}
"""What a rank waits for after its own last partition, by cause."""
CONSUMES = "until its threads have worked on all partitions that came, each as soon as MPI tells that it is there"


def _simulated_way(evaluation: Evaluation, approach: Approach) -> Way:
    """An approach among many ranks: what a rank waits for after its own last partition is ready."""
    run = evaluation.nominal(approach)
    passed, steps = 0.0, []
    waits = {**WAITS, CONSUME: CONSUMES} if CONSUME in run.causes_s else WAITS
    for cause, rule in waits.items():
        added = float(run.causes_s[cause].mean()) / run.exchanges
        passed += added
        steps.append(Step(cause.replace("_", " "), rule, (), passed, added))
    size = approach.message_size(evaluation.workload.buffer)
    protocol = evaluation.machine.path(evaluation.workload.path).segment(size).protocol
    return Way(approach, size, protocol, tuple(steps), _once(evaluation, approach))


def _way(evaluation: Evaluation, approach: Approach) -> Way:
    costs = evaluation.costs(approach)
    size = approach.message_size(evaluation.workload.buffer)
    segment = evaluation.machine.path(evaluation.workload.path).segment(size)
    passed = _passed([evaluation.exchange(approach, row) for row in range(1, 1 + evaluation.iterations)])
    before, steps = 0.0, []
    for name, rule, terms in _rules(evaluation, approach, costs, segment):
        steps.append(Step(name, rule, tuple(terms), passed[name], passed[name] - before))
        before = passed[name]
    return Way(approach, size, segment.protocol, tuple(steps), _once(evaluation, approach))


def _once(evaluation: Evaluation, approach: Approach) -> float:
    return float(begin(Sampler(evaluation.machine), evaluation.workload, approach))


def _passed(exchanges: Sequence[Alone]) -> dict[str, float]:
    """When the last message has passed each step, mean over exchanges."""

    def last(time: Callable[[Alone, Message], float]) -> float:
        return float(np.mean([max(time(e, m) for m in e.messages) for e in exchanges]))

    return {
        "ready": last(lambda e, m: m.ready),
        "issue": last(lambda e, m: m.issued),
        "protocol": last(lambda e, m: m.goes),
        "NIC": last(lambda e, m: m.left),
        "link": last(lambda e, m: m.left + e.streams[m.direction]),
        "wire": last(lambda e, m: m.arrived),
        "receive": float(np.mean([e.received for e in exchanges])),
        "finish": float(np.mean([e.told for e in exchanges])),
        "consume": float(np.mean([e.end for e in exchanges])),
    }


Rule = tuple[str, str, list[Amount]]


def _rules(evaluation: Evaluation, approach: Approach, costs: Costs, segment: Segment) -> Iterator[Rule]:
    """Name, rule and terms of each step for this approach."""
    i, setting = approach.interface, evaluation.setting
    members = vci_members(approach, setting.threads, setting.contexts)
    fewest, most = min(map(len, members)), max(map(len, members))
    windows = i.windows(setting.threads)

    def term(cost: str, times: float = 1) -> list[Amount]:
        return _amount(cost, float(getattr(costs, cost)) * times)

    ready = ["each partition is marked (MPI_Pready or a counter)"] if i.counts else []
    terms = term("pready") if i.counts else []
    if any(counted(approach, setting.threads, setting.partitions_per_thread)):
        ready.append("threads that fill a message together share a counter")
        terms += term("pready")
    if i.joins:
        ready.append("the threads meet in a barrier")
        terms += term("barrier")
    if i.opens:
        ready.append("the receiver's clear-to-send, or its exposure epoch, of this iteration must have come")
        terms += term("control")
    if late_puts(i, setting):
        ready.append("puts are deferred to the call that ends the epoch, after the threads have met")
    if np.any(costs.cold):
        ready.append("the first message after computing takes longer, its code and data being cold")
        terms += term("cold")
    yield "ready", "; ".join(ready) or "the last partition is ready: time 0", terms

    threads, transports = setting.threads, approach.transport_partitions
    sharing = max(issuing_threads(m, transports, threads, setting.partitions_per_thread) for m in members)
    contended = "contention_put" if i.one_sided else "contention"
    taken = float(getattr(costs, contended)[sharing])
    queue = f"{most}" if fewest == most else f"{fewest}-{most}"
    peers = f" to each of {setting.peers} peers" if setting.peers > 1 else ""
    vcis = f"{len(members)} VCI{'s' * (len(members) > 1)}"
    each = " each" if len(members) > 1 else ""
    rule = f"{queue} message{'s' * (most > 1)}{peers} through {vcis}{each}{', serialised' * (most > 1)}"
    terms = term("put" if i.one_sided else "hold")
    if taken and most > 1:
        rule += f"; {sharing} threads contend, each blocked message costs c extra"
        terms.append(Amount(BY_COST[contended].symbol, BY_COST[contended].latex, taken))
    if i.persistent and np.any(costs.setup):
        rule += "; requests were set up before, which saves part of o_s"
        terms += [replace(a, seconds=-a.seconds) for a in term("setup")]
    if i.one_by_one and setting.peers > 1:
        rule += "; the next when the one before is complete: copied, or after a rendezvous left"
    if not i.one_sided:
        terms += term("copy_in")
    if i.active_message:
        terms += term("copy_out")
        terms += term("active")
    between = float(received_between(costs, approach, len(members), setting))
    if between and most > 1:
        rule += "; between two partitions that queue, as many messages are received as the first of them sent"
        terms.append(Amount("one received", r"t_\mathrm{receive}", between))
    yield "issue", rule, terms

    yield "protocol", *_protocol(evaluation, approach, costs, segment)

    terms = term("gap_put" if i.one_sided else "gap") + term("link")
    rule = "messages leave in order, at least this far apart"
    yield "NIC", rule, terms
    yield "link", "the last message streams out", term("stream")
    yield "wire", "latency", term("wire")

    by = receivers(i, setting)
    if by == "none":
        yield "receive", "by the adapter", []
    else:
        who = "one thread" if by == "master" else "each VCI's own thread"
        terms = term("receive" if i.matches else "unmatched")
        if i.matches:
            searched = (setting.peers * approach.messages / len(members) - 1) / 2
            terms += [replace(a, symbol=f"{searched:g} {a.symbol}") for a in term("per_entry", searched)]
        if i.active_message:
            terms += term("copy_out")
        puts = ", since puts are active messages here" if i.one_sided else ""
        beyond = float(beyond_the_cache(Sampler(evaluation.machine), evaluation.workload))
        slower = ""
        if segment.O_r_beyond is not None and beyond:
            slower = f"; {100 * beyond:.0f} % of the bytes do not fit into the cache"
        yield "receive", f"{who}, one message after the other{puts}{slower}", terms

    finish, terms = [], []
    if by == "master" and len(members) > 1:
        finish.append(f"{len(members) - 1} further VCIs are polled")
        terms += term("poll")
    if i.one_sided:
        peers = f", each with {setting.peers} peers" if setting.peers > 1 else ""
        finish.append(f"{i.synchronisation}; {windows} window{'s' * (windows > 1)}{peers}")
        ends = bool(confirmed(costs, i, setting))
        heard = not ends and bool(delivered(costs, i, setting)) and setting.two_way
        if heard:
            finish.append("MPI_Win_complete returns when the targets, in MPI, have what was put")
        elif ends and i.sync == "active":
            finish.append("MPI_Win_complete tells the targets once they, in MPI, have said that they have what was put")
        if heard or ends:
            acknowledged = float(acknowledgement(costs, i, setting))
            terms.append(Amount("acknowledgement", BY_COST["ack"].latex, acknowledged))
        terms += term("epoch" if i.sync == "active" else "flush")
        terms += term("epoch_peer" if i.sync == "active" else "flush_peer", windows * setting.peers)
        terms += term("window", windows - 1)
        terms += term("control")
    if i.completes == "threads":
        finish.append("the threads meet, each having completed its own messages")
        terms += term("barrier")
    finish.append("not before the sender's threads have met")
    if evaluation.workload.receiver_computes:
        finish.append("nor before the receiver enters MPI")
    yield "finish", "; ".join(finish), terms

    if setting.consume is not None:
        yield "consume", *_consume(setting, approach, costs)


def _amount(cost: str, seconds: float) -> list[Amount]:
    """A cost in a step, if it takes anything."""
    return [Amount(BY_COST[cost].symbol, BY_COST[cost].latex, seconds)] if seconds else []


def _consume(setting: Setting, approach: Approach, costs: Costs) -> tuple[str, list[Amount]]:
    """What the receiver's threads do."""
    n, k = setting.receive_partitions or setting.threads * setting.partitions_per_thread, setting.consumers
    terms = [Amount("w", "w", float(work(costs, n // approach.messages, setting)))]
    if approach.interface.tells:
        said = "C_i = max(A_i, C_(i-k)) + w, in the order of arrival"
    else:
        said = f"nothing tells of a part before the end: ⌈N θ / k⌉ w = {-(-n * setting.peers // k)} w after it"
        terms += _amount("barrier", float(released(costs, approach.interface)))
    return f"k = {k} thread{'s' * (k > 1)} work on {n * setting.peers} partitions: {said}", terms


def _protocol(evaluation: Evaluation, approach: Approach, costs: Costs, segment: Segment) -> tuple[str, list[Amount]]:
    """What has to happen before the payload may go."""
    i, setting = approach.interface, evaluation.setting
    waits = asks(costs, i, setting)
    if i.opens and not waits:
        return "none: the clear-to-send or the exposure epoch has come", []
    if i.two_sided_rendezvous:
        return "the rank that comes second starts the transfer", []
    if not waits:
        return f"none: {segment.protocol} messages go at once", []
    said = "active message: the receiver fetches its data" if i.opens else "rendezvous: RTS and CTS"
    said = "put by the target's processor, beyond what buffers hold" if i.one_sided else said
    first = "one of its threads is through and waits in MPI" if i.completes == "threads" else "its threads have joined"
    if answers_inside(costs, i, setting) and evaluation.workload.receiver_computes:
        said += f"; nothing moves before the receiver is in MPI: {first}"
    on_call = setting.sender_progress == "on-call" and not i.windows_per_thread
    if on_call and i.completes == "master":
        said += "; the sender sees the CTS once its threads have joined"
    elif on_call and setting.partitions_per_thread > 1:
        said += "; the sender sees the CTS once the first of its threads waits in MPI"
    return said, [] if i.opens else _amount("handshake", float(costs.handshake))
