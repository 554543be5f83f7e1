"""Many ranks, iteration after iteration: the timeline of every rank, exactly, without an event queue.

`simulate` runs R ranks in a pattern (`pattern.py`), each with its own threads' arrivals, each waiting
for its neighbours, with the seven steps of `pready.model.timeline` and the same costs. `kernel/` is the
C++ that does it; `plan.py` turns a Machine, a Workload and an Approach into the kernel's numbers. `alone.py` simulates
single exchanges from rest.

The recurrence
--------------

Rank r starts iteration k at S_r(k), S_r(0) = 0. Its partitions are ready at S_r(k) plus its draws. The
timeline's servers (threads marking partitions, VCI locks, the NIC) then give, from its own times and
its receivers' clear-to-sends, when each of its messages arrives. A receiver serves what its neighbours sent to
it, and S_r(k+1) is when all its receives and its own sends are complete and its threads have joined:

- A send is complete as the machine says (`send_completes`): once it is copied, once its last byte has left, or once
  the receiver, in MPI, has it. Where the machine does not say, an eager send is complete when it is issued, a
  rendezvous or a matched persistent one when its last byte has left. RMA is complete when its epoch is closed.
- A receive is posted at S_r(k). Nothing of iteration k is received, answered or granted before: a
  rendezvous' answer, an exposure epoch, a clear-to-send, a matched receiver's flag. If completing
  takes the CPU (receiver "computing", no progress thread), not before the rank's own join either.
  With progress "on-call" a rendezvous is answered from that join on, or, if it asked before S_r(k), right then:
  whoever posts a receive is in MPI. Its payload needs nobody there.
- An epoch opens when all its peers have exposed their memory; an active message goes when its receiver has sent the
  clear-to-send. From 16 KiB on its receiver then fetches the data, as it answers a rendezvous, but never by its adapter
  alone.
- What a rank's neighbours send to it goes through its port, in the order in which it left them. LogGP's g and G hold at
  both ends: end_i = max(arrived_i, end_(i-1) + g + G m). What one rank alone sends never waits there, as it left
  through a port as fast; nor does it where all ranks are in step.
- Ranks of a node share its adapter, which takes their messages in the order of time.
- What is left to send at the NIC is carried into the next iteration; the other servers are idle by then.
- In a sweep a rank first receives from upstream, then computes, then sends downstream; it receives
  from the end of its previous step on, sitting in MPI. A step is one block of one octant; octants
  come in pairs (both directions of z) from the corners (−,−), (+,−), (+,+), (−,+).

Why no event queue is needed
----------------------------

An event queue orders events because any of them might influence any later one. Here it cannot:

1. *Layers.* All times of iteration k are functions of the starts S(k) and what is left at the NICs. A
   message of iteration k cannot influence any send of iteration k, because every partition's ready
   time is a start plus a draw. (In a sweep it can, but only downstream: layers are diagonals.) So one
   pass over the ranks per layer is enough, in any order within the layer.
2. *No overtaking between iterations.* A receive is posted at S_r(k), after everything of iteration
   k − 1 has been received, so a fast neighbour's messages of iteration k cannot occupy a server that
   still works for k − 1. Messages are matched by neighbour, partition and iteration.
3. *Servers are FIFOs with a constant service per class of message.* The start of job i is
   max(arrival_i, start_{i−1} + service_{i−1}): a max-plus recurrence over the jobs in order of arrival.
   The jobs of one neighbour and VCI are in order already, so ordering means merging a few sorted
   lists, which a fixed network of comparators does for several ranks at once.
4. *Only the end of a receiver matters.* It is max_i(arrival_i + service of i and all behind it) over
   the sorted arrivals; which neighbour a message came from is not needed, and an arrival that lies
   n services before a lower bound of that maximum, n being all messages, need not be sorted at all. Port and CPU
   in a row are one such server: a message that takes p and then c delays those behind it by max(p, c).

The state is two to four numbers per rank. A rank's messages exist only in a window as wide as its
neighbours are far apart in rank order (about two planes of a grid), or, where that is no less than
all ranks, as one such record per rank.

Every operation is elementwise over ranks, sums over ranks are formed in fixed blocks of 64, and
draws come by counter, so that results are equal to the last bit for any number of cores, any chunks
and any instruction set.

Assumptions, and where they end
-------------------------------

- The network delays every message by L and G alone (LogGP). With congestion, a message's travel
  depends on all others in flight, layers dissolve, and an event queue is needed: use SST.
- Sends of an iteration do not depend on its receives: between two transport partitions that queue for a VCI,
  a rank receives as many messages as the first of them sent, whether or not so many have come. A code that sends on
  the arrival of single partitions (MPI_Parrived, then MPI_Pready of the next exchange in the same
  iteration) has no layers.
- A port's queue ends with the iteration, and it does not hold up the senders: their cables are free, and a flush is
  acknowledged, when the messages come to it. (When a rank has received all of a passive epoch does include its port.)
- The arrivals' distribution does not depend on the simulation.
- Where payloads wait for clear-to-sends, one VCI sends in rounds that begin with the first that may go: those
  that may go before a round is over, which is as long as a message to each neighbour takes, leave in the order in which
  they were issued, for flows to several peers share a cable (in a sweep each goes when it may). Strictly by their
  clear-to-sends, ranks that are 2 us apart would all send to the earliest first and queue at its port: bulk of 27
  points and 4 MiB would take 20 % more than in marts2024 IV.C. On several VCIs, those that may go within the same
  picosecond leave as issued, so that rounding does not decide. Of other messages, those whose times since the rank's
  start differ by rounding alone: the last bits of a time hold the message's number (6 bits for
  8 transport partitions and 6 neighbours, 2⁻⁴⁶ of the time).
- A user partition is marked once, for all neighbours. Without a thread grid every thread has a part
  of every neighbour's buffer, and one transport partition is issued to all of them in turn; with one
  (`mapping.py`), each message queues for its VCI by itself, when its own partitions are ready.
- Along an axis with one rank there is no neighbour, periodic or not.
- A machine's parameters are taken at their values, unless a `price` says otherwise: `many_ranks.ManyRanks`, which
  ``pready predict`` uses, simulates drawn machines by themselves, many in one call (`kernel/run/batch.cpp`).
- What the first message after computing takes longer (a machine's `cold`) is a constant: every transport partition
  queues for its VCI that much later, one to neighbours of several sizes as the first of them.

Whatever does not fit is refused with a PreadyError: odd numbers of pairs, sweeps in more than two
axes, neighbour lists that name strangers, counters beyond 32 bits, times beyond 292 years, memory
beyond what is there.
"""

from pready.model.engine.export_goal import export_goal
from pready.model.engine.ranks.pattern import Pattern, pattern
from pready.model.engine.simulate import prepared, simulate
from pready.model.engine.simulation import CAUSES, Simulation

__all__ = ["CAUSES", "Pattern", "Simulation", "export_goal", "pattern", "prepared", "simulate"]
