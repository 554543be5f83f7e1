"""The table of cost terms: the name of each, its meaning, and its values in a machine file.

Advice, explanations, suspects of a validation, the listing of a machine and the sensitivity read this one list.

A term is a few fields of `Costs` (seconds of one message) made from a few values of a `Machine`. Rows with one name are
one cost to a reader: `by_name` groups them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from pready.model.common.arrays import Replaced
from pready.model.common.units import Unit
from pready.model.timeline.costs import Costs

Step = Literal["begin", "ready", "issue", "protocol", "NIC", "link", "wire", "receive", "finish"]
"""Set-up, then the steps of the timeline in order."""


@dataclass(frozen=True, kw_only=True)
class Term:
    """One row."""

    name: str
    """As a reader knows it; rows of one name are one cost."""
    symbol: str
    latex: str
    says: str
    """Its meaning, in a sentence."""
    costs: tuple[str, ...]
    """Fields of `Costs`; empty for a cost that no exchange pays."""
    values: Mapping[str, Unit | None] = field(default_factory=dict)
    """Its values in a machine file, by `canonical` name, with their units."""
    steps: tuple[Step, ...]
    bulk_alike: bool = False
    """Bulk pays it as well, so that it does not take a gain."""


TERMS: tuple[Term, ...] = (
    Term(
        name="set-up cost",
        symbol="t_begin",
        latex=r"t_\mathrm{begin}",
        says="requests, windows and communicators, once before the first iteration, their first use included",
        costs=(),
        values={
            "begin.persistent": Unit.TIME,
            "begin.partitioned": Unit.TIME,
            "begin.window": Unit.TIME,
            "begin.registration": Unit.TIME_PER_BYTE,
            "begin.communicator": Unit.TIME,
        },
        steps=("begin",),
    ),
    Term(
        name="MPI_Pready",
        symbol="t_pready",
        latex=r"t_\mathrm{pready}",
        says="marking one user partition ready, or one decrement of a counter that the user keeps",
        costs=("pready",),
        values={"threads.pready": Unit.TIME},
        steps=("ready",),
    ),
    Term(
        name="the threads' barrier",
        symbol="t_barrier",
        latex=r"t_\mathrm{barrier}",
        says="the threads of a rank meet: before a bulk send, and at the end of their parallel region",
        costs=("barrier",),
        values={"threads.barrier": Unit.TIME},
        steps=("ready", "finish"),
    ),
    Term(
        name="clear-to-send or exposure epoch",
        symbol="control",
        latex=r"t_\mathrm{control}",
        says="a message without payload from call to call, such as an exposure epoch or a clear-to-send",
        costs=("control",),
        steps=("ready", "finish"),
    ),
    Term(
        name="cold caches",
        symbol="t_cold",
        latex=r"t_\mathrm{cold}",
        says="what the first message after computing takes longer, its code and data having left the caches",
        costs=("cold",),
        values={"cold": Unit.TIME},
        steps=("ready",),
    ),
    Term(
        name="contention for the VCI's lock",
        symbol="contention",
        latex="c",
        says="what a message pays that waits for the lock of a VCI that several threads share",
        costs=("contention",),
        values={"threads.contention": Unit.TIME},
        steps=("issue",),
    ),
    Term(
        name="contention for the VCI's lock",
        symbol="contention",
        latex="c",
        says="the same for MPI_Put",
        costs=("contention_put",),
        values={"threads.contention_put": Unit.TIME},
        steps=("issue",),
    ),
    Term(
        name="message overhead o_s",
        symbol="o_s",
        latex="o_s",
        says="CPU time to issue one message, with its VCI's lock held (LogGP's o at the sender)",
        costs=("hold",),
        values={"path.segments[].o_s": Unit.TIME},
        steps=("issue",),
    ),
    Term(
        name="message overhead o_s",
        symbol="o_setup",
        latex=r"o_\mathrm{setup}",
        says="the part of o_s that a persistent send saves (MPI_Send_init before the loop)",
        costs=("setup",),
        values={"requests.setup": Unit.TIME},
        steps=("issue",),
    ),
    Term(
        name="message overhead o_s",
        symbol="o_put",
        latex=r"o_\mathrm{put}",
        says="CPU time to issue one MPI_Put, in place of o_s + O_s m; unless measured, that of a send",
        costs=("put",),
        values={"one_sided.put": Unit.TIME},
        steps=("issue",),
    ),
    Term(
        name="the eager copies",
        symbol="O_s m",
        latex="O_s m",
        says="the CPU's copy of an eager message at the sender, with the lock held",
        costs=("copy_in",),
        values={
            "path.segments[].O_s": Unit.TIME_PER_BYTE,
            "memory.copy_hot": Unit.BANDWIDTH,
            "memory.copy_cold": Unit.BANDWIDTH,
        },
        steps=("issue",),
    ),
    Term(
        name="the active message",
        symbol="copy",
        latex=r"t_\mathrm{copy}",
        says="the copy of the whole message, on each side of an active message",
        costs=("copy_out",),
        steps=("issue", "receive"),
    ),
    Term(
        name="the active message",
        symbol="active message",
        latex=r"t_\mathrm{active}",
        says="what an active message costs beyond a send and its copies",
        costs=("active",),
        values={"active_message": Unit.TIME},
        steps=("issue",),
    ),
    Term(
        name="the rendezvous handshake",
        symbol="handshake",
        latex=r"t_\mathrm{handshake}",
        says="RTS and CTS of a large message, which move only while both sides make progress",
        costs=("handshake", "on_call"),
        values={"path.segments[].handshake": Unit.TIME, "path.segments[].progress": None},
        steps=("protocol",),
    ),
    Term(
        name="the gap between messages",
        symbol="g",
        latex="g",
        says="the least time between two messages through one adapter, in or out (LogGP's g)",
        costs=("gap",),
        values={"path.segments[].g": Unit.TIME},
        steps=("NIC",),
    ),
    Term(
        name="the adapter that ranks of a node share",
        symbol="g_a + m/β_a",
        latex=r"g_\mathrm{a} + m / \beta_\mathrm{a}",
        says="how long a message keeps an adapter of its node busy, whichever rank sends it",
        costs=("shared",),
        values={"adapter.gap": Unit.TIME, "adapter.rate": Unit.BANDWIDTH},
        steps=("NIC",),
        bulk_alike=True,
    ),
    Term(
        name="the gap between messages",
        symbol="g of puts",
        latex=r"g_\mathrm{put}",
        says="the same between two puts",
        costs=("gap_put",),
        values={"one_sided.gap": Unit.TIME},
        steps=("NIC",),
    ),
    Term(
        name="bandwidth",
        symbol="m/β_link",
        latex=r"m / \beta_\mathrm{link}",
        says="how long a message keeps the link busy when many are in flight, at both ends",
        costs=("link",),
        values={"path.link_bandwidth": Unit.BANDWIDTH, "path.segments[].G_link": Unit.TIME_PER_BYTE},
        steps=("NIC",),
        bulk_alike=True,
    ),
    Term(
        name="bandwidth",
        symbol="G m",
        latex="G m",
        says="how long one message alone streams (LogGP's G)",
        costs=("stream",),
        values={"path.segments[].G": Unit.TIME_PER_BYTE},
        steps=("link",),
        bulk_alike=True,
    ),
    Term(
        name="latency",
        symbol="L",
        latex="L",
        says="from the sender's adapter to the receiver's (LogGP's L)",
        costs=("wire",),
        values={"path.segments[].L": Unit.TIME},
        steps=("wire",),
        bulk_alike=True,
    ),
    Term(
        name="receive overhead and matching",
        symbol="o_r + O_r m + t_match",
        latex=r"o_r + O_r m + t_\mathrm{match}",
        says="CPU time to receive one message that is matched (LogGP's o at the receiver)",
        costs=("receive",),
        values={
            "path.segments[].o_r": Unit.TIME,
            "path.segments[].O_r": Unit.TIME_PER_BYTE,
            "path.segments[].O_r_beyond": Unit.TIME_PER_BYTE,
            "memory.cache": Unit.SIZE,
            "matching.base": Unit.TIME,
        },
        steps=("receive",),
    ),
    Term(
        name="receive overhead and matching",
        symbol="o_r + O_r m",
        latex="o_r + O_r m",
        says="the same without matching",
        costs=("unmatched",),
        steps=("receive",),
    ),
    Term(
        name="receive overhead and matching",
        symbol="entries searched",
        latex=r"t_\mathrm{search}",
        says="comparing a message with one entry of the queue it is matched in (jammer2022)",
        costs=("per_entry",),
        values={"matching.per_entry": Unit.TIME},
        steps=("receive",),
    ),
    Term(
        name="the receiver's acknowledgement",
        symbol="completes",
        latex=r"t_\mathrm{completes}",
        says="a send that is not complete once its data are copied, but when they have left or are delivered",
        costs=("completes",),
        values={"path.send_completes": None},
        steps=("finish",),
    ),
    Term(
        name="polling several VCIs",
        symbol="t_poll",
        latex=r"t_\mathrm{poll}",
        says="each further VCI, if one thread completes messages on all (zambre2021 5.1)",
        costs=("poll",),
        values={"threads.vci_poll": Unit.TIME},
        steps=("finish",),
    ),
    Term(
        name="RMA synchronisation",
        symbol="t_epoch",
        latex=r"t_\mathrm{epoch}",
        says="CPU time of an active synchronisation of one window, peers aside (gillis2023 2.3.3)",
        costs=("epoch",),
        values={"one_sided.epoch": Unit.TIME},
        steps=("finish",),
    ),
    Term(
        name="RMA synchronisation",
        symbol="t_epoch",
        latex=r"t_\mathrm{epoch}",
        says="the same for passive synchronisation: a flush",
        costs=("flush",),
        values={"one_sided.flush": Unit.TIME},
        steps=("finish",),
    ),
    Term(
        name="RMA synchronisation",
        symbol="t_epoch of a peer",
        latex=r"t_\mathrm{peer}",
        says="CPU time of an active synchronisation for each window and peer: their messages, out and in",
        costs=("epoch_peer",),
        values={"one_sided.epoch_peer": Unit.TIME},
        steps=("finish",),
    ),
    Term(
        name="RMA synchronisation",
        symbol="t_epoch of a peer",
        latex=r"t_\mathrm{peer}",
        says="the same for passive synchronisation: a flush, and a message that tells the peer",
        costs=("flush_peer",),
        values={"one_sided.flush_peer": Unit.TIME},
        steps=("finish",),
    ),
    Term(
        name="RMA synchronisation",
        symbol="t_epoch of further windows",
        latex=r"t_\mathrm{windows}",
        says="the same for each window after the first",
        costs=("window",),
        values={"one_sided.window": Unit.TIME},
        steps=("finish",),
    ),
    Term(
        name="RMA synchronisation",
        symbol="acknowledgement",
        latex=r"t_\mathrm{ack}",
        says="L of the message that tells the sender of an arrival",
        costs=("ack",),
        steps=("finish",),
    ),
)

NO_COSTS: Mapping[str, Unit | None] = {
    "library.early_send": None,
    "library.global_progress": None,
    "progress": None,
    "sender_progress": None,
    "contexts": None,
    "memory.caches": None,
    "one_sided.puts": None,
    "path.segments[].begins": Unit.SIZE,
    "adapter.rails": None,
}
"""Values of a machine file that select a rule and take no time themselves."""

BY_COST: Mapping[str, Term] = {c: t for t in TERMS for c in t.costs}
_BY_VALUE: Mapping[str, Term] = {v: t for t in TERMS for v in t.values}


def canonical(label: str) -> str:
    """A value's name for any path and segment: ``inter.segments[2].o_s`` is ``path.segments[].o_s``."""
    return re.sub(r"\[\d+\]", "[]", re.sub(r"^int(er|ra)\.", "path.", label))


def of_value(label: str) -> Term | None:
    """The term of a machine's value; None for one of `NO_COSTS`."""
    return _BY_VALUE.get(canonical(label))


def unit_of(label: str) -> Unit | None:
    """The unit of a machine's value; None for a count, a choice, or true and false."""
    name = canonical(label)
    return _BY_VALUE[name].values[name] if name in _BY_VALUE else NO_COSTS[name]


def by_name() -> dict[str, list[Term]]:
    """The rows of each name that an exchange pays, in order."""
    out: dict[str, list[Term]] = {}
    for term in (t for t in TERMS if t.costs):
        out.setdefault(term.name, []).append(term)
    return out


def without(costs: Costs, terms: Iterable[Term]) -> dict[str, Replaced]:
    """The fields of some terms as zeros, each of the shape it has in `costs`."""
    return {c: np.zeros_like(getattr(costs, c)) for t in terms for c in t.costs}
