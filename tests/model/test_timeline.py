"""The timeline against its plain-Python oracle, the closed forms, and what must be monotone."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from machines import ideal
from made_once import EITHER, any_of, between, several
from oracle import end_of_exchange

from pready.model import gain
from pready.model.approach import (
    BY_KEY,
    INTERFACES,
    MANY,
    PART,
    RMA_SINGLE_ACTIVE,
    SINGLE,
    Approach,
    Interface,
    transport_counts,
)
from pready.model.arrays import Array
from pready.model.costs import Costs, Sampler, costs
from pready.model.errors import PreadyError
from pready.model.evaluate import Evaluation, setting_of
from pready.model.files import validated
from pready.model.line import fifo_starts
from pready.model.machine import Cold, Machine, NetworkPath, Requests, Wake
from pready.model.timeline import Setting, run
from pready.model.units import Offset, Size, Time
from pready.model.values import Value
from pready.model.workload import Workload

PERSISTENT_MATCHED = BY_KEY["persistent-matched"]


def workload(threads: int, theta: int, size: float, peers: int = 1) -> Workload:
    made = Workload.model_validate(
        {
            "threads": threads,
            "partitions_per_thread": theta,
            "buffer": f"{threads * theta} B",
            "pattern": "neighbours",
            "neighbours": peers,
        }
    )
    return made.model_copy(update={"buffer": size})


def time(
    machine: Machine,
    w: Workload,
    approach: Approach,
    ready: Array,
    joins: Array | None = None,
    *,
    two_way: bool = False,
) -> Array:
    size = w.buffer / approach.transport_partitions if approach.interface.splits else w.buffer
    setting = Setting(
        w.threads, w.partitions_per_thread, w.peers, machine.contexts.value, machine.progress.value, two_way=two_way
    )
    return run(np.atleast_2d(ready), costs(Sampler(machine), w, size), approach, setting, joins).end


def laggard(n: int, delay: float, start: float = 0.0) -> Array:
    ready = np.full(n, start)
    ready[-1] += delay
    return ready


seconds = st.floats(0, 1e-3)
counts = st.integers(1, 12)


# Limits: closed forms


@given(counts, st.integers(1, 6), st.floats(1e2, 1e9), st.floats(0, 10), st.floats(0, 10))
def test_bandwidth_only_is_eq3(n: int, theta: int, size: float, share: float, start: float) -> None:
    # D from nothing to ten times the transfer; L = o = g = 0.
    machine, w = ideal(), workload(n, theta, size)
    n_part, beta = n * theta, machine.bandwidth
    delay = share * size / beta
    got = float(time(machine, w, Approach(PART, n_part), laggard(n_part, delay))[0])
    expected = float(gain.pipelined_time(n, theta, size / n_part, beta, delay))
    assert got == pytest.approx(expected, rel=1e-12)
    bulk = float(time(machine, w, Approach(SINGLE), laggard(n_part, delay))[0])
    assert bulk == pytest.approx(float(gain.bulk_time(n, theta, size / n_part, beta)), rel=1e-12)
    # A long computation in front costs no digits but those of the ready times themselves.
    late = float(time(machine, w, Approach(PART, n_part), laggard(n_part, delay, start))[0])
    assert late == pytest.approx(expected, rel=1e-12, abs=4 * np.spacing(start + delay))


@given(counts, st.integers(1, 6), st.floats(1e-9, 1e-3))
def test_per_message_costs_only_is_eq5(n: int, theta: int, o: float) -> None:
    w = workload(n, theta, 1e-280)  # S -> 0
    zero = np.zeros(n * theta)
    for costly in ({"o_s": o}, {"o_r": o}, {"match": o}):
        machine = ideal(**costly)
        bulk, part = (float(time(machine, w, a, zero)[0]) for a in (Approach(SINGLE), Approach(PART, n * theta)))
        assert bulk / part == pytest.approx(float(gain.small_message_gain(n, theta)), rel=1e-12)


@given(counts, st.integers(1, 6), st.floats(1e-9, 1e-3), st.floats(1e-9, 1e-3), st.floats(1e-9, 1e-3))
def test_latency_pipelines_so_eq5_is_a_bound(n: int, theta: int, o_s: float, o_r: float, wire: float) -> None:
    # The paper's "latency" is serial; L is not, nor are o_s and o_r to each other.
    w, zero = workload(n, theta, 1e-280), np.zeros(n * theta)
    machine = ideal(o_s=o_s, o_r=o_r, L=wire)
    bulk, part = (float(time(machine, w, a, zero)[0]) for a in (Approach(SINGLE), Approach(PART, n * theta)))
    eta = bulk / part
    assert float(gain.small_message_gain(n, theta)) * (1 - 1e-12) <= eta <= 1 + 1e-12


@given(counts, st.integers(1, 6), st.floats(1e2, 1e7), seconds, seconds, seconds, seconds)
def test_one_transport_partition_differs_by_when_the_barrier_is_paid(
    n: int, theta: int, size: float, pready: float, barrier: float, o: float, wire: float
) -> None:
    machine = ideal(pready=pready, barrier=[0.0, barrier, barrier], o_s=o, L=wire, contention=[0.0, 2e-6, 8e-6])
    w, zero = workload(n, theta, size), np.zeros(n * theta)
    part = float(time(machine, w, Approach(PART, 1), zero)[0])
    single = float(time(machine, w, Approach(SINGLE), zero)[0])
    crossed = machine.threads.barrier.at(n)
    marked = theta * pready
    # Bulk pays the barrier before its message, the partitioned one never ends before its threads have met.
    assert part == pytest.approx(max(single + marked - crossed, marked + crossed), rel=1e-9, abs=1e-12)


def test_threads_that_take_turns_on_a_core_pay_for_each() -> None:
    # 3 threads of 2 partitions, ready at once: 6 sends of 1 us, and 6 us for each turn but the first. The two sends of
    # a turn share it, so that the first turn's second and the five after it cost 3 us: 6 + 5 * 3. Of one message per
    # thread each is a turn: 3 + 2 * 6. Puts have their own, of 4 us: 6 + 5 * 2. One thread hands its core to nobody.
    turn = {
        name: validated(Value[Time], {"value": value, "source": "assumed", "why": "test"}, name)
        for name, value in (("turn", "6 us"), ("turn_put", "4 us"))
    }
    plain = ideal(o_s=1e-6, put=1e-6)
    machine = plain.model_copy(update={"threads": plain.threads.model_copy(update=turn)})
    zero, w = np.zeros(6), workload(3, 2, 6e-9)

    def took(approach: Approach, of: Workload = w, on: Machine = machine) -> float:
        return 1e6 * float(time(on, of, approach, zero)[0])

    assert took(Approach(MANY, 6)) == pytest.approx(6 + 5 * 3)
    assert took(Approach(MANY, 3)) == pytest.approx(3 + 2 * 6)
    puts = took(Approach(RMA_SINGLE_ACTIVE, 6)) - took(Approach(RMA_SINGLE_ACTIVE, 6), on=plain)
    assert puts == pytest.approx(5 * 2)
    assert took(Approach(MANY, 6), workload(1, 6, 6e-9)) == pytest.approx(6)
    # On a VCI of their own they meet no lock, and the model no core.
    assert took(Approach(MANY, 6, 3)) == pytest.approx(2)


@pytest.mark.parametrize(("buffered", "ends"), [(0.0, 21.0), (2e6, 22.0), (1.2e6, 21.0)])
def test_a_thread_waits_for_its_own_sends_until_the_system_has_buffered_them(buffered: float, ends: float) -> None:
    # Messages of 1 ms that ask first; somebody has to be inside MPI to see the answer. Thread 1 waits there from 2 ms
    # on for its three: until 5 ms, or until 3 ms, its last one's answer, where the system buffers two. Then nobody sees
    # the answer to what thread 0 sends at 3.5 before 20 ms, and two messages are left, not one. With 1.2 MB it is 3.8.
    plain = ideal(handshake=1e-12, G=1e-9)
    about = {"source": "assumed", "why": "test"}
    room = validated(Value[Offset], {"value": f"{buffered!r} B", **about}, "room")
    machine = plain.model_copy(
        update={
            "sender_progress": plain.progress.model_copy(update={"value": "on-call"}),
            "inter": plain.inter.model_copy(update={"send_buffer": room}),
        }
    )
    ready = 1e-3 * np.array([0.0, 3.5, 20.0, 1.0, 1.5, 2.0])
    w, approach = workload(2, 3, 6e6), Approach(MANY, 6)
    line = run(ready[None], costs(Sampler(machine), w, 1e6), approach, setting_of(machine, w))
    assert 1e3 * float(line.end[0]) + 20 == pytest.approx(ends)


def test_a_thread_is_inside_mpi_while_it_queues() -> None:
    # Messages that hold the lock for 100 us and ask first (2 us), 50 us on the link each. Seven are ready at once, the
    # last after 10 ms. Thread 0's four are issued by 700 us at the latest, behind the other's three, so that it is
    # inside MPI until then, and sees every answer: of the seven nothing is left. The last is issued, answered and sent
    # in 152 us. One that is ready at 3 ms finds nobody inside MPI: its answer is seen at 10 ms.
    machine = ideal(o_s=100e-6, G=50e-12, link=20e9, handshake=2e-6)
    w, setting = workload(2, 4, 8e6), Setting(2, 4, 1, 8, "hardware", "on-call")
    c, approach = costs(Sampler(machine), w, 1e6), Approach(MANY, 8)

    def left(*ready: float) -> Array:
        line = run(np.array([ready]), c, approach, setting, keep_steps=True)
        assert line.end[0] == pytest.approx(152e-6)
        assert line.steps is not None
        return np.asarray(line.steps.left[0] + 10e-3)

    at_once = np.arange(1, 8) * 100e-6 + 2e-6
    assert left(*[0.0] * 7, 10e-3) == pytest.approx([*at_once, 10.102e-3])
    assert left(*[0.0] * 6, 3e-3, 10e-3) == pytest.approx([*at_once[:6], 10e-3, 10.102e-3])


# Monotonicity


@pytest.mark.thorough
@given(
    counts,
    st.integers(1, 6),
    st.integers(1, 12),
    st.integers(2, 4),
    st.lists(st.floats(0, 1e-4), min_size=72, max_size=72),
    st.tuples(st.floats(0, 5e-6), st.floats(0, 5e-6)),
    st.integers(1, 3),
)
def test_more_vcis_never_slow_many(
    n: int, theta: int, vcis: int, factor: int, times: list[float], growth: tuple[float, float], peers: int
) -> None:
    # Multiples refine the mapping: each VCI's messages are a subset of what one VCI had before.
    contention = [0.0, growth[0], growth[0] + growth[1]]
    machine = ideal(o_s=1e-6, o_r=5e-7, g=1e-7, L=1e-6, contention=contention, per_entry=1e-8)
    w, ready = workload(n, theta, 4096.0 * n * theta, peers), np.array(times[: n * theta])
    few, many = (float(time(machine, w, Approach(MANY, n * theta, v), ready)[0]) for v in (vcis, factor * vcis))
    assert many <= few * (1 + 1e-12)


def test_a_vci_more_can_collide_where_round_robin_wraps() -> None:
    # Why the property above speaks of multiples: of four threads, 0 and 3 come last and together. On
    # two VCIs they are apart, on three round-robin puts both on VCI 0. A scheduling anomaly, not a bug.
    machine, w = ideal(o_s=1e-6), workload(4, 1, 4e-3)
    ready = np.array([1.0, 0.0, 0.0, 1.0])
    on = {v: float(time(machine, w, Approach(MANY, 4, v), ready)[0]) for v in (1, 2, 3, 4)}
    assert on[3] > on[2]
    assert on[4] == on[2] < on[1]


@pytest.mark.thorough
@given(
    counts,
    st.integers(1, 6),
    st.sampled_from(INTERFACES),
    st.integers(1, 12),
    st.floats(0, 1e-3),
    st.floats(0, 1e-3),
    st.floats(10, 1e7),
)
def test_a_longer_laggard_never_lowers_eta(
    n: int, theta: int, interface: Any, vcis: int, first: float, more: float, size: float
) -> None:
    machine = ideal(
        o_s=3e-7, o_r=2e-7, g=1e-8, L=1e-6, pready=1e-7, barrier=[0.0, 1e-6, 3e-6], contention=[0.0, 3e-7, 15e-6]
    )
    w, n_part = workload(n, theta, size), n * theta
    for t in transport_counts(n_part):
        approach = Approach(interface, t if interface.splits else 1, vcis)
        etas = []
        for delay in (first, first + more):
            ready = laggard(n_part, delay)
            etas.append(float(time(machine, w, Approach(SINGLE), ready)[0] / time(machine, w, approach, ready)[0]))
        assert etas[1] >= etas[0] * (1 - 1e-9)


# The lock that sends also receives


def test_between_two_partitions_that_queue_as_many_messages_are_received() -> None:
    # o_s = 1, o_r = 0.4, L = 2 us, four messages ready at once on one VCI: they leave at 1, 2.4, 3.8 and 5.2, and the
    # last is there at 7.2 and received at 7.6. One way, they leave at 1, 2, 3, 4.
    machine, zero = ideal(o_s=1e-6, o_r=4e-7, L=2e-6), np.zeros(4)
    four = workload(4, 1, 4e-280)
    assert float(time(machine, four, Approach(PART, 4), zero, two_way=True)[0]) == pytest.approx(7.6e-6)
    assert float(time(machine, four, Approach(PART, 4), zero)[0]) == pytest.approx(6.4e-6)
    # Three peers, two partitions: 3 sends, 3 receives, 3 sends; the last leaves at 7.2. One partition is not delayed.
    three = workload(2, 1, 2e-280, peers=3)
    assert float(time(machine, three, Approach(PART, 2), np.zeros(2), two_way=True)[0]) == pytest.approx(9.6e-6)
    bulk = [time(machine, three, Approach(SINGLE), np.zeros(2), two_way=two) for two in (False, True)]
    assert bulk[0] == bulk[1]
    # Two VCIs have a lock each, and two messages: 1 + 0.4 + 1.
    assert float(time(machine, four, Approach(MANY, 4, 2), zero, two_way=True)[0]) == pytest.approx(4.8e-6)
    # What the adapter receives by itself takes no lock.
    put = Approach(BY_KEY["rma-single-passive"], 4)
    assert time(machine, four, put, zero, two_way=True) == time(machine, four, put, zero)


@pytest.mark.parametrize("interface", INTERFACES, ids=lambda i: str(i.key))
def test_a_message_that_finds_the_lock_idle_waits_for_no_receive(interface: Any) -> None:
    # Alone, or h + r after the one before: two ways cost what one does. A little less than h + r, and they do not.
    machine = ideal(o_s=1e-6, o_r=4e-7, match=1e-7, L=2e-6, copy=1e9)
    apart = 1e-6 + 5e-7 + (2 * 1e-9 if interface.active_message else 0.0)  # a byte is copied in and out
    w = workload(2, 1, 2.0)
    approach = Approach(interface, 2 if interface.splits else 1)
    ways = [
        [float(time(machine, w, approach, np.array([0.0, late]), two_way=two)[0]) for two in (False, True)]
        for late in (apart + 1e-12, 0.9 * apart)
    ]
    assert ways[0][0] == ways[0][1]
    queues = interface.splits and interface.receivers != "none"
    assert ways[1][1] - ways[1][0] == pytest.approx(0.1 * apart if queues else 0.0, abs=1e-15)


@pytest.mark.thorough
@given(
    counts,
    st.integers(1, 6),
    st.sampled_from(INTERFACES),
    st.integers(1, 12),
    st.integers(1, 4),
    st.lists(st.floats(0, 1e-4), min_size=72, max_size=72),
)
def test_receiving_delays_a_partition_by_no_more_than_one_receive_for_each_message_before_it(
    n: int, theta: int, interface: Any, vcis: int, peers: int, times: list[float]
) -> None:
    machine = ideal(o_s=1e-6, o_r=5e-7, g=1e-7, L=1e-6, contention=[0.0, 1e-6, 8e-6])
    w, ready = workload(n, theta, 4096.0 * n * theta, peers), np.array(times[: n * theta])
    approach = Approach(interface, n * theta if interface.splits else 1, vcis)
    one, two = (float(time(machine, w, approach, ready, two_way=t)[0]) for t in (False, True))
    before = peers * (n * theta - 1 if interface.splits else 0)
    most = 0.0 if interface.receivers == "none" else before * 5e-7
    assert -1e-12 * one <= two - one <= most * (1 + 1e-9) + 1e-15


def test_whose_threads_meet_last() -> None:
    # Two messages of 1 MB at 1 GB/s: the last byte at 2 ms, whatever came after. Threads take 1 ms to meet.
    machine, w = ideal(G=1e-9, barrier=[0.0, 1e-3, 1e-3]), workload(2, 1, 2e6)
    each = costs(Sampler(machine), w, 1e6)

    def end(receivers_meet: bool, acknowledged: bool, approach: Approach) -> float:
        setting = Setting(2, 1, 1, 1, "hardware", receivers_meet=receivers_meet)
        heard = replace(each, acknowledged=np.asarray(acknowledged))
        return float(run(np.zeros((1, 2)), heard, approach, setting).end[0])

    many, part = Approach(MANY, 2), Approach(PART, 2)
    assert end(True, False, many) == end(True, True, many) == pytest.approx(3e-3)
    # One thread receives. The sender's meet once they have heard of the last byte; or, as here, while it moves.
    assert end(False, True, many) == pytest.approx(3e-3)
    assert end(False, False, many) == pytest.approx(2e-3)
    # MPI_Wait of one thread completes all that MPI_Pready has sent.
    assert end(False, True, part) == pytest.approx(2e-3)
    # Not before both have issued theirs: the second after 3 ms, when its 1 MB go.
    slow = replace(each, hold=np.asarray(1.5e-3), wire=np.asarray(-9e-4))  # and take 0.1 ms
    setting = Setting(2, 1, 1, 1, "hardware", receivers_meet=False)
    assert run(np.zeros((1, 2)), slow, many, setting).end[0] == pytest.approx(4e-3)


def test_two_ways_are_halos_and_lists() -> None:
    def two_way(**pattern: Any) -> bool:
        w = validated(Workload, {"threads": 1, "buffer": "1 KiB", **pattern}, "w")
        return setting_of(ideal(), w).two_way

    assert two_way(pattern="halo3d")
    assert two_way(pattern="halo3d26")
    assert two_way(pattern="neighbours", neighbours=3)
    assert not two_way(pattern="pt2pt")
    assert not two_way(pattern="sweep3d")


# Sends as applications have them


def with_setup(seconds: float, **changes: Any) -> Machine:
    value = {"value": f"{seconds!r} s", "source": "assumed", "why": "test"}
    return ideal(**changes).model_copy(update={"requests": validated(Requests, {"setup": value}, "test")})


def test_a_persistent_send_saves_the_set_up() -> None:
    # 3 peers, o_s = 1 us, L = 5 us: the last message leaves after 3 us, or 3 × 0.7 where 0.3 us are set-up.
    machine, w, ready = with_setup(3e-7, o_s=1e-6, L=5e-6), workload(1, 1, 8.0, peers=3), np.zeros(1)
    took = {key: float(time(machine, w, Approach(BY_KEY[key]), ready)[0]) for key in ("single", "persistent")}
    streams = 8 / 25e9
    assert took["single"] == pytest.approx(8e-6 + streams, rel=1e-12)
    assert took["persistent"] == pytest.approx(7.1e-6 + streams, rel=1e-12)
    # No draw of the saving makes a send take less than nothing.
    huge = with_setup(1.0, o_s=1e-6, L=5e-6)
    assert float(time(huge, w, Approach(BY_KEY["persistent"]), ready)[0]) == pytest.approx(
        5e-6 + 3 * streams, rel=1e-12
    )
    # A machine that says nothing of it: the same.
    plain = ideal(o_s=1e-6, L=5e-6)
    assert time(plain, w, Approach(BY_KEY["persistent"]), ready) == time(plain, w, Approach(SINGLE), ready)


def test_sends_that_block_wait_for_each_other() -> None:
    # 3 peers, 1 MB at 10 GB/s (100 us), o_s = 1 us, handshake 4 us, L = 2 us. Nonblocking: issued at 1, 2, 3, asked
    # 4 later, one after the other on the link: 5 + 3·100 + 2. Blocking: each issues, asks and streams: 3·105 + 2.
    machine = ideal(o_s=1e-6, handshake=4e-6, L=2e-6, G=1 / 10e9, link=10e9)
    w, ready = workload(1, 1, 1e6, peers=3), np.zeros(1)
    took = {key: float(time(machine, w, Approach(BY_KEY[key]), ready)[0]) for key in ("single", "blocking")}
    assert took["single"] == pytest.approx(307e-6, rel=1e-12)
    assert took["blocking"] == pytest.approx(317e-6, rel=1e-12)
    # An eager send returns when it is copied.
    eager = ideal(o_s=1e-6, L=2e-6, G=1 / 10e9, link=10e9)
    assert time(eager, w, Approach(BY_KEY["blocking"]), ready) == time(eager, w, Approach(SINGLE), ready)


# Protocols and progress


def test_rendezvous_waits_for_a_computing_receiver_only_on_call() -> None:
    # 4 partitions of 1 MB, the last one 300 us late; the receiver computes for 400 us after the start.
    # On call nothing moves before 400 us: handshake/2, 4 × 40 us, and 100 us lie between the ends.
    w, approach = workload(4, 1, 4e6), Approach(PART, 4)
    ready, joins = laggard(4, 300e-6), np.array([400e-6])
    ends = {
        p: float(time(ideal(handshake=2e-6, progress=p), w, approach, ready, joins)[0])
        for p in ("hardware", "thread", "on-call")
    }
    assert ends["hardware"] == ends["thread"] == pytest.approx(100e-6)  # all hidden: only the join is left
    assert ends["on-call"] == pytest.approx(100e-6 + 1e-6 + 4 * 40e-6)


def test_persistent_matched_needs_no_progress() -> None:
    # jammer2022 III.C: the two-sided rendezvous has nothing left to answer.
    w, ready, joins = workload(4, 1, 4e6), laggard(4, 300e-6), np.array([310e-6])
    machine = ideal(handshake=2e-6, progress="on-call", L=1e-6)
    assert float(time(machine, w, Approach(PERSISTENT_MATCHED, 4), ready, joins)[0]) == pytest.approx(41e-6)


def test_one_message_alone_streams_slower_than_many() -> None:
    # G: 10 GB/s alone, 20 GB/s link. Two messages of 1 MB: the second starts after 50 us, streams 100 us.
    machine, w = ideal(G=1e-10, link=20e9), workload(2, 1, 2e6)
    assert float(time(machine, w, Approach(MANY, 2), np.zeros(2))[0]) == pytest.approx(150e-6)
    assert float(time(machine, w, Approach(SINGLE), np.zeros(2))[0]) == pytest.approx(200e-6)


def test_gap_separates_messages_but_not_the_first() -> None:
    machine, w = ideal(g=1e-6), workload(4, 1, 4e-3)
    assert float(time(machine, w, Approach(MANY, 4, 4), np.zeros(4))[0]) == pytest.approx(3e-6, rel=1e-6)


def test_meeting_differs_by_its_interval_and_never_takes_less_than_nothing() -> None:
    machine = ideal(barrier=[0.0, 5e-6, 5e-6])
    meet = machine.one_sided.put.model_copy(update={"value": 0.0, "interval": (-20e-6, 20e-6)})
    machine = machine.model_copy(update={"threads": machine.threads.model_copy(update={"meet": meet})})
    drawn = costs(Sampler(machine, draws=4000, seed=1, lead=1), workload(4, 1, 64.0), 16.0).barrier
    assert drawn[0] == 5e-6
    assert drawn.min() == 0.0
    assert np.mean(drawn > 25e-6) == pytest.approx(0.025, abs=0.008)
    assert not np.any(costs(Sampler(machine, draws=9), workload(1, 1, 64.0), 16.0).barrier)


# The oracle


RESOLUTION = 2.0**-50
"""Of times in generated cases, about a femtosecond. Sums of its multiples below 8 s are exact in a float, whatever
their order and origin: messages tie in both or in neither. Which of two VCIs' messages leaves first decides
how long their queues become, so a tie that only rounding breaks has two right answers."""


def whole(t: float) -> float:
    return round(t / RESOLUTION) * RESOLUTION


@cache
def times(longest: float) -> st.SearchStrategy[float]:
    """Times up to `longest`, in s, whole in `RESOLUTION`."""
    return st.floats(0, longest).map(whole)


COST = any_of(*map(whole, (0.0, 1e-7, 3e-7, 1e-6))) | times(1e-5)
HANDSHAKE = st.none() | any_of(whole(1e-7), whole(1e-6), 5e-324) | times(1e-5)
"""As short as a float can be, perhaps; whether there is one, the protocol says."""
COOLING = st.floats(1e-6, 1e-3)
JOINS = st.none() | several(times(2e-4), 2, 2)


def random_costs(draw: st.DrawFn, threads: int) -> Costs:
    values = {
        name: np.asarray(draw(COST))
        for name in (
            *("hold", "copy_in", "put", "gap", "link", "wire", "unmatched", "per_entry"),
            *("control", "copy_out", "pready", "barrier", "poll", "epoch", "flush", "window", "ack"),
            *("cold", "active", "wake", "waking", "drain", "credit", "setup", "kept"),
        )
    }
    extra = draw(times(1e-5))
    sharing = several(times(1e-5), threads + 1, threads + 1)
    handshake = draw(HANDSHAKE)
    return Costs(
        **values,
        handshake=np.asarray(handshake or 0.0),
        rendezvous=np.asarray(handshake is not None),
        acknowledged=np.asarray(draw(EITHER)),
        buffered=np.asarray(draw(times(1e-5))),
        queue=np.asarray(draw(any_of(0.0, 1e-5))),
        backlog=np.asarray(draw(any_of(0.0, 1e-5))),
        jitter=np.asarray(0.0),
        uneven=np.asarray(draw(any_of(0.0, 0.25, 1.5))),
        uneven_active=np.asarray(draw(any_of(0.0, 0.75))),
        uneven_puts=np.asarray(draw(any_of(0.0, 0.5))),
        size=np.asarray(draw(any_of(1.0, 1e6))),
        cooling=np.asarray(draw(COOLING)),
        cold_own=np.asarray(draw(any_of(0.0, 0.5, 1.0))),
        stream=np.asarray(values["link"] + extra),
        receive=np.asarray(values["unmatched"] + draw(times(1e-6))),
        contention=np.array(draw(sharing)),
        contention_put=np.array(draw(sharing)),
    )


SAME_OF_ALL = (
    *("per_entry", "control", "pready", "barrier", "wake", "waking", "poll", "epoch", "flush", "window", "ack"),
    *("cooling", "cold_own", "uneven", "uneven_active", "uneven_puts", "contention", "contention_put"),
)
"""What does not depend on a message's size."""


