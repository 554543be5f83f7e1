"""The timeline in plain Python, one message at a time: what `pready.model.timeline` must equal.

Written from the text of the model's seven steps, without its running maxima, its sorting tricks or
its shift of the origin.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields

from pready.model.approach import Approach, vci_of
from pready.model.costs import Costs
from pready.model.timeline import Setting

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


def warmed(starts: list[float], costs: list[Costs]) -> list[float]:
    """Each message, at its costs, later by what the pause before it costs; none overtakes."""
    before, latest, out = 0.0, -1e300, dict[int, float]()
    for t in sorted(range(len(starts)), key=lambda t: (starts[t], t)):
        c = costs[t]
        pause = max(starts[t] - before, 0.0)
        before = max(starts[t], before if out else -1e300) + float(c.link)
        since, own = max(starts[t], 0.0), float(c.cold_own)
        paid = [1 - math.exp(-x / float(c.cooling)) for x in (pause, since)]
        latest = max(latest, starts[t] + float(c.cold) * ((1 - own) * paid[0] + own * paid[1]))
        out[t] = latest
    return [out[t] for t in range(len(starts))]


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


def pass_in_order(
    messages: Sequence[Message], comes: dict[Message, float], costs: Sequence[Costs], times: float = 1.0
) -> dict[Message, float]:
    """An adapter or a port, a token bucket beside it where the link is shaped: when each message leaves.

    One that others use as well takes `times` as long.
    """
    shaped, free, turn = any(float(c.drain) > 0 for c in costs), -1e300, -1e300
    out = {}
    for m in messages:
        of = costs[m[1]]
        out[m] = max(comes[m], free)
        free = out[m] + float(of.gap + of.link) * times
        if shaped:
            turn = max(comes[m], turn)
            out[m] = max(out[m], turn - float(of.credit))
            turn += float(of.drain) * times
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
    # By a message the target says that it has what was put, unless that is in what an epoch takes.
    by_message = i.one_sided and setting.puts_delivered and setting.unattended > 0
    who = "master" if i.one_sided and setting.puts_take_cpu else i.receivers
    to: list[Costs] = [costs] * peers if isinstance(costs, Costs) else list(costs)
    unlike = not isinstance(costs, Costs)
    c = to[0]  # what is the same of all

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
    if not i.joins:
        slow = cost("waking")
        bins = [b + cost("wake") * (1 - math.exp(-max(b, 0.0) / slow) if slow > 0 else 1.0) for b in bins]
    if i.one_sided and not i.windows_per_thread and setting.unattended == 0:
        calls = serve([(b, t) for t, b in enumerate(bins)], keeping := sum(float(of.kept) for of in to))
        called = max(calls.values()) + keeping if keeping else -1e300
        bins = [max(b, max(*marked, called) + cost("barrier")) for b in bins]
    bins = warmed(bins, [c] * len(bins))  # to several peers, as the first of its messages

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
            # Who finds the lock taken, or would not have it back in time, pays for it with every message.
            start = max(bins[t], free + peers * taken)
            for peer in range(peers):
                left[t, peer] = start + sum(hold[: peer + 1])
            free = start + sum(hold) + sum(between)

    def returned(of: Costs, arrived: float) -> float:
        """When the receiver's word is back that it has a message."""
        seen = arrived if receiver_join is None or setting.progress == "thread" else max(arrived, receiver_join)
        return seen + (0.0 if who == "none" else receiving(of, approach, 1)) + cost("control" if by_message else "ack")

    plain = not (i.one_sided or i.active_message or i.two_sided_rendezvous)

    def asks(of: Costs) -> bool:
        """A rendezvous, or data that the receiver of an active message fetches."""
        return float(of.size) >= i.fetched_from if i.active_message else plain and bool(of.rendezvous)

    def over(of: Costs, goes: float, leaves: float) -> float:
        """When a send is: with the receiver's word, when its last byte has left if it asked first, or once copied."""
        says = i.sync == "active" and setting.puts_delivered if i.one_sided else bool(of.acknowledged)
        if setting.two_way and says:
            return returned(of, leaves + float(of.stream + of.wire))
        if i.two_sided_rendezvous or asks(of):
            sockets = 1 if i.one_by_one else peers
            return max(goes, leaves + float(of.stream - sockets * of.buffered))
        return -1e300

    def busy(end: float, v: int) -> float:
        """Until when a thread has issued, whose last partition is ready then: what queued before goes first."""
        queues_by = end + cost("pready") + cost("wake") + cost("cold") + 1e-9
        return max([end, *(left[t, peers - 1] for t in range(transports) if vci[t] == v and bins[t] <= queues_by)])

    def allowed(of: Costs, issued: float, v: int) -> float:
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
                waits = max(float(of.link) * transports / n - float(of.buffered), float(of.link))
                ends = [max(marked[t * theta : (t + 1) * theta]) for t in range(n)]
                seen = [max(end, issued) for end in ends if busy(end, v) + waits >= issued]
                when = max(when, min(seen, default=issued))
        return when

    if i.one_by_one:  # the next is issued when the one before is copied, or has left if it asked first
        at, free, bucket = bins[0], -1e300, -1e300
        for peer, of in enumerate(to):
            left[0, peer] = at + hold[peer]
            goes = allowed(of, left[0, peer], 0)
            bucket = max(goes, bucket)
            leaves = max(goes, free, bucket - float(of.credit) if any(c.drain > 0 for c in to) else -1e300)
            free, bucket = leaves + float(of.gap + of.link), bucket + float(of.drain)
            at = left[0, peer]
            at = max(left[0, peer], over(of, goes, leaves))
    sent = {message: allowed(to[message[1]], issued, vci[message[0]]) for message, issued in left.items()}

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
    early = i.splits and not (i.windows_per_thread or i.two_sided_rendezvous)
    waiting_room = setting.unattended if i.one_sided else setting.sends_unattended
    if early and waiting_room < math.inf and (waiting_room > 0 or not i.one_sided):
        inside = max(marked) + cost("barrier")  # of one thread that completes all
        if i.receivers == "threads":
            inside = min(max(marked[t * theta : (t + 1) * theta]) for t in range(n))
        behind: list[
            tuple[tuple[int, int], float]
        ] = []  # what has not all been handed over, and where in the line it ends
        at, passed, taken, total = -1e300, 0.0, 0.0, 0.0
        handed: list[tuple[tuple[int, int] | None, float]] = [(m, sent[m]) for m in line]
        for m, when in [*handed, (None, inside)]:
            now = min(max(at, when), inside)
            passed = min(passed + now - at, taken) if at > -1e300 else 0.0
            at = now
            if m is not None:
                of = to[m[1]]
                total += float(of.gap + of.link)
                behind.append((m, total))
                if not i.one_sided or len(behind) == 1:  # a put only joins the queue behind what waits
                    taken = max(taken, min(total, passed + peers * waiting_room / float(of.size) * float(of.link)))
            if now >= inside:
                taken = math.inf
            while behind and behind[0][1] <= taken:
                whose, ends = behind.pop(0)
                if whose != m:
                    own = float(to[whose[1]].gap + to[whose[1]].link)
                    sent[whose] = max(sent[whose], now + ends - passed - own)
    begun = pass_in_order(line, sent, to)

    # The receiver is sent the same by others: one port for all of it, as fast as the one it left through.
    used = len(set(vci))
    wait = -1e300 if receiver_join is None or setting.progress == "thread" else receiver_join
    came = begun
    if unlike:
        came = pass_in_order(sorted(line, key=lambda m: ticks(begun[m] - max(wait, 0.0))), begun, to)
    there = {m: at + float(to[m[1]].stream + to[m[1]].wire) for m, at in came.items()}
    end = max(there.values())
    if who != "none":
        end = -1e300
        for server in set(vci) if who == "threads" else {None}:
            free = wait
            for m in sorted((m for m in line if server is None or vci[m[0]] == server), key=lambda m: there[m]):
                free = max(there[m], free) + receiving(to[m[1]], approach, peers * transports / used)
            end = max(end, free)
    if setting.scattered:
        share = cost("uneven_puts" if i.one_sided else "uneven_active" if i.active_message else "uneven")
        slowed, alone = (
            max(out[m] + float(to[m[1]].gap + to[m[1]].link) * times for m in line)
            for times in (1 + share, 1.0)
            for out in [pass_in_order(line, begun, to, times)]
        )
        end += slowed - alone
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
