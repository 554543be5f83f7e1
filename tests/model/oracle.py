"""The timeline in plain Python, one message at a time: what `pready.model.timeline` must equal.

Written from the text of the model's seven steps, without its running maxima, its sorting tricks or
its shift of the origin.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from pready.model.costs import Completes, Costs
from pready.model.interfaces import Approach
from pready.model.rules import Setting
from pready.model.vcis import vci_of

MAGIC = 1.5 * 2.0**52
"""Added and subtracted, it rounds to whole numbers."""


def ticks(time: float) -> float:
    """In whole picoseconds, from where no message's time is: rounding alone must not decide an order."""
    return ((time * 1e12 + 0.1234567) + MAGIC) - MAGIC


def plain(costs: Costs) -> Costs:
    """The same in Python's numbers: one by one, NumPy's take several times as long."""
    return Costs(**{f.name: getattr(costs, f.name).tolist() for f in fields(Costs)})


def serve(jobs: list[tuple[float, int]], service: float, not_before: float = -1e300) -> dict[int, float]:
    """A FIFO server: when each job starts. `jobs` are (arrival, identity)."""
    free, starts = not_before, {}
    for arrival, who in sorted(jobs):
        starts[who] = max(arrival, free)
        free = starts[who] + service
    return starts


def holding(c: Costs, approach: Approach) -> float:
    """How long a message holds its VCI's lock."""
    i = approach.interface
    overhead = max(float(c.hold - c.setup), 0.0) if i.persistent else float(c.hold)
    hold = float(c.put) if i.one_sided else overhead + float(c.copy_in)
    return hold + (float(c.copy_out + c.active) if i.active_message else 0.0)


def receiving(c: Costs, approach: Approach, queued: float) -> float:
    """CPU time to receive one message, of `queued` per VCI."""
    service = float(c.unmatched)
    if approach.interface.matches:
        service = float(c.receive) + float(c.per_entry) * (queued - 1) / 2
    return service + (float(c.copy_out) if approach.interface.active_message else 0.0)


Message = tuple[int, int]
"""Transport partition and peer."""


def leave_in_order(
    messages: Sequence[Message], comes: dict[Message, float], costs: Sequence[Costs]
) -> dict[Message, float]:
    """An adapter: when each message leaves."""
    free, out = -1e300, {}
    for m in messages:
        out[m] = max(comes[m], free)
        free = out[m] + float(costs[m[1]].gap + costs[m[1]].link)
    return out