def random_costs_by_peer(draw: st.DrawFn, threads: int, peers: int) -> Costs | list[Costs]:
    """Of messages that are alike, or of as many sizes as there are peers."""
    first = random_costs(draw, threads)
    if peers == 1 or draw(EITHER):
        return first
    same = {name: getattr(first, name) for name in SAME_OF_ALL}
    others = [random_costs(draw, threads) for _ in range(draw(between(1, peers - 1)))]
    kinds = [first, *(dataclasses.replace(c, **same) for c in others)]
    if draw(EITHER):  # a link is shaped, or is not
        kinds = [dataclasses.replace(c, drain=np.asarray(0.0)) for c in kinds]
    some = RESOLUTION * 2**20  # no message takes no time: whether it finds room would hang on rounding
    kinds = [dataclasses.replace(c, link=c.link + some, stream=c.stream + some) for c in kinds]
    first = kinds[0]
    return [first if k == 0 else kinds[draw(between(1, len(kinds))) - 1] for k in range(peers)]


Exchange = tuple[list[list[float]], Costs | list[Costs], Approach, Setting, list[float] | None]


@st.composite
def exchanges(draw: st.DrawFn) -> Exchange:
    """When partitions are ready, of two rows; what messages cost; how they are sent, and where; when receivers join."""
    threads, theta, peers = draw(between(1, 6)), draw(between(1, 5)), draw(between(1, 4))
    n_part = threads * theta
    interface = draw(any_of(*BY_KEY.values()))
    transports = draw(any_of(*transport_counts(n_part))) if interface.splits else 1
    approach = Approach(interface, transports, draw(between(1, 8)))
    setting = Setting(
        threads,
        theta,
        peers,
        draw(between(1, 8)),
        draw(any_of("hardware", "thread", "on-call")),
        draw(any_of("hardware", "on-call")),
        draw(any_of(0.0, 1.37e3, 1.37e6, math.inf)),
        draw(EITHER),
        puts_delivered=draw(EITHER),
        two_way=draw(EITHER),
        scattered=draw(EITHER),
        sends_unattended=draw(any_of(math.inf, 0.0, 1.37e3, 1.37e6)),
    )
    c = random_costs_by_peer(draw, threads, peers)
    rows = [draw(several(times(1e-4), n_part, n_part)) for _ in range(2)]
    return rows, c, approach, setting, draw(JOINS)


