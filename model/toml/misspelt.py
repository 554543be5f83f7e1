"""Unknown names in a workload file: the field that was probably meant."""

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
    "consume": ("early_receiver", "overlap_receive", "parrived", "receive_early", "receiver_starts_early"),
    "receive_partitions": ("partitions_per_receiver", "receiver_partitions", "recv_partitions"),
    "compute.device": ("cuda", "device", "gpu", "gpu_triggered", "hip", "kernel_triggered"),
    "compute.time": ("compute_time", "duration", "runtime", "time", "work"),
    "arrivals.spread": ("imbalance", "noise", "skew", "variance"),
    "arrivals.delay": ("lateness",),
}
"""Known misspellings by dotted field."""

_FIELDS = {name: field for field, names in OTHER_NAMES.items() for name in names}


def called_here(name: object, fields: Container[str]) -> str | None:
    """The field that a user means by `name`, if the table has it (or its first part) among its `fields`."""
    field = _FIELDS.get(re.sub(r"[\s-]+", "_", str(name).strip().lower()))
    return field if field is not None and field.partition(".")[0] in fields else None
