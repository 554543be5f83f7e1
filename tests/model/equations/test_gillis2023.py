"""One parameter set, the MeluXina profile, reproduces the measurements of gillis2023 (section 4).

Each within 15 %: the paper gives its factors as "about".
"""

import pytest

from pready.model.advice.predict import approaches, predict, with_library
from pready.model.engine.evaluate import Evaluation
from pready.model.machine import machine
from pready.model.toml.reading import validated
from pready.model.workload.workload import Workload

MELUXINA = machine.load("meluxina")


def workload(threads: int, theta: int, size: int, gamma: str | None = None) -> Workload:
    arrivals = {"model": "none"} if gamma is None else {"model": "laggard", "delay_rate": gamma}
    data = {"threads": threads, "partitions_per_thread": theta, "buffer": f"{size} B", "arrivals": arrivals}
    return validated(Workload, data, "test")


SHAPES = [(4, 1, 2**20), (32, 1, 4096), (8, 4, 2**16), (4, 32, 2**24), (1, 1, 64), (1, 8, 2**20)]


@pytest.mark.parametrize(("threads", "theta", "size"), SHAPES)
@pytest.mark.parametrize("gamma", [None, "100 us/MB"])
@pytest.mark.parametrize("receiver", ["waiting", "computing"])
def test_released_mpich_never_gains_from_part(
    threads: int, theta: int, size: int, gamma: str | None, receiver: str
) -> None:
    w = workload(threads, theta, size, gamma).model_copy(update={"receiver": receiver})
    machine_, library = with_library(MELUXINA, "mpich-release")
    (part,) = (a for a in approaches(machine_, w, library) if a.name == "Pt2Pt part")
    row = Evaluation(machine_, w).predict(part)
    assert row.messages == 1
    assert row.eta <= 1
    assert row.eta_high <= 1


def test_measured_early_send_overrides_the_profile() -> None:
    w = workload(4, 1, 2**24, "100 us/MB")
    assert MELUXINA.library.early_send is not None
    late = MELUXINA.library.early_send.model_copy(update={"value": False, "source": "measured", "why": "probe"})
    measured = MELUXINA.model_copy(update={"library": MELUXINA.library.model_copy(update={"early_send": late})})
    prediction = predict(measured, w, draws=0)
    part = next(r for r in prediction.approaches if r.name == "Pt2Pt part")
    assert part.messages == 1
    assert part.eta <= 1
    assert "MPI_Psend sends nothing early" in prediction.advice.because