@pytest.mark.slow
@settings(max_examples=800, deadline=None)
@given(exchanges())
def test_equals_the_oracle(exchange: Exchange) -> None:
    rows, c, approach, setting, joins = exchange
    got = run(np.array(rows), c, approach, setting, None if joins is None else np.array(joins)).end
    for k, row in enumerate(rows):
        expected = end_of_exchange(row, c, approach, setting, None if joins is None else joins[k])
        assert got[k] == pytest.approx(expected, rel=1e-9, abs=1e-15)


def to_peers(machine: Machine, sizes: list[float], approach: Approach, two_way: bool = False) -> float:
    """The end of an exchange of one thread that sends as many bytes to each of several peers."""
    w = workload(1, 1, sizes[0], peers=len(sizes))
    setting = Setting(1, 1, len(sizes), 8, "hardware", two_way=two_way)
    by_peer = [costs(Sampler(machine), w, size) for size in sizes]
    return float(run(np.zeros((1, 1)), by_peer, approach, setting).end[0])


def test_what_each_peer_gets_takes_the_time_of_its_size() -> None:
    # At 25 GB/s 1 MB takes 40 us, 3 MB 120. o_s = 2 us: the second is issued at 4 us and waits for the first, until
    # 42 or 122; the wire takes 1 us. Bytes leave one after the other, so that the order does not matter to the last.
    machine = ideal(L=1e-6, o_s=2e-6)
    for sizes in ([1e6, 3e6], [3e6, 1e6]):
        assert to_peers(machine, sizes, Approach(SINGLE)) == pytest.approx(163e-6, rel=1e-12)
    # One message alone streams at 10 GB/s: the large one's 300 us begin after 2 us, or after 42.
    slow = ideal(L=1e-6, o_s=2e-6, G=1e-10, link=25e9)
    assert to_peers(slow, [3e6, 1e6], Approach(SINGLE)) == pytest.approx(303e-6, rel=1e-12)
    assert to_peers(slow, [1e6, 3e6], Approach(SINGLE)) == pytest.approx(343e-6, rel=1e-12)
    # What is received takes the CPU 5 us each: the small one, sent last, comes at 122 + 100 + 1 and is through before.
    served = ideal(L=1e-6, o_s=2e-6, o_r=5e-6, G=1e-10, link=25e9)
    assert to_peers(served, [3e6, 1e6], Approach(SINGLE)) == pytest.approx(308e-6, rel=1e-12)


