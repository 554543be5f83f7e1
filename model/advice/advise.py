"""From predictions to advice: the verdict, the settings, the buffer sizes, and the reason.

Everything comes from the engine that made the predictions, break-even included: the advice does not mix two models.
The rule of the verdict is in `verdict.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from pready.model.approach.interfaces import BULK, PERSISTENT, Approach, Interface
from pready.model.approach.libraries import LibraryProfile
from pready.model.common.arrays import Array
from pready.model.common.parallel import both
from pready.model.common.units import format_time
from pready.model.engine.evaluate import Evaluation
from pready.model.equations import metrics
from pready.model.result.break_even import LARGEST_BUFFER, Glance, Look, OverSizes, Range, nearest
from pready.model.result.interval import enough
from pready.model.result.prediction import Advice, ApproachPrediction, Verdict
from pready.model.result.verdict import (
    FIRMNESS,
    INDISTINCT,
    MIN_GAIN,
    Standing,
    as_good,
    best_port,
    candidates,
    from_iterations,
    simplest,
    verdict_of,
)
from pready.model.timeline.terms import TERMS, by_name, without
from pready.model.workload.workload import Workload

NOTABLE = 1e-3
"""Share of an approach's time below which a cost is not named."""
LATE = 0.1
"""Share of the time spent waiting for late neighbours from which on it is named."""
HIDES_NOTHING = 0.01
"""Share of the baseline's exchange below which a delay hides not even one message."""
FASTER = 1 + 1e-9
"""η from which on an approach is faster: more than times are rounded to."""


LEAST_DEEP, DEEPEST = 64, 512
"""Least and most draws of the machine for the interval of what is advised."""
MOST_DRAWN_MESSAGES = 120_000_000
"""Most messages of all these draws together."""


def best_and_as_good(
    evaluation: Evaluation, rows: Sequence[ApproachPrediction], min_gain: float = MIN_GAIN
) -> tuple[ApproachPrediction, list[ApproachPrediction]]:
    """The row to advise among those that are available, and those of other interfaces that save as much.

    Approaches that cannot be told apart, on the same draws of the machine, are one choice if the verdict on each is as
    good: the simplest to program is advised.
    """
    w = evaluation.workload
    usable, now = candidates(rows, w.baseline), next(p for p in rows if p.approach == w.baseline)
    best = best_port(usable, now, w.iterations, min_gain)
    verdict = verdict_of(best, min_gain)
    if verdict == "do not port":
        return best, []
    firm = [p for p in usable if FIRMNESS.index(verdict_of(p, min_gain)) >= FIRMNESS.index(verdict)]
    leaders = [simplest([p for p in firm if p.approach.interface == i], w.iterations) for i in interfaces(firm)]

    def told_apart(a: ApproachPrediction, b: ApproachPrediction) -> bool:
        more = evaluation.saving(a.approach).over(evaluation.saving(b.approach))[0]
        return a.speedup_percent - b.speedup_percent >= 100 * INDISTINCT and more > 0

    first, *others = as_good(best, leaders, told_apart)
    return first, others


def rivals(
    workload: Workload, rows: Sequence[ApproachPrediction], best: ApproachPrediction
) -> list[tuple[Approach, ...]]:
    """Where nothing is advised: the best approach of each other kind, which might pay were an input another."""
    usable, out = candidates(rows, workload.baseline), list[tuple[Approach, ...]]()
    kinds = {_kind(best.approach.interface)}
    for row in sorted(usable, key=lambda p: -p.speedup_percent):
        kind = _kind(row.approach.interface)
        if kind not in kinds and row.approach.interface.splits:
            kinds.add(kind)
            out.append((row.approach,))
    return out


def _kind(interface: Interface) -> tuple[bool, bool]:
    return interface.one_sided, interface.partitioned


def interfaces(rows: Sequence[Standing]) -> list[Interface]:
    return list(dict.fromkeys(p.approach.interface for p in rows))


