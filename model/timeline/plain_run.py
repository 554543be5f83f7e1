"""One exchange of all ranks, one sweep, and one exchange alone, by the plain recurrence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pready.model.approach.interfaces import Approach
from pready.model.timeline.consume import consumed
from pready.model.timeline.costs import Costs
from pready.model.timeline.messages import NEVER, Message, Sent, State
from pready.model.timeline.recurrence import Ranks
from pready.model.timeline.rules import Setting


@dataclass(frozen=True)
class Ended:
    """How an exchange ends for one rank; absolute seconds."""

    received: float
    """It has all that was sent to it."""
    end: float
    """And its threads have met, and its sends are complete."""
    causes: dict[str, float]
    """What it waited for since its last partition was ready, or in a sweep since its start."""


def exchange(ranks: Ranks, times: Sequence[Sequence[float]], state: State) -> tuple[list[Ended], list[Sent]]:
    """One exchange of all ranks, whose partitions are ready at `times` after their starts; moves `state` on."""
    every = range(len(ranks.to))
    ready = [ranks.ready(t) for t in times]
    posted = list(state.start)
    joins = [state.start[r] + ready[r].join(ranks.barrier) for r in every]
    stays = [
        ranks.in_mpi(state.start[r], ready[r]) if ranks.computing else [posted[r]] * len(ranks.members) for r in every
    ]
    sent = [ranks.send(r, ready[r], state, ranks.to[r], posted, stays) for r in every]
    if ranks.node is not None:
        ranks.leave_nodes(sent, state)
    out = []
    for r, sources in enumerate(ranks.from_):
        floors = [posted[r]] * len(ranks.members) if ranks.setting.progress == "thread" else stays[r]
        mine = [(q, sent[q], d) for q, d in sources]
        received, last = ranks.receive(mine, floors) if mine else (min(floors), (NEVER,) * 4)
        received = ranks.told(received, mine) if mine else received + ranks.meeting
        end = max(received, sent[r].join, sent[r].done + ranks.meeting)
        received = max(received, joins[r]) if ranks.computing else received
        causes = attributed(last, sent[r].last, end) | {"compute": sent[r].last - posted[r]}
        if ranks.setting.consumers:
            told = end
            end = max(end, consumed(ranks, mine, floors, told, joins[r])) if mine else end
            causes["consume"] = end - told
        out.append(Ended(received, end, causes))
    for r in every:
        state.start[r], state.nic[r] = out[r].end, sent[r].nic
    return out, sent


def attributed(last: Sequence[float], since: float, end: float) -> dict[str, float]:
    """What a rank waited for from `since` to `end`, by the latest arrival, departure, issue, readiness of its
    neighbours."""
    marks = [end]
    for time in last:
        marks.append(max(since, min(time, marks[-1])))
    end, arrival, left, issued, ready = marks
    return {
        "late_neighbour": ready - since,
        "issue": issued - ready,
        "nic": left - issued,
        "wire": arrival - left,
        "receive": end - arrival,
    }


def sweep(
    ranks: Ranks, times: Callable[[int, int], Sequence[float]], state: State, grid: tuple[int, int], blocks: int
) -> tuple[list[dict[str, float]], list[dict[int, Sent]]]:
    """All octants of a sweep, each in so many blocks, over x times y ranks; `times` by rank and step.

    A rank receives from upstream, computes, and sends downstream, where ranks have ended the step before and
    wait in MPI.
    Returns what each rank waited for, and what each sent, step by step.
    """
    x, y = grid
    steps: list[dict[int, Sent]] = []
    waited = [
        dict.fromkeys(("compute", "late_neighbour", "issue", "nic", "wire", "receive"), 0.0) for _ in range(x * y)
    ]
    for step in range(8 * blocks):
        sx, sy = ((1, 1), (-1, 1), (-1, -1), (1, -1))[step // (2 * blocks)]
        sent: dict[int, Sent] = {}
        steps.append(sent)
        free = list(state.start)
        in_mpi = [[at] * len(ranks.members) for at in free]
        for r in sorted(range(x * y), key=lambda r: (sy * (r // x), sx * (r % x))):
            i, j = r % x, r // x
            beside, above = 0 <= i - sx < x, 0 <= j - sy < y
            upstream = [(q, sent[q], d) for q, d, there in ((r - sx, 0, beside), (r - sy * x, 1, above)) if there]
            downstream = [r + sx if 0 <= i + sx < x else None, r + sy * x if 0 <= j + sy < y else None]
            received, last = ranks.receive(upstream, in_mpi[r]) if upstream else (free[r], (NEVER,) * 4)
            begun = max(ranks.told(received, upstream) - ranks.meeting if upstream else received, free[r])
            state.start[r] = begun
            out = sent[r] = ranks.send(r, ranks.ready(times(r, step)), state, downstream, free, in_mpi)
            state.start[r], state.nic[r] = max(out.join, out.done + ranks.meeting), out.nic
            for name, time in attributed(last, free[r], begun).items():
                waited[r][name] += time
            waited[r]["compute"] += out.last - begun
            waited[r]["issue"] += state.start[r] - out.last
    return waited, steps


@dataclass(frozen=True)
class Alone:
    """One exchange of one rank with peers in step; seconds after its last partition is ready."""

    end: float
    """Everything is received; the communication time T of Eq. 1."""
    join: float
    """The sender's threads have met."""
    first_ready: float
    received: float
    """The last message is received; what follows is the finish."""
    told: float
    """And the finish; what follows is what the receiver's threads still have to work on."""
    messages: list[Message]
    streams: list[float]
    """By direction: G m."""
    early: int


