"""Costs that only whole exchanges show: those of a known machine come back, by differences and by what is left."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "model"))
from machines import ideal

from pready.calibrate.from_records import Exchange, Sample, cores_per_rank
from pready.calibrate.measurement_plan import EARLY_APPROACHES, EARLY_PUTS, EARLY_SIZES, PUTS, exchanges
from pready.calibrate.terms_from_exchanges import _next_within, modelled, refined
from pready.model.files import validated
from pready.model.machine import Cold, Machine
from pready.model.machine_file import dumps
from pready.model.units import Unit, parse

US = 1e-6
PUT, EPOCH, MEETING, COLD, AFTER = 4 * US, 12 * US, 25 * US, 150 * US, 4e-3
TEAMS, OWN = (1, 2, 4), 0.4


def known(room: float | None = None, sends: float | None = None) -> Machine:
    """A machine that has all the costs, and room for so many bytes of puts and of sends."""
    m = ideal(G=1e-9, L=20 * US, o_s=3 * US, o_r=2 * US, barrier=[0.0, MEETING, MEETING], put=PUT, epoch=EPOCH)
    value = {"source": "assumed", "why": "test"}
    shape = {"after": {"value": f"{AFTER!r} s", **value}, "own": {"value": f"{OWN:.0%}", **value}}
    curve = {"sizes": ["1 B"], "time": [f"{COLD!r} s"], **shape, **value}
    further = {"window": m.one_sided.put.model_copy(update={"value": 0.0})}
    if room is not None:
        further["unattended"] = m.one_sided.put.model_copy(update={"value": room})
    takes = None if sends is None else m.one_sided.put.model_copy(update={"value": sends})
    return m.model_copy(
        update={
            "inter": m.inter.model_copy(update={"unattended": takes}),
            "cold": validated(Cold, curve, "test"),
            "one_sided": m.one_sided.model_copy(update=further),
        }
    )


def measured(m: Machine) -> list[Exchange]:
    """The plan's exchanges as a perfect clock would read them on machine `m`, each partition handed over in turn."""
    out = []
    for point in exchanges(TEAMS):
        p: dict[str, Any] = dict(point.parameters)
        if p["approach"] == "part":
            continue
        theta, threads = int(p["theta"]), int(p["threads"])
        ready = np.array(p.get("ready_s", [0.0] * (threads * theta - 1) + [p["delay_s"]]))
        if p["approach"].startswith("rma"):
            # One thread's puts follow each other, and the first follows the receiver's go-ahead.
            ready = np.maximum(ready, 100 * US + PUT * np.arange(threads * theta))
        elif p["approach"] == "many" and not ready.any():
            ready = 20 * US * np.arange(threads * theta)  # who waits for the lock marks later
        nothing = Sample(0.0, 0.0, 0.0)
        e = Exchange(
            p["approach"], p["bytes"], threads, theta, p["delay_s"], nothing, nothing, (tuple(ready.tolist()),)
        )
        after = modelled(m, e)
        total = after + float(ready.max())
        out.append(replace(e, after=Sample(after, after, after), total=Sample(total, total, total)))
    return out


def plain(m: Machine) -> dict[str, Any]:
    """The machine's data as `describe` has them before it looks at exchanges: none of these costs is known."""
    import tomllib

    data = tomllib.loads(dumps(m))
    for name in ("cold", "active_message"):
        data.pop(name, None)
    for name in ("turn", "turn_put"):
        data["threads"].pop(name, None)
    data["inter"].pop("unattended", None)
    data["one_sided"] = {n: {"value": "1 us", "source": "assumed", "why": "not measured"} for n in ("put", "epoch")}
    return data


def time(value: Any) -> float:
    return parse(value, Unit.TIME, "value")


def share(found: dict[str, Any]) -> float:
    return parse(found["cold"]["own"]["value"], Unit.SHARE, "own")


