"""From predictions to advice: the verdict, the settings, the buffer sizes, and the reason.

Everything comes from the engine that made the predictions, break-even included: the advice does not mix two models.
The rule of the verdict is in `verdict.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from pready.model.approach.interfaces import BULK, Approach
from pready.model.approach.libraries import LibraryProfile
from pready.model.common.arrays import Array
from pready.model.common.parallel import both
from pready.model.common.units import format_size, format_time
from pready.model.engine.evaluate import Evaluation
from pready.model.equations import metrics
from pready.model.result.break_even import LARGEST_BUFFER, Glance, Look, OverSizes, Range, nearest
from pready.model.result.prediction import Advice, ApproachPrediction, Verdict
from pready.model.result.verdict import MIN_GAIN, best_port, candidates, from_iterations, verdict_of
from pready.model.timeline.terms import TERMS, by_name, without
from pready.model.workload.workload import Workload

NOTABLE = 1e-3
"""Share of an approach's time below which a cost is not named."""
LATE = 0.1
"""Share of the time spent waiting for late neighbours from which on it is named."""
FASTER = 1 + 1e-9
"""η from which on an approach is faster: more than times are rounded to."""


def best_of(workload: Workload, rows: Sequence[ApproachPrediction], min_gain: float = MIN_GAIN) -> ApproachPrediction:
    """The row to advise, among those that are available."""
    now = next(p for p in rows if p.approach == workload.baseline)
    return best_port(candidates(rows, workload.baseline), now, workload.iterations, min_gain)


def advise(
    evaluation: Evaluation, library: LibraryProfile, rows: Sequence[ApproachPrediction], min_gain: float = MIN_GAIN
) -> Advice:
    """Advice from all approaches of one prediction."""
    w = evaluation.workload
    usable = candidates(rows, w.baseline)
    now = next(p for p in rows if p.approach == w.baseline)
    best = best_of(w, rows, min_gain)
    approach, verdict = best.approach, verdict_of(best, min_gain)
    settings = library.settings(approach, w.buffer, w.threads, w.n_partitions)
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
    took = f"{called(today)} {format_time(now.time_s)}"
    parts: list[str] = []
    late = evaluation.late(approach)
    waits = f" ({format_time(late)} of it waiting for neighbours)" if late > LATE * best.time_s else ""
    if verdict == "port":
        parts.append(
            f"{best.name} takes {format_time(best.time_s)} after the last partition is ready{waits}, "
            f"{took}: {best.arrived_early_percent:.0f} % of it has arrived before the threads join"
        )
    else:
        starts, few = from_iterations(best, now, min_gain), evaluation.workload.iterations
        if starts is not None and starts > few:
            parts.append(
                f"{best.name}, η {best.eta:.2f}, saves {best.speedup_percent:.2g} % of a run: set-up takes "
                f"{format_time(best.begin_s)}, so it pays from {starts} iterations on, not in {few}"
            )
        else:
            parts.append(_too_little(best, verdict, min_gain))
        alike = {t.name for t in TERMS if t.bulk_alike}
        worst = [(n, s) for n, s in costs_that_matter(evaluation, approach) if n not in alike][:2]
        if worst:
            parts.append("costs that take the gain: " + ", ".join(f"{n} ({format_time(s)})" for n, s in worst))
        if _arrivals_matter(evaluation, approach):
            parts.append("the threads finish together, so there is nothing to send early")
    if not library.early and library.part is not None:
        parts.append(f"MPI_Psend on {library.title}: {library.why}")
    parts += _progress(evaluation, usable)
    if verdict == "port":
        parts.append(f"an iteration gets {best.speedup_percent:.2g} % shorter")
    return "; ".join(parts)


def called(today: Approach) -> str:
    """The baseline in words."""
    return "bulk" if today == BULK else f"today's {today.name}"


def _too_little(best: ApproachPrediction, verdict: Verdict, min_gain: float) -> str:
    """Why the best approach is not worth a port, in terms of the iteration."""
    percent, name = best.speedup_percent, f"{best.name}, η {best.eta:.2f}"
    if verdict == "undecided":
        low, high = best.speedup_low_percent, best.speedup_high_percent
        return f"an iteration gets {percent:.2g} % shorter ({name}), but {low:.2g} to {high:.2g} % cannot be told apart"
    if percent <= 0:
        return f"no approach makes an iteration shorter (best: {name}: {-percent:.2g} % longer)"
    return f"the best saves {percent:.2g} % of an iteration ({name}), less than {100 * min_gain:g} %"


def _progress(evaluation: Evaluation, usable: Sequence[ApproachPrediction]) -> list[str]:
    """What two-sided approaches lose because a receiver that computes sends no CTS."""
    if evaluation.machine.progress.value != "on-call" or evaluation.workload.receiver == "waiting":
        return []
    two_sided = [p for p in usable if p.approach.interface.splits and p.approach.interface.shakes]
    if not two_sided:
        return []
    row = max(two_sided, key=lambda p: p.eta)
    helped = evaluation.on(evaluation.machine.progressing("thread"))
    helped.prepare([helped.workload.baseline, *(p.approach for p in two_sided)])
    alternatives = [(helped.mean_time(p.approach), p.approach) for p in two_sided]
    time, same = min(alternatives, key=lambda c: c[0])
    if time > row.time_s * 0.95:
        return []
    gain = helped.mean_time(helped.workload.baseline) / time
    size = format_size(same.message_size(evaluation.workload.buffer))
    return [
        f"{row.name} gains no more than {row.eta:.2f}× because its rendezvous waits for the receiver to enter MPI "
        f"(a progress thread would make {same.name} with {size} messages {gain:.2f}×)"
    ]


def _arrivals_matter(evaluation: Evaluation, approach: Approach) -> bool:
    """Is the spread of arrivals too small to hide even one message?"""
    return evaluation.delay < 0.01 * evaluation.mean_time(evaluation.workload.baseline)
