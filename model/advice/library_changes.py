"""What a library would have to change to come near to what none exceeds: for those who write libraries.

Each change is made to a copy of the machine, or of the interface behind MPI_Psend, and predicted by the values as they
stand. The best order makes next what saves most then.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pready.model.advice.advise import costs_that_matter
from pready.model.advice.predict import as_sent_by, runs_of, with_library
from pready.model.approach.interfaces import Approach, Interface
from pready.model.approach.libraries import LibraryProfile
from pready.model.approach.vcis import enumerate_approaches, transport_counts
from pready.model.common.errors import PreadyError
from pready.model.engine.messages import partitions_per_direction
from pready.model.engine.runs import Runs
from pready.model.machine.contention_by_library import contention
from pready.model.machine.machine import Machine
from pready.model.machine.path import Segment
from pready.model.workload.workload import Workload

CHANGES: Mapping[str, str] = {
    "CTS": "one clear-to-send for all iterations, in place of one for each",
    "send": "each partition is sent at MPI_Pready",
    "progress": "messages move at any time, in MPI_Pready or by an idle core",
    "aggregate": "several partitions in a message, as many as are best",
    "VCIs": "a VCI for each thread",
    "o_s": "a message takes the CPU no time",
    "c(k)": "threads that share a VCI's lock cost each other nothing",
}
GRADUAL = ("o_s", "c(k)")
"""Costs, of which a cut may do."""
SHARES = (0.5, 0.8, 0.95)
"""Of the bound, for which the smallest changes are looked for."""
Left = Mapping[str, float]
"""The changes that are made, and what is left of a cost; 0 of any other."""


@dataclass(frozen=True)
class LibraryChanges:
    """What changes to a library's partitioned calls would save; shares are of what the bound saves."""

    library: str
    bound_percent: float
    """What no library exceeds, in percent of an iteration."""
    now: float
    """The share that the library reaches."""
    steps: tuple[tuple[str, float, float], ...]
    """Changes in the best order: each name, its share alone, and with all before it."""
    reached_by: Mapping[float, Left | None]
    """By share, changes without any of which, or with more of a cost left, it is not reached; None: by no changes."""
    remains: tuple[str, ...]
    """Costs that take most after all changes."""


def best(runs: Runs, profile: LibraryProfile, left: Left) -> tuple[float, Runs, Approach]:
    """An iteration by the best number of messages of a changed library, in seconds; on which machine, and how."""
    (w,), on, made = runs.parts, replace(runs, machine=changed(runs.machine, left)), interface(profile, left)
    messages = "per partition" if profile.messages == "one" else profile.messages
    sends = replace(profile, early=made.splits, messages="aggregated" if "aggregate" in left else messages)
    counts = [*(w.transport_partitions or transport_counts(partitions_per_direction(w)))]
    counts = sends.transports(counts, w.threads, w.n_partitions, w.receive_partitions)
    vcis = w.threads if "VCIs" in left else profile.part_vcis
    some = [*enumerate_approaches((made,), w.threads, counts, on.machine.contexts.value, vcis)]
    on.means([(a,) for a in some])
    least = min(some, key=lambda a: iteration_s(on, a))
    return iteration_s(on, least), on, least


def iteration_s(runs: Runs, approach: Approach) -> float:
    """An iteration by the machine's values, with its share of the set-up."""
    (once,) = runs.set_up((approach,))
    return float(runs.at_values((approach,)).step.iteration[0]) + float(once) / runs.parts[0].iterations


def interface(profile: LibraryProfile, left: Left) -> Interface:
    """What is then behind MPI_Psend: of MPICH's active message with all changes the messages of pull request 6314."""
    assert profile.part is not None
    once, early = ("CTS" in left or bool(profile.early), "send" in left or bool(profile.early))
    seen = "progress" in left
    of = replace(profile.part, key=f"library-{once:d}{early:d}{seen:d}", splits=early, active_message=not once)
    return replace(of, matches=once, joins=not (once or seen), mechanism="tags")


def changed(machine: Machine, left: Left) -> Machine:
    """The machine with progress, and what is left of o_s and of c(k), whose curve does not follow o_s."""
    curve, cheaper = contention(machine), left.get("o_s", 1.0)
    curve = curve.model_copy(update={"time": tuple(t * left.get("c(k)", 1.0) for t in curve.time)})
    update: dict[str, object] = {"threads": machine.threads.model_copy(update={"contention": curve})}
    for name in ("inter", "intra") if machine.intra else ("inter",):
        path, some = getattr(machine, name), list[Segment]()
        for segment in path.segments:
            o_s = segment.o_s.model_copy(update={"value": cheaper * segment.o_s.value})
            some.append(segment.model_copy(update={"o_s": o_s}))
        update[name] = path.model_copy(update={"segments": tuple(some)})
    made = machine.model_copy(update=update)
    return made.progressing("thread") if "progress" in left else made


def library_changes(machine: Machine, workload: Workload, library: str | None = None, seed: int = 0) -> LibraryChanges:
    """What a library would have to change; arguments as of `predict`.

    Raises
    ------
    PreadyError
        As `explain`; or no partitioned calls, or a broadcast.
    """
    machine, profile = with_library(machine, library)
    has = {"pattern = 'bcast'": workload.pattern == "bcast"}
    has[f"{profile.name}, which has no partitioned calls"] = profile.part is None
    if problem := next((name for name, refused in has.items() if refused), ""):
        raise PreadyError(f"--library with {problem}", valid="a workload and a library for MPI_Psend")
    runs, _ = runs_of(machine, as_sent_by(workload, profile), seed, draws=0)
    today, least = iteration_s(runs, runs.parts[0].baseline), iteration_s(runs, runs.bound())
    does = {"CTS", "send"} if profile.early else set()
    does |= {"aggregate"} if profile.messages in ("aggregated", "min size", "set") else set()
    does |= {"VCIs"} if profile.part_vcis > 1 else set()
    able, order = [name for name in CHANGES if name not in does], dict[str, float]()

    def share(left: Left) -> float:
        return (today - best(runs, profile, left)[0]) / (today - least)

    while len(order) < len(able):
        then = {name: share(dict.fromkeys((*order, name), 0.0)) for name in able if name not in order}
        order |= [max(then.items(), key=lambda of: of[1])]

    def smallest(goal: float) -> Left | None:
        prefixes = (dict.fromkeys([*order][:n], 0.0) for n in range(len(order) + 1))
        found = next((some for some in prefixes if share(some) >= goal), None)
        for name in tuple(found or ()):
            fewer = {n: x for n, x in (found or {}).items() if n != name}
            cut = (fewer | {name: n / 10} for n in range(9, 0, -1) if name in GRADUAL)
            found = next((some for some in (fewer, *cut) if share(some) >= goal), found)
        return found

    _, on, way = best(runs, profile, dict.fromkeys(able, 0.0))
    steps = tuple((name, share({name: 0.0}), so_far) for name, so_far in order.items())
    remains = tuple(name for name, _ in costs_that_matter(on, way)[:2])
    reached = {goal: smallest(goal) for goal in SHARES}
    return LibraryChanges(profile.name, 100 * (1 - least / today), share({}), steps, reached, remains)