def test_the_costs_come_back() -> None:
    m = known()
    found = refined(plain(m), measured(m), active_messages=False)
    assert time(found["one_sided"]["put"]["value"]) == pytest.approx(PUT, rel=0.02)
    assert [time(t) for t in found["threads"]["barrier"]["time"][: len(TEAMS)]] == [
        0.0,
        pytest.approx(MEETING, rel=0.03),
        pytest.approx(MEETING, rel=0.03),
    ]
    assert share(found) == OWN
    # What cold is thought to take too long or short, epochs get.
    assert time(found["one_sided"]["epoch"]["value"]) == pytest.approx(EPOCH, rel=0.1)
    assert time(found["one_sided"]["flush"]["value"]) == pytest.approx(EPOCH, rel=0.1)
    assert time(found["cold"]["time"][0]) == pytest.approx(COLD, rel=0.03)
    assert time(found["cold"]["after"]["value"]) == pytest.approx(AFTER, rel=0.05)
    assert "unattended" not in found["one_sided"] | found["inter"]  # all puts and sends moved early there
    validated(Machine, found, "refined")


def test_one_disturbed_point_does_not_count() -> None:
    m = known()
    seen = measured(m)
    i = next(i for i, e in enumerate(seen) if e.approach == "many" and e.threads == 4)
    seen[i] = replace(seen[i], after=Sample(4e-3, 4e-3, 4e-3))  # a time slice of somebody else
    found = refined(plain(m), seen, active_messages=False)
    assert share(found) == OWN


def test_the_share_that_is_a_threads_own_has_the_range_of_its_rounds() -> None:
    # One round says that threads are as cold as nobody has sent, the next as cold as they have not sent themselves.
    rounds = []
    for number, own in enumerate((0.0, 1.0, 1.0)):
        m = known()
        assert m.cold is not None
        told = m.cold.own.model_copy(update={"value": own}) if m.cold.own else None
        m = m.model_copy(update={"cold": m.cold.model_copy(update={"own": told})})
        rounds += [replace(e, round=number) for e in measured(m)]
    found = refined(plain(known()), rounds, active_messages=False)
    assert [parse(x, Unit.SHARE, "own") for x in found["cold"]["own"]["interval"]] == [0, 1]
    # One alone does not say how much it differs.
    once = refined(plain(known()), [e for e in rounds if e.round == 1], active_messages=False)
    assert share(once) == 1
    assert [parse(x, Unit.SHARE, "own") for x in once["cold"]["own"]["interval"]] == [0, 1]
    # Without a pause there is no cold, and without teams no share of it.
    alone = refined(plain(known()), [e for e in rounds if e.threads == 1], active_messages=False)
    assert "own" not in alone["cold"]


def test_a_pause_whose_repeats_disagree_hardly_counts() -> None:
    m = known()
    seen = measured(m)
    i = next(i for i, e in enumerate(seen) if e.approach == "single" and e.bytes == 256 << 10 and e.delay_s > 10e-3)
    value = seen[i].after.value
    sure = [replace(e, after=Sample(e.after.value, e.after.value - US, e.after.value + US)) for e in seen]
    # Some repeats met a neighbour's time slices: the median lies within an interval of 10 ms.
    sure[i] = replace(seen[i], after=Sample(value + 2e-3, value, value + 10e-3))
    found = refined(plain(m), sure, active_messages=False)["cold"]
    assert [time(t) for t in found["time"]] == pytest.approx([COLD] * len(found["time"]), rel=0.05)
    assert time(found["after"]["value"]) == pytest.approx(AFTER, rel=0.05)
    # Were all as sure as that one, it would stand: not its value is refused, but its doubt.
    sure[i] = replace(sure[i], after=Sample(value + 2e-3, value + 2e-3 - US, value + 2e-3 + US))
    found = refined(plain(m), sure, active_messages=False)["cold"]
    assert time(found["time"][-1]) > 5 * COLD


