"""Costs that whole exchanges show: exchanges of a machine whose costs are known, and the costs read off them."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from machines import ideal
from present import present

from pready.calibrate.fit import Estimate
from pready.calibrate.machine.values.estimates import TIME, exact, with_fields
from pready.calibrate.machine.values.observations_of import TimedExchange
from pready.calibrate.machine.values.rma_and_teams import Found, _epochs_of_teams, modelled, next_within, refined
from pready.calibrate.machine.values.team_costs import barrier_curve
from pready.calibrate.measure.schedule import EARLY_SIZES, exchanges
from pready.model.machine.machine import Machine
from pready.model.machine.path import SizeCurve
from pready.model.machine.rma import OneSided, Puts
from pready.model.toml.provenance import Value

US = 1e-6
PUT, EPOCH, PAIR, MEETING = 4 * US, 12 * US, 15 * US, 25 * US
TEAMS = (1, 2, 4)


def known(puts: Puts = "adapter") -> Machine:
    """A machine that has all the costs; teams of 4 meet as the line from 2 to 1024 threads says."""
    most = PAIR + 511 * (MEETING - PAIR)
    m = ideal(G=1e-9, L=20 * US, o_s=3 * US, o_r=2 * US, barrier=[0.0, PAIR, most], put=PUT, epoch=EPOCH)
    one_sided = with_fields(m.one_sided, puts=Value[Puts](value=puts, source="assumed", why="test"))
    return with_fields(m, one_sided=one_sided)


@pytest.mark.parametrize("waits", [1180 * US, 20 * US])
def test_a_barrier_whose_threads_wait_for_cores_is_not_written(waits: float, seen: list[TimedExchange]) -> None:
    """A machine file said 1.18 ms where the same machine's threads meet in 29 us: others held its cores."""
    spoilt = [taking(e, e.after.value + waits) if e.approach == "single" and e.threads > 1 else e for e in seen]
    machine, notes = plain(known()), ["another"]
    barrier = refined(machine, spoilt, notes).threads.barrier
    if waits < 100 * US:  # negative control
        assert (barrier.source, notes) == ("measured", ["another"])
        return
    assert barrier == machine.threads.barrier
    assert notes == [
        "cores were held by others: a team meets after 1.2 ms, give or take 0 ns; the barrier is assumed, not measured",
        "another",
    ]


def measured(m: Machine) -> list[TimedExchange]:
    """The plan's exchanges as a perfect clock would read them on machine `m`, each partition marked in turn."""
    out = []
    for point in exchanges(TEAMS):
        p: dict[str, Any] = dict(point.parameters)
        theta, threads = int(p["theta"]), int(p["threads"])
        ready = np.array(p.get("ready_s", [0.0] * (threads * theta - 1) + [p["delay_s"]]))
        if p["approach"].startswith("rma"):
            # One thread's puts follow each other, and the first waits until the receiver has opened its epoch.
            ready = np.maximum(ready, 100 * US + PUT * np.arange(threads * theta))
        e = replace(took(p["approach"], p["bytes"], theta, 0.0, threads), delay_s=p["delay_s"], ready=(tuple(ready),))
        after = modelled(m, e)
        out.append(taking(e, after, after + float(ready.max())))
    return out


def taking(e: TimedExchange, after: float, total: float | None = None) -> TimedExchange:
    """The exchange with another time."""
    total = e.total.value if total is None else total
    return replace(e, after=Estimate(after, after, after), total=Estimate(total, total, total))


@pytest.fixture(scope="module")
def seen() -> list[TimedExchange]:
    """Those of `known()`; tests change copies."""
    return measured(known())


def plain(m: Machine) -> Machine:
    """The machine as `describe` has it before it looks at exchanges: none of these costs is known."""
    one_sided = OneSided(epoch=exact(TIME, US, "not measured"), epoch_peer=exact(TIME, 0.0, "not measured"))
    return m.model_copy(update={"one_sided": one_sided})


def test_the_costs_come_back(seen: list[TimedExchange]) -> None:
    found = refined(plain(known()), seen)
    assert isinstance(found.one_sided.put, SizeCurve)
    assert found.one_sided.put.time == pytest.approx([PUT], rel=0.02)
    assert found.threads.barrier.threads == (1, 2, 4, 1024)
    assert found.threads.barrier.time == pytest.approx([0.0, PAIR, MEETING, MEETING], rel=0.03)
    assert found.threads.barrier.interval < 0.05
    assert found.one_sided.epoch.value == pytest.approx(EPOCH, rel=0.05)
    assert found.one_sided.puts is None  # all moved early
    m = known()
    m = with_fields(m, threads=with_fields(m.threads, barrier=barrier_curve({2: PAIR, 4: MEETING}, "no larger team")))
    barrier = refined(plain(m), measured(m)).threads.barrier
    assert barrier.threads == (1, 2, 4)
    assert barrier.time == pytest.approx([0.0, PAIR, MEETING], rel=0.03)