def test_as_many_bytes_for_each_peer_are_one_size() -> None:
    machine = ideal(L=1e-6, o_s=2e-6, o_r=1e-6, g=1e-7, G=1e-10, link=25e9, handshake=3e-6)
    w, ready = workload(2, 2, 4e6, peers=3), np.array([[0.0, 1e-5, 3e-5, 3e-5]])
    setting = Setting(2, 2, 3, 8, "on-call", "on-call", two_way=True, scattered=True)
    for interface in BY_KEY.values():
        approach = Approach(interface, 4 if interface.splits else 1, 2)
        c = costs(Sampler(machine), w, approach.message_size(4e6))
        each = [run(ready, given, approach, setting, np.array([2e-5])) for given in (c, [c], [c] * 3)]
        assert each[0].end[0] == each[1].end[0] == pytest.approx(each[2].end[0], rel=1e-12)


def test_sizes_of_rows_are_independent() -> None:
    # Rows of one call may be of other sizes, eager and rendezvous among them: each is what it is alone.
    small, large = ideal(o_s=1e-6, L=1e-6), ideal(o_s=1e-6, L=1e-6, handshake=2e-6)
    w, setting = workload(4, 1, 4e6, peers=2), Setting(4, 1, 2, 8, "hardware", two_way=True)
    ready = np.random.default_rng(3).random((4, 4)) * 1e-4
    rows = [[costs(Sampler(m), w, s) for s in (1e6, f * 1e5)] for m in (small, large) for f in (1, 4)]
    by_peer = [Costs.stack([r[peer] for r in rows], 1) for peer in (0, 1)]
    for approach in (Approach(MANY, 4, 1), Approach(MANY, 4, 2), Approach(PERSISTENT_MATCHED, 4, 1)):
        together = run(ready, by_peer, approach, setting).end
        alone = [run(ready[k : k + 1], rows[k], approach, setting).end[0] for k in range(4)]
        assert together == pytest.approx(alone, rel=1e-12)


