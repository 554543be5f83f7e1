"""Which exchanges of different ranks are one: steps by the lead rank's, exchanges of a step by who sends to whom.

The lead is the rank with the most exchanges. Its step is the sequence that repeats; other ranks' exchanges belong to
the step of the lead in whose time they begin, unless their own order tells. In a step the k-th exchange in which a rank
sends to another one is that of the k-th in which the other one receives from it; what is not told by that, the place in
the code tells.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from statistics import fmean

from pready.calibrate.capture.call_sites import Way
from pready.calibrate.capture.exchanges import Group
from pready.calibrate.capture.files import Process
from pready.calibrate.capture.repetition import Repetition, occurrences, repetition
from pready.calibrate.capture.thresholds import ALIKE_SIZES, COMPUTES_S, MOSTLY

Instances = list[list[Group]]
"""One exchange of the step: for each rank its groups, one per step; none of a rank that has no part in it."""


@dataclass(frozen=True)
class Aligned:
    """The exchanges of the step that repeats, in order."""

    exchanges: list[Instances]
    lead: int  # a rank
    steps: int  # how often it occurs there
    ends: list[tuple[float, float]]  # begins and ends of usual ones there, in seconds
    usual: float = 1.0  # share of the steps in which every rank sends to the ranks that it usually sends to
    exact: bool = True  # sizes are the same in all steps
    shares: tuple[float, ...] = ()  # of the lead's time, if no step has half of it: of common ones, this one's first


def aligned(ranks: Sequence[Process], found: Sequence[list[Group]]) -> Aligned | None:
    """The step's exchanges over all ranks; None if nothing repeats."""
    lead = max(range(len(ranks)), key=lambda r: len(found[r]))
    mine = found[lead]
    codes, computed, step = _repeated(mine)
    if step is None:
        return None
    n = step.period
    word = codes[step.first : step.first + n]
    # A step begins after its longest computing, where ranks are apart from each other the least.
    computing = [fmean(float(mine[i].times.max()) for i in range(step.first + j, step.stop, n)) for j in range(n)]
    turn = max(range(n), key=lambda j: computing[j])
    at = [i for i in occurrences(codes, {(*word[turn:], *word[:turn])}, computed) if step.stands(i)]
    middle = [(before.end + group.ready) / 2 for before, group in pairwise(mine)]
    borders = [-float("inf"), *middle, float("inf")]
    windows = [(borders[i], borders[i + n]) for i in at]
    like = mine[at[0] : at[0] + n]
    apart = [process.wall_s - ranks[lead].wall_s for process in ranks]
    inside = [
        _by_calls(groups, mine, at, n)
        or _by_own_step(offset, _then(offset, groups, windows, step), windows, like, bool(step.shares))
        or _by_window(offset, groups, windows)
        for offset, groups in zip(apart, found, strict=True)
    ]
    key = {id(g): k for groups in found for g, k in zip(groups, signatures(groups), strict=True)}
    by_rank = [[tuple(key[id(g)] for g in window) for window in of] for of in inside]
    common, times = Counter(zip(*by_rank, strict=True)).most_common(1)[0]
    if times == 1 < len(at):
        return None
    usual = [keys == common for keys in zip(*by_rank, strict=True)]
    kept = [[of_step for of_step, u in zip(of, usual, strict=True) if u] for of in inside]
    exchanges = _levels(ranks, lead, kept, n - turn)
    if 2 * sum(any(_needs_itself(e, s) for e in exchanges) for s in range(sum(usual))) > sum(usual):
        return None  # clocks or records are wrong: no step has what it needs
    exact = all(len({tuple(sorted(g.sent.items())) for g in groups}) <= 1 for e in exchanges for groups in e)
    before = max(0.0, mine[0].begin - float(mine[0].times.max()))
    ends = [(mine[i - 1].end if i else before, mine[i + n - 1].end) for i, u in zip(at, usual, strict=True) if u]
    return Aligned(exchanges, lead, max(step.everywhere, len(at)), ends, sum(usual) / len(usual), exact, step.shares)


