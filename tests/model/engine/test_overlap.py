"""What moves while threads compute: the interior behind the boundary, threads that test, packing. Known answers."""

import pytest
from machines import ideal
from workloads import workload_of

from pready.model.advice.predict import approaches, with_library
from pready.model.approach.interfaces import BY_KEY
from pready.model.approach.libraries import library
from pready.model.engine.layout import Step
from pready.model.engine.runs import Rows, Runs
from pready.model.machine.machine import Machine

CABLE = 6 * 160e-6
"""4 MB to each of six neighbours, at 25 GB/s."""
L, O_S, HALF, BARRIER = 2e-6, 1e-6, 1e-6, 1e-6


def on(progress: str, *, rendezvous: bool) -> Machine:
    handshake = 2 * HALF if rendezvous else None
    return ideal(
        G=1 / 25e9, L=L, o_s=O_S, handshake=handshake, progress=progress, barrier=[0.0, BARRIER, BARRIER],
    )  # fmt: skip


def iteration(machine: Machine, key: str, messages: int = 1, **fields: object) -> float:
    halo = {"buffer": "4000000 B", "pattern": "halo3d", "grid": [3, 3, 3], **fields}
    runs = Runs(machine, Step.of_a_part(workload_of(**halo)), Rows(0))
    (of,) = runs.means([(BY_KEY[key].into(messages),)])
    return float(of.step.iteration[0])


SENT_AT = 0.2e-3 + BARRIER + O_S
"""Of 1 ms a fifth is the boundary; the threads meet, and the first message is issued."""
JOINED = 0.2e-3 + BARRIER + 6 * O_S + 0.8e-3 + BARRIER
"""One thread issues six messages, and then computes its interior."""


@pytest.mark.parametrize(
    ("progress", "rendezvous", "key", "ends"),
    [
        ("hardware", False, "boundary", SENT_AT + CABLE + L),
        ("hardware", True, "boundary", SENT_AT + 2 * HALF + CABLE + L),
        ("thread", True, "boundary", SENT_AT + 2 * HALF + CABLE + L),
        ("on-call", False, "boundary", SENT_AT + CABLE + L),  # eager: nobody has to answer
        # Receivers are in MPI once their threads have met, without what issuing takes: 1 ms, two barriers, half a
        # handshake.
        ("on-call", True, "boundary", 1e-3 + 2 * BARRIER + HALF + CABLE + L),
        ("on-call", True, "boundary-tested", SENT_AT + 2 * HALF + CABLE + L),
        # By threads, each issues its six once its boundary is computed, and is in MPI after its interior.
        ("hardware", False, "boundary-many", 0.2e-3 + O_S + CABLE + L + BARRIER),
        ("on-call", True, "boundary-many", 1e-3 + HALF + CABLE + L + BARRIER),
        ("on-call", True, "single", 1e-3 + BARRIER + O_S + 2 * HALF + CABLE + L),
    ],
)
def test_boundary_first(progress: str, rendezvous: bool, key: str, ends: float) -> None:
    machine, n = on(progress, rendezvous=rendezvous), 4 if "many" in key else 1
    assert iteration(machine, key, n, interior="80 %") == pytest.approx(ends, rel=1e-9)


def test_what_is_hidden_costs_no_more_than_its_calls() -> None:
    """1 KB has long arrived: the six messages are issued, and threads meet twice."""
    small = iteration(on("hardware", rendezvous=False), "boundary", interior="80 %", buffer="1000 B")
    assert small == pytest.approx(JOINED)


def test_an_idle_thread_that_tests_answers_for_the_late_one() -> None:
    """One thread is late by 100 us of 1 ms, in all ranks. Messages of the others wait for a receiver in MPI: with the
    first thread that is through, or with the last."""
    late = {"arrivals": {"model": "laggard", "late_by": "10 %"}, "buffer": "40000 B"}
    machine = on("on-call", rendezvous=True)
    # Three of four messages per neighbour have gone when the last ones are issued; 0.4 us each, which calls hide.
    at_once = iteration(machine, "part-tested", 4, **late)
    assert at_once == pytest.approx(1.1e-3 + 6 * O_S + 2 * HALF + 0.4e-6 + L)
    assert iteration(machine, "part", 4, **late) > at_once
    assert iteration(machine, "many-joined-tested", 4, **late) == pytest.approx(at_once)


def test_a_progress_thread_costs_a_core() -> None:
    """Four threads' work on three cores; a rendezvous is answered at once."""
    machine = on("on-call", rendezvous=True)
    ends = iteration(machine, "progress-thread")
    assert ends == pytest.approx(1e-3 * 4 / 3 + BARRIER + O_S + 2 * HALF + CABLE + L)


@pytest.mark.parametrize(
    ("packed_by", "key", "messages", "ends"),
    [
        # 24 MB at 10 GB/s: one thread packs and sends six messages one after the other, the last goes 160 us.
        ("one", "single", 1, 1e-3 + 2.4e-3 + 160e-6),
        ("one", "boundary", 1, 0.2e-3 + 2.4e-3 + 0.8e-3),
        # Four threads pack a quarter each, then everything goes; or, by partitions, too: they are through together.
        ("threads", "single", 1, 1e-3 + 0.6e-3 + CABLE),
        ("one", "packed", 1, 1e-3 + 0.6e-3 + CABLE),
        ("one", "part", 4, 1e-3 + 0.6e-3 + CABLE),
        ("one", "many", 4, 1e-3 + 0.6e-3 + CABLE),
        # Of two partitions each, the first is packed after half of it: the cable is busy from then on.
        ("one", "part", 8, 1e-3 + 0.3e-3 + CABLE),
    ],
)
def test_packing(packed_by: str, key: str, messages: int, ends: float) -> None:
    fields = {"pack": "10 GB/s", "packed_by": packed_by, "partitions_per_thread": 2, "interior": "80 %"}
    assert iteration(ideal(), key, messages, **fields) == pytest.approx(ends)


def test_the_menu() -> None:
    """Ways that need an interior, or a thread that makes progress, only where there is one, or need for it."""
    machine, profile = with_library(on("on-call", rendezvous=True))
    halo = {"buffer": "64 KiB", "pattern": "halo3d"}

    def keys(**fields: object) -> set[str]:
        w = workload_of(**halo, **fields)
        return {a.interface.key for a in approaches(machine, w, profile)}

    plain, inside, waits = keys(), keys(interior="80 %"), keys(receiver="waiting")
    assert inside - plain == {"boundary", "boundary-tested", "boundary-many", "boundary-part-am"}
    assert keys(pack="1 GB/s") - plain == {"packed"}
    assert plain - waits == {"progress-thread", "single-tested", "many-joined-tested", "part-am-tested"}
    early = approaches(machine, workload_of(**halo, interior="80 %"), library("mpich-6314"))
    assert {"part", "part-tested", "boundary-part"} <= {a.interface.key for a in early}
