"""One row per point: varied fields, prediction and verdict."""

from __future__ import annotations

from typing import Any

from pready.model.advice.predict import predict, ways_said
from pready.model.result.prediction import SAVED, Advice, ApproachPrediction, Prediction
from pready.whatif.points import Options, Point

Rows = list[dict[str, Any]]
TODAY = ("today_iteration_s", "today_communication_s", "today_late_s")
"""Columns of `Prediction.today_s`."""


def rows_of(point: Point, options: Options, cores: int | None = None) -> Rows:
    """Predict a point: the best approach's row, or with `every` each approach's. Raises PreadyError: as `predict`,
    without naming the point."""
    made = predict(
        point.machine,
        point.workload,
        library=point.library,
        seed=point.seed,
        engine=options.engine,
        min_gain=options.min_gain,
        whole=None if options.every and point.workload.exchanges is None else (),
        sizes=options.sizes,
        cores=cores,
    )
    return [_row(point, made, row, options) for row in (made.approaches if options.every else [made.advised])]


def _of_partitioned(advice: Advice) -> dict[str, Any]:
    """What partitioned communication saves, and what it would if the library sent early."""
    of = advice.partitioned
    out: dict[str, Any] = {"partitioned_verdict": None if of is None else of.verdict}
    for name, row in (("partitioned", of and of.row), ("if_early", of and of.if_early)):
        out |= {f"{name}_{field}": None if row is None else getattr(row, field) for field in SAVED}
    return out


def _row(point: Point, made: Prediction, row: ApproachPrediction, options: Options) -> dict[str, Any]:
    w, advice = point.workload, made.advice
    out: dict[str, Any] = {
        "workload": w.name,
        "machine": point.machine.name,
        "library": made.library,
        "engine": made.engine,
        "seed": point.seed,
        "pattern": w.pattern,
        "threads": w.threads,
        "partitions_per_thread": w.partitions_per_thread,
        "buffer_bytes": int(w.buffer),
        "peers": w.peers,
        "verdict": advice.verdict,
        "best": row is made.advised,
        **row.to_dict(),
        "room_s": made.room_s,
        **dict(zip(TODAY, made.today_s or [None] * 3, strict=True)),
        **_of_partitioned(advice),
    }
    if made.exchanges and row is made.advised:
        out["name"] = ways_said(w, made.exchanges)
    if options.sizes:
        said = advice.to_dict()
        out |= {name: said[name] for name in ("break_even_bytes", "pays_bytes", "pays_messages")}
    return out
