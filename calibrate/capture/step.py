"""The step of a captured run: its exchanges with pattern, sizes and thread times, and how they are sent."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, zip_longest

import numpy as np

from pready.calibrate.capture.alignment import Aligned, Instances, aligned
from pready.calibrate.capture.call_sites import Chain as Calls
from pready.calibrate.capture.call_sites import chain_of, names_of, shared_by
from pready.calibrate.capture.dependence import Chain, Dependence, chain
from pready.calibrate.capture.exchanges import Group, groups, today_of
from pready.calibrate.capture.files import Run
from pready.calibrate.capture.patterns import Recognised, Sent, recognise_open, recognise_step
from pready.calibrate.capture.run_summary import notes, stretch_name, summarise, time_within_mpi
from pready.calibrate.capture.thresholds import ADDS_UP, COMPUTES_S, SAID, WARM_UP
from pready.calibrate.capture.timeline import COLLECTIVE, Timeline, most_common
from pready.model.approach.interfaces import Today
from pready.model.common.arrays import Array
from pready.model.common.errors import PreadyError
from pready.model.common.units import format_time
from pready.model.workload.edges import Sweep3D

ONE_THREAD = "nothing to partition with one thread"


@dataclass(frozen=True)
class Exchange:
    """One exchange of the step, over all ranks and steps; times in seconds, sizes in bytes."""

    name: str
    pattern: Recognised
    times: Array
    """Computing of each thread before its part is ready, after the exchange before, shape (samples, threads): all ranks
    of a step, step after step. Serial work counts for all threads; time in MPI for none."""
    exchange_s: float = 0.0  # mean in MPI from the first message to the end; where threads send, from the last one's
    today: Today = "nonblocking"
    messages: int = 1  # to a neighbour
    inside_s: float = 0.0  # computing between its messages and their completion, in `times`
    pack_s: float = 0.0  # packing of all messages by one thread, not in `times`
    sent: float = 0.0  # by a rank in a step, the mean
    beside: bool = False  # one thread of a team sends while others compute
    collectives: float = 0.0  # in a step, before it
    region: str = ""  # the stretch of computing before it; "" if there is none
    partitions: int = 0  # of a buffer, where sends are partitioned
    early: bool = False  # threads send messages, or mark partitions ready, while others still compute
    depends: bool = False  # it sends what the exchange before it in the step brought: both cannot be one message
    routine: str = ""  # its name, without what tells it from others of the same routine

    @property
    def overlapped(self) -> bool:
        """Do threads compute between its messages and their completion?"""
        return self.inside_s > 0 and self.compute_s > 1e-9  # of the clock

    @property
    def threads(self) -> int:
        """Threads whose times are known: those of the region before it."""
        return int(self.times.shape[1])

    @property
    def compute_s(self) -> float:
        return float(self.times.mean())

    @property
    def last_s(self) -> float:
        return float(self.times.max(axis=1).mean())

    @property
    def waiting_s(self) -> float:
        """Mean wait of finished threads for the last one."""
        return self.last_s - self.compute_s


@dataclass(frozen=True)
class Step:
    """The step that repeats in a run."""

    exchanges: tuple[Exchange, ...]
    ranks: int
    ranks_per_node: int
    threads: int
    steps: int
    step_s: float  # of one step
    share: float  # of the time from MPI_Init to MPI_Finalize, in such steps
    notes: tuple[str, ...]
    waiting: float = 0.0  # share of the run in which finished threads wait for their last one, in all regions
    others_s: float = 0.0  # of a step: in collectives and other calls of MPI that are in no exchange
    chain: Chain | None = None  # None: none of its messages waits for one received in the same step
    shares_cores: bool = False  # threads have fewer cores than there are threads: their times are the cores', too

    def share_of(self, times: Iterable[float]) -> float:
        """The sum of times in seconds as a share of a step."""
        return sum(times) / self.step_s if self.step_s else 0.0

    @property
    def exchange_s(self) -> float:
        """In all its exchanges: what a port saves at most."""
        return sum(e.exchange_s for e in self.exchanges)

    @property
    def modelled_s(self) -> float:
        """Time of a step that a workload describes: computing and exchanges, without other calls of MPI."""
        return max(0.0, self.step_s - self.others_s)

    @property
    def today(self) -> Today:
        """How most of its bytes are sent."""
        if self.chain is not None and not self.sweeps:
            return "pipeline"
        count = Counter[Today]()
        for e in self.exchanges:
            count[e.today] += sum(b for to in e.pattern.lists for _, b in to) or sum(e.pattern.faces)
        most = max(count, key=count.__getitem__)
        inside = most in ("nonblocking", "persistent") and not self.sweeps and any(e.overlapped for e in self.exchanges)
        return "overlapped" if inside else most

    @property
    def sweeps(self) -> bool:
        """Is it a sweep of a kind that a workload can describe?"""
        return self.exchanges[0].pattern.name == "sweep3d"


def with_threads(step: Step, threads: int) -> Step:
    """The step of a run with one thread as with several, which share its computing evenly."""
    if step.threads != 1:
        problem = f"threads = {threads} of a run with {step.threads} threads"
        raise PreadyError(problem, valid="no threads: they are found")
    made = tuple(replace(e, times=e.times / threads) for e in step.exchanges)
    saved = sum(e.last_s for e in step.exchanges) * (1 - 1 / threads)
    said = f"{threads} threads, each with 1/{threads} of the one thread's computing"
    notes_ = (said, *(note for note in step.notes if not note.startswith(ONE_THREAD)))
    return replace(step, exchanges=made, threads=threads, step_s=step.step_s - saved, notes=notes_)


def find(run: Run) -> Step:
    """The step of a run; a PreadyError where ranks are missing, none sends to another one, or nothing repeats."""
    source, ranks = str(run.folder), run.all_ranks()
    timelines = [Timeline(p) for p in ranks]
    dependences = [Dependence(timeline) for timeline in timelines]
    found = [groups(*of) for of in zip(timelines, dependences, strict=True)]
    if not any(found):
        raise PreadyError("no rank sends messages to another one", valid="point-to-point or put", source=source)
    pipeline = _in_steps(chain(dependences), found)
    lead = max(range(len(ranks)), key=lambda r: len(found[r]))
    mine = found[lead]
    made: Aligned | None
    if pipeline is not None:  # all its blocks as one exchange
        steps = pipeline.steps or 1
        ends = [(mine[0].begin - float(mine[0].times.max()), mine[-1].end)]
        made = Aligned([[_each_step(of, steps) for of in found]], lead, steps, ends)
    else:
        made = aligned(ranks, found)
    if made is None:
        problem = f"{len(mine)} exchanges of rank {lead} do not repeat"
        valid = "several steps that send to the same ranks: a longer run, or one of a mesh that stays"
        raise PreadyError(problem, valid=valid, source=source)
    return _step(run, timelines, made, pipeline)


def _in_steps(chain: Chain | None, found: Sequence[Sequence[Group]]) -> Chain | None:
    """A sweep of octants has steps, even if nothing parts them: exchanges in a row to the same sides are the blocks of
    an octant, and each side has half of the octants."""
    sides = [[frozenset(g.sent) for g in of] for of in found]
    if chain is None or chain.steps or chain.own or max(len({*of}) for of in sides) < 3:  # less is a way and its back
        return chain
    blocks = math.gcd(*(len([*same]) for of in sides for _, same in groupby(of)))
    steps, rest = divmod(chain.blocks, Sweep3D.octants // 2 * blocks)
    return chain if rest else replace(chain, blocks=chain.blocks // steps, steps=steps)


def _each_step(of: list[Group], steps: int) -> list[Group]:
    """Without what is sent from places that not every step comes to: a set-up."""
    times = Counter(g.way for g in of)
    return [g for g in of if times[g.way] >= steps] or of


def _step(run: Run, timelines: Sequence[Timeline], step: Aligned, pipeline: Chain | None) -> Step:
    ranks = run.ranks
    skip = 1 if pipeline is None and len(step.ends) >= WARM_UP else 0
    used = [[of[skip:] for of in instances] for instances in step.exchanges]
    together = 0 if pipeline is None else step.steps  # whose exchanges are taken as one
    exchanges = _exchanges(used, timelines, together)
    if pipeline is not None:
        exchanges = (_whole_chain(timelines, exchanges[0], step.steps),)
        pattern = exchanges[0].pattern
        pipeline = replace(pipeline, said=_said_of(pipeline, pattern))
        exchanges = (replace(exchanges[0], pattern=_in_octants(pipeline, pattern)),)
    (begin, end), *_ = step.ends
    step_s = (end - begin) / together if together else _lasts(used)
    run_s = time_within_mpi(ranks[step.lead])
    after_regions = [e.threads for e in exchanges if e.region or (pipeline is not None and e.threads > 1)]
    others = [[sum(g.others_s for g in of) / (together or len(of)) for of in instances if of] for instances in used]
    made = Step(
        exchanges=exchanges,
        ranks=len(ranks),
        ranks_per_node=most_common(list(Counter(p.host for p in ranks).values())),
        threads=most_common(after_regions) if after_regions else 1,
        steps=step.steps,
        step_s=step_s,
        share=min(1.0, step.usual * step.steps * step_s / run_s) if run_s else 1.0,
        notes=(),
        waiting=summarise(run).waiting,
        others_s=sum(float(np.mean(of)) for of in others),
        chain=pipeline,
        shares_cores=run.shares_cores,
    )
    made, differ = _adds_up(made, str(run.folder))
    said = [*_changes(step, made.share), *notes(run), *differ, *_notes(made, step)]
    if pipeline is not None:
        how = "as 8 octants, one after the other" if made.sweeps else "not predicted"
        said.insert(0, f"this is {pipeline.said}: {how}")
    return replace(made, notes=tuple(said))


def _lasts(used: Sequence[Instances]) -> float:
    """Mean time of a step, over ranks, from the end of one exchange to the end of the next."""
    ranks = range(len(used[0]))
    each = [[float(np.mean([g.end - g.since for g in of[r]])) for of in used if of[r]] for r in ranks]
    return float(np.mean([sum(times) for times in each if times]))


def _adds_up(step: Step, source: str) -> tuple[Step, list[str]]:
    """The step, which is as long as its parts, and a note where these are means of ranks that differ; a PreadyError
    where an exchange is longer than the step: clocks or records are wrong."""
    for e in step.exchanges:
        for what, seconds in (("in MPI", e.exchange_s), ("computing", e.last_s)):
            if seconds > step.step_s * (1 + ADDS_UP):
                said = f"{e.name}: {format_time(seconds)} {what} in a step of {format_time(step.step_s)}"
                raise PreadyError(said, valid="records that agree with each other", source=source)
    parts = sum(e.last_s + e.exchange_s for e in step.exchanges) + step.others_s
    differ = parts > step.step_s * (1 + ADDS_UP)
    said_ = [f"ranks differ: their times add up to {format_time(parts)} in a step of {format_time(step.step_s)}"]
    return replace(step, step_s=max(parts, step.step_s)), said_ if differ else []


def _in_octants(chain: Chain, pattern: Recognised) -> Recognised:
    """The sweep of eight octants, one after the other, each of which passes on half of its blocks to either side; of
    another one, in which ranks begin by themselves, the pattern."""
    blocks, rest = divmod(pattern.messages, Sweep3D.octants // 2)
    sizes = {size for size, n in zip(pattern.faces, pattern.grid or (), strict=False) if n > 1}
    if chain.own or not chain.steps or rest or len(sizes) != 1 or pattern.name != "halo3d":
        return pattern
    return Recognised("sweep3d", pattern.grid, "open", faces=(sizes.pop() // pattern.messages,) * 3, blocks=blocks)


def _said_of(chain: Chain, pattern: Recognised) -> str:
    """A sweep, which passes on to both sides along its axes, or a pipeline."""
    if pattern.grid is None or pattern.name != "halo3d":
        return f"a pipeline of {chain.blocks} {'blocks' if chain.steps else 'messages from rank to rank'}"
    shape = " × ".join(str(n) for n in pattern.grid if n > 1)
    sizes = [size // pattern.messages for size, n in zip(pattern.faces, pattern.grid, strict=True) if n > 1]
    each = " and ".join(f"{size} B" for size in dict.fromkeys(sizes))  # along x, then along y
    begins = ", in which each rank begins by itself" if chain.own else ""
    time = "step" if chain.steps else "run"
    return f"a sweep on {shape} ranks{begins}: {pattern.messages} messages of {each} to each neighbour a {time}"


def _whole_chain(timelines: Sequence[Timeline], of: Exchange, steps: int) -> Exchange:
    """The exchange of a pipeline, with a thread's computing and its time in messages of all blocks of a step."""
    times, took = list[Array](), list[float]()
    stretches = [s for timeline in timelines for s in timeline.stretches]
    team = max(stretches, key=lambda s: float(s.finish.sum()), default=None)
    threads = of.threads if team is None else team.threads
    for timeline in timelines:
        if not (calls := timeline.calls):
            continue  # a rank beside the pipeline
        thread = calls[0].thread
        messages = [c for c in calls if c.thread == thread and c.kind not in COLLECTIVE]
        took.append(sum(c.end - c.begin for c in messages) / steps)
        # The median of a stretch: a late wake-up is the system's, and a pipeline has one figure, no arrivals.
        alike = [s.computing for s in timeline.stretches if s.threads == threads]
        teams = [len(each) * np.median(each, axis=0) for each in alike]
        serial = timeline.outside(thread, calls[0].begin, calls[-1].begin)
        times.append(np.asarray(sum(teams) if teams else np.full(threads, serial)) / steps)
    return replace(of, times=np.array(times), exchange_s=float(np.mean(took)), inside_s=0.0, pack_s=0.0)


