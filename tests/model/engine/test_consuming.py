"""Receivers that start early: the engine equals the plain recurrence, and both equal what can be worked out by hand."""

from typing import Any

import numpy as np
import pytest
from close import close
from hypothesis import given
from hypothesis import strategies as st
from machines import ideal
from made_once import EITHER, any_of, between, generated
from on_ranks import each
from plain_ranks import ends_of, run_as_plain, run_from_rest
from tables import table_of
from test_plain import cases
from workloads import workload_of

from pready.model.approach.interfaces import BULK, BY_KEY, Approach
from pready.model.engine.layout import Step
from pready.model.engine.runs import Rows, Rule, Runs, _told
from pready.model.engine.simulate import CAUSES, CONSUME
from pready.model.machine.machine import Machine, load
from pready.model.timeline.rules import POLL_O_S
from pready.model.workload.exchange import Consume
from pready.model.workload.workload import Workload

WORKS = st.one_of(
    st.builds(
        lambda t, k: Consume(time=t, threads=k), any_of("0 s", "137 ns", "11 us", "1.3 ms"), any_of(None, 1, 3, 40)
    ),
    st.builds(lambda t, k: Consume(per_byte=t, threads=k), any_of("0.31 ns/B", "7 ns/B"), any_of(None, 1, 5)),
)