# What an exchange takes besides its bytes, 0.1 of 4 ms, counts as bytes here.
@pytest.mark.parametrize(("room", "tolerance"), [(2.2e6, 0.05), (0.6e6, 0.15), (0.0, 0.0)])
def test_the_room_that_puts_and_sends_find_without_the_sender_comes_back(room: float, tolerance: float) -> None:
    def size(table: dict[str, Any]) -> float:
        return parse(table["unattended"]["value"], Unit.SIZE, "unattended")

    puts, sends = known(room=room), known(sends=room)
    found = refined(plain(puts), measured(puts), active_messages=False)
    assert size(found["one_sided"]) == pytest.approx(room, rel=tolerance)
    assert "unattended" not in found["inter"]
    found = refined(plain(sends), measured(sends), active_messages=False)
    assert size(found["inter"]) == pytest.approx(room, rel=tolerance)
    assert "unattended" not in found["one_sided"]
    # Where sends wait for an answer that is seen inside MPI only, it is not for the lack of room.
    on_call = plain(sends) | {"sender_progress": {"value": "on-call", "source": "measured", "why": "test"}}
    assert "unattended" not in refined(on_call, measured(sends), active_messages=False)["inter"]


def test_what_puts_that_are_put_off_copy_is_read_off_their_calls() -> None:
    # A thread's next put is ready when the call before has returned: 0.1 us per KB later, and it counts from the second
    # on, since the first waits for the epoch. It is nobody's cost where puts go at once.
    def copied(e: Exchange) -> Exchange:
        if not e.approach.startswith("rma") or e.theta != EARLY_PUTS or e.delay_s > 0:
            return e
        step = 1e-10 * e.bytes / e.theta
        return replace(e, ready=((0.0, *(1e-3 + step * k for k in range(e.theta - 1))),))

    for room, costs in ((0.0, True), (2.2e6, False)):
        m = known(room=room)
        found = refined(plain(m), [copied(e) for e in measured(m)], active_messages=False)["one_sided"]
        assert ("O_s" in found) == costs
        if costs:
            assert parse(found["O_s"]["value"], Unit.TIME_PER_BYTE, "O_s") == pytest.approx(1e-10, rel=1e-6)


def test_a_budget_that_ends_before_large_teams_leaves_a_machine_for_them() -> None:
    m = known()
    data, seen = plain(m), measured(m)
    for few in ([e for e in seen if e.threads < 4], [e for e in seen if e.delay_s > 0 or e.threads == 1]):
        found = refined(data, few, active_messages=False)["threads"]
        assert found["barrier"]["threads"][-1] == data["threads"]["barrier"]["threads"][-1]
        assert len(found["barrier"]["threads"]) == len(found["barrier"]["time"])


def test_rounds_are_one_exchange_where_it_matters_and_many_where_they_differ() -> None:
    m = known()
    seen, off = measured(m), 10 * US
    rounds = [
        replace(e, after=Sample(e.after.value + d, 0, 1)) if e.threads > 1 or e.delay_s > 0 else e
        for d in (-off, 0.0, off)
        for e in seen
    ]
    once, thrice = (refined(plain(m), every, active_messages=False) for every in (seen, rounds))
    assert [time(t) for t in thrice["cold"]["time"]] == pytest.approx([time(t) for t in once["cold"]["time"]])
    # Student's t of that many is close to 2; -10, 0 and 10 us deviate by 8.2 us from their mean.
    low, high = map(time, thrice["threads"]["meet"]["interval"])
    assert (high - low) / 2 == pytest.approx(2 * off * np.sqrt(2 / 3), rel=0.1)
    again = [p for p in exchanges(TEAMS, 1) if p.get("round") == 1]
    assert len(again) == len(list(exchanges(TEAMS))) - 2 * len(EARLY_SIZES) * len(EARLY_APPROACHES)


def test_how_long_an_epoch_takes_to_open_comes_back() -> None:
    m = known()
    found = refined(plain(m), measured(m), active_messages=False)
    # `measured` has puts wait 100 us for the receiver's go-ahead; sends begin at once.
    for name in ("open", "lock"):
        assert time(found["one_sided"][name]["value"]) == pytest.approx(100 * US)
    at_once = [replace(e, ready=(tuple(t - min(e.ready[0]) for t in e.ready[0]),)) for e in measured(m)]
    assert not {"open", "lock"} & set(refined(plain(m), at_once, active_messages=False)["one_sided"])


