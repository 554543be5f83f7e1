"""What it costs to begin, and from how many iterations on a port pays."""

from typing import Any

import pytest
from machines import ideal
from tables import table_of

from pready.model.advice.predict import predict
from pready.model.advice.savings import drawn_row
from pready.model.approach.interfaces import BY_KEY, Approach
from pready.model.engine.layout import Step
from pready.model.engine.runs import Runs
from pready.model.machine.machine import Begin, Machine, load
from pready.model.toml.reading import validated
from pready.model.workload.workload import Workload

VALUES = {"persistent": "1 us", "partitioned": "10 us", "window": "100 us", "communicator": "30 us"}
VALUES |= {"registration": "50 us/MB"}


def with_begin(machine: Machine, **given: str) -> Machine:
    values = {n: {"value": v, "source": "assumed", "why": "test"} for n, v in (VALUES | given).items()}
    return machine.model_copy(update={"begin": validated(Begin, values, "test")})


def made(**fields: Any) -> Workload:
    base = {"threads": 8, "buffer": "1 MB", "compute": {"time": "1 ms"}, "receiver": "waiting"}
    return validated(Workload, base | {"arrivals": {"model": "laggard", "delay": "100 us"}} | fields, "test")


@pytest.mark.parametrize(("key", "transports", "vcis", "us"), table_of("model/known")["set_up"])
def test_what_is_set_up(key: str, transports: int, vcis: int, us: float) -> None:
    w, way = made(pattern="halo3d"), (Approach(BY_KEY[key], transports, vcis),)
    known, said = (Runs(m, Step.of(w)).set_up(way)[0] for m in (with_begin(ideal()), ideal()))
    assert float(known) == pytest.approx(us * 1e-6, rel=1e-12)
    assert float(said) == 0  # a machine that says nothing


@pytest.mark.parametrize("pattern", ["pt2pt", "halo3d"])
def test_one_iteration_and_a_hundred_differ(pattern: str) -> None:
    """40 us of some 1.3 ms are saved; windows of 1 ms and requests of 0.2 ms are paid once."""
    machine = with_begin(ideal(put=1e-7, epoch=1e-6), window="1 ms", persistent="0.2 ms", partitioned="1 ms")
    w = made(pattern=pattern, grid=[2, 2, 2])
    one, many = (predict(machine, w.changed(iterations=n), draws=0) for n in (1, 100))
    assert (one.advice.verdict, many.advice.verdict) == ("do not port", "port")
    assert one.advice.from_iterations is not None
    assert 1 < one.advice.from_iterations <= 100
    assert f"pays from {one.advice.from_iterations} iterations on, not in 1" in one.advice.because
    there = {p.approach: p for p in many.approaches}
    for p in one.approaches:  # an exchange is what it was
        assert (p.eta, p.time_s) == pytest.approx((there[p.approach].eta, there[p.approach].time_s), rel=1e-9)
        assert p.begin_s == there[p.approach].begin_s
        assert p.speedup_percent <= there[p.approach].speedup_percent + 1e-9


def test_its_uncertainty_counts() -> None:
    """The windows' interval reaches from 30 us to 1.4 ms: a run of few iterations is as uncertain."""
    each = (Runs(load("meluxina"), Step.of(made(iterations=n))) for n in (2, 100_000))
    few, many = (drawn_row(e, Approach(BY_KEY["rma-single-active"], 8)) for e in each)
    wide, narrow = (row.speedup_high_percent - row.speedup_low_percent for row in (few, many))
    assert wide > 3 * narrow
