"""The timeline in plain Python, one message at a time: what `pready.model.timeline` must equal.

Written from the text of the model's seven steps, without its running maxima, its sorting tricks or
its shift of the origin.
"""

from __future__ import annotations

import math

from pready.model.approach import Approach, vci_of
from pready.model.costs import Costs
from pready.model.timeline import Setting


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
        latest = max(latest, starts[t] + float(c.cold) * (1 - math.exp(-pause / float(c.cooling))))
        out[t] = latest
    return [out[t] for t in range(len(starts))]


def receiving(c: Costs, approach: Approach, queued: float) -> float:
    """CPU time to receive one message, of `queued` per VCI."""
    service = float(c.unmatched)
    if approach.interface.matches:
        service = float(c.receive) + float(c.per_entry) * (queued - 1) / 2
    return service + (float(c.copy_out) if approach.interface.active_message else 0.0)


def end_of_exchange(
    ready: list[float], c: Costs, approach: Approach, setting: Setting, receiver_join: float | None
) -> float:
    """When the receiver has everything, in seconds after the sender's last ready partition."""
    i, n, theta, peers = approach.interface, setting.threads, setting.partitions_per_thread, setting.peers

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
        bins = [max(b, cost("control") + epochs) for b in bins]
    if i.active_message:
        bins = [max(b, cost("control")) for b in bins]
    if not i.joins:
        slow = cost("waking")
        bins = [b + cost("wake") * (1 - math.exp(-max(b, 0.0) / slow) if slow > 0 else 1.0) for b in bins]
    if i.one_sided and not i.windows_per_thread and setting.unattended == 0:
        bins = [max(b, max(marked) + cost("barrier")) for b in bins]
    bins = warmed(bins, [c] * len(bins))

    vci = [vci_of(t, approach, n, setting.contexts) if i.splits else 0 for t in range(transports)]
    left: dict[tuple[int, int], float] = {}
    for v in set(vci):
        members = [t for t in range(transports) if vci[t] == v]
        owners = {p // theta for t in members for p in range(t * per_bin, (t + 1) * per_bin)}
        k = min(len(members), len(owners))
        taken = float(c.contention_put[k] if i.one_sided else c.contention[k])
        overhead = max(cost("hold") - cost("setup"), 0.0) if i.persistent else cost("hold")
        hold = cost("put") if i.one_sided else overhead + cost("copy_in")
        hold += cost("copy_out") + cost("active") if i.active_message else 0.0
        # Between two partitions that queue for the lock, as many messages are received under it as the first sent.
        between = 0.0
        if setting.two_way and i.receivers != "none":
            between = receiving(c, approach, peers * transports / len(set(vci)))
        free = -1e300
        for t in sorted(members, key=lambda t: (bins[t], t)):
            # Who finds the lock taken, or would not have it back in time, pays for it with every message.
            start = max(bins[t], free + peers * taken)
            for peer in range(peers):
                left[t, peer] = start + (peer + 1) * hold
            free = start + peers * (hold + between)

    def heard(arrived: float) -> float:
        """When the receiver's word is back that it has a message."""
        seen = arrived if receiver_join is None or setting.progress == "thread" else max(arrived, receiver_join)
        return seen + receiving(c, approach, 1) + cost("ack")

    known = heard if setting.two_way and not i.one_sided and bool(c.acknowledged) else None

    def allowed(issued: float) -> float:
        when = issued
        if i.two_sided_rendezvous:
            when = max(issued, cost("wire"))
        elif not i.one_sided and not i.active_message and bool(c.rendezvous):
            request = issued + cost("handshake") / 2
            if setting.progress == "on-call" and receiver_join is not None:
                request = max(request, receiver_join)
            when = request + cost("handshake") / 2
            if setting.sender_progress == "on-call" and i.sender_returns:
                when = max(when, max(marked) + cost("barrier"))
            elif setting.sender_progress == "on-call" and i.splits and theta > 1:
                waits = cost("link") * transports / n
                ends = [max(marked[t * theta : (t + 1) * theta]) for t in range(n)]
                seen = [max(end, issued) for end in ends if end + waits >= issued]
                when = max(when, min(seen, default=issued))
        return when

    if i.one_by_one:  # the next is issued when the one before is copied, or has left if it asked first
        at, free, bucket = bins[0], -1e300, -1e300
        for peer in range(peers):
            left[0, peer] = at + hold
            bucket = max(allowed(left[0, peer]), bucket)
            leaves = max(allowed(left[0, peer]), free, bucket - cost("credit") if cost("drain") > 0 else -1e300)
            free, bucket = leaves + cost("gap") + cost("link"), bucket + cost("drain")
            at = left[0, peer]
            if known is not None:
                at = known(leaves + cost("stream") + cost("wire"))
            elif bool(c.rendezvous):
                at = max(allowed(left[0, peer]), leaves + cost("stream") - cost("buffered"))
    sent = {message: allowed(issued) for message, issued in left.items()}
    if i.one_sided and not i.windows_per_thread and 0 < setting.unattended < math.inf:
        room, free, met = peers * setting.unattended, -1e300, max(marked) + cost("barrier")
        time_per_byte, stuck, found = cost("link") / cost("size"), False, 0.0
        for message in sorted(sent, key=lambda m: sent[m]):
            free = max(sent[message], free) + cost("gap") + cost("link")
            too_much = (free - sent[message]) - room * time_per_byte
            if not stuck and too_much > 0:  # with what is left of it, all that follow wait
                stuck, found = True, max(cost("link") - too_much, 0.0)
            if stuck:
                sent[message] = max(sent[message], met - found)
    # Messages that one answer lets go at the same moment leave by VCI, and from each in the order of issue.
    names = {m: number for number, m in enumerate(sorted(sent, key=lambda m: (vci[m[0]], left[m])))}
    begun = serve([(t, names[m]) for m, t in sent.items()], cost("gap") + cost("link"))
    if cost("drain") > 0:
        turn = serve([(t, names[m]) for m, t in sent.items()], cost("drain"))
        begun = {who: max(at, turn[who] - cost("credit")) for who, at in begun.items()}
    arrived = {m: begun[names[m]] + cost("stream") + cost("wire") for m in sent}

    used = len(set(vci))
    if i.receivers == "none":
        end = max(arrived.values())
    else:
        service = receiving(c, approach, peers * transports / used)
        wait = -1e300 if receiver_join is None or setting.progress == "thread" else receiver_join
        end = -1e300
        for server in set(vci) if i.receivers == "threads" else {None}:
            jobs = [(a, names[m]) for m, a in arrived.items() if server is None or vci[m[0]] == server]
            end = max(end, max(serve(jobs, service, wait).values()) + service)
    if setting.scattered:
        service = cost("gap") + cost("link")
        long = max(begun.values()) - min(begun.values()) + service
        end += cost("uneven_active" if i.active_message else "uneven") * min(long, service * len(begun))
    if i.receivers == "master":
        end += (used - 1) * cost("poll")
    if i.one_sided:
        join, issued = max(marked) + cost("barrier"), max(left.values())
        closing = epochs
        if i.sync == "active":
            complete = issued if i.windows_per_thread else max(issued + cost("barrier"), join)
            end = max(end, complete + cost("control")) + closing
        else:
            end = max(end + cost("ack"), join) + closing + cost("control")
    if known is not None:
        end_of_sends = known(max(arrived.values())) + (cost("barrier") if i.receivers == "threads" else 0.0)
    if i.receivers == "threads":  # each has completed its own messages
        end += cost("barrier")
    if known is not None:
        end = max(end, end_of_sends)
    end = max(end, max(marked) + cost("barrier"))
    if receiver_join is not None:
        end = max(end, receiver_join)
    return end - max(ready)