def _exchanges(used: Sequence[Instances], timelines: Sequence[Timeline], together: int) -> tuple[Exchange, ...]:
    """With their means in a step: of so many whose exchanges are taken as one, or of steps apart (0)."""
    sent = [_sent_between(instances, together) for instances in used]
    sizes = [[size for to in each for size, _ in to.values()] for each in sent]
    patterns = [recognise_open(sent[0])] if together else recognise_step(sent)
    patterns = [replace(p, to_a_rank=(min(of), max(of))) for p, of in zip(patterns, sizes, strict=True)]
    routines = names_of([_calls(timelines, instances) for instances in used])
    names = _told_apart(routines, patterns)
    each = zip(used, _computing(timelines, used), patterns, names, routines, strict=True)
    first, *rest = (_exchange(timelines, *of, together) for of in each)
    made = (replace(first, depends=False), *rest)  # what the step before brought is there
    return made if together else _in_their_place(made)


def _in_their_place(exchanges: Sequence[Exchange]) -> tuple[Exchange, ...]:
    """Computing while messages are on their way is this exchange's, and packing is no computing; both were counted
    before the next one."""
    before = [exchanges[-1], *exchanges[:-1]]
    return tuple(
        replace(e, times=(e.times + e.inside_s - b.inside_s - b.pack_s).clip(0.0))
        for e, b in zip(exchanges, before, strict=True)
    )


