"""From predictions to advice: the verdict, the settings, the buffer sizes, and the reason.

Everything comes from the engine that made the predictions, break-even included: the advice does not mix two models.
The rule of the verdict is in `verdict.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from pready.model.advice import paying_sizes
from pready.model.approach.interfaces import BULK, PERSISTENT, Approach
from pready.model.approach.libraries import LibraryProfile
from pready.model.approach.vcis import issuers
from pready.model.common.parallel import both
from pready.model.common.units import format_time
from pready.model.engine.runs import Runs, Times
from pready.model.result.break_even import Range, nearest
from pready.model.result.prediction import Advice, ApproachPrediction, Lever, Partitioned, Prediction, Verdict
from pready.model.result.verdict import (
    ALIKE,
    INDISTINCT,
    MIN_GAIN,
    candidates,
    certainty_of,
    from_iterations,
    verdict_of,
    verdict_on,
)
from pready.model.timeline.terms import TERMS, by_name, without


def advise(
    runs: Runs,
    library: LibraryProfile,
    rows: Sequence[ApproachPrediction],
    best: ApproachPrediction,
    min_gain: float = MIN_GAIN,
    *,
    where: bool = True,
    reason: bool = True,
    number: int = 0,
) -> Advice:
    """Advice from all approaches of one exchange: the `best`; `where`, if there is no other: with the buffers and
    messages for which a port pays."""
    w = runs.parts[number]
    usable = candidates(rows, w.baseline)
    now = next(p for p in rows if p.approach == w.baseline)
    approach, verdict = best.approach, verdict_on(best, min_gain)
    settings = library.settings(approach, w.buffer, w.threads, w.n_partitions)

    def sizes() -> tuple[list[Range] | None, list[int] | None]:
        if not where:
            return None, None
        asked = runs, rows, best, min_gain
        return paying_sizes.buffers(*asked), paying_sizes.messages(*asked)

    def why() -> str:
        return _because(runs, library, verdict, best, usable, now, min_gain, number) if reason else ""

    (pays, counts), because = both(sizes, why) if where and reason else (sizes(), why())
    return Advice(
        verdict=verdict,
        best=best,
        min_gain=min_gain,
        here=nearest(pays or [], w.buffer),
        pays=pays,
        from_iterations=from_iterations(best, now, min_gain),
        settings=settings if verdict != "do not port" else [],
        because=because,
        warnings=list(library.warnings) if approach.interface.partitioned else [],
        certainty="" if best.probability is None else certainty_of(best.probability),
        probability=best.probability,
        best_in={p.name: p.best_in for p in rows if p.best_in},
        partitioned=partitioned(library, rows, w.baseline, min_gain),
        pays_messages=counts,
    )


def partitioned(
    library: LibraryProfile, rows: Sequence[ApproachPrediction], today: Approach, min_gain: float
) -> Partitioned:
    """What is said of MPI_Psend: the rows that are drawn, else the best by the machine's values."""
    some = [p for p in rows if p.approach.interface.partitioned and p.approach != today]
    each: list[ApproachPrediction | None] = []
    for of in ([p for p in some if p.available], [p for p in some if not p.available]):
        drawn = [p for p in of if p.probability is not None] or of
        # The interior apart, or a thread that tests, if that saves enough more.
        more = 100 * min_gain
        each.append(
            max(drawn, key=lambda p: p.speedup_percent - more * (_changed(p.approach) != _changed(today)), default=None)
        )
    row, if_early = each
    verdict = "do not port" if row is None else verdict_on(row, min_gain)
    return Partitioned(row, verdict, if_early, library.part is not None and library.early is None)


def _changed(approach: Approach) -> tuple[bool, bool]:
    """How a way changes what threads do besides sending."""
    return approach.interface.boundary_first, approach.interface.tests


def with_inputs(prediction: Prediction, found: list[Lever], ask: str = "", measure_next: str = "") -> Prediction:
    """A prediction with what its advised saving rests on, and what decides it."""
    advice, chance = prediction.advice, prediction.advice.best.probability
    assert chance is not None
    clauses = [
        (step if x.kind == "unknown" else f"{x.name} came out at the {step}", p)
        for x in found
        if x.turns
        for step, p in zip(x.steps, x.probability, strict=True)
        if verdict_of(p) != advice.verdict
    ]
    clauses.sort(key=lambda x: -abs(x[1] - chance))
    shares = {x.name: x.share for x in found}
    told = replace(advice, rests_on=shares, turns_if=clauses, ask=ask, measure_next=measure_next)
    return replace(prediction, advice=told, sensitivity=found)


def costs_that_matter(runs: Runs, approach: Approach, number: int = 0) -> list[tuple[str, float]]:
    """Seconds that the approach would save if a cost were zero, largest first.

    They do not add up: overlapping costs hide each other.
    """
    costs, total, names = runs.costs(approach, number), runs.mean_time(approach, number), by_name()
    times = runs.replaced(approach, [without(costs, terms) for terms in names.values()], number)
    saved = [(name, total - time) for name, time in zip(names, times, strict=True)]
    return sorted(((n, s) for n, s in saved if s > INDISTINCT * total), key=lambda x: -x[1])


