"""A smoke test: predictions beside real MPI, between two nodes emulated on this machine, calibrated just before.

The limits say that nothing is grossly wrong; no constant of the model is tuned to what is measured here.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mpi_home import home_of
from real_mpi import benchmark
from rig import Rig

from pready.model.result.verdict import MIN_GAIN
from pready.model.toml.reading import validated
from pready.model.workload.workload import Workload
from pready.validate.prove import session
from pready.validate.prove.case import Case
from pready.validate.prove.design import FEWEST_ROUNDS
from pready.validate.prove.session import Asked, prove
from pready.validate.prove.site import Site

ETA_OFF, RIGHT = 0.08, 0.9
"""Median error of η at most, and share of clear verdicts on the right side at least."""
STEADY = 0.05
"""Spread of its rounds below which a way can judge a prediction."""
WORKLOADS: list[dict[str, Any]] = [
    {"buffer": "256 KiB", "arrivals": {"model": "laggard", "delay": "15 ms"}},
    {"buffer": "64 KiB", "arrivals": {"model": "none"}},
]


def told(**fields: Any) -> Workload:
    return validated(Workload, {"threads": 2, "both_ways": True, "compute": {"time": "2 ms"}} | fields, "pair")


def clear(case: Case) -> bool:
    saving = case.measured.saving
    return not saving.low <= MIN_GAIN <= saving.high


@pytest.mark.alone
@pytest.mark.slow
@pytest.mark.needs("ip", "root")
def test_pairs_keep_the_limits(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    prefix = home_of("mpich")
    found: list[Case] = []
    with Rig(100) as rig:
        site = Site("mpich", rig.mpich(prefix), benchmark(prefix, request))
        asked = Asked(site=site, folder=tmp_path, budget_s=10.0, rounds=FEWEST_ROUNDS, seed=1)
        on = session._calibrated(told(**WORKLOADS[0]), asked)
        for number, fields in enumerate(WORKLOADS):
            here = replace(asked, folder=tmp_path / str(number))
            found += prove(told(**fields), on, here, lambda _: None).cases[1:]
    steady = [c for c in found if c.performed.spread < STEADY]
    if len(steady) < len(found) / 2:
        pytest.skip(f"{len(steady)} of {len(found)} ways repeat themselves: this machine is too busy to judge by")
    assert np.median([abs(c.expected.eta / c.measured.eta - 1) for c in steady]) <= ETA_OFF
    right = [(c.expected.saving >= MIN_GAIN) == (c.measured.saving.value >= MIN_GAIN) for c in steady if clear(c)]
    assert np.mean(right) >= RIGHT
