"""Defaults that matter: choices that a workload does not state, and that would change the answer.

A prediction names the default that it assumed where the other choice would turn the verdict, or move η out of its
interval.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from pready.model.approach.interfaces import Approach
from pready.model.result.prediction import ApproachPrediction
from pready.model.result.verdict import INDISTINCT, best_port, candidates
from pready.model.workload.workload import Workload

Evaluate = Callable[[Workload, Sequence[Approach]], list[ApproachPrediction]]
"""Rows of some approaches for a workload, with the machine's parameters at their values."""


@dataclass(frozen=True)
class Choice:
    """A field that the workload does not state."""

    field: str
    taken: str
    other: str
    workload: Workload
    """The same workload with the other value."""


def choices(workload: Workload) -> Iterator[Choice]:
    """Fields with two values, of which the workload states none."""
    if "receiver" not in workload.model_fields_set:
        other = "computing" if workload.receiver == "waiting" else "waiting"
        yield Choice("receiver", workload.receiver, other, workload.model_copy(update={"receiver": other}))
    arrivals = workload.arrivals
    taken = getattr(arrivals, "partitions", None)
    if taken is not None and "partitions" not in arrivals.model_fields_set and workload.partitions_per_thread > 1:
        other = "in turn" if taken == "together" else "together"
        changed = arrivals.model_copy(update={"partitions": other})
        yield Choice("arrivals.partitions", taken, other, workload.model_copy(update={"arrivals": changed}))


def said(
    workload: Workload,
    rows: Sequence[ApproachPrediction],
    advised: ApproachPrediction,
    min_gain: float,
    evaluate: Evaluate,
) -> list[str]:
    """A line for each default that changes the answer.

    Parameters
    ----------
    rows
        Of the workload with its defaults.
    advised
        The row that the advice names.
    """
    some = [r.approach for r in rows if r.available]
    out = []
    for choice in choices(workload):
        others = evaluate(choice.workload, some)
        now = next(r for r in others if r.approach == workload.baseline)
        instead = best_port(candidates(others, workload.baseline), now, workload.iterations, min_gain)
        same = next(r for r in others if r.approach == advised.approach)
        if instead.gain <= same.gain * (1 + INDISTINCT):
            instead = same  # no other is clearly better there
        turned = _pays(advised, min_gain) != _pays(instead, min_gain)
        within = advised.eta_low * (1 - INDISTINCT) <= instead.eta <= advised.eta_high * (1 + INDISTINCT)
        if turned or not within:
            would = f" ({'port' if _pays(instead, min_gain) else 'do not port'})" if turned else ""
            out.append(
                f'{choice.field} is not given, "{choice.taken}" is assumed: with {choice.field.rpartition(".")[2]} = '
                f'"{choice.other}" the best is {instead.name}, {instead.eta:.2f}×{would}'
            )
    return out


def _pays(row: ApproachPrediction, min_gain: float) -> bool:
    return row.speedup_percent >= 100 * min_gain
