"""What fields of a workload are called elsewhere, and no spelling would tell."""

from __future__ import annotations

import re
from collections.abc import Container

OTHER_NAMES = {
    "buffer": ("bytes", "buffer_size", "message", "message_size", "msg_size", "size", "volume"),
    "grid": ("dims", "process_grid", "procs", "ranks", "rank_grid", "shape", "topology"),
    "threads": ("cores", "num_threads", "nthreads", "omp_num_threads", "workers"),
    "partitions_per_thread": ("chunks", "n_part", "partitions", "slices", "tasks_per_thread", "theta"),
    "pattern": ("exchange", "neighbourhood", "stencil"),
    "iterations": ("nsteps", "repetitions", "steps", "timesteps"),
    "compute.time": ("compute_time", "duration", "runtime", "work"),
    "arrivals.spread": ("imbalance", "jitter", "noise", "skew", "variance"),
    "arrivals.delay": ("lateness",),
}
"""By field, dotted."""

_FIELDS = {name: field for field, names in OTHER_NAMES.items() for name in names}


def called_here(name: object, fields: Container[str]) -> str | None:
    """The field that somebody means by `name`, if the table has it (or its first part) among its `fields`."""
    if not isinstance(name, str):
        return None
    field = _FIELDS.get(re.sub(r"[\s-]+", "_", name.strip().lower()))
    return field if field is not None and field.partition(".")[0] in fields else None