@pytest.mark.parametrize(("cores", "known_turn"), [(1, True), (2, True), (4, False), (None, False)])
def test_turns_on_a_core_come_back(cores: int | None, known_turn: bool) -> None:
    turns, m = {"turn": 7 * US, "turn_put": 4 * US}, known()

    def in_turn(e: Exchange) -> Exchange:
        """The next is ready when the one before has issued, and its turn has come."""
        puts = e.approach.startswith("rma-single")
        together = e.theta == 1 and e.delay_s == 0 and max(e.ready[0]) < 1e-3
        if e.threads == 1 or not together or not (puts or e.approach == "many"):
            return e
        each = PUT + turns["turn_put"] if puts else 3 * US + turns["turn"]
        return replace(e, ready=(tuple(min(e.ready[0]) + each * np.arange(e.threads)),))

    seen = [in_turn(e) for e in measured(m)]
    found = refined(plain(m), seen, active_messages=False, cores=cores)["threads"]
    for name, turn in turns.items():
        assert (name in found) == known_turn
        if known_turn:
            assert time(found[name]["value"]) == pytest.approx(turn, rel=0.05)


def test_an_active_message_is_measured_after_several_pauses() -> None:
    m, extra = known(), {0.0: 30 * US, 1e-3: 50 * US, 4e-3: 40 * US}
    seen = measured(m)
    for e in [e for e in seen if e.approach == "single" and e.threads == 1 and e.delay_s in extra]:
        later = e.after.value + extra[e.delay_s]
        seen.append(replace(e, approach="part", after=Sample(later, later, later)))
    found = refined(plain(m), seen, active_messages=True)["active_message"]
    assert [time(t) for t in found["time"]] == pytest.approx([40 * US] * len(found["time"]))
    assert found["interval"] > 0.3  # of four sizes with -10, 0 and +10 us around 40


@pytest.mark.thorough
def test_an_interval_holds_the_next_exchange_and_not_only_the_middle() -> None:
    rng = np.random.default_rng(5)
    values = rng.normal(20 * US, 3 * US, (2000, 12))
    off = np.abs(rng.normal(20 * US, 3 * US, 2000) - np.median(values, axis=1))
    within = np.array([_next_within(v) for v in values])
    assert np.mean(off <= within) == pytest.approx(0.95, abs=0.02)
    assert np.mean(off <= within / np.sqrt(12)) < 0.6  # how well the middle is known, were it taken instead


def test_a_time_slice_does_not_widen_it() -> None:
    values = np.random.default_rng(6).normal(20 * US, 3 * US, 12)
    assert _next_within([*values, 4e-3]) == pytest.approx(_next_within(values), rel=0.1)
    assert _next_within([20 * US]) == 0.0


def test_what_teams_differ_by_is_uncertain() -> None:
    m, rng = known(), np.random.default_rng(7)
    seen = measured(m)
    for i, e in enumerate(seen):
        if e.threads > 1 and e.approach == "single":
            after = e.after.value + float(rng.normal(0.0, 4 * US))
            seen[i] = replace(e, after=Sample(after, after, after))
    meet = refined(plain(m), seen, active_messages=False)["threads"]["meet"]
    low, high = (time(end) for end in meet["interval"])
    assert time(meet["value"]) == 0.0
    assert -low == high
    assert 5 * US < high < 12 * US  # 21 exchanges about three medians: t(20) is 2.09, 8.5 us at most
    exact = refined(plain(m), measured(m), active_messages=False)["threads"]["meet"]
    assert time(exact["interval"][1]) < US


def test_without_exchanges_nothing_changes() -> None:
    data = plain(known())
    assert refined(data, [], active_messages=True) == data


def test_the_plan_has_what_is_looked_for() -> None:
    ways = {(p.get("approach"), p.get("theta")) for p in exchanges(TEAMS)}
    assert {(f"rma-{n}-{s}", t) for n in ("single", "many") for s in ("active", "passive") for t in (1, PUTS)} <= ways


@pytest.mark.parametrize(
    ("hosts", "cores", "each"), [(["a", "b"], 8, 8), (["a", "a"], 2, 1), (["a", "a"], 1, 1), (["a", "b"], None, None)]
)
def test_ranks_of_one_host_share_its_cores(hosts: list[str], cores: int | None, each: int | None) -> None:
    assert cores_per_rank({"hosts": hosts, "cores_online": cores}) == each