def _mostly(seconds: Sequence[float], least: float) -> float:
    """The median, if most are longer than that; 0 else: what a busy core adds now and then is neither."""
    return float(np.median(seconds)) if sum(s > least for s in seconds) > len(seconds) / 2 else 0.0


def _whole(group: Group) -> float:
    """Bytes of all messages over those that are packed after the first."""
    size = sum(group.sent.values())
    first = group.sent[next(iter(group.sent))] / group.counts[next(iter(group.sent))]
    return size / (size - first) if size > first else 0.0


def _computing(timelines: Sequence[Timeline], used: Sequence[Instances]) -> list[Instances]:
    """Groups with the computing before each exchange: what a rank computes before one that it has no part in, after the
    same region as others, is before that one, not before its next one."""
    made = [list(instances) for instances in used]

    def region(r: int, of: Sequence[Group]) -> str:
        producer = of[0].producer if of else None
        return "" if producer is None else stretch_name(timelines[r].process, producer[0])

    for i, instances in enumerate(used):
        names = Counter(name for r, of in enumerate(instances) if (name := region(r, of)))
        for r, of in enumerate(instances):
            j = next((j for j in range(i + 1, len(used)) if made[j][r]), None)
            if names and not of and j is not None and region(r, made[j][r]) == names.most_common(1)[0][0]:
                made[i][r] = made[j][r]
                made[j][r] = [replace(g, times=np.zeros(1), producer=None) for g in made[j][r]]
    return made


