"""What a library would have to change: known answers, and what predictions of the changed library say."""

from typing import Any

import pytest
from machines import ideal
from workloads import workload_of

from pready.model.advice.library_changes import best, changed, library_changes
from pready.model.advice.predict import predict, runs_of, with_library
from pready.model.machine.machine import Machine, load
from pready.model.workload.workload import Workload
from pready.show.tables.explanation import _made

HALO = {"pattern": "halo3d", "grid": [2, 2, 2], "partitions_per_thread": 2, "buffer": "1 MiB", "iterations": 1000}
NOISY = {**HALO, "arrivals": {"model": "normal by partition", "spread": "4 %"}}
ALL = dict.fromkeys(("CTS", "send", "progress", "aggregate", "VCIs", "o_s", "c(k)"), 0.0)


OF_THE_PAPER = "mpich-release@4.1"
"""Both sides copy its active message."""


def iteration(machine: Machine, workload: Workload, left: dict[str, float], library: str = "mpich-release") -> float:
    on, profile = with_library(machine, library)
    return best(runs_of(on, workload, draws=0)[0], profile, left)[0]


def test_known_answer() -> None:
    """4 MB at 25 GB/s, a quarter 1 ms late: 75 + 160 us today, 75 + 40 us by partitions, 40 us by any library, so that
    x of o_s reaches (195 - 75 x) / 195. Four active messages after the join end after 4 × 75 + 40 us."""
    w = workload_of(buffer="4000000 B", arrivals={"model": "laggard", "delay": "1 ms"})
    found = library_changes(ideal(o_s=75e-6), w)
    sent = {"CTS": 0.0, "send": 0.0}
    assert found.reached_by == {0.5: sent, 0.8: {**sent, "o_s": 0.5}, 0.95: {**sent, "o_s": 0.1}}
    assert _made({"CTS": 0.0, "o_s": 0.1}) == "CTS, o_s cut to 10 %"
    assert found.now == pytest.approx(0, abs=1e-9)
    alone = {name: share for name, share, _ in found.steps}
    assert alone == pytest.approx({**dict.fromkeys(ALL, 0.0), "send": (235 - 340) / 195, "o_s": 75 / 195}, abs=1e-9)
    assert found.steps[-1][2] == pytest.approx(1)
    assert found.bound_percent == pytest.approx(100 * 195 / 2235)


@pytest.mark.parametrize(
    ("left", "library", "fields"),
    [
        ({}, "mpich-release", {}),
        ({"CTS": 0.0, "send": 0.0, "aggregate": 0.0, "VCIs": 0.0}, "mpich-6314", {}),
        ({**ALL, "o_s": 0.5, "c(k)": 0.2}, "mpich-6314", {}),
        ({"progress": 0.0, "o_s": 0.3}, "mpich-release", {"receiver": "waiting"}),
    ],
)
def test_a_changed_machine_and_library_give_what_is_promised(
    left: dict[str, float], library: str, fields: dict[str, Any]
) -> None:
    """The file with the changed values, predicted for the library that does so. A receiver in MPI sees clear-to-sends;
    its active message goes with the last MPI_Pready only if that makes progress: 2 barriers earlier at most."""
    machine, w = load("meluxina"), workload_of(**{**NOISY, **fields})
    on = changed(with_library(machine, library)[0], left)
    rows = [r for r in predict(on, w, library=library, draws=0).approaches if r.approach.interface.call == "MPI_Psend"]
    said = min(r.iteration_s + r.begin_per_iteration_s for r in rows if r.available and not r.approach.interface.tests)
    slack = 2 * machine.threads.barrier.at(4) if left.keys() == {"progress", "o_s"} else 0.0
    assert iteration(machine, w, left) == pytest.approx(said, rel=1e-9, abs=slack)


@pytest.mark.parametrize("size", ["64 B", "4 KiB", "256 KiB", "32 MiB"])
def test_one_message_is_slower_after_a_clear_to_send_for_each(size: str) -> None:
    """gillis2023 (doi:10.1145/3605573.3605599), Fig. 4: the active message is noticeably slower at every size."""
    w = workload_of(threads=1, buffer=size, compute={"time": "0 s"})
    old, new = (iteration(load("meluxina"), w, left, OF_THE_PAPER) for left in ({}, {"CTS": 0.0}))
    assert old > 1.1 * new


def test_early_birds() -> None:
    """Fig. 8 there: 4 partitions, one late by 100 us/MB, gain 2.54 over one message; neither change does so alone."""
    w = workload_of(buffer="16 MiB", compute={"time": "0 s"}, arrivals={"model": "laggard", "delay_rate": "100 us/MB"})
    on, late = load("meluxina"), 100e-6 / 1e6 * w.buffer / 4
    bulk = predict(on, w, draws=0).bulk.iteration_s - late
    for some, gains in (({}, False), ({"CTS": 0.0}, False), ({"send": 0.0}, False), ({"CTS": 0.0, "send": 0.0}, True)):
        gain = bulk / (iteration(on, w, some, OF_THE_PAPER) - late)
        assert gain == pytest.approx(2.54, rel=0.06) if gains else gain <= 1.01