def _repeated(groups: Sequence[Group]) -> tuple[list[int], list[bool | None], Repetition | None]:
    """The exchanges of a rank as numbers, equal ones alike; is something computed before such ones, mostly, or mostly
    not; and the step that repeats."""
    keys = signatures(groups)
    numbers = {key: i for i, key in enumerate(dict.fromkeys(keys))}
    codes = [numbers[key] for key in keys]
    teams = any(g.producer for g in groups)
    before = [g.producer is not None if teams else float(g.times.max()) > COMPUTES_S for g in groups]
    count, after = Counter(codes), Counter(code for code, is_so in zip(codes, before, strict=True) if is_so)
    shares = (after[code] / count[code] for code in codes)
    computed = [True if share >= MOSTLY else False if share <= 1 - MOSTLY else None for share in shares]
    return codes, computed, repetition(keys, [float(g.times.max()) + g.took for g in groups], computed)


def signatures(groups: Sequence[Group]) -> list[Hashable]:
    """Place, receivers and about how many bytes, for each."""
    sizes = sorted({size for g in groups for size in g.sent.values()})
    larger = (size > ALIKE_SIZES * before for before, size in pairwise([*sizes[:1], *sizes]))
    classes = dict(zip(sizes, accumulate(larger), strict=True))
    return [g.way + tuple(sorted((to, classes[b]) for to, b in g.sent.items())) for g in groups]


def _then(
    offset: float, groups: Sequence[Group], windows: Sequence[tuple[float, float]], step: Repetition
) -> Sequence[Group]:
    """Where the steps change, the groups of the lead's time, a step more on both sides: another epoch of this rank
    may be as long."""
    if not step.shares:
        return groups
    (begin, then), (since, end) = windows[0], windows[-1]
    begin, end = begin - (then - begin), end + (end - since)
    return [g for g in groups if begin <= g.ready + offset < end]


def _by_calls(groups: Sequence[Group], mine: Sequence[Group], at: Sequence[int], n: int) -> list[list[Group]] | None:
    """Groups by the lead's steps, of a rank that calls for an exchange where the lead does, one by one."""
    theirs, ours = ([g.way[1:] or g.way for g in of] for of in (groups, mine))
    return [list(groups[i : i + n]) for i in at] if groups is mine or (all(ours) and theirs == ours) else None


def _by_own_step(
    offset: float, groups: Sequence[Group], windows: Sequence[tuple[float, float]], like: Sequence[Group], part: bool
) -> list[list[Group]] | None:
    """Groups by the lead's steps, of a rank that has as many, in a part of the run or more: in their order, however
    late the rank is.

    A step begins where the lead's does, as places in the code and else the time tell.
    """
    codes, computed, step = _repeated(groups)
    if step is None:
        return None
    n = step.period
    word = codes[step.first : step.first + n]
    fit: list[tuple[tuple[int, int], list[list[Group]]]] = []
    for turn in range(n):
        every = occurrences(codes, {(*word[turn:], *word[:turn])}, computed)
        more = len(every) - len(windows)
        for first in range(more + 1 if part else more == 0):
            each = [list(groups[i : i + n]) for i in every[first : first + len(windows)]]
            pairs = [(g.ready + offset, window) for of, window in zip(each, windows, strict=True) for g in of]
            in_time = sum(begin <= ready < end for ready, (begin, end) in pairs)
            same = sum(a.way == b.way for a, b in zip(like, each[0], strict=False))
            fit.append(((same, in_time), each))
    return max(fit, key=lambda pair: pair[0])[1] if fit else None


def _by_window(offset: float, groups: Sequence[Group], windows: Sequence[tuple[float, float]]) -> list[list[Group]]:
    """Groups by the lead's steps, by the wall clock at the start of both, which are so far apart."""
    begins = [begin for begin, _ in windows]
    out: list[list[Group]] = [[] for _ in windows]
    for group in groups:
        at = group.ready + offset
        window = bisect_right(begins, at) - 1
        if window >= 0 and at < windows[window][1]:
            out[window].append(group)
    return out


def _one_after_the_other(parts: list[list[tuple[int, int]]]) -> Iterator[list[tuple[int, int]]]:
    """Parts of exchanges so that those of each rank are in its order, else as given."""
    following: defaultdict[int, int] = defaultdict(int)
    while parts:
        nodes = next((of for of in parts if all(following[r] == i for r, i in of)), parts[0])
        parts.remove(nodes)
        for r, i in nodes:
            following[r] = i + 1
        yield nodes