def test_a_handshake_of_next_to_nothing_still_waits_for_its_answer() -> None:
    # Half of 5e-324 s is 0; the receiver answers at 1 ms all the same. 100 B at 25 GB/s take 4 ns.
    machine, w = ideal(handshake=5e-324, progress="on-call"), workload(1, 1, 100.0)
    joins = np.array([1e-3])
    assert time(machine, w, Approach(MANY, 1), np.zeros(1), joins)[0] == pytest.approx(1e-3 + 4e-9, rel=1e-12)
    c = costs(Sampler(machine), w, 100.0)
    setting = Setting(1, 1, 1, 8, "on-call")
    assert end_of_exchange([0.0], c, Approach(MANY, 1), setting, 1e-3) == pytest.approx(1e-3 + 4e-9, rel=1e-12)


@pytest.mark.parametrize(
    ("hold", "expected_us"),
    [
        # By VCI: VCI 1's two messages arrive at 0.3 and 0.4 us and take 0.5 us each to be received.
        (0.0, 1.3),
        # Each after the lock was held, however briefly: in turn. VCI 1's arrive at 0.2 and 0.4 us.
        (RESOLUTION, 1.2),
    ],
)
def test_messages_that_tie_leave_by_vci(hold: float, expected_us: float) -> None:
    zero = {field.name: np.asarray(0.0) for field in dataclasses.fields(Costs)}
    c = Costs(
        **zero
        | {
            **{"hold": np.asarray(hold), "per_entry": np.asarray(1e-6)},
            **{"link": np.asarray(1e-7), "stream": np.asarray(1e-7), "cooling": np.asarray(1e-3)},
            **{"rendezvous": np.asarray(False), "contention": np.zeros(5), "contention_put": np.zeros(5)},
        }
    )
    approach, setting = Approach(MANY, 4, 2), Setting(4, 1, 1, 2, "hardware")
    got = float(run(np.zeros((1, 4)), c, approach, setting).end[0])
    assert got == pytest.approx(expected_us * 1e-6, rel=1e-8)
    assert got == pytest.approx(end_of_exchange([0.0] * 4, c, approach, setting, None), rel=1e-12)


