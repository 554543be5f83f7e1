"""One row per point: varied fields, prediction and verdict."""

from __future__ import annotations

from typing import Any

from pready.model.advice.summary import Outcome, outcome
from pready.model.result.prediction import ApproachPrediction
from pready.whatif.points import Options, Point

Rows = list[dict[str, Any]]


def rows_of(point: Point, options: Options, cores: int | None = None) -> Rows:
    """Predict a point: the best approach's row, or with `every` each approach's.

    Raises
    ------
    PreadyError
        As `predict`, without naming the point.
    """
    found = outcome(
        point.machine,
        point.workload,
        library=point.library,
        seed=point.seed,
        engine=options.engine,
        min_gain=options.min_gain,
        every=options.every,
        sizes=options.sizes,
        cores=cores,
    )
    return [_row(point, found, row, options) for row in found.rows or (found.best,)]


def _row(point: Point, found: Outcome, row: ApproachPrediction, options: Options) -> dict[str, Any]:
    w = point.workload
    out: dict[str, Any] = {
        "workload": w.name,
        "machine": point.machine.name,
        "library": found.library,
        "engine": found.engine,
        "seed": point.seed,
        "pattern": w.pattern,
        "threads": w.threads,
        "partitions_per_thread": w.partitions_per_thread,
        "buffer_bytes": int(w.buffer),
        "peers": w.peers,
        "verdict": found.verdict,
        "best": row is found.best,
        **row.to_dict(),
    }
    if found.ways and row is found.best:
        out["name"] = found.ways
    if options.sizes:
        # Unknown for a step with several buffers.
        ranges = None if found.pays is None else [r.to_list() for r in found.pays]
        out |= {"break_even_bytes": None if found.here is None else found.here.low, "pays_bytes": ranges}
    return out
