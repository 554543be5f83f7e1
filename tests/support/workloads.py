"""Workloads for tests, by the fields of a file."""

from typing import Any

from pready.model.toml.reading import validated
from pready.model.workload.workload import Workload


def workload_of(**fields: Any) -> Workload:
    """Threads in step that compute for a millisecond, unless `fields` say otherwise."""
    return validated(Workload, {"threads": 4, "compute": {"time": "1 ms"}, **fields}, "test")
