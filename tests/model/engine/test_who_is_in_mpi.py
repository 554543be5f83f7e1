"""Which threads are in MPI when, and so answer a rendezvous: known answers with their derivation."""

from collections.abc import Sequence
from typing import Any

import pytest
from from_rest import exchange
from machines import ideal
from on_ranks import prepared, simulate
from plain_ranks import run_as_plain
from workloads import workload_of

from pready.model.approach.interfaces import BY_KEY, MANY, Approach
from pready.model.machine.machine import Machine
from pready.model.timeline.costs import costs
from pready.model.timeline.rules import Setting, serving
from pready.model.timeline.sampling import Sampler
from pready.model.workload.workload import Workload

HANDSHAKE, BETA, O_R = 4e-6, 1e9, 1e-6
KIB100 = 100_000 / BETA
"""Seconds of one partition on the wire."""


def workload(threads: int, theta: int = 1, **changes: Any) -> Workload:
    split = {"threads": threads, "partitions_per_thread": theta, "buffer": f"{100_000 * threads * theta} B"}
    ranks = {"pattern": "pt2pt", "receiver": "computing", "both_ways": True, "compute": {"time": "5 ms"}}
    return workload_of(**(split | ranks | changes))


def late(by: str, which: Any = "partition") -> dict[str, Any]:
    return {"arrivals": {"model": "laggard", "late_by": by, "late": which}}


def on_call(**changes: Any) -> Machine:
    return ideal(**{"G": 1 / BETA, "handshake": HANDSHAKE, "o_r": O_R, "progress": "on-call"} | changes)


def communication(machine: Machine, w: Workload, approach: Approach) -> float:
    made = simulate(machine, w, approach, grid=(2,), iterations=1)
    return float(made.communication_s[0])


def test_a_thread_that_is_through_answers() -> None:
    # Eight threads of two ranks that send to each other, the last late by 10 ms in both. Seven messages are requested
    # and answered at 5 ms, by threads that are through, and are over at 5.7 ms; the last has the wire to itself.
    machine, w = on_call(), workload(8, **late("200 %"))
    last = HANDSHAKE + KIB100 + O_R
    assert communication(machine, w, Approach(MANY, 8, 1)) == pytest.approx(last, rel=1e-9)
    # Whoever completes all after the join answers then: all eight are requested, answered and sent after it.
    all_at_join = HANDSHAKE / 2 + 8 * KIB100 + O_R
    for key in ("many-joined", "part"):
        assert communication(machine, w, Approach(BY_KEY[key], 8, 1)) == pytest.approx(all_at_join, rel=1e-2)


def goes(
    key: str, theta: int, sender: Sequence[float], receiver: Sequence[float] | None, *, everywhere: bool
) -> list[float]:
    """When the messages of two threads may go, each thread with a VCI of its own: ms after the start, by message."""
    w, setting = workload(2, theta), Setting(2, theta, 1, 2, "on-call", global_progress=everywhere)
    approach, cost = Approach(BY_KEY[key], 2 * theta, 2), costs(Sampler(on_call()), w, 1e5)
    times = None if receiver is None else [1e-3 * t for t in receiver]
    made = exchange([cost], approach, setting, [1e-3 * t for t in sender], receiver_times=times)
    moved = {m.transport: 1e3 * (m.goes + 1e-3 * max(sender)) for m in made.messages}
    return [moved[t] for t in range(2 * theta)]


def test_a_thread_answers_for_all_vcis_or_for_its_own() -> None:
    # Requests of 1 and 4 ms. The receiver's second thread is through at 2 ms, its first, to whose VCI the first message
    # goes, at 6 ms. A request that waits goes half a handshake after the answer, another a whole one after itself.
    half, whole = 1e3 * HANDSHAKE / 2, 1e3 * HANDSHAKE
    sender, receiver = [1, 4], [6, 2]
    assert goes("many", 1, sender, receiver, everywhere=True) == pytest.approx([2 + half, 4 + whole])
    assert goes("many", 1, sender, receiver, everywhere=False) == pytest.approx([6 + half, 4 + whole])
    for everywhere in (True, False):
        joined = goes("many-joined", 1, sender, receiver, everywhere=everywhere)
        assert joined == pytest.approx([6 + half, 6 + half])


def test_threads_of_few_messages_that_have_none_are_not_in_mpi() -> None:
    # Eight threads, two messages: threads 0 and 4 receive them. Thread 1 is through first, and waits for nothing.
    assert serving(Approach(MANY, 2, 2), Setting(8, 1, 1, 8, "on-call"), [[0], [1]], None) == [[0, 4]]
    own = Setting(8, 1, 1, 8, "on-call", global_progress=False)
    assert serving(Approach(MANY, 2, 2), own, [[0], [1]], None) == [[0], [4]]


def test_threads_that_own_parts_of_faces_wait_for_what_they_send_and_receive() -> None:
    # Four threads along x, one message per face. Thread 3 sends to the right, and what comes from the left through the
    # same VCI is thread 0's; the other way round to the left. The other faces' messages are thread 0's.
    w = workload(4, pattern="halo3d", both_ways=False)
    plan = prepared(on_call(), w, Approach(MANY, 1, 4), grid=(3, 3, 3), thread_grid=(4, 1, 1))
    assert plan.messages.waiting == ((0, 3), (0, 3))


def test_one_protocol_is_answered_by_hardware_and_another_in_mpi() -> None:
    # Small rendezvous are written by the adapter, large ones fetched by the receiver's processor.
    machine, w = on_call(), workload(8, **late("200 %"))
    (segment,) = machine.inter.segments
    small = segment.model_copy(update={"progress": machine.progress.model_copy(update={"value": "hardware"})})
    large = segment.model_copy(update={"from_": 5e5})
    machine = machine.model_copy(update={"inter": machine.inter.model_copy(update={"segments": (small, large)})})
    approach = Approach(BY_KEY["many-joined"], 8, 1)
    for factor, waits in ((1, False), (8, True)):
        case = w.model_copy(update={"buffer": factor * w.buffer})
        got, wire = communication(machine, case, approach), factor * KIB100
        expected = HANDSHAKE / 2 + 8 * wire if waits else HANDSHAKE + max(wire, 0)
        assert got == pytest.approx(expected, rel=0.1)
        # The engine says the same, message by message.
        run_as_plain({"machine": machine, "workload": case, "approach": approach, "grid": (2,)}, 2)


def test_a_put_by_the_processor_waits_for_a_thread_of_its_target() -> None:
    # Eight threads in both ranks, the last late by 10 ms. A put of the size of a rendezvous that the target's processor
    # takes in moves when a thread is in MPI there: with a window per thread and MPI_Win_wait by each thread, from 5 ms
    # on, so that the last has the wire to itself; with one window after the join, where all eight move.
    machine, w = on_call(), workload(8, **late("200 %"))
    puts = machine.progress.model_copy(update={"value": "processor"})
    machine = machine.model_copy(update={"one_sided": machine.one_sided.model_copy(update={"puts": puts})})
    assert communication(machine, w, Approach(BY_KEY["rma-many-active"], 8, 1)) == pytest.approx(KIB100 + O_R, rel=1e-2)
    for key in ("rma-single-active", "rma-single-passive", "rma-many-passive"):
        assert communication(machine, w, Approach(BY_KEY[key], 8, 1)) == pytest.approx(8 * KIB100 + O_R, rel=1e-2)
    # What the adapter moves waits for nobody.
    for key in ("rma-many-active", "rma-single-active"):
        assert communication(on_call(), w, Approach(BY_KEY[key], 8, 1)) == pytest.approx(KIB100, rel=1e-2)
