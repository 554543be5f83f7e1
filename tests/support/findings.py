"""A made-up validation for tests of what prints and draws it: every kind of thing occurs, all numbers are invented."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pready.validate.result import CaseResult, Check, ClaimResult, Comparison, Control, Reading, Report

CLAIM = ClaimResult(
    id="gillis2023/4.3-eta",
    source="gillis2023",
    where="section 4.3, Fig. 8",
    says="four threads, one partition late by 100 us/MB, gain up to 2.54",
    quantity="η",
    unit="1",
    expected=2.54,
    got=2.6,
    tolerance="±10 %",
    status="ok",
    why="read off a figure",
    configuration="N = 4, θ = 1, β = 25 GB/s",
)
OFF = replace(
    CLAIM, id="gillis2023/4.2.1-contention", says="contention <b>costs</b> 30×", got=60.0, expected=30.0, status="off"
)
WORDS = replace(CLAIM, id="zambre2021/6.1", source="zambre2021", unit="", expected=True, got=True, tolerance="exact")
OUT = replace(
    CLAIM, id="jammer2022/V", source="jammer2022", status="out of scope", got=None, why="a compiler's run time"
)
TWICE = replace(
    CLAIM,
    id="gillis2023/eq4",
    readings=(Reading("printed γθβ", expected=1.641, got=64.0, status="off"),),
)


def cases(count: int = 120, *, error: float = 0.05, seed: int = 0) -> tuple[CaseResult, ...]:
    """Cases whose predictions miss by about `error`; the closed form misses more, and most for small buffers."""
    rng = np.random.default_rng(seed)
    made = []
    for i in range(count):
        library, approach = ("mpich", "openmpi")[i % 2], ("single", "part", "many", "rma-single-active")[i // 2 % 4]
        buffer = 2 ** (10 + i % 15)
        measured = 2e-5 + buffer / 1.2e8
        eta = 1.0 if approach == "single" else float(np.exp(rng.normal(0.3, 0.5)))
        predicted = measured * float(np.exp(rng.normal(0, error)))
        eta_predicted = 1.0 if approach == "single" else eta * float(np.exp(rng.normal(0, error)))
        closed = None if approach == "single" else eta * (1 + 2e4 / buffer)
        made.append(
            CaseResult(
                id=f"case-{i}", library=library, approach=approach, transport_partitions=4, vcis=1, threads=4,
                partitions_per_thread=2, buffer=buffer, arrivals="laggard 5 ms", measured_s=measured,
                measured_low_s=0.98 * measured, measured_high_s=1.02 * measured, spread=0.02, predicted_s=predicted,
                predicted_low_s=0.9 * predicted, predicted_high_s=1.1 * predicted, eta_measured=eta,
                eta_measured_low=0.97 * eta, eta_measured_high=1.03 * eta, eta_predicted=eta_predicted,
                eta_predicted_low=0.9 * eta_predicted, eta_predicted_high=1.1 * eta_predicted, eta_closed_form=closed,
                suspect="the rendezvous handshake" if buffer > 2**16 else "",
            )
        )  # fmt: skip
    return tuple(made)


GOOD = Check("error of time, median", 0.041, 0.07, "at most", cases=120)
BAD = Check("verdict right", 0.91, 0.95, "at least", note="two cases near η = 1", cases=40)


def comparison(count: int = 120) -> Comparison:
    """Predictions against rig measurements: one check fails, one control is rejected and one is not."""
    return Comparison(
        source="live",
        title="rig 1Gbit",
        cases=cases(count),
        checks=(GOOD, BAD),
        controls=(
            Control("β halved", "G is twice what was measured", (replace(GOOD, value=0.88),)),
            Control("blind", "nothing was changed", (GOOD,)),
        ),
        notes=("two cores",),
        about={"MPI": "MPICH 4.3", "machine file": 'name = "rig"\n[inter]\n'},
    )


def report(count: int = 120) -> Report:
    """Everything."""
    return Report(
        "0.1.0",
        7,
        {"Python": "3.12", "system": "Linux"},
        claims=(CLAIM, WORDS, OUT, OFF, TWICE),
        comparisons=(comparison(count),),
    )
