"""From predictions to advice: the verdict, the settings, the buffer sizes, and the reason.

Everything comes from the engine that made the predictions, break-even included: the advice does not mix two models.
The rule of the verdict is in `verdict.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pready.model.advice.inputs import measure_next, turned
from pready.model.approach.interfaces import BULK, PERSISTENT, Approach
from pready.model.approach.libraries import LibraryProfile
from pready.model.common.arrays import Array
from pready.model.common.parallel import both
from pready.model.common.units import format_time
from pready.model.engine.evaluate import Evaluation
from pready.model.result.break_even import LARGEST_BUFFER, Glance, Look, OverSizes, Range, nearest
from pready.model.result.prediction import Advice, ApproachPrediction, Lever, Prediction, Verdict
from pready.model.result.verdict import MIN_GAIN, candidates, certainty_of, from_iterations, verdict_of
from pready.model.timeline.terms import TERMS, by_name, without

NOTABLE = 1e-3
"""Share of an approach's time below which a cost is not named."""
LATE = 0.1
"""Share of the time spent waiting for late neighbours from which on it is named."""
HIDES_NOTHING = 0.01
"""Share of the baseline's exchange below which a delay hides not even one message."""
FASTER = 1 + 1e-9
"""η from which on an approach is faster: more than times are rounded to."""


MOST_TURNS = 3
"""Most clauses of what would turn a verdict."""


def advise(
    evaluation: Evaluation,
    library: LibraryProfile,
    rows: Sequence[ApproachPrediction],
    best: ApproachPrediction,
    min_gain: float = MIN_GAIN,
    *,
    whole: bool = True,
) -> Advice:
    """Advice from all approaches of one prediction: the `best`; `whole`: with the buffers for which it pays, and the
    reason."""
    w = evaluation.workload
    usable = candidates(rows, w.baseline)
    now = next(p for p in rows if p.approach == w.baseline)
    approach, verdict = best.approach, verdict_on(best, min_gain)
    settings = library.settings(approach, w.buffer, w.threads, w.n_partitions)
    pays, because = list[Range](), ""
    if whole:
        pays, because = both(
            lambda: over_sizes(evaluation, best, min_gain).ranges(),
            lambda: _because(evaluation, library, verdict, best, usable, now, min_gain),
        )
    return Advice(
        verdict=verdict,
        best=best,
        min_gain=min_gain,
        here=nearest(pays, w.buffer),
        pays=pays,
        from_iterations=from_iterations(best, now, min_gain),
        settings=settings if verdict != "do not port" else [],
        because=because,
        warnings=list(library.warnings) if approach.interface.partitioned else [],
        certainty="" if best.probability is None else certainty_of(best.probability),
        probability=best.probability,
        best_in={p.name: p.best_in for p in rows if p.best_in},
    )


def verdict_on(best: ApproachPrediction, min_gain: float) -> Verdict:
    """The verdict on a row; where nothing was drawn, on its value alone."""
    if best.probability is None:
        return "port" if best.speedup_percent >= 100 * min_gain else "do not port"
    return verdict_of(best.probability)


def with_inputs(prediction: Prediction, found: list[Lever]) -> Prediction:
    """A prediction with what its advised saving rests on."""
    advice, chance = prediction.advice, prediction.advice.best.probability
    assert chance is not None
    clauses = [
        (step if x.kind == "unknown" else f"{x.name} {'were' if x.name.endswith('s') else 'was'} at its {step}", p)
        for x in found
        if x.turns
        for step, p in zip(x.steps, x.probability, strict=True)
        if turned(advice.verdict, p)
    ]
    clauses.sort(key=lambda x: -abs(x[1] - chance))
    told = replace(
        advice,
        rests_on={x.name: x.share for x in found},
        turns_if=clauses[:MOST_TURNS],
        measure_next=measure_next(found, chance),
    )
    return replace(prediction, advice=told, sensitivity=found)


def over_sizes(evaluation: Evaluation, best: ApproachPrediction, min_gain: float) -> OverSizes:
    """Buffers per peer for which a way saves that share of an iteration, from a byte per partition to 1 GiB.

    With the machine at its values. What the draws' median differs from that by for the workload's buffer, it differs
    by elsewhere in proportion to the saving or to the communication, whichever is less.
    """
    approach, (here, share_here) = best.approach, _saved(evaluation, best.approach)
    off = best.speedup_percent / 100 - here

    def of_draws(saved: Array, share: Array) -> Array:
        by_saving = off * saved / here if here else np.full_like(saved, np.inf)
        by_share = off * share / share_here
        return saved + np.where(np.abs(by_saving) < np.abs(by_share), by_saving, by_share)

    def glance(sizes: Sequence[float]) -> Array:
        return of_draws(*evaluation.saved_over_sizes(approach, sizes))

    def look(size: float) -> float:
        return float(of_draws(*map(np.asarray, _saved(evaluation.at_buffer(size), approach))))

    return _over_sizes(evaluation, approach, glance, look, min_gain)


def _saved(evaluation: Evaluation, approach: Approach) -> tuple[float, float]:
    """Shares of an iteration that an approach saves, and that the exchange takes as it is sent now."""
    now, row = (evaluation.predict(a) for a in (evaluation.workload.baseline, approach))
    return row.speedup_percent / 100, now.time_s / (now.iteration_s + now.begin_per_iteration_s)


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
