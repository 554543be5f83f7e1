"""The table of cost terms: the name of each, its meaning, and its values in a machine file.

Advice, explanations, suspects of a validation, the listing of a machine and the sensitivity read this one list.

A term is a few fields of `Costs` (seconds of one message) made from a few values of a `Machine`. Rows with one name are
one cost to a reader: `by_name` groups them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from pready.model.common.arrays import Replaced
from pready.model.timeline.costs import Costs

Step = Literal["begin", "ready", "issue", "protocol", "NIC", "link", "wire", "receive", "finish"]
"""Set-up, then the steps of the timeline in order."""


@dataclass(frozen=True)
class Term:
    """One row."""

    name: str
    """As a reader knows it; rows of one name are one cost."""
    symbol: str
    latex: str
    steps: tuple[Step, ...]
    costs: tuple[str, ...]
    """Fields of `Costs`; empty for a cost that no exchange pays."""
    values: tuple[str, ...]
    """Its values in a machine file, by `canonical` name."""
    says: str
    """Its meaning, in a sentence."""
    bulk_alike: bool = False
    """Bulk pays it as well, so that it does not take a gain."""
    choice: bool = False
    """Its value selects a rule: no factor makes it larger."""


TERMS: tuple[Term, ...] = (
    Term(
        "set-up cost", "t_begin", r"t_\mathrm{begin}", ("begin",),
        (), ("begin.persistent", "begin.partitioned", "begin.window", "begin.registration", "begin.communicator"),
        "requests, windows and communicators, once before the first iteration, their first use included",
    ),
    Term(
        "the threads' barrier", "t_barrier", r"t_\mathrm{barrier}", ("ready", "finish"),
        ("barrier",), ("threads.barrier",),
        "the threads of a rank meet: before a bulk send, and at the end of their parallel region",
    ),
    Term(
        "clear-to-send or exposure epoch", "control", r"t_\mathrm{control}", ("ready", "finish"),
        ("control",), (),
        "a message without payload from call to call, such as an exposure epoch or a clear-to-send",
    ),
    Term(
        "contention for the VCI's lock", "contention", "c", ("issue",),
        ("contention",), ("threads.contention",),
        "what a message pays that waits for the lock of a VCI that several threads share",
    ),
    Term(
        "threads that wait in MPI", "w", "w", ("receive",),
        ("waiting",), ("threads.waiting",),
        "the wait of each of several threads that wait inside MPI for messages of one VCI",
    ),
    Term(
        "message overhead o_s", "o_s", "o_s", ("issue",),
        ("hold",), ("path.segments[].o_s",),
        "CPU time to issue one message, with its VCI's lock held (LogGP's o at the sender)",
    ),
    Term(
        "message overhead o_s", "o_setup", r"o_\mathrm{setup}", ("issue",),
        ("setup",), ("requests.setup",),
        "the part of o_s that a persistent send saves (MPI_Send_init before the loop)",
    ),
    Term(
        "message overhead o_s", "o_put", r"o_\mathrm{put}", ("issue",),
        ("put",), ("one_sided.put",),
        "CPU time to issue one MPI_Put, in place of o_s + O_s m; unless measured, that of a send",
    ),
    Term(
        "the eager copies", "O_s m", "O_s m", ("issue",),
        ("copy_in",), ("path.segments[].O_s", "memory.copy_hot", "memory.copy_cold"),
        "the CPU's copy of an eager message at the sender, with the lock held",
    ),
    Term(
        "the active message", "copy", r"t_\mathrm{copy}", ("issue", "receive"),
        ("copy_out",), (),
        "the copy of the whole message, on each side of an active message",
    ),
    Term(
        "the rendezvous handshake", "handshake", r"t_\mathrm{handshake}", ("protocol",),
        ("handshake", "on_call"), ("path.segments[].handshake", "path.segments[].progress"),
        "RTS and CTS of a large message, which move only while both sides make progress",
    ),
    Term(
        "the gap between messages", "g", "g", ("NIC",),
        ("gap", "put_gap"), ("path.segments[].g",),
        "the least time between two messages through one adapter, in or out (LogGP's g)",
    ),
    Term(
        "the adapter that ranks of a node share", "g_a + m/β_a", r"g_\mathrm{a} + m / \beta_\mathrm{a}", ("NIC",),
        ("shared",), ("adapter.rate", "adapter.gap"),
        "how long a message keeps an adapter of its node busy, whichever rank sends it", bulk_alike=True,
    ),
    Term(
        "bandwidth", "m/β_link", r"m / \beta_\mathrm{link}", ("NIC",),
        ("link",), ("path.segments[].G_link", "path.link_bandwidth"),
        "how long a message keeps the link busy when many are in flight, at both ends", bulk_alike=True,
    ),
    Term(
        "bandwidth", "G m", "G m", ("link",),
        ("stream",), ("path.segments[].G",),
        "how long one message alone streams (LogGP's G)", bulk_alike=True,
    ),
    Term(
        "latency", "L", "L", ("wire",),
        ("wire",), ("path.segments[].L",),
        "from the sender's adapter to the receiver's (LogGP's L)", bulk_alike=True,
    ),
    Term(
        "receive overhead and matching", "o_r + O_r m + t_match", r"o_r + O_r m + t_\mathrm{match}", ("receive",),
        ("receive",), ("path.segments[].o_r", "path.segments[].O_r", "matching.base"),
        "CPU time to receive one message (LogGP's o at the receiver)",
    ),
    Term(
        "receive overhead and matching", "entries searched", r"t_\mathrm{search}", ("receive",),
        ("per_entry",), ("matching.per_entry",),
        "comparing a message with one entry of the queue it is matched in (jammer2022)",
    ),
    Term(
        "RMA synchronisation", "t_epoch", r"t_\mathrm{epoch}", ("finish",),
        ("epoch",), ("one_sided.epoch", "one_sided.epoch_peer"),
        "CPU time of a synchronisation of one window with all peers (gillis2023 2.3.3)",
    ),
)  # fmt: skip

NO_COSTS = (
    "library.early_send",
    "library.global_progress",
    "library.copies",
    "progress",
    "contexts",
    "one_sided.puts",
    "path.segments[].begins",
    "adapter.rails",
)
"""Values of a machine file that select a rule and take no time themselves."""

BY_COST: Mapping[str, Term] = {c: t for t in TERMS for c in t.costs}
_BY_VALUE: Mapping[str, Term] = {v: t for t in TERMS for v in t.values}


def canonical(label: str) -> str:
    """A value's name for any path and segment: ``inter.segments[2].o_s`` is ``path.segments[].o_s``."""
    return re.sub(r"\[\d+\]", "[]", re.sub(r"^int(er|ra)\.", "path.", label))


def of_value(label: str) -> Term | None:
    """The term of a machine's value; None for one of `NO_COSTS`."""
    return _BY_VALUE.get(canonical(label))


def by_name() -> dict[str, list[Term]]:
    """The rows of each name that an exchange pays, in order."""
    out: dict[str, list[Term]] = {}
    for term in (t for t in TERMS if t.costs):
        out.setdefault(term.name, []).append(term)
    return out


def without(costs: Costs, terms: Iterable[Term]) -> dict[str, Replaced]:
    """The fields of some terms as zeros, each of the shape it has in `costs`."""
    return {c: np.zeros_like(getattr(costs, c)) for t in terms for c in t.costs}
