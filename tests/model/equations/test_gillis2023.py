"""One parameter set, the MeluXina profile, reproduces the measurements of gillis2023 (section 4).

Each within 15 %: the paper gives its factors as "about".
"""

from dataclasses import replace

import numpy as np
import pytest

from pready.model.advice.predict import approaches, predict, with_library
from pready.model.approach.interfaces import MANY, PART, SINGLE, Approach
from pready.model.engine.evaluate import Evaluation, gain_over_sizes
from pready.model.machine import machine
from pready.model.toml.reading import validated
from pready.model.workload.workload import Workload
from pready.validate.claims.answers.two_ranks import break_even

MELUXINA = machine.load("meluxina")
WITHIN = 0.15


def workload(threads: int, theta: int, size: int, gamma: str | None = None) -> Workload:
    arrivals = {"model": "none"} if gamma is None else {"model": "laggard", "delay_rate": gamma}
    data = {"threads": threads, "partitions_per_thread": theta, "buffer": f"{size} B", "arrivals": arrivals}
    return validated(Workload, data, "test")


def slower_than_single(w: Workload, approach: Approach) -> float:
    e = Evaluation(MELUXINA, w, draws=0)
    return e.mean_time(approach) / e.mean_time(Approach(SINGLE))


@pytest.mark.parametrize("partition", [1, 8, 32])
def test_thread_congestion(partition: int) -> None:
    w = workload(32, 1, 32 * partition)
    # 4.2.1, Fig. 5: "a factor of about 30"; many and part differ little
    assert slower_than_single(w, Approach(PART, 32, 1)) == pytest.approx(30, rel=WITHIN)
    assert slower_than_single(w, Approach(MANY, 32, 1)) == pytest.approx(30, rel=WITHIN)
    # Fig. 6, one VCI per thread: many reaches single
    assert slower_than_single(w, Approach(MANY, 32, 32)) == pytest.approx(1, rel=WITHIN)


@pytest.mark.parametrize("partition", [1, 8])
def test_aggregation(partition: int) -> None:
    w = workload(4, 32, 128 * partition)
    # 4.2.2, Fig. 7: "from a factor of about 10"
    assert slower_than_single(w, Approach(PART, 128)) == pytest.approx(10, rel=WITHIN)


@pytest.mark.parametrize("aggregate", [512, 1024, 2048, 4096, 8192, 16384])
def test_aggregation_helps_below_n_part_times_its_size(aggregate: int) -> None:
    # 4.2.2: "beneficial ... only below N_part times the aggregation size". Messages are the largest
    # divisor of the partitions that fits into the aggregation size.
    n = 128
    for size in (n * aggregate // 4, n * aggregate // 2, n * aggregate, 2 * n * aggregate):
        fit = max((d for d in range(1, n + 1) if n % d == 0 and d * size // n <= aggregate), default=1)
        e = Evaluation(MELUXINA, workload(4, 32, size), draws=0)
        aggregated, plain = e.mean_time(Approach(PART, n // fit)), e.mean_time(Approach(PART, n))
        if size < n * aggregate:
            assert aggregated < plain
        else:
            assert aggregated == plain


def test_early_bird_gain_and_break_even() -> None:
    # 4.3, Fig. 8: gamma = 100 us/MB, 4 threads, 4 partitions: measured 2.54, theory 2.67, break-even ~100 kB.
    w = workload(4, 1, 64 * 2**20, "100 us/MB")
    etas = gain_over_sizes(MELUXINA, w, Approach(PART, 4), [4e6, 16e6, 64e6, 256e6])
    assert (etas > 2.5).all()
    assert (etas < 8 / 3).all()
    assert (np.diff(etas) > 0).all()
    found = break_even(Evaluation(MELUXINA, w), Approach(PART, 4))
    assert found == pytest.approx(100e3, rel=WITHIN)
    # and below it the pattern costs, as the paper says: nearly everywhere from 256 B on (MPI_Pready costs nothing here)
    small = gain_over_sizes(MELUXINA, w, Approach(PART, 4), np.geomspace(256, 0.99 * found, 60).tolist())
    assert np.mean(small < 1) > 0.9
    assert small.max() < 1.02


def test_what_is_early_bird_does_not_depend_on_the_interface() -> None:
    # 4.3: "every possible variation of the MPI API will provide the same gain"
    w = workload(4, 1, 256 * 2**20, "100 us/MB")
    rows = predict(MELUXINA, w, draws=0).approaches
    split = [r.eta for r in rows if r.transport_partitions == 4]
    assert len(split) > 8
    assert max(split) / min(split) < 1.01


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


def test_a_wrong_profile_is_seen() -> None:
    # Negative control: half the contention, and the factor of 30 is missed by more than 15 %.
    curve = MELUXINA.threads.contention
    assert curve is not None
    halved = curve.model_copy(update={"time": tuple(t / 2 for t in curve.time)})
    wrong = MELUXINA.model_copy(update={"threads": MELUXINA.threads.model_copy(update={"contention": halved})})
    e = replace(Evaluation(MELUXINA, workload(32, 1, 256), draws=0), machine=wrong)
    factor = e.mean_time(Approach(PART, 32)) / e.mean_time(Approach(SINGLE))
    assert abs(factor / 30 - 1) > WITHIN
