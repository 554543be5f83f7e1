"""One sample of machines: balanced, the same for the same seed, and whose values have their intervals."""

from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from machines import with_adapter

from pready.model.approach.interfaces import BY_KEY
from pready.model.common.arrays import spread
from pready.model.common.errors import PreadyError
from pready.model.engine.layout import Step
from pready.model.engine.pattern import adapters_of
from pready.model.engine.runs import Rows, Runs
from pready.model.machine.adapter import TOGETHER
from pready.model.machine.machine import load
from pready.model.machine.path import Begins, SizeCurve
from pready.model.timeline.alternatives import alternatives, with_order
from pready.model.timeline.costs import costs
from pready.model.timeline.own_error import factor
from pready.model.timeline.sampling import DRAWS, FIRST, LEVELS, Alternative, Sampler
from pready.model.toml.reading import validated
from pready.model.workload.exchange import Placement
from pready.model.workload.workload import Workload

SEEDS = st.integers(0, 2**64 - 1)
MELUXINA, ALPS = load("meluxina"), load("alps")


@settings(max_examples=20)
@given(SEEDS)
def test_each_input_has_a_draw_in_each_part_and_the_first_in_each_cell_of_two(seed: int) -> None:
    sampler = Sampler(MELUXINA, DRAWS, seed)
    of = {name: sampler.uniforms(name) for name in (*FIRST, "inter.segments[0].L", "anything else")}
    for u in of.values():
        assert sorted(np.floor(u * DRAWS)) == list(range(DRAWS))
    cells = [np.floor(of[name] * LEVELS) for name in FIRST]
    for n, a in enumerate(cells):
        for b in cells[:n]:
            assert len(np.unique(a * LEVELS + b)) == LEVELS**2


@settings(max_examples=10)
@given(SEEDS)
def test_the_seed_alone_decides(seed: int) -> None:
    one, again, less = (Sampler(MELUXINA, n, seed).uniforms("one_sided.put") for n in (DRAWS, DRAWS, 32))
    np.testing.assert_array_equal(one, again)
    np.testing.assert_array_equal(one[:32], less)  # fewer draws are the first ones
    other = Sampler(MELUXINA, DRAWS, seed ^ 1).uniforms("one_sided.put")
    assert not np.array_equal(one, other)


def test_values_have_their_intervals() -> None:
    value = MELUXINA.inter.segments[0].L
    drawn = Sampler(MELUXINA, DRAWS)("inter.segments[0].L", value)
    assert value.interval is not None
    low, high = value.interval
    assert np.mean((drawn >= low) & (drawn <= high)) == pytest.approx(0.95, abs=0.01)
    assert np.median(drawn) == pytest.approx(value.value, rel=0.001)


def test_an_assumed_barrier_may_be_three_times_as_long() -> None:
    """Half of the 95 % interval is a factor of 3."""
    curve = MELUXINA.threads.barrier
    assert curve.source == "assumed"
    times = Sampler(MELUXINA, DRAWS).team("barrier", curve, 8) / curve.at(8)
    assert np.quantile(times, [0.025, 0.975]) == pytest.approx([1 / 3, 3], rel=0.1)
    assert float(Sampler(MELUXINA).team("barrier", curve, 8)) == curve.at(8)


def test_each_side_of_an_interval_has_its_width() -> None:
    """At half of 1.96 deviations a normal is half way to an end; a log-normal in the logarithm."""
    z = 1.959963984540054 * np.array([-1, -0.5, 0, 0.5, 1])
    assert spread(10.0, (-4.0, 14.0), z) == pytest.approx([-4, 3, 10, 12, 14])
    assert spread(8.0, (2.0, 18.0), z) == pytest.approx([2, 4, 8, 12, 18])


def test_curves_have_their_intervals() -> None:
    """4 us halfway, in the logarithm, between 2 and 6 us, to 20 %; a team's times to a factor of 1.3."""
    about = {"source": "measured", "why": "test", "interval": 0.2}
    curve = validated(SizeCurve, {"sizes": ["1 KiB", "1 MiB"], "time": ["2 us", "6 us"], **about}, "test")
    sampler = Sampler(MELUXINA, DRAWS, lead=1)
    at_32k = sampler.curve("a curve", curve, 2.0**15)
    assert at_32k[0] == pytest.approx(4e-6)
    assert np.quantile(at_32k[1:], [0.025, 0.5, 0.975]) == pytest.approx([3.2e-6, 4e-6, 4.8e-6], rel=0.01)
    assert MELUXINA.threads.contention is not None
    lock = MELUXINA.threads.contention.model_copy(update={"source": "measured", "interval": 0.3})
    times = sampler.sharing("a lock", lock, 4)
    assert times[0] == pytest.approx([0, *lock.up_to(4)])
    assert np.quantile(times[1:, 4], [0.025, 0.975]) == pytest.approx(times[0, 4] * np.array([1 / 1.3, 1.3]), rel=0.02)


