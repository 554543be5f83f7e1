"""The step of a captured run: its exchanges with pattern, sizes and thread times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from pready.calibrate.capture.call_sites import Chain, chain_of, names_of, shared_by
from pready.calibrate.capture.files import Process, Run
from pready.calibrate.capture.patterns import Recognised, Sent, no_messages, recognise_step, recognise_sweep
from pready.calibrate.capture.repetition import Group, Repetition, groups, most_common, repetition
from pready.calibrate.capture.run_summary import notes, stretch_name, summarise, time_within_mpi
from pready.calibrate.capture.thread_bytes import thread_shares
from pready.model.common.arrays import Array
from pready.model.common.errors import PreadyError
from pready.model.common.units import format_time

WARM_UP = 5
"""Least number of steps to leave out the first one, which makes threads and connections."""


@dataclass(frozen=True)
class Exchange:
    """One exchange of the step, over all ranks and steps.

    Attributes
    ----------
    times
        Finish time of each thread, in seconds after the previous exchange, shape (samples, threads): all ranks of a
        step, step after step. Includes serial work between the region and the first message.
    exchange_s
        Mean time from the first message to the end; of one that is sent early, from the last thread's finish.
    quick_s
        The same of the quickest tenth: what it takes when no rank is late.
    overlapped
        Threads compute between its messages and their completion.
    region
        The stretch of computing before it; "" if there is none.
    after_s
        Time from the last thread's finish to the end, mean over ranks, shape (steps,); packing included.
    partitions
        Of a buffer, where sends are partitioned; else 0.
    early
        Threads send messages, or mark partitions ready, while others still compute.
    shares
        What each thread sends of every buffer, in some unit, where threads send themselves and differ; else None.
    unlike_shares
        They differ from buffer to buffer, too, and `shares` is None.
    """

    name: str
    pattern: Recognised
    times: Array
    exchange_s: float = 0.0
    quick_s: float = 0.0
    overlapped: bool = False
    collectives: float = 0.0
    region: str = ""
    after_s: Array = field(default_factory=lambda: np.zeros(0))
    partitions: int = 0
    early: bool = False
    shares: tuple[int, ...] | None = None
    unlike_shares: bool = False

    @property
    def threads(self) -> int:
        """Threads of the region before it."""
        return int(self.times.shape[1])

    @property
    def compute_s(self) -> float:
        """Mean of the threads' times."""
        return float(self.times.mean())

    @property
    def waiting_s(self) -> float:
        """Mean wait of finished threads for the last one."""
        return float((self.times.max(axis=1) - self.times.mean(axis=1)).mean())

    @property
    def most_s(self) -> float:
        """Upper bound of what a port gains in a step: the waiting time or the exchange, whichever is shorter."""
        return min(self.waiting_s, self.exchange_s)


@dataclass(frozen=True)
class Step:
    """The step that repeats in a run.

    Attributes
    ----------
    steps
        Number of repetitions.
    step_s
        Mean time of a step.
    share
        Share of the time from MPI_Init to MPI_Finalize that the steps take.
    waiting
        Share of the run in which finished threads wait for their last one, in all regions.
    """

    exchanges: tuple[Exchange, ...]
    ranks: int
    ranks_per_node: int
    threads: int
    steps: int
    step_s: float
    share: float
    notes: tuple[str, ...]
    waiting: float = 0.0
    times_s: Array = field(default_factory=lambda: np.zeros(0))
    """Of each step of a rank, shape (steps,); of several steps without the first one."""

    def share_of(self, times: Iterable[float]) -> float:
        """The sum of times in seconds as a share of a step."""
        return sum(times) / self.step_s if self.step_s > 0 else 0.0


