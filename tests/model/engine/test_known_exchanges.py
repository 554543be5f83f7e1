"""The recurrence in known cases: closed forms as limits, numbers worked out by hand, and what must be monotone."""

import dataclasses
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from from_rest import exchange
from hypothesis import given
from hypothesis import strategies as st
from machines import ideal
from tables import table_of

from pready.model.approach.interfaces import BY_KEY, INTERFACES, MANY, PART, RMA_SINGLE_ACTIVE, SINGLE, Approach
from pready.model.common.arrays import Array
from pready.model.equations import gain
from pready.model.machine.machine import Machine, Requests
from pready.model.timeline.costs import Costs, costs
from pready.model.timeline.rules import Setting, receivers, setting_of
from pready.model.timeline.sampling import Sampler
from pready.model.toml.reading import validated
from pready.model.workload.workload import Workload


def workload(threads: int, theta: int, size: float, peers: int = 1) -> Workload:
    fields = {"threads": threads, "partitions_per_thread": theta, "buffer": f"{threads * theta} B"}
    made = Workload.model_validate({**fields, "pattern": "neighbours", "neighbours": peers})
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
    return ends(np.atleast_2d(ready), costs(Sampler(machine), w, size), approach, setting, joins)


def ends(
    ready: Array, costs: Costs | list[Costs], approach: Approach, setting: Setting, joins: Array | None = None
) -> Array:
    by_peer = [costs] if isinstance(costs, Costs) else costs
    join = None if joins is None else float(joins[0])
    return np.array([exchange(by_peer, approach, setting, row.tolist(), join).end for row in ready])


def laggard(n: int, delay: float, start: float = 0.0) -> Array:
    ready = np.full(n, start)
    ready[-1] += delay
    return ready


seconds = st.floats(0, 1e-3)
counts = st.integers(1, 12)


@pytest.mark.parametrize(("of", "shape", "sent", "two_way", "took_us"), table_of("model/known_exchanges")["at_once"])
def test_partitions_that_are_ready_at_once(of: Any, shape: Any, sent: Any, two_way: bool, took_us: float) -> None:
    w, (key, *counts) = workload(*shape), sent
    setup = {"value": of.pop("setup", "0 s"), "source": "assumed", "why": "test"}
    machine = ideal(**of).model_copy(update={"requests": validated(Requests, {"setup": setup}, "test")})
    got = time(machine, w, Approach(BY_KEY[key], *counts), np.zeros(w.n_partitions), two_way=two_way)
    assert 1e6 * float(got[0]) == pytest.approx(took_us, rel=1e-9)


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
    # A long computation in front costs no more digits than there are steps on the same clock.
    late = float(time(machine, w, Approach(PART, n_part), laggard(n_part, delay, start))[0])
    assert late == pytest.approx(expected, rel=1e-12, abs=(4 + n_part) * np.spacing(start + delay))


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


@given(counts, st.integers(1, 6), st.floats(1e2, 1e7), seconds, seconds, seconds)
def test_one_transport_partition_differs_by_when_the_barrier_is_paid(
    n: int, theta: int, size: float, barrier: float, o: float, wire: float
) -> None:
    machine = ideal(barrier=[0.0, barrier, barrier], o_s=o, L=wire, contention=[0.0, 2e-6, 8e-6])
    w, zero = workload(n, theta, size), np.zeros(n * theta)
    part = float(time(machine, w, Approach(PART, 1), zero)[0])
    single = float(time(machine, w, Approach(SINGLE), zero)[0])
    crossed = machine.threads.barrier.at(n)
    # Bulk pays the barrier before its message, the partitioned one never ends before its threads have met.
    assert part == pytest.approx(max(single - crossed, crossed), rel=1e-9, abs=1e-12)


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


# The lock that sends also receives


@pytest.mark.parametrize("interface", [i for i in INTERFACES if not (i.splits and i.joins)], ids=lambda i: str(i.key))
def test_only_what_has_come_is_received_before_the_next_message(interface: Any) -> None:
    # The first message of each side is there at h + L. A second one that is ready before that waits for no receive; one
    # that is ready a tenth of r after it waits for the other nine.
    machine = ideal(o_s=1e-6, o_r=4e-7, match=1e-7, L=2e-6, G=1e-18, link=1e18)
    receive, w = 5e-7, workload(2, 1, 2.0)
    approach = Approach(interface, 2 if interface.splits else 1)
    ways = [
        [float(time(machine, w, approach, np.array([0.0, late]), two_way=two)[0]) for two in (False, True)]
        for late in (3e-6 - 1e-10, 3e-6 + 0.1 * receive)
    ]
    assert ways[0][0] == ways[0][1]
    queues = interface.splits and receivers(interface, setting_of(machine, w)) != "none"
    assert ways[1][1] - ways[1][0] == pytest.approx(0.9 * receive if queues else 0.0, abs=1e-15)


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
    assert float(time(machine, w, Approach(BY_KEY["persistent-matched"], 4), ready, joins)[0]) == pytest.approx(41e-6)


# Several peers


def to_peers(machine: Machine, *sizes: float) -> float:
    """The end of an exchange of one thread that sends as many bytes to each of several peers."""
    w = workload(1, 1, sizes[0], peers=len(sizes))
    by_peer = [costs(Sampler(machine), w, size) for size in sizes]
    return float(ends(np.zeros((1, 1)), by_peer, Approach(SINGLE), Setting(1, 1, len(sizes), 8, "hardware"))[0])