def test_alternatives_have_their_weights() -> None:
    of = Alternative("how puts move", ("adapter", "processor", "deferred"), (0.75, 0.2, 0.05), "assumed", ("", "", ""))
    chosen = Sampler(MELUXINA, DRAWS, 3, alternatives=[of]).chosen(of.name)
    assert np.bincount(chosen) / DRAWS == pytest.approx([0.75, 0.2, 0.05], abs=1 / LEVELS)
    assert not Sampler(MELUXINA, DRAWS).chosen(of.name).any()  # what is no alternative is as it is said


def test_what_nobody_excluded_is_an_alternative() -> None:
    """MeluXina's progress is from the literature, its puts are nobody's word; of the workload nothing is stated."""
    halo = {"threads": 2, "partitions_per_thread": 2, "buffer": "4 KiB", "pattern": "halo3d"}
    order = {"arrivals": {"model": "normal by thread", "sd": "1 us"}}
    found = {a.name: a for a in alternatives(MELUXINA, [Workload.model_validate(halo | order)], of_a_node=4)}
    seen: dict[str, Any] = {n: (a.options, pytest.approx(a.weights), a.source, a.said) for n, a in found.items()}
    assert seen == {
        "who answers a rendezvous": (("on-call", "thread"), (0.9, 0.1), "literature", (
            "a thread in MPI answered each rendezvous", "a progress thread answered each rendezvous")),
        "how puts move": (("adapter", "processor", "deferred"), (0.75, 0.125, 0.125), "assumed", (
            "the adapter moved puts", "the target's processor took puts in", "puts waited for their synchronisation")),
        "ranks per node": (("1", "4"), (0.75, 0.25), "not given", (
            "each rank had an adapter", "4 ranks shared a node")),
        "receiver": (("computing", "waiting"), (0.75, 0.25), "not given", (
            "receivers computed meanwhile", "receivers waited in MPI")),
        "arrivals.partitions": (("together", "in turn"), (0.75, 0.25), "not given", (
            "a thread's partitions became ready together", "a thread's partitions became ready in turn")),
        "thread_grid": (("shared", "[1, 1, 2]"), (0.75, 0.25), "not given", (
            "each thread filled a part of every face", "threads were [1, 1, 2] in space")),
    }  # fmt: skip
    assert [a.measure for a in found.values()] == ["overlap", "approach", "", "", "", ""]
    halo["thread_grid"] = "shared"
    consuming = Workload.model_validate(halo | {"consume": {"time": "1 us"}, "compute": {"time": "1 ms"}})
    *_, works = alternatives(MELUXINA, [consuming, Workload.model_validate(halo)])
    assert works == Alternative("progress while receivers work", ("yes", "no"), (0.75, 0.25), "assumed", (
        "messages came while a receiver's threads work", "nothing came while all threads of a receiver work",
    ))  # fmt: skip
    said = Workload.model_validate(halo | {"receiver": "waiting", "ranks_per_node": 1})
    assert [a.name for a in alternatives(MELUXINA, [said])] == ["who answers a rendezvous", "how puts move"]
    shared = {a.name for a in alternatives(ALPS, [said.changed(ranks_per_node=None)])}
    assert {"share of an adapter", "placement"} < shared
    within = said.changed(ranks_per_node=None, path="intra")
    assert [a.name for a in alternatives(ALPS, [within])] == ["who answers a rendezvous", "how puts move"]


def test_an_order_that_a_workload_states_stays() -> None:
    for partitions, order in (({}, "in turn"), ({"partitions": "together"}, "together")):
        arrivals = {"model": "normal by thread", "sd": "1 us", **partitions}
        told = {"threads": 2, "partitions_per_thread": 2, "buffer": "4 KiB", "arrivals": arrivals}
        assert dict(with_order(Workload.model_validate(told), "in turn").arrivals)["partitions"] == order


@pytest.mark.parametrize(("rails", "packed", "ranks"), [(0, False, 4), (1, False, 4), (4, False, 1), (4, True, 4)])
def test_what_others_of_a_node_send_is_charged_where_they_are_not_simulated(
    rails: int, packed: bool, ranks: int
) -> None:
    """MeluXina's 1 MiB alone takes the whole cable, 41.9 us: with four ranks, a message of each takes four times as
    long, unless there are four adapters that they use; without any in the file, several may reach more than one."""
    machine = MELUXINA.model_copy(update={"adapter": None})
    machine = with_adapter(machine, f"{25 * rails} GB/s", "1 ns", rails) if rails else machine
    share = Alternative("share of an adapter", ("1", "4"), (0.75, 0.25), "not given", ("", ""))
    placed = Alternative("placement", ("in turn", "packed"), (1.0 - packed, float(packed)), "not given", ("", ""))
    sampler, plain = Sampler(machine, DRAWS, alternatives=[share, placed]), Sampler(machine, DRAWS)
    w, some = Workload.model_validate({"threads": 1, "buffer": "1 MiB"}), sampler.chosen(share.name) == 1
    shared, alone = (costs(s, w, 2.0**20) for s in (sampler, plain))
    assert some.mean() == pytest.approx(0.25, abs=0.05)
    own = (1e-9 + 2**20 / 25e9) if rails else (alone.gap + alone.link) / sampler("adapter.rate", TOGETHER)
    busy = np.where(some, np.maximum(alone.gap + alone.link, ranks * factor(sampler, "ports") * own), 0)
    np.testing.assert_allclose(np.where(some, shared.gap + shared.link, 0), busy)
    np.testing.assert_allclose(shared.link[~some], alone.link[~some])
    np.testing.assert_allclose(shared.stream, np.maximum(alone.stream, shared.link))


