"""Unknown names in a workload file: the field that was probably meant, or the feature that no field describes.

`LIMITS` is read by the documents, too.
"""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass
from difflib import get_close_matches


@dataclass(frozen=True)
class Limit:
    """A feature of applications that no field describes."""

    what: str
    """As a heading."""
    instead: str
    """The prediction in its place, as a sentence without a full stop."""
    words: tuple[str, ...]
    """Names that a user might write for it."""
    pattern: str
    """Matches names and values that can mean nothing else."""


LIMITS: tuple[Limit, ...] = (
    Limit(
        "partitions that a GPU triggers",
        "partitions are marked ready by CPU threads, each call at the cost of threads.pready",
        ("gpu", "cuda", "hip", "device", "gpu_triggered", "device_triggered", "kernel_triggered"),
        r"gpu|cuda|(^|_)hip($|_)|device|kernel_trig",
    ),
)


def cannot_say(name: object) -> str | None:
    """The message for a user who wrote `name`: the limit that it stands for, or None."""
    if not isinstance(name, str):
        return None
    low = re.sub(r"[\s-]+", "_", name.strip().lower())
    for limit in LIMITS:
        if re.search(limit.pattern, low) or get_close_matches(low, limit.words, n=1, cutoff=0.85):
            return f"a workload cannot say {limit.what}: {limit.instead}"
    return None


OTHER_NAMES = {
    "buffer": ("bytes", "buffer_size", "message", "message_size", "msg_size", "size", "volume"),
    "grid": ("dims", "process_grid", "procs", "ranks", "rank_grid", "shape", "topology"),
    "threads": ("cores", "num_threads", "nthreads", "omp_num_threads", "workers"),
    "partitions_per_thread": ("chunks", "n_part", "partitions", "slices", "tasks_per_thread", "theta"),
    "pattern": ("exchange", "neighbourhood", "stencil"),
    "iterations": ("nsteps", "repetitions", "steps", "timesteps"),
    "consume": ("early_receiver", "overlap_receive", "parrived", "receive_early", "receiver_starts_early"),
    "receive_partitions": ("partitions_per_receiver", "receiver_partitions", "recv_partitions"),
    "thread_shares": ("partition_bytes", "partition_sizes", "shares", "unequal", "unequal_partitions", "weights"),
    "compute.time": ("compute_time", "duration", "runtime", "time", "work"),
    "arrivals.spread": ("imbalance", "noise", "skew", "variance"),
    "arrivals.delay": ("lateness",),
}
"""By field, dotted."""

_FIELDS = {name: field for field, names in OTHER_NAMES.items() for name in names}


def called_here(name: object, fields: Container[str]) -> str | None:
    """The field that a user means by `name`, if the table has it (or its first part) among its `fields`."""
    if not isinstance(name, str):
        return None
    field = _FIELDS.get(re.sub(r"[\s-]+", "_", name.strip().lower()))
    return field if field is not None and field.partition(".")[0] in fields else None