def deep(evaluation: Evaluation, approach: Approach, min_gain: float = MIN_GAIN) -> Evaluation:
    """The evaluation with so many draws that more would not turn the verdict nor change its interval (`enough`)."""
    base = evaluation.workload.baseline
    most = min(DEEPEST, max(evaluation.draws_made, MOST_DRAWN_MESSAGES // max(evaluation.messages_of_a_draw, 1)))
    out, draws = evaluation.with_draws(most), min(LEAST_DEEP, most)
    while True:
        out.prepare_drawn({base: draws, approach: draws})
        saving = out.saving(approach)
        if draws >= most or enough(saving.draws, *saving.interval(), 100 * min_gain):
            return out
        draws = min(2 * draws, most)


def decided(
    evaluation: Evaluation, rows: list[ApproachPrediction], min_gain: float = MIN_GAIN
) -> tuple[Evaluation, ApproachPrediction, list[ApproachPrediction]]:
    """`best_and_as_good`, and what is advised with as many draws as its verdict needs (`deep`): its row is replaced.

    If it loses its verdict by them, it is not as good as the others: the choice is made once more.
    """
    asked: dict[Approach, Evaluation] = {}
    while True:
        best, others = best_and_as_good(evaluation, rows, min_gain)
        if best.approach in asked:
            return asked[best.approach], best, others
        drawn = asked[best.approach] = deep(evaluation, best.approach, min_gain)
        deeper = drawn.predict(best.approach)
        rows[rows.index(best)] = deeper
        if FIRMNESS.index(verdict_of(deeper, min_gain)) >= FIRMNESS.index(verdict_of(best, min_gain)):
            return drawn, deeper, others


def advise(
    evaluation: Evaluation,
    library: LibraryProfile,
    rows: Sequence[ApproachPrediction],
    best: ApproachPrediction,
    others: Sequence[ApproachPrediction],
    min_gain: float = MIN_GAIN,
    *,
    whole: bool = True,
) -> Advice:
    """Advice from all approaches of one prediction: the `best`, and `others` as good.

    `whole`: with the buffers for which it pays, and the reason.
    """
    w = evaluation.workload
    usable = candidates(rows, w.baseline)
    now = next(p for p in rows if p.approach == w.baseline)
    approach, verdict = best.approach, verdict_of(best, min_gain)
    settings = library.settings(approach, w.buffer, w.threads, w.n_partitions)
    pays, certain, because = list[Range](), list[Range](), ""
    if whole:
        (pays, certain), because = both(
            lambda: _pays(evaluation, best, min_gain),
            lambda: _because(evaluation, library, verdict, best, usable, now, min_gain),
        )
    return Advice(
        verdict=verdict,
        best=best,
        min_gain=min_gain,
        here=nearest(pays, w.buffer),
        pays=pays,
        certain=certain,
        as_good=list(others),
        from_iterations=from_iterations(best, now, min_gain),
        settings=settings if verdict != "do not port" else [],
        because=because,
        warnings=list(library.warnings) if approach.interface.partitioned else [],
    )


def _pays(evaluation: Evaluation, best: ApproachPrediction, min_gain: float) -> tuple[list[Range], list[Range]]:
    """Buffers for which the best approach is worth porting to, and those for which that is certain."""
    sizes = over_sizes(evaluation, best.approach, min_gain)
    pays = sizes.ranges()
    known = {evaluation.workload.buffer: (best.speedup_percent / 100, best.speedup_low_percent / 100)}
    return pays, sizes.certain(lambda size: evaluation.at_buffer(size).saved(best.approach), pays, known)


def over_sizes(evaluation: Evaluation, approach: Approach, min_gain: float) -> OverSizes:
    """Buffers per peer for which an approach saves that share of an iteration, from a byte per partition to 1 GiB."""

    def look(size: float) -> float:
        there = evaluation.at_buffer(size, drawn=False)
        now, then = there.gains([there.workload.baseline, approach])
        whole = [s.iteration_s + s.begin_s / there.workload.iterations for s in (now, then)]
        return float(metrics.speedup_percent(*whole)) / 100

    return _over_sizes(evaluation, approach, lambda sizes: evaluation.saved_over_sizes(approach, sizes), look, min_gain)


def break_even(evaluation: Evaluation, approach: Approach) -> float | None:
    """Buffer from which an approach's exchange is faster than bulk's: 0 if always, None if not up to 1 GiB.

    The lower end of the range that holds the workload's buffer, else of the next larger.
    """

    def glance(sizes: Sequence[float]) -> Array:
        return evaluation.gain_over_sizes(approach, sizes)

    found = _over_sizes(evaluation, approach, glance, lambda size: float(glance([size])[0]), FASTER).ranges()
    here = nearest(found, evaluation.workload.buffer)
    return None if here is None else here.low


def _over_sizes(evaluation: Evaluation, approach: Approach, glance: Glance, look: Look, limit: float) -> OverSizes:
    """A value over buffers, which may jump where bulk or the approach changes its protocol."""
    workload = evaluation.workload
    starts = [s.from_ for s in evaluation.machine.path(workload.path).segments[1:]]
    borders = [s * messages for s in starts for messages in {1, approach.messages}]
    largest = max(LARGEST_BUFFER, 4 * workload.buffer)
    return OverSizes(glance, look, limit, float(workload.n_partitions), largest, borders)


def costs_that_matter(evaluation: Evaluation, approach: Approach) -> list[tuple[str, float]]:
    """Seconds that the approach would save if a cost were zero, largest first.

    They do not add up: overlapping costs hide each other.
    """
    costs, total = evaluation.costs(approach), evaluation.mean_time(approach)
    saved = [(name, total - evaluation.mean_time(approach, **without(costs, rows))) for name, rows in by_name().items()]
    return sorted(((n, s) for n, s in saved if s > NOTABLE * total), key=lambda x: -x[1])


def _because(
    evaluation: Evaluation,
    library: LibraryProfile,
    verdict: Verdict,
    best: ApproachPrediction,
    usable: Sequence[ApproachPrediction],
    now: ApproachPrediction,
    min_gain: float,
) -> str:
    approach, today = best.approach, evaluation.workload.baseline
    parts: list[str] = []
    late = evaluation.late(approach)
    waits = f" ({format_time(late)} waiting for neighbours)" if late > LATE * best.time_s else ""
    if verdict == "port":
        left = f"{format_time(best.time_s)} of {called(today)}'s {format_time(now.time_s)} are left{waits}"
        parts.append(f"{best.arrived_early_percent:.0f} % has arrived when the threads join, {left}")
    else:
        starts, few = from_iterations(best, now, min_gain), evaluation.workload.iterations
        if starts is not None and starts > few:
            parts.append(
                f"set-up takes {format_time(best.begin_s)}, so {best.name} pays from {starts} iterations on, "
                f"not in {few}"
            )
        alike = {t.name for t in TERMS if t.bulk_alike}
        worst = [(n, s) for n, s in costs_that_matter(evaluation, approach) if n not in alike][:2]
        if worst:
            parts.append("costs that take the gain: " + ", ".join(f"{n} ({format_time(s)})" for n, s in worst))
        if evaluation.delay < HIDES_NOTHING * evaluation.mean_time(today):
            parts.append("the threads finish together, so there is nothing to send early")
    if not library.early and library.part is not None:
        parts.append(f"MPI_Psend sends nothing early in {library.full_name}")
    parts += _progress(evaluation, usable)
    parts += _hidden_work(best, now)
    if approach.interface is not PERSISTENT:
        saved = [max(row.speedup_percent, 0.0) for row in usable if row.approach.interface is PERSISTENT]
        parts += [f"MPI_Send_init alone saves {percent:.2g} %" for percent in saved]  # what most codes ask for first
    return (
        "; ".join(parts) or f"{called(today)} takes {format_time(now.time_s)}, {best.name} {format_time(best.time_s)}"
    )


def called(today: Approach) -> str:
    """The baseline in words."""
    return "bulk" if today == BULK else today.name


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


def _progress(evaluation: Evaluation, usable: Sequence[ApproachPrediction]) -> list[str]:
    """What two-sided approaches lose because a receiver that computes sends no CTS."""
    if evaluation.machine.progress.value != "on-call" or not evaluation.workload.receiver_computes:
        return []
    two_sided = [p for p in usable if p.approach.interface.splits and p.approach.interface.shakes]
    if not two_sided:
        return []
    row = max(two_sided, key=lambda p: p.eta)
    helped = evaluation.on(evaluation.machine.progressing("thread"))
    helped.prepare([helped.workload.baseline, *(p.approach for p in two_sided)])
    time = min(helped.mean_time(p.approach) for p in two_sided)
    if time > row.time_s * 0.95:
        return []
    gain = helped.mean_time(helped.workload.baseline) / time
    return [f"{row.name} waits for clear-to-sends ({row.eta:.2f}×; {gain:.2f}× with a progress thread)"]
