"""A prediction held against the captured run that its workload is made of."""

from __future__ import annotations

from dataclasses import replace

from pready.model.common.units import format_time
from pready.model.result.prediction import Prediction
from pready.model.result.verdict import DESCRIBES
from pready.model.workload.captured import Captured

ONE_THREAD = (
    "nothing to partition with one thread; as 8 threads of an eighth of the computing each: "
    "pready workload RUN --set threads=8"
)
SHARED_CORES = (
    "ranks shared cores when the run was captured: they waited for these, not for messages; capture it with a core "
    "for each thread"
)


def held_against(prediction: Prediction, captured: Captured | None) -> Prediction:
    """The prediction, with a doubt in place of its verdict where the run contradicts it."""
    if captured is not None and prediction.workload["threads"] == 1:
        return replace(
            prediction, advice=replace(prediction.advice, verdict="do not port", certainty="", doubt=ONE_THREAD)
        )
    doubt = "" if captured is None else _doubt(prediction, captured)
    if not doubt:
        return prediction
    return replace(prediction, advice=replace(prediction.advice, verdict="undecided", certainty="", doubt=doubt))


def _doubt(prediction: Prediction, captured: Captured) -> str:
    if captured.shared_cores:
        return SHARED_CORES
    now, best = prediction.bulk, prediction.advised
    if abs(now.iteration_s - captured.step) > DESCRIBES * captured.step:
        return f"the model does not describe this step: {format_time(now.iteration_s)} for {format_time(captured.step)}"
    saved = now.iteration_s * best.speedup_percent / 100
    if saved > captured.exchanges:
        return (
            f"the model saves {format_time(saved)} of exchanges that took {format_time(captured.exchanges)} in the "
            "captured run"
        )
    return ""
