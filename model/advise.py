"""From predictions to advice: what to do, how, from which size on, and which term decides.

Everything is asked of the engine that made the predictions, break-even and what-if included: the advice
does not mix two models.

How firm the advice is, `verdict.py` says.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np

from pready.model.approach import BULK, Approach
from pready.model.costs import Costs
from pready.model.libraries import LibraryProfile
from pready.model.machine import Machine
from pready.model.prediction import Advice, ApproachPrediction, Verdict
from pready.model.terms import TERMS, by_name, without
from pready.model.units import format_size, format_time
from pready.model.values import Array, Replaced
from pready.model.verdict import INDISTINCT, simplest_of_the_best, verdict_of
from pready.model.workload import Workload

NOTABLE = 1e-3
"""Share of an approach's time below which a cost is not spoken of."""
LATE = 0.1
"""Share of the time spent waiting for late neighbours that is worth a word."""
LARGEST_BUFFER = 2.0**30
REFINE = 17


class Evaluated(Protocol):
    """A workload on a machine, as an engine sees it: `Evaluation` or `ManyRanks`."""

    machine: Machine
    workload: Workload
    seed: int

    @property
    def delay(self) -> float:
        """Mean time from a rank's first ready partition to its last."""

    def on(self, machine: Machine) -> Evaluated:
        """The same on another machine."""

    def prepare(self, approaches: Iterable[Approach]) -> None:
        """Evaluate these together, where that is faster than one after the other."""

    def predict(self, approach: Approach) -> ApproachPrediction:
        """Time, η and metrics of one approach, with 95 % intervals."""

    def costs(self, approach: Approach) -> Costs:
        """Costs of the approach's messages."""

    def mean_time(self, approach: Approach, **replaced: Replaced) -> float:
        """Mean communication time, optionally with some costs replaced."""

    def late(self, approach: Approach) -> float:
        """How much of it a rank waits for neighbours that are late (of a sweep: upstream)."""

    def gain_over_sizes(self, approach: Approach, sizes: Sequence[float]) -> Array:
        """η for several buffer sizes."""


def advise(evaluation: Evaluated, library: LibraryProfile, rows: Sequence[ApproachPrediction]) -> Advice:
    """Advice from all approaches of one prediction."""
    usable = [p for p in rows if p.available and p.approach != BULK]
    best = simplest_of_the_best(usable)
    approach = best.approach
    verdict = verdict_of(best)
    breaks = break_even(evaluation, approach, best.eta > 1)
    settings = library.settings(approach, evaluation.workload.buffer, evaluation.workload.n_partitions)
    warnings = list(library.warnings) if approach.interface.partitioned else []
    return Advice(
        verdict=verdict,
        best=best,
        break_even_bytes=breaks,
        settings=settings if verdict != "do not port" else [],
        because=_because(evaluation, library, verdict, best, usable),
        warnings=warnings,
    )


def break_even(evaluation: Evaluated, approach: Approach, pays_now: bool) -> float | None:
    """Buffer size from which an approach beats bulk.

    If it pays at the workload's size, the lower end of the range of sizes around it in which it pays
    (0 if that reaches one byte per partition); otherwise the next larger size at which it starts to
    pay; None if there is none up to 1 GiB.
    """
    lowest = float(evaluation.workload.n_partitions)
    here = evaluation.workload.buffer
    top = max(LARGEST_BUFFER, 4 * here)

    def gains(a: float, b: float, n: int) -> tuple[np.ndarray, np.ndarray]:
        sizes = np.geomspace(a, b, n)
        return sizes, evaluation.gain_over_sizes(approach, sizes.tolist()) > 1

    if pays_now:
        if here <= lowest:
            return 0.0
        sizes, pays = gains(lowest, here, 33)
        losing = np.flatnonzero(~pays[:-1])
        if not len(losing):
            return 0.0
        i = int(losing[-1])
    else:
        sizes, pays = gains(here, top, 33)
        winning = np.flatnonzero(pays[1:])
        if not len(winning):
            return None
        i = int(winning[0])
    low, high = float(sizes[i]), float(sizes[i + 1])
    for _ in range(2):
        sizes, pays = gains(low, high, REFINE)
        losing = np.flatnonzero(~pays[:-1])
        i = int(losing[-1]) if len(losing) else 0
        low, high = float(sizes[i]), float(sizes[i + 1])
    return high