@dataclass(frozen=True)
class Jobs:
    """Messages that each have a direction of their own; as of `Ranks`."""

    needs: Sequence[Sequence[int]]
    members: Sequence[Sequence[int]]
    issuers: Sequence[int]
    waiting: Sequence[Sequence[int]]


def pair(costs: Sequence[Costs], approach: Approach, setting: Setting, jobs: Jobs | None = None) -> Ranks:
    """A rank that sends, and one in place of all of its peers.

    Parameters
    ----------
    costs
        Of messages to each peer, or of one for all of them; scalars.
    jobs
        Where the parts of threads differ: costs are then those of the message in each direction.
    """
    peers = range(setting.peers if jobs is None else len(costs))
    kinds = [min(d, len(costs) - 1) for d in peers]
    to: list[list[int | None]] = [[1 for _ in peers], [None for _ in peers]]
    return Ranks(approach, setting, costs, to, [kinds, kinds], computing=False, **({} if jobs is None else vars(jobs)))


def alone(
    ranks: Ranks,
    times: Sequence[float],
    receiver_join: float | None = None,
    *,
    receiver_times: Sequence[float] | None = None,
) -> Alone:
    """One exchange from rest.

    Parameters
    ----------
    ranks
        A `pair`.
    times
        When the sender's user partitions are ready.
    receiver_join
        When the receiver enters MPI; None: it waits there,
    receiver_times
        unless it enters when its threads have met whose own partitions are ready then.
    """
    setting, to, vcis = ranks.setting, ranks.to, len(ranks.members)
    # Counted from the last partition, so that a long computation before it costs no digits.
    last = max(times)
    state, ready = State.at_rest(2), ranks.ready([t - last for t in times])
    idle = [-last] * vcis
    enters, met = idle, -last
    if receiver_times is not None:
        theirs = ranks.ready(receiver_times)
        enters, met = ranks.in_mpi(-last, theirs), theirs.join(ranks.barrier) - last
    elif receiver_join is not None:
        enters, met = [receiver_join - last] * vcis, receiver_join - last
    sent = ranks.send(0, ready, state, to[0], [-last, -last], [idle, enters])
    mine = [(0, sent, d) for d in range(len(to[0]))]
    floors = idle if setting.progress == "thread" else enters
    received, _ = ranks.receive(mine, floors)
    end = max(ranks.told(received, mine), sent.join, met)
    if setting.two_way:
        end = max(end, sent.done + ranks.meeting)
    told = end
    if setting.consumers:
        end = max(end, consumed(ranks, mine, floors, told, met))
    streams = [kind.stream for kind in ranks.kinds[0]]
    return Alone(end, sent.join, sent.first, received, told, sent.messages, streams, sent.early)