def _sent_between(instances: Instances, together: int) -> list[Sent]:
    """Mean bytes and messages of each rank to each other in a step; what a rank gets is sent to it."""
    sent: list[Sent] = [{} for _ in instances]
    for rank, of in enumerate(instances):
        gets = all(set(g.kinds) <= {"get", "rget"} for g in of)
        for peer in sorted({peer for g in of for peer in g.sent}):
            size, count = (
                max(1, round(sum(each.get(peer, 0) for each in of_all) / (together or len(of))))
                for of_all in ([g.sent for g in of], [g.counts for g in of])
            )
            a, b = (peer, rank) if gets else (rank, peer)
            sent[a][b] = size, count
    return sent


def _calls(timelines: Sequence[Timeline], instances: Instances) -> Calls:
    """The calls that lead to the messages of an exchange and to their completion, of the first rank that has one."""
    rank, g = next((r, g) for r, of in enumerate(instances) for g in of)
    places = timelines[rank].process.places
    chains = [chain_of(places, site) for site in g.sites]
    waits = [c for site in g.waits if (c := chain_of(places, site))]
    common = shared_by([*chains, *waits])
    return common if len(common) > 1 else shared_by(chains)


def _told_apart(names: Sequence[str], patterns: Sequence[Recognised]) -> list[str]:
    """Equal names with the axis of a phase, then with a number."""
    counts = Counter(names)
    out = [f"{n}, {p.axis}" if counts[n] > 1 and p.axis else n for n, p in zip(names, patterns, strict=True)]
    counts, seen = Counter(out), Counter[str]()
    for i, name in enumerate(out):
        seen[name] += 1
        out[i] = f"{name}, {seen[name]}" if counts[name] > 1 else name
    return out