def costs_that_matter(evaluation: Evaluated, approach: Approach) -> list[tuple[str, float]]:
    """How much of the approach's time each cost explains: seconds saved if it were zero.

    A measurement on the model, not a sum: overlapping costs hide each other.
    """
    costs, total = evaluation.costs(approach), evaluation.mean_time(approach)
    saved = [(name, total - evaluation.mean_time(approach, **without(costs, rows))) for name, rows in by_name().items()]
    return sorted(((n, s) for n, s in saved if s > NOTABLE * total), key=lambda x: -x[1])


def _because(
    evaluation: Evaluated,
    library: LibraryProfile,
    verdict: Verdict,
    best: ApproachPrediction,
    usable: Sequence[ApproachPrediction],
) -> str:
    approach, bulk = best.approach, evaluation.mean_time(BULK)
    parts: list[str] = []
    late = evaluation.late(approach)
    waits = f" ({format_time(late)} of it waiting for neighbours)" if late > LATE * best.time_s else ""
    if verdict == "port":
        parts.append(
            f"{best.name} takes {format_time(best.time_s)} after the last partition is ready{waits}, "
            f"bulk {format_time(bulk)}: {best.arrived_early_percent:.0f} % of it has arrived when the threads join"
        )
    else:
        small = best.eta <= 1 + INDISTINCT
        reason = f"no approach is more than {INDISTINCT:.0%} faster than bulk" if small else "the interval of η holds 1"
        parts.append(f"{reason} (best: {best.name}, η {best.eta:.2f})")
        alike = {t.name for t in TERMS if t.bulk_alike}
        worst = [(n, s) for n, s in costs_that_matter(evaluation, approach) if n not in alike][:2]
        if worst:
            parts.append("what eats the gain: " + ", ".join(f"{n} ({format_time(s)})" for n, s in worst))
        if _arrivals_matter(evaluation, approach):
            parts.append("the threads finish together, so there is nothing to send early")
    if not library.early and library.part is not None:
        parts.append(f"MPI_Psend on {library.title}: {library.why}")
    parts += _progress(evaluation, usable)
    percent = best.speedup_percent
    parts.append(f"an iteration gets {abs(percent):.2g} % {'shorter' if percent > 0 else 'longer'}")
    return "; ".join(parts)


def _progress(evaluation: Evaluated, usable: Sequence[ApproachPrediction]) -> list[str]:
    """What the two-sided approaches lose because nobody answers a rendezvous during the computation."""
    if evaluation.machine.progress.value != "on-call" or evaluation.workload.receiver == "waiting":
        return []
    two_sided = [p for p in usable if p.approach.interface.splits and p.approach.interface.shakes]
    if not two_sided:
        return []
    row = max(two_sided, key=lambda p: p.eta)
    progress = evaluation.machine.progress.model_copy(update={"value": "thread"})
    helped = evaluation.on(evaluation.machine.model_copy(update={"progress": progress}))
    helped.prepare([BULK, *(p.approach for p in two_sided)])
    alternatives = [(helped.mean_time(p.approach), p.approach) for p in two_sided]
    time, same = min(alternatives, key=lambda c: c[0])
    if time > row.time_s * 0.95:
        return []
    gain = helped.mean_time(BULK) / time
    size = format_size(same.message_size(evaluation.workload.buffer))
    return [
        f"{row.name} gains no more than {row.eta:.2f}× because its rendezvous waits until the receiver enters MPI "
        f"(a progress thread would make {same.name} with {size} messages {gain:.2f}×)"
    ]


def _arrivals_matter(evaluation: Evaluated, approach: Approach) -> bool:
    """True where the spread of arrivals is too small to hide even one message."""
    return evaluation.delay < 0.01 * evaluation.mean_time(BULK)