def test_what_each_peer_gets_takes_the_time_of_its_size() -> None:
    # At 25 GB/s 1 MB takes 40 us, 3 MB 120. o_s = 2 us: the second is issued at 4 us and waits for the first, until
    # 42 or 122; the wire takes 1 us. Bytes leave one after the other, so that the order does not matter to the last.
    machine = ideal(L=1e-6, o_s=2e-6)
    for sizes in ([1e6, 3e6], [3e6, 1e6]):
        assert to_peers(machine, *sizes) == pytest.approx(163e-6, rel=1e-12)
    # One message alone streams at 10 GB/s, less than its share of the cable: the large one's 300 us begin after 2 or
    # 4 us.
    slow = ideal(L=1e-6, o_s=2e-6, G=1e-10, link=25e9)
    assert to_peers(slow, 3e6, 1e6) == pytest.approx(303e-6, rel=1e-12)
    assert to_peers(slow, 1e6, 3e6) == pytest.approx(305e-6, rel=1e-12)
    # What is received takes the CPU 5 us each: the small one comes at 4 + 100 + 1 and is through before.
    served = ideal(L=1e-6, o_s=2e-6, o_r=5e-6, G=1e-10, link=25e9)
    assert to_peers(served, 3e6, 1e6) == pytest.approx(308e-6, rel=1e-12)


def test_a_handshake_of_next_to_nothing_still_waits_for_its_answer() -> None:
    # Half of 5e-324 s is 0; the receiver answers at 1 ms all the same. 100 B at 25 GB/s take 4 ns.
    machine, w = ideal(handshake=5e-324, progress="on-call"), workload(1, 1, 100.0)
    joins = np.array([1e-3])
    assert time(machine, w, Approach(MANY, 1), np.zeros(1), joins)[0] == pytest.approx(1e-3 + 4e-9, rel=1e-12)


@pytest.mark.parametrize(
    ("hold", "expected_us"),
    [
        # By VCI: VCI 1's two messages arrive at 0.3 and 0.4 us and take 0.5 us each to be received.
        (0.0, 1.3),
        # Each after the lock was held, however briefly: in turn. VCI 1's arrive at 0.2 and 0.4 us.
        (4e-12, 1.2),
    ],
)
def test_messages_that_tie_leave_by_vci(hold: float, expected_us: float) -> None:
    of = {"hold": hold, "per_entry": 1e-6, "link": 1e-7, "stream": 1e-7}
    scalars = {field.name: np.asarray(of.get(field.name, 0.0)) for field in dataclasses.fields(Costs)}
    c = Costs(**scalars | {"contention": np.zeros(5), "waiting": np.zeros(5)})
    approach, setting = Approach(MANY, 4, 2), Setting(4, 1, 1, 2, "hardware")
    got = float(ends(np.zeros((1, 4)), c, approach, setting)[0])
    assert got == pytest.approx(expected_us * 1e-6, rel=1e-5)


def test_puts_that_are_active_messages_take_the_receiver_s_cpu() -> None:
    # Four puts of 1 MB at once leave 40 us apart; the last arrives at 160 us. Each takes 50 us of one thread, one after
    # the other: the first from 40 us on, so 40 + 4 · 50. A receiver that computes until 1 ms begins then.
    machine, w = ideal(put=0.0, epoch=0.0, o_r=50e-6), workload(4, 1, 4e6)
    c, at_once = replace(costs(Sampler(machine), w, 1e6), control=np.asarray(0.0)), np.zeros((1, 4))
    by_adapter = setting_of(machine, w)
    by_cpu = replace(by_adapter, puts="processor")

    def end(setting: Setting, joins: Array | None = None) -> float:
        return float(ends(at_once, c, Approach(RMA_SINGLE_ACTIVE, 4), setting, joins)[0])

    assert end(by_adapter) == pytest.approx(160e-6)
    assert end(by_cpu) == pytest.approx(240e-6)
    assert end(by_adapter, np.array([1e-3])) == pytest.approx(1e-3)
    assert end(replace(by_cpu, progress="on-call"), np.array([1e-3])) == pytest.approx(1.2e-3)
    assert end(replace(by_cpu, progress="thread"), np.array([1e-3])) == pytest.approx(1e-3)


def test_deferred_puts_move_when_the_threads_have_met() -> None:
    # Three puts of 1 MB at once, the fourth 1 ms later: alone, 40 us at 25 GB/s, or after all others.
    machine, w = ideal(put=0.0, epoch=0.0), workload(4, 1, 4e6)
    c, by_adapter = costs(Sampler(machine), w, 1e6), setting_of(machine, w)
    for setting, end in ((by_adapter, 40e-6), (replace(by_adapter, puts="deferred"), 160e-6)):
        assert ends(laggard(4, 1e-3)[None, :], c, Approach(RMA_SINGLE_ACTIVE, 4), setting) == pytest.approx(end)


def test_steps_of_a_known_exchange() -> None:
    # Four messages of 1 MB (40 us each at 25 GB/s), the last 60 us late, L = 1 us, o_s = 2 us.
    machine, w = ideal(L=1e-6, o_s=2e-6), workload(4, 1, 4e6)
    setting = Setting(4, 1, 1, 8, "hardware")
    c = costs(Sampler(machine), w, 1e6)
    out = exchange([c], Approach(MANY, 4, 4), setting, laggard(4, 60e-6).tolist())
    sent = sorted(out.messages, key=lambda m: m.transport)
    assert [m.ready for m in sent] == pytest.approx([-60e-6, -60e-6, -60e-6, 0])
    assert [m.issued for m in sent] == pytest.approx([-58e-6, -58e-6, -58e-6, 2e-6])
    assert [m.left for m in sent] == pytest.approx([-58e-6, -18e-6, 22e-6, 62e-6])
    assert [m.arrived for m in sent] == pytest.approx([-17e-6, 23e-6, 63e-6, 103e-6])
    assert out.end == pytest.approx(103e-6)