def test_the_oracle_sees_a_wrong_timeline() -> None:
    # Negative control: a contention curve ignored, or progress ignored, is found.
    w, zero = workload(4, 1, 4.0), np.zeros(4)
    machine, wrong = ideal(o_s=1e-6, contention=[0.0, 1e-6, 7e-6]), ideal(o_s=1e-6)
    setting = Setting(4, 1, 1, 8, "hardware")
    c = costs(Sampler(machine), w, 1.0)
    expected = end_of_exchange([0.0] * 4, c, Approach(PART, 4), setting, None)
    assert float(time(machine, w, Approach(PART, 4), zero)[0]) == pytest.approx(expected, rel=1e-12)
    assert float(time(wrong, w, Approach(PART, 4), zero)[0]) < 0.9 * expected


# The server


@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(0, 0.1)), min_size=1, max_size=50), st.booleans())
def test_fifo_is_its_recurrence(jobs: list[tuple[float, float]], alike: bool) -> None:
    arrivals = [a for a, _ in jobs]  # in whatever order they are served
    services = [jobs[0][1] if alike else s for _, s in jobs]
    starts = fifo_starts(np.array([arrivals]), np.array([services[:1] if alike else services]))[0]
    free = -np.inf
    for got, arrival, service in zip(starts, arrivals, services, strict=True):
        expected = max(arrival, free)
        assert got == pytest.approx(expected, abs=1e-13)
        free = expected + service


def test_rows_are_independent() -> None:
    machine, w = ideal(o_s=1e-6, L=1e-6), workload(3, 2, 600.0)
    rng = np.random.default_rng(1)
    ready = rng.random((20, 6)) * 1e-5
    together = time(machine, w, Approach(MANY, 6, 2), ready)
    alone = np.concatenate([time(machine, w, Approach(MANY, 6, 2), row) for row in ready])
    assert np.array_equal(together, alone)


@pytest.mark.parametrize(
    ("room", "end"),
    [
        (None, 40e-6),  # the last put alone, 40 us at 25 GB/s
        (2.5e6, 60e-6),  # two and a half had moved in 1 ms: half a put, and the last
        (0.5e6, 140e-6),  # half of the first
        (0.0, 160e-6),  # all put off
    ],
)
def test_puts_wait_where_there_is_no_room_for_them(room: float | None, end: float) -> None:
    # Three puts of 1 MB at once, the fourth 1 ms later: the threads meet right after it.
    machine, w = ideal(put=0.0, epoch=0.0), workload(4, 1, 4e6)
    if room is not None:
        found = machine.one_sided.put.model_copy(update={"value": room})
        one_sided = machine.one_sided.model_copy(update={"unattended": found})
        machine = machine.model_copy(update={"one_sided": one_sided})
    c = costs(Sampler(machine), w, 1e6)
    line = run(laggard(4, 1e-3)[None, :], c, Approach(RMA_SINGLE_ACTIVE, 4), setting_of(machine, w))
    assert line.end[0] == pytest.approx(end)


@pytest.mark.parametrize(
    ("interface", "room", "end"),
    [
        (MANY, None, 80e-6),  # what is ready last, alone: 2 MB at 25 GB/s
        # Of four messages of 2 MB, 3 MB had moved when the first thread was done and waited. The other 5 MB and its own
        # began then, 100 us before the last partition, and the other thread's follows them: 200 + 80 + 80 - 100.
        (MANY, 3e6, 260e-6),
        (MANY, 0.0, 380e-6),  # 8 MB, 320 us, and two more
        # One thread completes all, once they have met. The call at 1 ms hands over 3 MB, 2.5 of which move until then.
        (PART, 3e6, 260e-6),
    ],
)
def test_sends_wait_where_there_is_no_room_for_them(interface: Interface, room: float | None, end: float) -> None:
    # Two threads with three partitions each, two of them ready at once; the first waits 1 ms later, the other 1.1 ms.
    machine, w = ideal(), workload(2, 3, 12e6)
    if room is not None:
        found = machine.one_sided.put.model_copy(update={"value": room})
        machine = machine.model_copy(update={"inter": machine.inter.model_copy(update={"unattended": found})})
    c = costs(Sampler(machine), w, 2e6)
    ready = np.array([[0.0, 0.0, 1e-3, 0.0, 0.0, 1.1e-3]])
    line = run(ready, c, Approach(interface, 6), setting_of(machine, w))
    assert line.end[0] == pytest.approx(end)


def test_puts_that_are_active_messages_take_the_receiver_s_cpu() -> None:
    # Four puts of 1 MB at once leave 40 us apart; the last arrives at 160 us. Each takes 50 us of one thread, one after
    # the other: the first from 40 us on, so 40 + 4 · 50. A receiver that computes until 1 ms begins then.
    machine, w = ideal(put=0.0, epoch=0.0, o_r=50e-6), workload(4, 1, 4e6)
    c, at_once = replace(costs(Sampler(machine), w, 1e6), control=np.asarray(0.0)), np.zeros((1, 4))
    by_adapter = setting_of(machine, w)
    by_cpu = replace(by_adapter, puts_take_cpu=True)

    def end(setting: Setting, joins: Array | None = None) -> float:
        return float(run(at_once, c, Approach(RMA_SINGLE_ACTIVE, 4), setting, joins).end[0])

    assert end(by_adapter) == pytest.approx(160e-6)
    assert end(by_cpu) == pytest.approx(240e-6)
    assert end(by_adapter, np.array([1e-3])) == pytest.approx(1e-3)
    assert end(replace(by_cpu, progress="on-call"), np.array([1e-3])) == pytest.approx(1.2e-3)
    assert end(replace(by_cpu, progress="thread"), np.array([1e-3])) == pytest.approx(1e-3)


def test_puts_in_turn_find_room_again() -> None:
    # 1 MB every 40 us: each has left when the next comes, though all four together find no room.
    machine, w = ideal(put=0.0, epoch=0.0), workload(4, 1, 4e6)
    found = machine.one_sided.put.model_copy(update={"value": 1.5e6})
    machine = machine.model_copy(update={"one_sided": machine.one_sided.model_copy(update={"unattended": found})})
    c = costs(Sampler(machine), w, 1e6)
    line = run(np.arange(4.0)[None, :] * 40e-6, c, Approach(RMA_SINGLE_ACTIVE, 4), setting_of(machine, w))
    assert line.end[0] == pytest.approx(40e-6)


