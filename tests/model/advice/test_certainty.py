"""How sure a verdict is: what the model itself was off by counts, too."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from pready.model.advice.certainty import MODEL_ERROR, with_own_error
from pready.model.advice.predict import predict
from pready.model.machine import machine
from pready.model.result.prediction import ApproachPrediction
from pready.model.toml.reading import validated
from pready.model.workload.workload import Workload

PAIR = validated(
    Workload,
    {
        "threads": 8,
        "partitions_per_thread": 2,
        "buffer": "4 MiB",
        "iterations": 1000,
        "pattern": "pt2pt",
        "receiver": "waiting",
        "compute": {"time": "5 ms"},
        "arrivals": {"model": "uniform", "up_to": "5 %"},
    },
    "pair",
)
ON = machine.load("niagara")


def row(iteration_s: float, transfer_s: float, saved: tuple[float, float, float]) -> ApproachPrediction:
    low, middle, high = saved
    some = predict(ON, PAIR, draws=0).bulk
    return replace(
        some,
        iteration_s=iteration_s,
        transfer_s=transfer_s,
        speedup_percent=middle,
        speedup_low_percent=low,
        speedup_high_percent=high,
    )


def test_an_interval_with_the_model_s_own_error() -> None:
    # 10 ms of which 4 are an exchange; the port's takes 3: 10 % saved. An error of e moves 3 ms by 30 e % of 10 ms,
    # and 4 ms move the saving by 0.9 of 40 e %: together 46.9 e %, beside 1 % downwards and 2 % upwards.
    low, high = with_own_error(row(9e-3, 3e-3, (9.0, 10.0, 12.0)), row(10e-3, 4e-3, (0.0, 0.0, 0.0)))
    own = MODEL_ERROR * math.hypot(30, 36)
    assert (low, high) == pytest.approx((10 - math.hypot(own, 1), 10 + math.hypot(own, 2)), rel=1e-9)
    # Of nothing exchanged, nothing is off.
    assert with_own_error(row(9e-3, 0.0, (9.0, 10.0, 12.0)), row(10e-3, 0.0, (0.0, 0.0, 0.0))) == (9.0, 12.0)


@pytest.mark.parametrize("off", [-1.0, 1.0])
def test_it_is_what_two_exchanges_give_that_are_off(off: float) -> None:
    # To first order: each exchange off by a thousandth of that error, the other as it is.
    computing, now, port = 6e-3, 4e-3, 3e-3
    step = off * 1e-3 * MODEL_ERROR
    saved = 1 - (computing + port) / (computing + now)
    by_port = 1 - (computing + port * (1 + step)) / (computing + now) - saved
    by_now = 1 - (computing + port) / (computing + now * (1 + step)) - saved
    low, high = with_own_error(
        row(computing + port, port, (100 * saved,) * 3), row(computing + now, now, (0.0, 0.0, 0.0))
    )
    assert (high - low) / 2 == pytest.approx(1e5 * math.hypot(by_port, by_now), rel=1e-3)


def test_a_gain_within_the_model_s_own_error_is_likely() -> None:
    # Bulk's 345 us and the port's 325 us differ by less than each may be off, though their values are well known.
    small = predict(ON, PAIR.changed(**{"compute.time": "0.5 ms"})).advice
    assert (small.verdict, small.certainty) == ("port", "likely")
    assert small.best.speedup_low_percent > 2
    ((said, percent),) = [turn for turn in small.turns_if if "the model's times were" in turn[0]]
    assert said == f"the model's times were {100 * MODEL_ERROR:.2g} % off, as on real fabrics"
    assert percent < 1
    assert small.measure_next == "pready prove"


def test_a_gain_beyond_it_does_not_name_it() -> None:
    large = predict(ON, PAIR.changed(arrivals={"model": "laggard", "delay": "2 ms"})).advice
    assert large.verdict == "port"
    assert not [said for said, _ in large.turns_if if "the model's times" in said]


def patterns() -> list[Workload]:
    halo = PAIR.changed(pattern="halo3d", grid=[2, 2, 2], buffer="64 KiB", iterations=10)
    halo = halo.changed(arrivals={"model": "laggard", "delay": "1 ms"})
    return [
        halo,
        halo.changed(arrivals={"model": "normal by thread", "spread": 0.2}),
        halo.changed(receiver="consuming", consume={"time": "10 us"}),
    ]


@pytest.mark.parametrize("what", patterns())
def test_waiting_for_late_neighbours_is_no_transfer(what: Workload) -> None:
    made = predict(ON, what, draws=0)
    for p in made.approaches:
        assert 0 < p.transfer_s <= p.time_s * (1 + 1e-9)
    noisy = what.arrivals.model == "normal by thread"
    assert (made.bulk.transfer_s < 0.9 * made.bulk.time_s) == (noisy or what.consume is not None)