def _because(
    runs: Runs,
    library: LibraryProfile,
    verdict: Verdict,
    best: ApproachPrediction,
    usable: Sequence[ApproachPrediction],
    now: ApproachPrediction,
    min_gain: float,
    number: int,
) -> str:
    approach, today = best.approach, runs.parts[number].baseline
    parts: list[str] = []
    late = 0.0 if runs.step.rest else float(_times(runs, approach, number).late[0]) / runs.steps
    waits = f" ({format_time(late)} waiting for neighbours)" if late > ALIKE * best.time_s else ""
    if verdict == "port":
        left = f"{format_time(best.time_s)} of {called(today)}'s {format_time(now.time_s)} are left{waits}"
        parts.append(f"{best.arrived_early_percent:.0f} % has arrived when the threads join, {left}")
    else:
        starts, few = from_iterations(best, now, min_gain), runs.parts[number].iterations
        if starts is not None and starts > few:
            parts.append(
                f"set-up takes {format_time(best.begin_s)}, so {best.name} pays from {starts} iterations on, "
                f"not in {few}"
            )
        alike = {t.name for t in TERMS if t.bulk_alike}
        worst = [(n, s) for n, s in costs_that_matter(runs, approach, number) if n not in alike][:2]
        if worst:
            parts.append("costs that take the gain: " + ", ".join(f"{n} ({format_time(s)})" for n, s in worst))
        if runs.delay(number) < min_gain * runs.mean_time(today, number):
            parts.append("the threads finish together, so there is nothing to send early")
    if not library.early and library.part is not None:
        parts.append(f"MPI_Psend sends nothing early in {library.full_name}")
    parts += _count(runs, best, usable, number) + _sits_in_mpi(best, usable)
    parts += _hidden_work(best, now)
    if approach.interface is not PERSISTENT:
        saved = [max(row.speedup_percent, 0.0) for row in usable if row.approach.interface is PERSISTENT]
        parts += [f"MPI_Send_init alone saves {percent:.2g} %" for percent in saved]  # what most codes ask for first
    return (
        "; ".join(parts) or f"{called(today)} takes {format_time(now.time_s)}, {best.name} {format_time(best.time_s)}"
    )


def _times(runs: Runs, approach: Approach, number: int) -> Times:
    return runs.at_values(runs.step.way(approach, number)).exchange(number)


def called(today: Approach) -> str:
    """The baseline in words."""
    return "bulk" if today == BULK else today.name


def messages_asked_for(runs: Runs, approach: Approach, number: int = 0) -> float:
    """m* = sqrt(M / (β (o + c))) messages of a neighbour's M bytes: the last partition is M / (m β) on the cable, and m
    calls take o + c each, where those of one thread are the last to be made."""
    costs = runs.costs(approach, number)
    w = runs.parts[number]
    sharing = max(issuers(approach, w.threads, w.partitions_per_thread, runs.machine.contexts.value))
    per_call = float(costs.hold) + float(costs.contention[sharing])
    on_cable = w.buffer * float(costs.link / costs.size)
    return math.sqrt(on_cable / per_call) if per_call > 0 else math.inf


def alike_counts(best: ApproachPrediction, rows: Sequence[ApproachPrediction], points: float = 0.5) -> list[int]:
    """Numbers of messages with which an interface saves at most so many percent of an iteration less than its best."""
    same = [p for p in rows if p.approach.interface == best.approach.interface]
    most = max((p.speedup_percent for p in same), default=0.0)
    return sorted({p.approach.messages for p in same if p.speedup_percent >= most - points})


def _count(runs: Runs, best: ApproachPrediction, usable: Sequence[ApproachPrediction], number: int) -> list[str]:
    """Why so many messages: those that save as much, and their number by costs where these rule."""
    interface = best.approach.interface
    tried = {p.approach.messages for p in usable if p.approach.interface == interface}
    if not interface.splits or interface.one_sided or len(tried) < 2:
        return []
    some, wanted = alike_counts(best, usable), messages_asked_for(runs, best.approach, number)
    if len(some) < 2:
        return [f"no other number of messages than {some[0]} is within 0.5 points"]
    rules = f": sqrt(M / (β (o + c))) = {wanted:.2g}" if some[0] <= wanted <= some[-1] else ""
    return [f"{some[0]} to {some[-1]} messages save within 0.5 points of each other{rules}"]


def _sits_in_mpi(best: ApproachPrediction, usable: Sequence[ApproachPrediction]) -> list[str]:
    """Where messages by threads win because their threads wait in MPI, what a thread that tests does for one that
    waits."""
    if best.approach.interface.completes != "threads":
        return []
    each = {p.approach.interface.tests: p for p in sorted(usable, key=lambda p: p.speedup_percent) if
            p.approach.interface.key.startswith("many-joined")}  # fmt: skip
    if len(each) < 2 or each[True].speedup_percent < each[False].speedup_percent + 0.5:
        return []
    return [
        f"{best.name} has its threads in MPI: with one that tests, {each[True].name} saves "
        f"{each[True].speedup_percent:.2g} % instead of {each[False].speedup_percent:.2g} %"
    ]


def _hidden_work(best: ApproachPrediction, now: ApproachPrediction) -> list[str]:
    """How much of a receiver's work is done before everything is there."""
    if not now.work_left_s:
        return []
    whole = f"the receiver's {format_time(now.work_left_s)} of work"
    if best.approach.interface.one_sided:
        return [f"{whole} come after the end: nothing tells a target of each put"]
    if not best.approach.interface.tells:
        return [f"{whole} come after the end: {best.name} is one message"]
    hidden = format_time(max(now.work_left_s - best.work_left_s, 0.0))
    return [f"{hidden} of {whole} are done before everything is there"]