def test_a_put_joins_the_queue_behind_what_found_no_room() -> None:
    # Four threads put 1 MB each, 40 us at 25 GB/s, with room for 1.5 MB: at once, after 10 us, 200 us and 1 ms. The
    # second put finds 0.75 MB of room, of 0.25 MB that moved meanwhile. A put does not poll: what waits goes when the
    # threads have met, 0.25 MB and two puts, 10 + 80 us. Sends would have moved the rest at 200 us, and the last alone.
    machine, w = ideal(put=0.0, epoch=0.0), workload(4, 1, 4e6)
    found = machine.one_sided.put.model_copy(update={"value": 1.5e6})
    puts = machine.one_sided.model_copy(update={"unattended": found})
    machine = machine.model_copy(update={"one_sided": puts})
    c = costs(Sampler(machine), w, 1e6)
    ready = np.array([[0.0, 10e-6, 200e-6, 1e-3]])
    line = run(ready, c, Approach(RMA_SINGLE_ACTIVE, 4), setting_of(machine, w))
    assert line.end[0] == pytest.approx(90e-6)
    machine = machine.model_copy(update={"inter": machine.inter.model_copy(update={"unattended": found})})
    sends = run(ready, costs(Sampler(machine), w, 1e6), Approach(PART, 4), setting_of(machine, w))
    assert sends.end[0] == pytest.approx(40e-6)


def test_puts_that_are_put_off_are_copied_in_their_calls() -> None:
    # Four threads put 1 MB each, ready at once and in the order of their threads, 40 us on the link; each call copies
    # at 10 GB/s, 100 us, one after the other. They meet after 400 us, and only then does anything move: 400 + 160.
    machine, w = ideal(put=0.0, epoch=0.0), workload(4, 1, 4e6)
    nothing, per_byte = (machine.one_sided.put.model_copy(update={"value": x}) for x in (0.0, 1e-10))
    for keeps, end in ((None, 160e-6), (per_byte, 560e-6)):
        puts = machine.one_sided.model_copy(update={"unattended": nothing, "O_s": keeps})
        machine = machine.model_copy(update={"one_sided": puts})
        c = costs(Sampler(machine), w, 1e6)
        line = run(np.zeros((1, 4)), c, Approach(RMA_SINGLE_ACTIVE, 4), setting_of(machine, w))
        assert line.end[0] == pytest.approx(end)


def test_trace_out_of_order_on_a_thread() -> None:
    # A thread that finishes its second partition first marks it first: 1 us + 0.1, then 2 us + 0.1.
    machine, w = ideal(pready=1e-7, o_s=1e-9), workload(1, 2, 2e-3)
    end = float(time(machine, w, Approach(PART, 2), np.array([2e-6, 1e-6]))[0])
    assert end == pytest.approx(1e-7 + 1e-9, rel=1e-6)


def test_steps_of_a_known_exchange() -> None:
    # Four messages of 1 MB (40 us each at 25 GB/s), the last 60 us late, L = 1 us, o_s = 2 us.
    machine, w = ideal(L=1e-6, o_s=2e-6), workload(4, 1, 4e6)
    setting = Setting(4, 1, 1, 8, "hardware")
    c = costs(Sampler(machine), w, 1e6)
    line = run(laggard(4, 60e-6)[None, :], c, Approach(MANY, 4, 4), setting, keep_steps=True)
    steps = line.steps
    assert steps is not None
    assert steps.ready[0] == pytest.approx([-60e-6, -60e-6, -60e-6, 0])
    assert steps.issued[0] == pytest.approx([-58e-6, -58e-6, -58e-6, 2e-6])
    assert steps.left[0] == pytest.approx([-58e-6, -18e-6, 22e-6, 62e-6])
    assert steps.arrived[0] == pytest.approx([-17e-6, 23e-6, 63e-6, 103e-6])
    assert line.end[0] == pytest.approx(103e-6)


# ---- a shaped link, cold caches, waking up --------------------------------------------------------------------------


def with_segments(burst: float) -> Machine:
    """A link of 100 MB/s that lets a burst through at 1 GB/s; latency 10 us, one message alone."""
    fast, rate = 1e-9, 1e-8
    slow = 10e-6 - burst * (rate - fast)  # the lines cross at the burst

    def line(start: float, latency: float, per_byte: float) -> dict[str, object]:
        def v(x: float, unit: str) -> dict[str, str]:
            return {"value": f"{x!r} {unit}", "source": "assumed", "why": "test"}

        zero = {name: v(0.0, "s") for name in ("o_s", "o_r", "g")}
        per = v(per_byte, "s/B")
        return {"from": f"{start!r} B", "protocol": "short", "L": v(latency, "s"), "G": per, "G_link": per, **zero}

    m = ideal()
    known = {"value": "100 MB/s", "source": "assumed", "why": "test"}
    at = {"value": f"{burst - 1!r} B", "source": "assumed", "why": "test"}
    data = {
        "segments": [line(0.0, 10e-6, fast), line(burst, slow, rate)],
        "link_bandwidth": known,
        "burst": at,
    }
    return m.model_copy(update={"inter": validated(NetworkPath, data, "test")})


@pytest.mark.parametrize("messages", [1, 4, 16])
@pytest.mark.parametrize("size", [1000, 10_000, 40_000])
def test_messages_in_a_row_share_one_bucket(messages: int, size: int) -> None:
    # All at once: the total either fits into the bucket and passes at 1 GB/s, or all beyond it takes the link's rate.
    burst = 20_000.0
    w = validated(Workload, {"threads": messages, "buffer": f"{messages * size} B"}, "w")
    got = Evaluation(with_segments(burst), w, draws=0).mean_time(Approach(MANY, messages))
    total = messages * size
    expected = 10e-6 + total * 1e-9 + max(total - burst, 0) * 9e-9
    # `burst - 1` finds the faster line, and a message that straddles the bucket's end is one or the other.
    assert got == pytest.approx(expected, rel=0.02, abs=1e-8)


def test_what_opening_takes_is_part_of_each_epoch() -> None:
    m, w = ideal(epoch=3e-6), workload(2, 1, 2e-9)
    said = {"value": "10 us", "interval": ["0 s", "20 us"], "source": "assumed", "why": "test"}
    opening = {"open": validated(Value[Time], said, "open")}
    opens = m.model_copy(update={"one_sided": m.one_sided.model_copy(update=opening)})
    # Threads that compute meanwhile: the receiver's go-ahead has long been there.
    ready, way = np.full(2, 1e-3), Approach(RMA_SINGLE_ACTIVE, 2)
    without, with_it = (float(time(on, w, way, ready)[0]) for on in (m, opens))
    assert with_it - without == pytest.approx(10e-6)
    assert (costs(Sampler(opens, draws=500), w, 1e-9).epoch >= 3e-6).all()
    # In a wavefront ranks wait for what they need to compute, and epochs open meanwhile.
    sweep = w.model_copy(update={"pattern": "sweep3d"})
    assert costs(Sampler(opens), sweep, 1e-9).epoch == pytest.approx(3e-6)


