"""What a workload leaves open is said where it decides, and nowhere else."""

from __future__ import annotations

from typing import Any

from machines import ideal

from pready.model.advice.predict import predict
from pready.model.advice.unstated_defaults import choices
from pready.model.toml.reading import validated
from pready.model.workload.workload import Workload

ON_CALL = ideal(handshake=2e-6, progress="on-call", L=1e-6, epoch=1e-3)
"""A large message's rendezvous waits until the receiver is in MPI, and epochs are too dear to do without."""


def made(**fields: Any) -> Workload:
    base = {"threads": 4, "buffer": "4 MB", "compute": {"time": "1 ms"}}
    return validated(Workload, base | {"arrivals": {"model": "laggard", "delay": "400 us"}} | fields, "test")


def lines(workload: Workload, **how: Any) -> list[str]:
    warnings = predict(how.pop("on", ON_CALL), workload, draws=0, **how).advice.warnings
    return [w for w in warnings if "is not given" in w]


ONE_THREAD: dict[str, Any] = {"threads": 1, "partitions_per_thread": 4}
"""It is in MPI once it has computed all of its partitions; of several threads, the first that is through answers."""


def test_a_receiver_that_decides_is_said() -> None:
    """All but one partition hide behind the delay, unless the receiver computes meanwhile and answers no rendezvous."""
    assert lines(made()) == []
    (line,) = lines(made(**ONE_THREAD))
    assert line.startswith('receiver is not given, "waiting" is assumed: with receiver = "computing" ')
    assert line.endswith("(do not port)")


def test_what_is_given_is_not_said() -> None:
    for receiver in ("waiting", "computing"):
        assert lines(made(receiver=receiver)) == []


def test_what_does_not_decide_is_not_said() -> None:
    """Hardware that moves a rendezvous by itself: the same figure, whatever the receiver does."""
    assert lines(made(), on=ideal(handshake=2e-6, progress="hardware", epoch=1e-3)) == []


def test_partitions_together_or_in_turn() -> None:
    """In turn, a thread's first partitions are ready long before its last, and everything but the last hides."""
    spread = {"model": "normal", "spread": "1 %"}
    w = made(receiver="waiting", partitions_per_thread=4, arrivals=spread)
    (line,) = lines(w, on=ideal(epoch=1e-3))
    assert line.startswith('arrivals.partitions is not given, "together" is assumed: with partitions = "in turn" ')
    assert lines(made(receiver="waiting", arrivals=spread), on=ideal(epoch=1e-3)) == []  # one per thread
    assert lines(w.changed(arrivals=spread | {"partitions": "together"}), on=ideal(epoch=1e-3)) == []


def test_a_changed_workload_leaves_open_what_was_open() -> None:
    assert [c.field for c in choices(made().changed(threads=2))] == ["receiver"]
    assert list(choices(made(receiver="computing").changed(threads=2))) == []


def test_many_ranks_too() -> None:
    w = made(pattern="halo3d", grid=[2, 2], **ONE_THREAD)
    assert lines(w, on=ideal(handshake=2e-6, L=1e-6, epoch=1e-3)) == []  # the adapter moves a rendezvous
    assert len(lines(w)) == 1