def test_one_disturbed_exchange_does_not_count(seen: list[TimedExchange]) -> None:
    disturbed = next(e for e in seen if e.approach == "single" and e.threads == 4)
    spoilt = [taking(e, 4e-3) if e is disturbed else e for e in seen]  # a time slice of another process
    barrier = refined(plain(known()), spoilt).threads.barrier
    assert barrier.time[2] == pytest.approx(MEETING, rel=0.03)
    assert barrier.interval < 0.05


@pytest.mark.parametrize("puts", ["adapter", "deferred"])
def test_deferred_puts_are_told(puts: Puts) -> None:
    m = known(puts)
    found = refined(plain(m), measured(m)).one_sided.puts
    assert (found is None) == (puts == "adapter")
    if found is not None:
        assert (found.value, found.source) == ("deferred", "measured")
        assert f"puts of {min(EARLY_SIZES)} B" in found.why


@pytest.mark.parametrize(("apart", "epoch", "low", "high"), [(3, 13, 0, 27.906), (0.3, 12.1, 10.609, 13.591)])
def test_an_epoch_of_a_team_is_known_as_its_rounds_lie_apart(
    apart: float, epoch: float, low: float, high: float
) -> None:
    """Two threads with a window each, in us around the 12 of one thread: 4.303 (Student's t of 2) · 3 · √(4/3)."""
    e = replace(took("rma-many-active", 8, 1, 0.0, threads=2), ready=((0.0, 0.0),))
    rests = (modelled(known(), e) + 2 * US * times * apart for times in (-2 / 3, 1 / 3, 4 / 3))
    made = _epochs_of_teams(known(), Found([replace(e, threads=1), *(taking(e, rest) for rest in rests)]))["epoch"]
    assert [made.value, *present(made.interval)] == pytest.approx([US * us for us in (epoch, low, high)], rel=1e-3)


def test_rounds_count_together_and_their_spread_is_the_interval(seen: list[TimedExchange]) -> None:
    m, off = known(), 10 * US
    rounds = [
        taking(e, e.after.value + d) if e.threads > 1 or e.delay_s > 0 else e for d in (-off, 0.0, off) for e in seen
    ]
    once, thrice = (refined(plain(m), every) for every in (seen, rounds))
    assert thrice.threads.barrier.time == pytest.approx(once.threads.barrier.time)
    # Student's t of that many is close to 2; -10, 0 and 10 us deviate by 8.2 us from their mean.
    assert thrice.threads.barrier.interval * (PAIR + MEETING) / 2 == pytest.approx(2 * off * np.sqrt(2 / 3), rel=0.1)
    again = [p for p in exchanges(TEAMS, 1) if p.get("round") == 1]
    assert len(again) == len(list(exchanges(TEAMS))) - 2 * len(EARLY_SIZES)


@pytest.mark.thorough
def test_an_interval_holds_the_next_exchange_and_not_only_the_middle() -> None:
    rng = np.random.default_rng(5)
    values = rng.normal(20 * US, 3 * US, (2000, 12))
    off = np.abs(rng.normal(20 * US, 3 * US, 2000) - np.median(values, axis=1))
    within = np.array([next_within(v) for v in values])
    assert np.mean(off <= within) == pytest.approx(0.95, abs=0.02)
    assert np.mean(off <= within / np.sqrt(12)) < 0.6  # the uncertainty of the median instead


def took(by: str, size: int, theta: int, total_us: float, threads: int = 1) -> TimedExchange:
    """A small exchange of so many microseconds."""
    nothing = Estimate(0.0, 0.0, 0.0)
    return taking(TimedExchange(by, size, threads, theta, 0.0, nothing, nothing, ((0.0,),)), 0.0, total_us * US)


def test_how_far_the_next_one_lies_from_the_median() -> None:
    # 1 s is the deviation of 1, 2 and 3, and t of two degrees of freedom 4.303; what is far off does not count
    for values in ([1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 15.0]):
        assert next_within(values) == pytest.approx(4.303 * (4 / 3) ** 0.5, rel=1e-3)
    assert next_within([1.0, 3.0]) == pytest.approx(12.706 * 2**0.5 * 1.5**0.5, rel=1e-3)
    assert next_within([1.0]) == 0.0
