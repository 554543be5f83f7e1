"""A rank goes on when its sends are complete: known answers with their derivation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from machines import ideal

from pready.model.arrival_models import NoArrivals
from pready.model.costs import costs
from pready.model.engine import simulate
from pready.model.exchange import ComputeTime
from pready.model.interfaces import BLOCKING, RMA_SINGLE_ACTIVE, RMA_SINGLE_PASSIVE, SINGLE, Approach
from pready.model.machine import Machine
from pready.model.sampling import Sampler
from pready.model.workload import Workload

BYTES = 1000
LINK, WIRE, RECEIVE = 1e-6, 2e-6, 3e-7
"""Of one message of that size, in s."""
COMPUTE = 1e-5
WORD = RECEIVE + WIRE
"""From a message's arrival to the receiver's word."""


def machine(*, acknowledged_from: float | None = None, send_buffer: float | None = None, **costs: Any) -> Machine:
    on = ideal(G=1e-9, link=1e9, L=WIRE, o_r=RECEIVE, **costs)
    link = on.inter.link_bandwidth.model_copy(update={"interval": None})
    said = {
        name: None if value is None else link.model_copy(update={"value": value})
        for name, value in (("acknowledged_from", acknowledged_from), ("send_buffer", send_buffer))
    }
    return on.model_copy(update={"inter": on.inter.model_copy(update=said)})


def ends(
    on: Machine, to: list[list[int]], interface: Any = SINGLE, receiver: str = "waiting", iterations: int = 1
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """When each rank ends an iteration, in seconds since all partitions of the first were ready."""
    workload = Workload(
        threads=1,
        buffer=f"{BYTES} B",  # type: ignore[arg-type]
        pattern="neighbours",
        neighbours=2,
        receiver=receiver,  # type: ignore[arg-type]
        compute=ComputeTime(time=f"{COMPUTE} s"),  # type: ignore[arg-type]
        arrivals=NoArrivals(),
    )
    approach = Approach(interface)
    out = simulate(on, workload, approach, grid=(len(to),), neighbours=to, iterations=iterations, record=True)
    assert out.ends_s is not None
    return out.ends_s - COMPUTE


@pytest.mark.parametrize(
    ("from_bytes", "expected"),
    [(None, 0.0), (BYTES + 1, 0.0), (BYTES, LINK + WIRE + WORD), (1, LINK + WIRE + WORD)],
)
def test_a_send_ends_with_the_receivers_word(from_bytes: float | None, expected: float) -> None:
    got = ends(machine(acknowledged_from=from_bytes), [[1], []])
    assert got[0, 0] == pytest.approx(expected, abs=1e-15)
    assert got[0, 1] == pytest.approx(LINK + WIRE + RECEIVE, rel=1e-9)


def test_a_receivers_word_takes_its_time_as_well_among_ranks_that_send() -> None:
    # Rank 1 takes three messages that come a LINK apart: each RECEIVE and, where its sender is told, o_s, less than a
    # LINK together. Who has nothing else to do than to receive has told it by the way.
    o_s = 4e-7
    to: list[list[int]] = [[1], [], [1], [1]]
    plain, told = (ends(machine(acknowledged_from=a, o_s=o_s), to)[0, 1] for a in (None, 1.0))
    assert told == pytest.approx(plain + o_s, rel=1e-9)  # the last one's
    alone = Workload(threads=4, buffer=f"{BYTES} B")  # type: ignore[arg-type]
    never, always = (costs(Sampler(machine(acknowledged_from=a, o_s=o_s)), alone, BYTES) for a in (None, 1.0))
    assert never.receive == always.receive


def test_not_before_the_receiver_is_inside_mpi() -> None:
    # Four messages come to rank 1 a LINK apart, so that it ends its first iteration 3 LINK after rank 5, the only one
    # that rank 0's neighbour 1 does not hold up; in the second, rank 0 hears of rank 1 not before that has computed.
    to: list[list[int]] = [[1], [], [1], [1], [1]]
    free, held = (ends(machine(acknowledged_from=a), to, receiver="computing", iterations=2) for a in (None, 1.0))
    first = 4 * LINK + WIRE + RECEIVE
    assert free[0, 1] == held[0, 1] == pytest.approx(first, rel=1e-9)
    assert free[0, 0] == pytest.approx(0, abs=1e-15)
    assert held[0, 0] == pytest.approx(LINK + WIRE + WORD, rel=1e-9)  # the port is the receiver's affair
    # Without it rank 0 goes on and on; with it, it has computed at held[0, 0] + COMPUTE, rank 1 at first + COMPUTE.
    assert free[1, 0] == pytest.approx(COMPUTE, rel=1e-9)
    entered, arrived = first + COMPUTE, held[0, 0] + COMPUTE + LINK + WIRE
    assert held[1, 0] == pytest.approx(max(entered, arrived) + WORD, rel=1e-9)


def test_a_receiver_that_computes_for_longer_keeps_its_sender() -> None:
    # Rank 0 ends its first iteration when rank 1, which has more to receive, is still busy with it: with a wire of
    # nothing, what it sends in the second is there before rank 1 has computed.
    on = ideal(G=1e-9, link=1e9, L=0.0, o_r=RECEIVE)
    word = on.inter.link_bandwidth.model_copy(update={"value": 1.0, "interval": None})
    on = on.model_copy(update={"inter": on.inter.model_copy(update={"acknowledged_from": word})})
    to: list[list[int]] = [[1], [], [1], [1], [1]]
    got = ends(on, to, receiver="computing", iterations=2)
    joined = got[0, 1] + COMPUTE
    assert got[0, 1] == pytest.approx(4 * LINK + RECEIVE, rel=1e-9)
    assert got[0, 0] + COMPUTE + LINK < joined
    assert got[1, 0] == pytest.approx(joined + RECEIVE, rel=1e-9)


@pytest.mark.parametrize(
    ("buffer", "expected"),
    [(None, LINK), (0, LINK), (400, 0.6 * LINK), (BYTES, 0.0), (10 * BYTES, 0.0)],
)
def test_what_asked_first_ends_when_the_system_has_taken_the_rest(buffer: float | None, expected: float) -> None:
    asks = 4e-6
    got = ends(machine(send_buffer=buffer, handshake=asks), [[1], []])
    assert got[0, 0] == pytest.approx(asks + expected, rel=1e-9)


@pytest.mark.parametrize(("buffer", "expected"), [(0, 2.0), (300, 2 - 2 * 0.3), (BYTES, 0.0)])
def test_every_peer_has_a_socket(buffer: float, expected: float) -> None:
    asks = 4e-6
    got = ends(machine(send_buffer=buffer, handshake=asks), [[1, 2], [], []])
    assert got[0, 0] == pytest.approx(asks + expected * LINK, rel=1e-9)


def test_blocking_sends_wait_for_each_word() -> None:
    got = ends(machine(acknowledged_from=1), [[1, 2], [], []], BLOCKING)
    assert got[0, 0] == pytest.approx(2 * (LINK + WIRE + WORD), rel=1e-9)
    assert got[0, 2] == pytest.approx(LINK + WIRE + WORD + LINK + WIRE + RECEIVE, rel=1e-9)


def test_puts_end_with_their_epoch() -> None:
    plain, word = (ends(machine(acknowledged_from=a), [[1], []], RMA_SINGLE_ACTIVE) for a in (None, 1.0))
    assert plain.tolist() == word.tolist()


def delivered(on: Machine) -> Machine:
    """MPI_Win_complete returns when the target has what was put."""
    said = on.progress.model_copy(update={"value": "delivered"})
    return on.model_copy(update={"one_sided": on.one_sided.model_copy(update={"completes": said})})


def test_an_epoch_that_ends_when_its_target_has_the_data() -> None:
    # The target says by a message that it has the data, and is told by another that the epoch is over.
    at_once, later = (ends(on, [[1], []], RMA_SINGLE_ACTIVE) for on in (machine(), delivered(machine())))
    assert at_once[0] == pytest.approx([0, LINK + WIRE], abs=1e-15)
    assert later[0] == pytest.approx([LINK + WIRE + WORD, LINK + WIRE + 2 * WORD], rel=1e-9)
    # A passive epoch is flushed anyhow, by its adapter's word if that is enough.
    at_once, later = (ends(on, [[1], []], RMA_SINGLE_PASSIVE) for on in (machine(), delivered(machine())))
    assert at_once[0] == pytest.approx([LINK + WIRE + WIRE, LINK + WIRE + WIRE + WORD], rel=1e-9)
    assert later[0] == pytest.approx([LINK + WIRE + WORD, LINK + WIRE + 2 * WORD], rel=1e-9)


def test_an_epoch_of_puts_put_off_has_their_word_in_what_it_takes() -> None:
    on = delivered(machine())
    nothing = on.progress.model_copy(update={"value": 0.0})
    late = on.model_copy(update={"one_sided": on.one_sided.model_copy(update={"unattended": nothing})})
    got = ends(late, [[1], []], RMA_SINGLE_ACTIVE)
    assert got[0] == pytest.approx([LINK + WIRE + WIRE, LINK + WIRE], rel=1e-9)


def test_an_epoch_waits_for_a_target_that_computes() -> None:
    # As with sends, above: four puts come to rank 1 a LINK apart, which begins to compute then. In the second iteration
    # rank 0 hears of it when that is over and what it put has come, whichever is later.
    to: list[list[int]] = [[1], [], [1], [1], [1]]
    got = ends(delivered(machine()), to, RMA_SINGLE_ACTIVE, receiver="computing", iterations=2)
    first = 4 * LINK + WIRE + 2 * WORD
    assert got[0, 1] == pytest.approx(first, rel=1e-9)
    # Rank 0's was the first through the port of rank 1, whose word goes back when that is so.
    entered, arrived = first + COMPUTE, got[0, 0] + COMPUTE + LINK + WIRE
    assert got[1, 0] == pytest.approx(max(entered, arrived) + WORD, rel=1e-9)
    free = ends(machine(), to, RMA_SINGLE_ACTIVE, receiver="computing", iterations=2)
    assert free[1, 0] == pytest.approx(COMPUTE, rel=1e-9)
