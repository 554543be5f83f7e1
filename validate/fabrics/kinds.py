"""What is measured on real machines: for each kind of measurement its unit, how close we have to be, and the check.

Two tolerances for all machines, stated beforehand. 10 % where the model is asked for sizes between those that its
machine file is fitted on; two runs of a benchmark on the same nodes differ by up to 2 % (ARCHER2), two benchmarks by
4 % (AlaSKA's InfiniBand, OSU and IMB) to 50 % (its RoCE, 8 B). 25 % where it is asked for something else than what the
file is fitted on: messages in a row, pairs, threads, partitions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

BETWEEN, BEYOND = 0.10, 0.25


@dataclass(frozen=True)
class Kind:
    quantity: str
    unit: str
    check: str  # the name in `pready.validate.claims.checks`
    argument: str  # the check's argument that a point gives
    says: str  # the sentence of a claim, with the point's `size`, what was `measured`, and the arguments
    tolerance: float = BEYOND
    arguments: dict[str, Any] = field(default_factory=dict)
    than: dict[str, Any] | None = None
    factor: float | None = None
    """In place of `tolerance`: what is judged is a share of a time, or was measured on machines like the one judged."""
    sign: bool = False  # only whether it is above 1

    @property
    def why(self) -> str:
        """Why that close."""
        if self.sign:
            return "whether partitions pay"
        return "a size between fitted ones" if self.tolerance == BETWEEN else "another quantity than what was fitted"


Name = Literal[
    "ping-pong",
    "stream",
    "both ways",
    "pairs",
    "pairs there and back",
    "fan",
    "train",
    "per message",
    "broadcast in bulk",
    "broadcast in partitions",
    "gain of a broadcast",
    "sign of the gain",
    "threads in ping-pong",
    "messages there and back",
    "partitions tested",
]
_PARTITIONS = {"interface": "part"}
KINDS: dict[Name, Kind] = {
    "ping-pong": Kind("time one way", "us", "ping pong", "size", "{size} take {measured:g} us one way.", BETWEEN),
    "stream": Kind(
        "bandwidth", "GB/s", "window", "size", "64 messages of {size} in a row reach {measured:g} GB/s.", BETWEEN
    ),
    "both ways": Kind(
        "bandwidth both ways", "GB/s", "window", "size",
        "64 messages of {size} in a row, both ways at once, reach {measured:g} GB/s.", arguments={"both_ways": True},
    ),
    "pairs": Kind(
        "bandwidth of all pairs", "GB/s", "window", "size",
        "{pairs} pairs of ranks on two nodes, 64 messages of {size} each, reach {measured:g} GB/s.",
    ),
    "pairs there and back": Kind(
        "time one way of all pairs", "us", "ping pong", "size",
        "{size} there and back of each of {pairs} pairs side by side take {measured:g} us one way.",
    ),
    "fan": Kind(
        "time to many ranks and back", "us", "fan", "size",
        "A message of {size} to each of {peers} ranks of another node and one back take {measured:g} us one way.",
    ),
    "train": Kind(
        "time", "us", "window", "size",
        "{messages} messages of {size} in a row and one answer take {measured:g} us.", arguments={"of": "time_s"},
    ),
    "per message": Kind(
        "time per message", "us", "time per message", "partition",
        "{buffer} in messages of {size} by {threads} threads take {measured:g} us per message.",
    ),
    "broadcast in bulk": Kind(
        "time after the last thread", "us", "broadcast time", "buffer",
        "{size} to {ranks} ranks in one message each take {measured:g} us.", arguments={"interface": "single"},
    ),
    "broadcast in partitions": Kind(
        "time after the last thread", "us", "broadcast time", "buffer",
        "{size} to {ranks} ranks in {threads} partitions, one of them late, take {measured:g} us.",
        arguments=_PARTITIONS,
    ),
    "gain of a broadcast": Kind(
        "η", "", "broadcast time", "buffer",
        "{size} to {ranks} ranks are {measured:g} times as fast in {threads} partitions as in bulk.",
        arguments={"interface": "single"}, than=_PARTITIONS,
    ),
    "sign of the gain": Kind(
        "η", "", "broadcast time", "buffer",
        "{size} to {ranks} ranks: partitions {pay}.",
        arguments={"interface": "single"}, than=_PARTITIONS, sign=True,
    ),
    "threads in ping-pong": Kind(
        "time per message", "us", "threads ping pong", "threads",
        "{size} threads that each wait for the answer to their own 4 B take {measured:g} us per message.", factor=1.5,
    ),
    "messages there and back": Kind(
        "time one way", "us", "there and back", "messages",
        "{size} messages of {bytes} that one thread sends, and as many back, take {measured:g} us one way.",
    ),
    "partitions tested": Kind(
        "time more", "us", "tested", "buffer",
        "{size} to {ranks} ranks take {measured:g} us longer where these call MPI_Parrived for each of {threads} "
        "partitions.", factor=2.0,
    ),
}  # fmt: skip
"""Kinds by the name that a file uses."""
