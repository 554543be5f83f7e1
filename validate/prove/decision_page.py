"""The page of a proof: the decision, then predicted beside measured, then how it was measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pready.model.common.units import format_time
from pready.validate.prove.decision import between, percent
from pready.validate.prove.session import Case, Proof
from pready.validate.report.page import environment, style_sheet


def html(proof: Proof, about: Mapping[str, str]) -> str:
    """One HTML document, with everything it needs in it.

    Parameters
    ----------
    about
        How it came about, by name; "command" is the command line.
    """
    head, _, rest = proof.decision.partition(": ")
    longest = max(max(c.iteration_s, c.expected.iteration_s) for c in proof.cases)
    return (
        environment("pready.validate.prove")
        .get_template("decision.html.jinja")
        .render(
            style=style_sheet(),
            workload=proof.workload.name,
            decision=(head, rest),
            below=proof.below,
            asked=f"{proof.comparison.title}; predicted with {proof.machine.name}",
            rows=[_row(proof, case, longest) for case in proof.cases],
            exchanges=[*_exchanges(proof)],
            notes=proof.comparison.notes,
            command=about["command"],
            about={**proof.comparison.about, **{k: v for k, v in about.items() if k != "command"}},
        )
    )


def _row(proof: Proof, case: Case, longest: float) -> dict[str, Any]:
    r, e, today = case.result, case.expected, case.way.approach == proof.workload.baseline
    saved = case.measured_saving
    return {
        "way": case.words,
        "advised": case.way == proof.advised,
        "iteration_predicted": format_time(e.iteration_s),
        "iteration_measured": format_time(case.iteration_s),
        "predicted_share": round(100 * e.iteration_s / longest, 1),
        "measured_share": round(100 * case.iteration_s / longest, 1),
        "saving_predicted": "" if today else f"{percent(e.saving)} ({between(e.saving_low, e.saving_high)})",
        "saving_measured": "" if today else f"{percent(saved.value)} ({between(saved.low, saved.high)})",
        "time_predicted": f"{format_time(e.time_s)} ({format_time(e.time_low_s)} to {format_time(e.time_high_s)})",
        "time_measured": f"{format_time(r.measured_s)} ({format_time(r.measured_low_s)} to "
        f"{format_time(r.measured_high_s)})",
        "eta_predicted": "" if today else f"{e.eta:.2f}×",
        "eta_measured": "" if today else f"{r.eta_measured:.2f}×",
        "why": case.why,
    }


def _exchanges(proof: Proof) -> Iterator[dict[str, str]]:
    if not proof.cases[0].result.exchanges:
        return
    for number, part in enumerate(proof.workload.parts):
        for case in proof.cases:
            r, a = case.result.exchanges[number], case.way.approaches[number]
            yield {
                "name": part.name,
                "way": f"{a.name}, {r.transport_partitions}",
                "predicted": format_time(r.predicted_s),
                "measured": format_time(r.measured_s),
            }