def as_they_come(arrivals: Any, threads: int, work: float) -> float:
    """When the last of n partitions is done: what comes from the i-th on keeps k threads busy for ⌈(n − i + 1) / k⌉
    times the work on one. Of C_i = max(A_i, C_(i-k)) + w, unrolled."""
    return float((np.sort(arrivals) + -(-np.arange(len(arrivals), 0, -1) // threads) * work).max())


@st.composite
def consuming(draw: st.DrawFn) -> dict[str, Any]:
    case = draw(cases(("pt2pt", "halo3d", "halo3d26", "neighbours")))
    case["thread_grid"] = None
    update = {"receiver": "consuming", "consume": draw(WORKS)}
    if draw(EITHER):  # other partitions at the receiver
        update["receive_partitions"] = case["approach"].messages * draw(any_of(1, 2, 3, 5))
    case["workload"] = case["workload"].model_copy(update=update)
    return case


@pytest.mark.slow
@generated(168)
@given(consuming(), st.integers(1, 3))
def test_engine_equals_the_plain_recurrence(case: dict[str, Any], iterations: int) -> None:
    out, expected = run_as_plain(case, iterations, (*CAUSES, CONSUME))
    close(sum(out.causes_s.values()), out.mean_s, rtol=1e-12, atol=1e-15 * ends_of(expected).max())


@st.composite
def from_rest(draw: st.DrawFn) -> tuple[Runs, Approach]:
    case = draw(consuming())
    both = case["workload"].pattern == "pt2pt" and draw(EITHER)
    workload = case["workload"].model_copy(update={"both_ways": both})
    made = Runs(case["machine"], Step.from_rest(workload), Rows(0, draw(between(0, 3)), 5))
    return made, case["approach"]


@pytest.mark.slow
@generated(112)
@given(from_rest())
def test_exchanges_from_rest_equal_it(of: tuple[Runs, Approach]) -> None:
    runs, approach = of
    plain, _ = run_from_rest(runs, approach)
    left, atol = np.mean([e.end - e.told for e in plain]), 2e-12 * max(e.end for e in plain)
    times = runs.at_values((approach,)).exchange()
    np.testing.assert_allclose(times.consuming, left, rtol=1e-12, atol=atol)


# Known answers. On an ideal machine a message takes its bytes over the bandwidth, and nothing else takes time.


def consumer(work: float, threads: int | None = None, n: int = 4, theta: int = 1, late: float = 0.0) -> Workload:
    """Of partitions of 1 MB, each of which takes 40 us at 25 GB/s."""
    consume = {"time": f"{work!r} s"} | ({} if threads is None else {"threads": threads})
    arrivals = {"model": "laggard", "delay": f"{late!r} s"} if late else {"model": "none"}
    sizes = {"threads": n, "partitions_per_thread": theta, "buffer": f"{n * theta} MB"}
    return workload_of(**sizes, receiver="consuming", consume=consume, arrivals=arrivals)


def time_of(machine: Machine, w: Workload, key: str) -> float:
    interface = BY_KEY[key]
    approach = interface.into(w.n_partitions)
    (end,) = {round(e.end, 15) for e in each(Runs(machine, Step.of(w)), approach)}
    return end


@pytest.mark.parametrize(("key", "work_us", "threads", "expected_us"), table_of("model/known")["work"])
def test_work_hides_behind_what_still_comes(key: str, work_us: float, threads: int, expected_us: float) -> None:
    assert time_of(ideal(), consumer(work_us * 1e-6, threads), key) == pytest.approx(expected_us * 1e-6, rel=1e-9)


def test_threads_that_were_not_told_meet_first() -> None:
    machine = ideal(barrier=[3e-6, 3e-6, 3e-6])
    bulk, part = (time_of(machine, consumer(50e-6, 4), key) for key in ("single", "part"))
    assert bulk == pytest.approx(3e-6 + 160e-6 + 3e-6 + 50e-6)  # to send, and to work
    assert part == pytest.approx(160e-6 + 50e-6)


def test_a_rank_that_sends_too_starts_when_its_own_threads_have_met() -> None:
    # Both ranks are through at 1 ms, the last thread 200 us later, when three partitions have long come.
    w = consumer(30e-6, 1, late=200e-6).changed(both_ways=True)
    one_way = consumer(30e-6, 1, late=200e-6)
    assert time_of(ideal(), w, "part") == pytest.approx(4 * 30e-6)
    # A receiver that does nothing else has worked on three of them by then.
    assert time_of(ideal(), one_way, "part") == pytest.approx(40e-6 + 30e-6)


@given(between(1, 6), between(1, 4), between(1, 9), st.floats(0, 1e-4), st.floats(0, 1e-3))
def test_a_message_per_partition_is_the_closed_form(n: int, theta: int, k: int, work: float, late: float) -> None:
    w = consumer(work, k, n, theta, late)
    of = Runs(ideal(), Step.of(w), Rows(0, iterations=1))
    for key in ("part", "many", "single"):
        approach = BY_KEY[key].into(w.n_partitions)
        (exchange,) = each(of, approach)
        came = [m.arrived for m in exchange.messages]
        expected = as_they_come(came if key != "single" else came * w.n_partitions, k, work)
        assert exchange.end == pytest.approx(expected, rel=1e-12, abs=1e-15)


def test_where_all_threads_work_nothing_tells_of_a_part() -> None:
    many = BY_KEY["many"].into(4)
    meanwhile, after = (_told(many, Rule("thread", "adapter", meanwhile=n)) for n in (0, 1))
    assert meanwhile is many
    assert (after.interface.told_whole, after.interface.tells) == (True, False)
    assert _told(BULK, Rule("thread", "adapter", meanwhile=1)) is BULK


@pytest.mark.parametrize("pattern", ["pt2pt", "halo3d"])
def test_nothing_to_work_on_takes_the_tests_alone(pattern: str) -> None:
    waits = workload_of(buffer="1 MiB", pattern=pattern, arrivals={"model": "normal by thread", "spread": "4 %"})
    works = waits.changed(receiver="consuming", consume={"per_byte": "0 ns/B"})
    for key in ("part", "many", "rma-many-active"):
        approach = BY_KEY[key].into(4)
        # From rest: ranks that go on wait for each other, and share ports in other proportions then.
        times = [Runs(load("meluxina"), Step.from_rest(w)).mean_time(approach) for w in (waits, works)]
        # 4 threads, a partition of each neighbour each: a pass of tests, 2.3 o_s each, after the last arrival; threads
        # that complete their own messages meet meanwhile.
        size, machine = works.buffer / 4, load("meluxina")
        passed = works.peers * POLL_O_S * machine.inter.segment(size).o_s.value
        met = machine.threads.barrier.at(4) if approach.interface.completes == "threads" else 0.0
        assert times[1] == pytest.approx(times[0] + (passed - met if approach.interface.tells else 0.0), rel=1e-12)
    # Bulk's threads are told by a barrier.
    bulk = [Runs(load("meluxina"), Step.of(w)).mean_time(BULK) for w in (waits, works)]
    assert bulk[0] < bulk[1]


def test_a_direction_with_more_bytes_is_more_work() -> None:
    # Two peers, 4 and 1 MB in one message each, 1 ns per byte, one thread: 5 ms after the last arrival.
    faces, consume = ["4 MB", "1 MB", "1 MB"], {"per_byte": "1 ns/B"}
    w = workload_of(threads=1, buffer="4 MB", pattern="halo3d", faces=faces, grid=[2, 2, 1], consume=consume)
    times = Runs(ideal(), Step.of(w)).at_values((BULK,)).exchange()
    assert times.consuming == pytest.approx((4 + 4 + 1 + 1) * 1e-3)