HALO = {"pattern": "halo3d", "grid": [4, 4, 2]}
LIST = {"pattern": "neighbours", "neighbour_list": [*([n + 4] for n in range(4)), *([[]] * 4)], "receiver": "waiting"}


@pytest.mark.parametrize("key", ["single", "part", "rma-single-active"])
@pytest.mark.parametrize("shape", [{"pattern": "pt2pt"}, HALO, HALO | {"grid": [3, 3, 3]}])
def test_drawn_ranks_of_a_node_are_those_of_a_workload_that_says_so(shape: dict[str, Any], key: str) -> None:
    """Draw by draw. 27 ranks fill no nodes of four, but of three. Pairs from rest: four ranks of one node send at once
    to four of another, as listed."""
    of = {"threads": 4, "buffer": "256 KiB", "compute": {"time": "200 us"}}
    pairs, n = shape["pattern"] == "pt2pt", 3 if shape.get("grid") == [3, 3, 3] else 4
    drawn, stated = (Workload.model_validate(of | more) for more in (shape, LIST if pairs else shape))
    stated = stated.changed(ranks_per_node=n)
    one = Runs(ALPS, Step.of(drawn), Rows(40))
    other = Runs(ALPS, Step.of_a_part(stated), Rows(40, iterations=1 if pairs else None, first=0 if pairs else None))
    known = [a for a in one.sampler.alternatives.values() if a.name != "ranks per node"]
    other.sampler = Sampler(ALPS, 40, lead=1, alternatives=known)
    some = np.flatnonzero(one.sampler.chosen("ranks per node")[1:] == 1)
    assert len(some) >= 5
    way = (BY_KEY[key].into(4),)
    found, wanted = (runs.means([way], range(1, 41))[0] for runs in (one, other))
    there = wanted.ends - 200e-6 if pairs else wanted.step.communication
    np.testing.assert_allclose(found.step.communication[some], there[some], rtol=1e-9)


def test_ranks_in_one_place_share_one_adapter() -> None:
    """Of Alps' four adapters four ranks use one each, or all the same: large messages then take four times as long."""
    listed = Workload.model_validate({"threads": 1, "buffer": "16 MiB", **LIST}).changed(ranks_per_node=4)

    def time(placement: str) -> float:
        runs = Runs(ALPS, Step.of_a_part(listed.changed(placement=placement)), Rows(0, iterations=1, first=0))
        return float(runs.at_values((BY_KEY["single"].into(1),)).ends[0])

    assert time("in turn") == time("numa")
    assert time("packed") == pytest.approx(4 * time("in turn"), rel=0.02)
    node = np.zeros(8, np.int64)
    assert {p: adapters_of(node, 4, p).tolist() for p in get_args(Placement)} == {
        "in turn": [0, 1, 2, 3, 0, 1, 2, 3], "numa": [0, 0, 1, 1, 2, 2, 3, 3], "packed": [0] * 8,
    }  # fmt: skip


def test_the_border_of_the_rendezvous_is_a_mixture() -> None:
    """A message of 32 KiB shakes hands where the border is 16 KiB, and not where it is 64 KiB."""
    first, middle, last = MELUXINA.inter.segments
    candidates = [{"at": "16384 B", "weight": 0.7}, {"at": "65536 B", "weight": 0.3}]
    fields = {"value": "16384 B", "candidates": candidates, "source": "assumed", "why": "test"}
    begins = validated(Begins, fields, "test")
    segments = first, middle, last.model_copy(update={"begins": begins})
    there = MELUXINA.model_copy(update={"inter": MELUXINA.inter.model_copy(update={"segments": segments})})
    w = Workload.model_validate({"threads": 1, "buffer": "32 KiB"})
    c = costs(Sampler(there, DRAWS, alternatives=[]), w, 32768.0)
    shakes = c.handshake > 0
    assert shakes.mean() == pytest.approx(0.7, abs=1 / LEVELS)
    # Eager ones have the eager segment's o_s, about 0.7 us instead of 1.79.
    assert np.median(c.hold[~shakes]) == pytest.approx(middle.o_s.value, rel=0.1)
    assert np.median(c.hold[shakes]) == pytest.approx(last.o_s.value, rel=0.1)
    # Without alternatives all machines follow one protocol.
    assert (costs(Sampler(there, DRAWS), w, 32768.0).handshake > 0).all()


def test_no_more_draws_than_there_are() -> None:
    with pytest.raises(PreadyError, match=f"draws = {DRAWS + 1}; valid: 0 to {DRAWS}"):
        Sampler(MELUXINA, DRAWS + 1)