def find(run: Run) -> Step:
    """Find the step of a run.

    Raises
    ------
    PreadyError
        Ranks are missing, no rank sends to another one, or nothing repeats.
    """
    source, ranks = str(run.folder), run.all_ranks()
    all_groups = [groups(p) for p in ranks]
    lead = max(range(len(ranks)), key=lambda r: len(all_groups[r]))
    mine = all_groups[lead]
    if not mine:
        raise no_messages(source)
    sweep = recognise_sweep([[g.sent for g in found] for found in all_groups])
    exact = True
    if sweep is not None:
        main = Repetition(len(mine) // sweep.times, 0, len(mine))
        aligned: list[Instances] = [[list(found) for found in all_groups]]
    else:
        main, exact = _repetition(mine, source)
        aligned = _aligned(ranks, all_groups, main, lead)
    all_exchanges = _exchanges(run, aligned, sweep)
    exchanges = _with_threads(all_exchanges)
    took = mine[main.stop - 1].end - mine[main.first].since
    run_s = time_within_mpi(ranks[lead])
    after_regions = [e.threads for e in exchanges if e.region]
    return Step(
        exchanges=exchanges,
        ranks=len(ranks),
        ranks_per_node=most_common(list(Counter(p.host for p in ranks).values())),
        threads=most_common(after_regions) if after_regions else max(e.threads for e in exchanges),
        steps=main.times,
        step_s=took / main.times,
        share=min(1.0, main.runs * took / run_s) if run_s > 0 else 1.0,
        notes=(*notes(run), *_notes(all_exchanges, exchanges, exact)),
        waiting=summarise(run).waiting,
        times_s=_step_times(mine[main.first : main.stop], main.times),
    )


def _step_times(found: Sequence[Group], steps: int) -> Array:
    """Seconds from the end of a step to the end of the next one."""
    each = len(found) // steps
    ends = np.array([found[0].since, *(g.end for g in found[each - 1 :: each])])
    return np.asarray(np.diff(ends)[1 if steps >= WARM_UP else 0 :])


Instances = list[list[Group]]
"""One exchange of the step: for each rank its groups, one per repetition."""


def _repetition(found: Sequence[Group], source: str) -> tuple[Repetition, bool]:
    """The step, and whether its sizes repeat exactly."""
    step = repetition([g.exact for g in found])
    if step is not None:
        return step, True
    step = repetition([g.rough for g in found])
    if step is None:
        raise PreadyError(
            f"{len(found)} exchanges of a rank do not repeat",
            valid="a run of several steps that send to the same ranks",
            source=source,
        )
    return step, False


def _aligned(
    ranks: Sequence[Process], all_groups: Sequence[list[Group]], main: Repetition, lead: int
) -> list[Instances]:
    """The step's exchanges, over all ranks."""
    if all(len(found) == len(all_groups[lead]) for found in all_groups):
        return [
            [list(found[main.first + j : main.stop : main.period]) for found in all_groups] for j in range(main.period)
        ]
    # Ranks at an open boundary may lack some exchanges: match those that follow the same region, in the lead's order,
    # from the end, as set-up precedes the steps.
    keys = [_after(ranks[lead], group) for group in all_groups[lead]]
    result: list[Instances] = [[[] for _ in all_groups] for _ in range(main.period)]
    for rank, found in enumerate(all_groups):
        at = len(keys)
        for group in reversed(found):
            key = _after(ranks[rank], group)
            before = next((i for i in range(at - 1, -1, -1) if keys[i] == key), None)
            if before is None:
                continue
            at = before
            if main.first <= at < main.stop:
                result[(at - main.first) % main.period][rank].insert(0, group)
    return result


def _after(process: Process, group: Group) -> tuple[str, ...]:
    """Identity of an exchange across ranks: the region before it, or the function that sends."""
    if group.producer is None:
        return tuple(call.function for call in chain_of(process.places, group.site)[:1])
    key = group.producer[0].key
    return tuple(f"{p.object}+{p.offset}" for p in (process.places[key[0]], process.places[key[1]]) if p is not None)


def _exchanges(run: Run, aligned: Sequence[Instances], sweep: Recognised | None) -> tuple[Exchange, ...]:
    """The exchanges of a step, without the first step of several, which makes threads and connections."""
    used = []
    for instances in aligned:
        skip = 1 if max(map(len, instances)) >= WARM_UP else 0
        used.append([of_rank[skip:] for of_rank in instances])
    patterns = [sweep] if sweep else recognise_step([[_mean_sent(r) for r in instances] for instances in used])
    names = _told_apart(names_of([_chain(run, instances) for instances in used]), patterns)
    return tuple(_exchange(run, *each) for each in zip(used, patterns, names, strict=True))


def _chain(run: Run, used: Instances) -> Chain:
    """The calls that lead to the messages of an exchange, of the first rank that has one."""
    for rank, of_rank in enumerate(used):
        for group in of_rank:
            return shared_by([chain_of(run.ranks[rank].places, site) for site in group.sites])
    return ()


def _told_apart(names: Sequence[str], patterns: Sequence[Recognised]) -> list[str]:
    """Equal names with the axis of a phase, then with a number."""
    counts = Counter(names)
    out = [f"{n}, {p.axis}" if counts[n] > 1 and p.axis else n for n, p in zip(names, patterns, strict=True)]
    counts, seen = Counter(out), Counter[str]()
    for i, name in enumerate(out):
        seen[name] += 1
        out[i] = f"{name}, {seen[name]}" if counts[name] > 1 else name
    return out


def _exchange(run: Run, used: Instances, pattern: Recognised, name: str) -> Exchange:
    every = [g for of_rank in used for g in of_rank]
    teams = [g.producer[0].threads for g in every if g.producer is not None]
    threads = most_common(teams) if teams else 1
    rows: list[Array] = []
    for step in range(max(map(len, used), default=0)):
        for of_rank in used:
            if step >= len(of_rank):
                continue
            g = of_rank[step]
            if g.producer is None:
                if not teams:
                    rows.append(np.array([max(0.0, g.begin - g.since - g.waited)]))
                continue
            stretch, i = g.producer
            if stretch.threads == threads:
                rows.append(np.maximum(stretch.begin[i] - g.since - g.waited + stretch.finish[i] + g.serial, 0.0))
    rank, lead = next((r, g) for r, of_rank in enumerate(used) for g in of_rank)
    process = run.ranks[rank]
    producer = lead.producer[0] if lead.producer is not None else None
    shares, unlike_shares = thread_shares(used, threads)
    return Exchange(
        name=name,
        pattern=pattern,
        times=np.array(rows) if rows else np.zeros((1, threads)),
        exchange_s=float(np.mean([g.took for g in every])),
        quick_s=float(np.quantile([g.took for g in every], 0.1)),
        overlapped=any(g.overlapped for g in every),
        collectives=float(np.mean([g.collectives for g in every])),
        region="" if producer is None else stretch_name(process, producer),
        after_s=np.array([np.mean([g.end - g.ready for g in step]) for step in zip(*filter(None, used), strict=False)]),
        partitions=_partitions(lead),
        early=any(g.early for g in every),
        shares=shares,
        unlike_shares=unlike_shares,
    )


def _partitions(of: Group) -> int:
    """Of the largest number of partitions of a buffer; several buffers for one rank are alike."""
    counts = [(of.sent[peer], part) for peer, part in of.parts.items() if peer in of.sent]
    return max((round(size / messages / part) for (size, messages), part in counts), default=0)


def _mean_sent(of_rank: Sequence[Group]) -> Sent:
    """Mean bytes and messages by peer."""
    means: dict[int, tuple[int, int]] = {}
    for peer in sorted({peer for g in of_rank for peer in g.sent}):
        size, count = np.mean([g.sent.get(peer, (0, 0)) for g in of_rank], axis=0)
        means[peer] = round(size), round(count)
    return means


def _with_threads(exchanges: tuple[Exchange, ...]) -> tuple[Exchange, ...]:
    """Keep exchanges that follow a team's region; the time of others is added to the next one's compute time.

    Threads cannot send parts of data that no team has computed. Without any team all are kept.
    """
    kept = [i for i, e in enumerate(exchanges) if e.region and e.threads > 1]
    if not kept:
        return exchanges
    result = []
    for nth, i in enumerate(kept):
        before = kept[nth - 1]  # the first follows the last of the previous step
        between = range(before + 1, i if i > before else i + len(exchanges))
        passed = sum(e.compute_s + e.exchange_s for e in (exchanges[j % len(exchanges)] for j in between))
        result.append(replace(exchanges[i], times=exchanges[i].times + passed))
    return tuple(result)


def _notes(found: Sequence[Exchange], kept: Sequence[Exchange], exact: bool) -> list[str]:
    said = []
    if not exact:
        said.append("sizes differ from step to step: means are used")
    if len(kept) < len(found):
        passed = {e.name for e in found} - {e.name for e in kept}
        took = sum(e.exchange_s for e in found if e.name in passed)
        said.append(
            f"{len(passed)} of the step's {len(found)} exchanges follow no region of a team: their {format_time(took)} "
            "count as compute time of the next one"
        )
    elif not any(e.region for e in kept):
        said.append("no parallel region before any exchange: partitions are ready at once")
    several = [e for e in kept if e.pattern.messages > 1]
    if several:
        most = max(e.pattern.messages for e in several)
        said.append(f"{_listed(several)}: up to {most} messages per neighbour count as one")
    unlike = [e for e in kept if e.unlike_shares]
    if unlike:
        said.append(f"{_listed(unlike)}: threads' parts differ from neighbour to neighbour, and are taken as alike")
    overlapped = [e for e in kept if e.overlapped]
    if overlapped:
        said.append(f"{_listed(overlapped)}: threads compute during the exchange; the workload does not model that")
    collectives = sum(e.collectives for e in found)
    if collectives >= 0.5:
        said.append(f"time in collectives ({collectives:.0f} a step) counts as time before exchanges")
    return said


def _listed(exchanges: Sequence[Exchange]) -> str:
    names = [e.name for e in exchanges[:3]] + ([f"{len(exchanges) - 3} more"] if len(exchanges) > 3 else [])
    return ", ".join(names)