def end_of_exchange(
    ready: list[float],
    costs: Costs | Sequence[Costs],
    approach: Approach,
    setting: Setting,
    receiver_join: float | None,
) -> float:
    """When the receiver has everything, in seconds after the sender's last ready partition.

    `costs` are of messages of one size, or of those to each peer.
    """
    i, n, theta, peers = approach.interface, setting.threads, setting.partitions_per_thread, setting.peers
    who = "master" if i.one_sided and setting.puts == "processor" else i.receivers
    to: list[Costs] = [costs] * peers if isinstance(costs, Costs) else list(costs)
    unlike = not isinstance(costs, Costs)
    c = to[0]  # what is the same of all
    # By a message the target says that it has what was put, unless an epoch's cost has it.
    by_message = i.one_sided and c.completes == Completes.DELIVERED and setting.puts != "deferred"

    def cost(name: str) -> float:
        return float(getattr(c, name))

    marked = list(ready)
    if i.counts:
        for thread in range(n):
            mine = list(range(thread * theta, (thread + 1) * theta))
            starts = serve([(ready[j], j) for j in mine], cost("pready"))
            for j in mine:
                marked[j] = starts[j] + cost("pready")
    transports = approach.transport_partitions if i.splits else 1
    per_bin = len(ready) // transports
    bins = [max(marked[t * per_bin : (t + 1) * per_bin]) for t in range(transports)]
    if not i.counts and not i.joins:  # where several threads fill a partition, they count down together
        owners_of = [{p // theta for p in range(t * per_bin, (t + 1) * per_bin)} for t in range(transports)]
        bins = [b + (cost("pready") if len(o) > 1 else 0.0) for b, o in zip(bins, owners_of, strict=True)]
    if i.joins:
        bins = [b + cost("barrier") for b in bins]
    windows = n if i.windows_per_thread else 1
    epochs = cost("flush" if i.sync == "passive" else "epoch") + (windows - 1) * cost("window")
    if i.one_sided:
        bins = [max(b, cost("control")) for b in bins]
    if i.active_message:
        bins = [max(b, cost("control")) for b in bins]
    if i.one_sided and not i.windows_per_thread and setting.puts == "deferred":
        bins = [max(b, max(marked) + cost("barrier")) for b in bins]
    bins = [b + cost("cold") for b in bins]  # to several peers, as the first of its messages

    vci = [vci_of(t, approach, n, setting.contexts) if i.splits else 0 for t in range(transports)]
    left: dict[tuple[int, int], float] = {}
    for v in set(vci):
        members = [t for t in range(transports) if vci[t] == v]
        owners = {p // theta for t in members for p in range(t * per_bin, (t + 1) * per_bin)}
        k = min(len(members), len(owners))
        taken = float(c.contention_put[k] if i.one_sided else c.contention[k])
        hold = [holding(of, approach) for of in to]
        # Between two partitions that queue for the lock, as many messages are received under it as the first sent.
        between = [0.0] * peers
        if setting.two_way and who != "none":
            between = [receiving(of, approach, peers * transports / len(set(vci))) for of in to]
        free = -1e300
        for t in sorted(members, key=lambda t: (bins[t], t)):
            # A partition that waits for the lock pays for it with every message.
            start = max(bins[t], free + peers * taken)
            for peer in range(peers):
                left[t, peer] = start + sum(hold[: peer + 1])
            free = start + sum(hold) + sum(between)

    def returned(of: Costs, arrived: float) -> float:
        """When the sender knows that the receiver has a message."""
        seen = arrived if receiver_join is None or setting.progress == "thread" else max(arrived, receiver_join)
        return seen + (0.0 if who == "none" else receiving(of, approach, 1)) + cost("control" if by_message else "ack")

    plain = not (i.one_sided or i.active_message or i.two_sided_rendezvous)

    def asks(of: Costs) -> bool:
        """A rendezvous, or data that the receiver of an active message fetches."""
        return float(of.size) >= i.fetched_from if i.active_message else plain and float(of.handshake) > 0

    def over(of: Costs, goes: float, leaves: float) -> float:
        """When a send is complete: delivered, left, or copied."""
        if of.completes == Completes.DELIVERED and i.sync != "passive":
            return returned(of, leaves + float(of.stream + of.wire))
        asked = i.two_sided_rendezvous or asks(of)
        left = asked if of.completes == Completes.BY_PROTOCOL else of.completes == Completes.LEFT and not i.one_sided
        if left:
            return leaves + float(of.stream)
        return goes if asked else -1e300

    def allowed(of: Costs, issued: float) -> float:
        when = issued
        if i.two_sided_rendezvous:
            when = max(issued, float(of.wire))
        elif asks(of):
            half = 0.0 if i.active_message else float(of.handshake) / 2
            request = issued + half
            handled = i.active_message and setting.progress != "thread"
            if (setting.progress == "on-call" or handled) and receiver_join is not None:
                request = max(request, receiver_join)
            when = request + half
            if setting.sender_progress == "on-call" and i.sender_returns:
                when = max(when, max(marked) + cost("barrier"))
            elif setting.sender_progress == "on-call" and i.splits and theta > 1:
                when = max(when, min(max(marked[t * theta : (t + 1) * theta]) for t in range(n)))
        return when

    if i.one_by_one:  # the next is issued when the one before is complete
        at, free = bins[0], -1e300
        for peer, of in enumerate(to):
            left[0, peer] = at + hold[peer]
            goes = allowed(of, left[0, peer])
            leaves = max(goes, free)
            free = leaves + float(of.gap + of.link)
            at = max(left[0, peer], over(of, goes, leaves))
    sent = {message: allowed(to[message[1]], issued) for message, issued in left.items()}

    # Messages that one answer lets go at the same moment leave by VCI, and from each in the order of issue.
    line = sorted(sent, key=lambda m: (vci[m[0]], left[m]))
    answered = i.two_sided_rendezvous or any(map(asks, to))
    if not unlike:
        line.sort(key=lambda m: sent[m])
    elif len(set(vci)) == 1 and answered:  # what may go within a round leaves as it was issued
        first, long = min(sent.values()), max(peers * (cost("gap") + cost("link")) * (1 + 1e-6), 1e-12)
        line.sort(key=lambda m: (((sent[m] - first) / long - 0.5) + MAGIC) - MAGIC)
    elif len(set(vci)) > 1:
        line.sort(key=lambda m: ticks(sent[m]) if answered or not plain else sent[m])
    begun = leave_in_order(line, sent, to)

    used = len(set(vci))
    wait = -1e300 if receiver_join is None or setting.progress == "thread" else receiver_join
    there = {m: at + float(to[m[1]].stream + to[m[1]].wire) for m, at in begun.items()}
    end = max(there.values())
    if who != "none":
        end = -1e300
        for server in set(vci) if who == "threads" else {None}:
            free = wait
            for m in sorted((m for m in line if server is None or vci[m[0]] == server), key=lambda m: there[m]):
                free = max(there[m], free) + receiving(to[m[1]], approach, peers * transports / used)
            end = max(end, free)
    if who == "master":
        end += (used - 1) * cost("poll")
    if i.one_sided:
        join, issued = max(marked) + cost("barrier"), max(left.values())
        closing = epochs
        if i.sync == "active":
            complete = issued if i.windows_per_thread else max(issued + cost("barrier"), join)
            if by_message:
                complete = max(complete, end + cost("control"))
            end = max(end, complete + cost("control")) + closing
        else:
            end = max(end + cost("control" if by_message else "ack"), join) + closing + cost("control")
    known = max(over(to[m[1]], sent[m], at) for m, at in begun.items())
    if i.receivers == "threads":  # each has completed its own messages
        end += cost("barrier")
    if setting.two_way:
        end = max(end, known + (cost("barrier") if i.receivers == "threads" else 0.0))
    end = max(end, max(marked) + cost("barrier"))
    if receiver_join is not None:
        end = max(end, receiver_join)
    return end - max(ready)