def _needs(
    groups: Sequence[Sequence[Group]], nodes: Iterable[tuple[int, int]], others: Iterable[tuple[int, int]]
) -> bool:
    """Do some ranks' exchanges need messages of others, so that they come after these?"""
    sent = {(r, q, k) for r, i in others for q, k in groups[r][i].orders}
    return any((q, r, k) in sent for r, i in nodes for q, k in groups[r][i].needs)


def _answers(groups: Sequence[Sequence[Group]], a: tuple[int, int], b: tuple[int, int]) -> bool:
    """Does an exchange begin once the rank that it goes to has sent in the other, from another routine?"""
    one, other = groups[a[0]][a[1]], groups[b[0]][b[1]]
    after = any((b[0], k) in one.came for to, k in other.orders if to == a[0])
    return after and one.way[1:2] != other.way[1:2]


def _needs_itself(exchange: Instances, step: int) -> bool:
    """Does a message of an exchange need another one of it in this step?"""
    groups = [of[step : step + 1] for of in exchange]
    nodes = [(r, 0) for r, of in enumerate(groups) if of]
    return _needs(groups, nodes, nodes)


def _levels(
    ranks: Sequence[Process], lead: int, canonical: Sequence[list[list[Group]]], first_of_step: int
) -> list[Instances]:
    """The step's exchanges in order, from each rank's usual step; that of the lead's with this number is the first."""
    first = [of[len(of) // 2] for of in canonical]
    parent = {(r, i): (r, i) for r, of in enumerate(first) for i in range(len(of))}

    def root(node: tuple[int, int]) -> tuple[int, int]:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    sends: defaultdict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    receives: defaultdict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for r, of in enumerate(first):
        for i, group in enumerate(of):
            for to in group.sent:
                sends[r, to].append((r, i))
            for source in group.received:
                receives[source, r].append((r, i))
    for pair, mine in sends.items():
        theirs = receives.get(pair, [])
        if len(mine) == len(theirs):
            for a, b in zip(mine, theirs, strict=True):
                if not _needs(first, [a], [b]) and not _answers(first, a, b):
                    parent[root(a)] = root(b)
    members: defaultdict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for node in parent:
        members[root(node)].append(node)
    whole = [of if len({r for r, _ in of}) == len(of) and not _needs(first, of, of) else [] for of in members.values()]
    apart = [[node] for of, one in zip(members.values(), whole, strict=True) if not one for node in of]
    parts = [of for of in whole if of] + apart

    def order(nodes: Sequence[tuple[int, int]]) -> float:
        return fmean(first[r][i].begin + ranks[r].wall_s for r, i in nodes)

    levels: list[dict[int, int]] = []
    known: list[set[Way]] = []
    for nodes in _one_after_the_other(sorted(parts, key=order)):
        after = max((n for r, i in nodes for n, of in enumerate(levels) if of.get(r) in range(i)), default=-1)
        at = {way for r, i in nodes if (way := first[r][i].way)}
        for level in range(after + 1, len(levels)):
            free = not levels[level].keys() & {r for r, _ in nodes}
            there = [*levels[level].items()]
            needed = _needs(first, nodes, there) or _needs(first, there, nodes)
            if free and (at & known[level] or not at) and not needed:
                break
        else:
            level = len(levels)
            levels.append({})
            known.append(set())
        levels[level].update(nodes)
        known[level] |= at
    # In the lead's order; others behind that of the lead's which began before them, and what their ranks did before.
    n, places, at_least = len(first[lead]), list[float](), defaultdict[int, int](lambda: -1)
    begins = [group.begin + ranks[lead].wall_s for group in first[lead]]
    for each in levels:
        by_time = bisect_right(begins, order([*each.items()])) - 1
        before = each.get(lead, max(by_time, *(at_least[r] for r in each)))
        at_least.update(dict.fromkeys(each, before))
        turned = (before - first_of_step) % n
        places.append(turned if lead in each else turned + 0.5 if before >= 0 or first_of_step % n else -0.5)
    levels = [levels[i] for i in sorted(range(len(levels)), key=lambda i: places[i])]
    return [
        [[window[each[r]] for window in canonical[r]] if r in each else [] for r in range(len(ranks))]
        for each in levels
    ]
