"""Workloads of every kind, drawn for tests of whatever somebody brings."""

from typing import Any

from hypothesis import strategies as st

from pready.model.machine import machine as machines
from pready.model.toml.reading import validated
from pready.model.workload.workload import Workload

PROFILES = sorted(machines.profiles())
ARRIVALS: list[dict[str, Any]] = [
    {"model": "none"},
    {"model": "laggard", "delay": "20 us"},
    {"model": "laggard", "late_by": 0.1},
    {"model": "normal by thread", "spread": 0.04},
    {"model": "uniform", "up_to": 0.1, "partitions": "in turn"},
    {"model": "normal by partition", "epsilon": 0.04},
]


@st.composite
def workloads(
    draw: st.DrawFn, arrivals: list[dict[str, Any]] = ARRIVALS, patterns: tuple[str, ...] = ("pt2pt", "halo3d")
) -> Workload:
    threads, theta = draw(st.sampled_from([1, 2, 4, 8, 16])), draw(st.sampled_from([1, 2, 4]))
    return validated(
        Workload,
        {
            "threads": threads,
            "partitions_per_thread": theta,
            "buffer": f"{threads * theta * draw(st.sampled_from([8, 100, 1500, 9000, 40000, 600000]))} B",
            "pattern": draw(st.sampled_from(patterns)),
            "receiver": draw(st.sampled_from(["waiting", "computing"])),
            "grid": None,
            "iterations": 20,
            "compute": {"time": draw(st.sampled_from(["10 us", "10 us", "100 us", "1 ms", "500 ms"]))},
            "arrivals": draw(st.sampled_from(arrivals)),
        },
        "drawn",
    )