def test_each_message_has_a_header_on_a_shaped_link() -> None:
    # What one message alone takes contains its own: four more messages of 40 kB take four more headers of 100 B.
    m = with_segments(20_000.0)
    header = {"value": "100 B", "source": "assumed", "why": "test"}
    longer = m.model_copy(
        update={"inter": m.inter.model_copy(update={"header": validated(Value[Size], header, "test")})}
    )
    w = validated(Workload, {"threads": 5, "buffer": "200 kB"}, "w")
    for messages in (1, 5):
        one, two = (Evaluation(x, w, draws=0).mean_time(Approach(MANY, messages)) for x in (m, longer))
        assert two - one == pytest.approx((messages - 1) * 100 * 1e-8, rel=1e-6, abs=1e-12)


def test_a_bucket_fills_again_in_a_pause() -> None:
    burst, size, late = 20_000.0, 15_000, 1e-3
    w = {"threads": 2, "buffer": f"{2 * size} B"}
    m = with_segments(burst)
    together = validated(Workload, w, "w")
    apart = validated(Workload, w | {"arrivals": {"model": "laggard", "delay": f"{late} s"}}, "w")
    times = [Evaluation(m, x, draws=0).mean_time(Approach(MANY, 2)) for x in (together, apart)]
    # 30 kB less the bucket at the link's rate; or 15 kB alone, through a full bucket.
    assert times == [pytest.approx(10e-6 + 30e-6 + 10_000 * 9e-9, rel=0.02), pytest.approx(10e-6 + 15e-6, rel=0.02)]


def test_a_thread_that_has_computed_wakes_up_to_send() -> None:
    # 10 us for a team of two, 63 % of it 1 ms after the beginning; one thread is no team, and bulk is sent awake.
    wake = {"threads": [1, 2], "time": ["0 s", "10 us"], "after": "1 ms", "source": "assumed", "why": "test"}
    m = ideal(G=1e-12)
    m = m.model_copy(update={"threads": m.threads.model_copy(update={"wake": validated(Wake, wake, "test")})})

    def after(threads: int, age: float, approach: Approach) -> float:
        return float(time(m, workload(threads, 1, 2e-9), approach, np.full(threads, age))[0])

    assert after(2, 1e-3, Approach(MANY, 2)) == pytest.approx(10e-6 * (1 - math.exp(-1)))
    assert after(2, 1.0, Approach(MANY, 2)) == pytest.approx(10e-6)
    assert after(2, 0.0, Approach(MANY, 2)) == pytest.approx(0.0, abs=1e-15)
    assert after(2, 1e-3, Approach(SINGLE)) == pytest.approx(0.0, abs=1e-15)
    assert after(1, 1e-3, Approach(MANY, 1)) == pytest.approx(0.0, abs=1e-15)


def test_no_draw_of_waking_up_makes_a_message_arrive_before_it_was_ready() -> None:
    # A large segment, whose messages take 1 us, less than the smallest one's 3 us: 10 +- 30 us of waking up.
    m = ideal(L=2e-6, o_s=5e-7, o_r=5e-7, G=1e-12)
    large = m.inter.segments[0].model_copy(
        update={"from_": 1024.0, "L": m.inter.segments[0].L.model_copy(update={"value": 0.0})}
    )
    wake = {"threads": [1, 2], "time": ["0 s", "10 us"], "within": "30 us", "source": "assumed", "why": "test"}
    m = m.model_copy(
        update={
            "threads": m.threads.model_copy(update={"wake": validated(Wake, wake, "test")}),
            "inter": m.inter.model_copy(update={"segments": (*m.inter.segments, large)}),
        }
    )
    w = validated(Workload, {"threads": 2, "buffer": "4 KiB", "compute": {"time": "1 ms"}}, "w")
    evaluation = Evaluation(m, w)
    c = evaluation.costs(Approach(MANY, 2))
    assert (c.wake < 0).any()
    assert (c.hold + c.stream + c.wire + c.wake > 0).all()
    assert (evaluation.timeline(Approach(MANY, 2)).end > 0).all()
    row = evaluation.predict(Approach(MANY, 2))
    assert 0 < row.eta_low <= row.eta <= row.eta_high < math.inf


def test_the_first_message_after_a_pause_is_cold() -> None:
    # 100 us after an endless pause, 63 % of that after 4 ms: a laggard of 4 ms pays 63.2 us, ready ones nothing.
    cold = {"sizes": ["1 B"], "time": ["100 us"], "source": "assumed", "why": "test"}
    after = {"value": "4 ms", "source": "assumed", "why": "test"}
    m = ideal(G=1e-12).model_copy(update={"cold": validated(Cold, {**cold, "after": after}, "test")})
    plain = {"threads": 4, "buffer": "4 B"}
    late = plain | {"arrivals": {"model": "laggard", "delay": "4 ms"}}
    for approach in (Approach(SINGLE), Approach(MANY, 4)):
        got = [Evaluation(m, validated(Workload, w, "w"), draws=0).mean_time(approach) for w in (plain, late)]
        assert got == [pytest.approx(0.0, abs=1e-9), pytest.approx(100e-6 * (1 - math.exp(-1)), rel=1e-3)]


@pytest.mark.parametrize("own", [0.0, 0.3, 1.0])
def test_a_thread_is_in_part_as_cold_as_it_has_not_sent(own: float) -> None:
    # Two threads send after 2 and 4 ms. All of the last one's cold comes from the 2 ms since the first sent, or `own`
    # of it from the 4 ms since both began. Bulk, and one thread, have paused for 4 ms either way.
    about = {"source": "assumed", "why": "test"}
    cold = {"sizes": ["1 B"], "time": ["100 us"], "after": {"value": "4 ms", **about}, **about}
    share = {"own": {"value": f"{own:.0%}", **about}}
    m = ideal(G=1e-12).model_copy(update={"cold": validated(Cold, cold | share, "test")})

    def after(approach: Approach, *ready: float) -> float:
        return float(time(m, workload(len(ready), 1, 2e-9), approach, np.array(ready))[0])

    since, whole = 1 - math.exp(-0.5), 1 - math.exp(-1)
    assert after(Approach(MANY, 2), 2e-3, 4e-3) == pytest.approx(100e-6 * ((1 - own) * since + own * whole), rel=1e-6)
    assert after(Approach(SINGLE), 2e-3, 4e-3) == pytest.approx(100e-6 * whole)
    assert after(Approach(MANY, 1), 4e-3) == pytest.approx(100e-6 * whole)


def test_no_thread_is_colder_than_cold() -> None:
    about = {"source": "assumed", "why": "test"}
    cold = {"sizes": ["1 B"], "time": ["1 us"], "after": {"value": "4 ms", **about}, **about}
    with pytest.raises(PreadyError, match=r"own = 1\.2; valid: a share of at most 1"):
        validated(Cold, cold | {"own": {"value": "120 %", **about}}, "test")
    wide = {"value": "50 %", "interval": ["0 %", "120 %"], **about}
    m = ideal().model_copy(update={"cold": validated(Cold, cold | {"own": wide}, "test")})
    drawn = costs(Sampler(m, draws=500), workload(2, 1, 1e-9), 1e-9).cold_own
    assert 0 <= drawn.min() < 0.2
    assert drawn.max() == 1