def _exchange(
    timelines: Sequence[Timeline],
    used: Instances,
    computing: Instances,
    pattern: Recognised,
    name: str,
    routine: str,
    together: int,
) -> Exchange:
    every = [g for of in used for g in of]
    regions = [(r, len(g.times), g.producer[0]) for r, of in enumerate(computing) for g in of if g.producer is not None]
    threads = most_common([n for _, n, _ in regions]) if regions else 1
    in_turn = (g for step in zip_longest(*computing) for g in step if g is not None)
    rows = [g.times for g in in_turn if len(g.times) == threads]
    rank, lead = next((r, g) for r, of in enumerate(used) for g in of)
    today, messages = today_of(every)
    per_step = len(used[rank]) / together if together else 1.0
    return Exchange(
        name=name,
        pattern=pattern,
        times=np.array(rows) * per_step if rows else np.zeros((1, threads)),
        exchange_s=float(np.mean([g.took for g in every])) * per_step,
        today=today,
        messages=messages,
        inside_s=_mostly([g.inside_s for g in every], 0.0) * per_step,
        pack_s=_mostly([g.pack_s * _whole(g) for g in every], COMPUTES_S) * per_step,
        sent=float(np.mean([sum(g.sent.values()) for g in every])) * per_step,
        beside=sum(g.beside for g in every) > len(every) / 2,
        collectives=float(np.mean([g.collectives for g in every])) * per_step,
        region=next((stretch_name(timelines[r].process, of) for r, n, of in regions if n == threads), ""),
        partitions=_partitions(lead),
        early=sum(g.team for g in every) > len(every) / 2,
        depends=any(sum(bool(g.needs) for g in of) > len(of) / 2 for of in used),
        routine=routine,
    )


def _partitions(of: Group) -> int:
    """The largest number of partitions of a buffer; several buffers for one rank are alike."""
    counts = [(of.sent[peer] / of.counts[peer], part) for peer, part in of.parts.items() if peer in of.sent]
    return max((round(size / part) for size, part in counts), default=0)


def _changes(found: Aligned, share: float) -> list[str]:
    """A note where no step stands for half of the run, in shares of the run."""
    if not found.shares:
        return []
    own, *rest = (f"{100 * share * of / found.shares[0]:.0f} %" for of in found.shares)
    more = f"; other steps take {', '.join(rest[:3])}" if rest else ""
    return [f"the steps change: no step stands for half of the run, this one for {own}{more}"]


def _notes(step: Step, found: Aligned) -> list[str]:
    said = []
    kept = step.exchanges
    if found.usual < 1 - SAID / 2:
        said.append(f"in {100 * (1 - found.usual):.0f} % of the steps some ranks send to others, too: left out")
    if not found.exact:
        said.append("sizes differ from step to step: means are used")
    if step.threads == 1:
        said.append(f"{ONE_THREAD}; --set threads=8: 8 threads of an eighth of the computing each")
    for what, some in (
        ("threads send as soon as they are ready, as a port would; parts are taken as alike", [e.early for e in kept]),
        ("threads compute between the messages and the wait: that is the interior", [e.overlapped for e in kept]),
        ("one thread sends while others compute: what these hide is not predicted", [e.beside for e in kept]),
    ):
        if names := [e.name for e, is_so in zip(kept, some, strict=True) if is_so]:
            more = [f"{len(names) - 3} more"] if len(names) > 3 else []
            said.append(f"{', '.join(names[:3] + more)}: {what}")
    if step.share_of([step.others_s]) >= SAID:
        calls = f"{sum(e.collectives for e in kept):.0f} a step"
        said.append(f"collectives and other calls ({calls}) take {format_time(step.others_s)}, beside the exchanges")
    return said
