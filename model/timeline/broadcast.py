"""A broadcast over a tree, by the plain recurrence: what a rank receives is ready to be sent on, message by message.

Rank 0 sends to its children what its threads compute. Every other rank is in MPI from the beginning: a message is ready
there as soon as it is received, and goes on to that rank's children. One thread does so in bulk and where one thread
completes all messages; where each completes its own, each sends on its own. In bulk the one message has to be there
first, and where MPI_Parrived tells of the whole request only, the last of all. The iteration ends for all ranks when
the last has everything.

Limits, tested: where only bytes take time, bulk takes G S for each level of a binomial tree, a linear broadcast
(R - 1) G S either way, and a partition that is late by itself its share of G S for each level.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pready.model.timeline.costs import Costs
from pready.model.timeline.messages import NEVER, Message, Ready, Sent, State
from pready.model.timeline.plain_run import Ended, attributed
from pready.model.timeline.recurrence import Kind, Ranks
from pready.model.timeline.rules import Setting


class Relays(Ranks):
    """Ranks that send on what they receive: no team that computes, joins or contends, unless each thread completes its
    own messages; they see clear-to-sends at once."""

    @staticmethod
    def of(root: Ranks, costs: Sequence[Costs], setting: Setting) -> Relays:
        """The same ranks as `root`, below it; `costs` and `setting` as of it."""
        interface = replace(root.interface, joins=False)
        made = Relays(
            replace(root.approach, interface=interface),
            setting,
            costs,
            root.to,
            [[0] * root.directions] * len(root.to),
            computing=False,
            members=root.members,
        )
        if interface.completes == "master":
            made.contention = [0.0] * len(made.contention)
        return made

    def _between(self, kind: Kind, peers: int) -> float:
        """One message is received before the next partition goes to all `peers`."""
        return self.receiving(kind, self.approach.messages / len(self.members)) / peers

    def relayed(self, arrived: Sequence[Message], floor: float, start: float, join: float) -> Ready:
        """When messages are ready to be sent on that come to a rank which receives from `floor` on; after `start`."""
        kind, own = self.kinds_of[0], len(self.members) > 1 and self.receivers == "threads"
        cost = self.receiving(kind, self.approach.messages / len(self.members))
        free = [floor - start] * len(self.members)
        jobs = [NEVER] * self.approach.messages
        for m in sorted(arrived, key=lambda m: m.arrived):
            server = m.vci if own else 0
            free[server] = max(m.arrived - start, free[server]) + cost
            jobs[m.transport] = free[server]
        if not self.interface.tells:  # nothing is known before the last is there
            jobs = [max(jobs)] * len(jobs)
        return Ready(jobs, min(jobs), max(jobs), [NEVER] * len(self.members), join - start)


def broadcast(root: Ranks, relays: Relays, times: Sequence[float], state: State) -> tuple[list[Ended], dict[int, Sent]]:
    """One broadcast of all ranks, parents before their children, whose root's partitions are ready at `times` after its
    start; moves `state` on."""
    vcis, posted = len(root.members), list(state.start)
    stays = [[at] * vcis for at in posted]
    sent: dict[int, Sent] = {}
    out: list[Ended] = []
    for r, sources in enumerate(root.from_):
        if r == 0:
            sent[0] = root.send(0, root.ready(times), state, root.to[0], posted, stays)
            end = max(sent[0].join, sent[0].done + root.meeting)
            out.append(Ended(end, end, {"compute": sent[0].last - posted[0]}))
            continue
        ((q, d),) = sources
        mine = [(q, sent[q], d)]
        received, last = relays.receive(mine, stays[r])
        received = end = relays.told(received, mine)
        ready = relays.relayed(sent[q].towards[d], posted[r], posted[r], sent[0].join)
        sent[r] = relays.send(r, ready, state, root.to[r], posted, stays)
        if sent[r].messages:
            end = max(end, sent[r].done + root.meeting)
        out.append(Ended(received, end, attributed(last, sent[0].last, end) | out[0].causes))
    over = max(e.end for e in out)
    for r in range(len(out)):
        state.start[r] = over
        state.nic[r] = sent[r].nic if sent[r].messages else state.nic[r]
    return out, sent
