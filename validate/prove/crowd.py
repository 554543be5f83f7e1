"""What ranks that share cores take longer than two alone: small messages in a ring through all of them.

Calibration measures two ranks, each with a core of its own while the others are idle. Where there are fewer cores than
ranks, a message is noticed when its receiver has a core and looks (`L`), and threads meet and send when they get one
(`barrier`, `wake`). The ring's messages fit into any link; what it takes longer than predicted is that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pready.calibrate.build import Built
from pready.calibrate.launch import Launcher
from pready.calibrate.measure import Progress
from pready.calibrate.records import Content
from pready.model.files import validated
from pready.model.interfaces import BULK, BY_KEY
from pready.model.machine import Machine, Wake
from pready.model.machine_path import Segment
from pready.model.machine_threads import Barrier
from pready.validate.prove.performed import Performed
from pready.validate.prove.rings import Ring, measure_rings, ring

MANY = BY_KEY["many"]
SIZES = (1024, 6144)
"""Bytes to the neighbour."""
COMPUTE_S = 2e-3
ITERATIONS = 20
BUDGET_S = 20.0
SHORT_S = 1e-3
"""Exchanges below that a wait for a core changes visibly."""


def rings(ranks: int, teams: Sequence[int], seed: int) -> Iterator[Ring]:
    """Bulk by every team, one thread first, and a message from each thread of those that have several."""
    for threads in sorted({1, *teams}):
        for size in SIZES:
            for approach in (BULK, *([MANY.into(threads)] if threads > 1 else [])):
                yield ring(
                    ranks, approach, size, compute_s=COMPUTE_S, iterations=ITERATIONS, seed=seed, threads=threads
                )


def measure_teams(
    ranks: int,
    teams: Sequence[int],
    launcher: Launcher,
    built: Built,
    raw: Path,
    folder: Path,
    seed: int,
    on_point: Callable[[Progress], None],
) -> None:
    """Measure what `raw` does not hold yet; plans go to `folder`."""
    listed = list(rings(ranks, teams, seed))
    measure_rings(listed, launcher, built, raw, folder, budget_s=BUDGET_S, seed=seed, on_point=on_point)


def known(machine: Machine, ranks: int, teams: Sequence[int], seed: int, content: Content, environment: str) -> Machine:
    """The machine with what was measured, each term on top of those before it: `L`, `barrier`, `wake`.

    No term gets shorter than nothing, nor with more threads. What was not measured in every round stays as it was.
    """
    seen: list[tuple[Ring, Performed]] = []
    for of in rings(ranks, teams, seed):
        done = of.performed(content, environment)
        if done is not None:
            seen.append((of, done))

    def rests(on: Machine, threads: int, bulk: bool) -> float | None:
        some = [
            float(np.median(done.communication_s))
            - of.expected(on, threads_wait=done.threads_wait).median_time(of.way.approach)
            for of, done in seen
            if of.threads == threads and (of.way.approach == BULK) == bulk
        ]
        return max(float(np.mean(some)), 0.0) if some else None

    def curve(on: Machine, bulk: bool) -> dict[int, float]:
        found, least = {1: 0.0}, 0.0
        for threads in sorted({*teams} - {1}):
            rest = rests(on, threads, bulk)
            if rest is not None:
                found[threads] = least = max(rest, least)
        return found

    alone = rests(machine, 1, True)
    if alone is None:
        return machine
    said = f"in a ring of {ranks} ranks, against two ranks alone"
    on = _noticed(machine, alone, said)
    most = max(*teams, 2)
    on = _with(on, barrier=_barrier({1: 0.0}, most, said), wake=None)
    on = _with(on, barrier=_barrier(curve(on, True), most, f"a bulk send by a team {said}"))
    return _with(on, wake=_wake(curve(on, False), most, f"sends by the threads of a team {said}"))


def _noticed(machine: Machine, later_s: float, said: str) -> Machine:
    """Every message is noticed so much later."""

    def shifted(segment: Segment) -> Segment:
        update: dict[str, Any] = {
            "value": segment.L.value + later_s,
            "why": f"{segment.L.why}; and {later_s * 1e6:.3g} us until its rank has a core and looks, {said}",
        }
        if segment.L.interval is not None:
            low, high = segment.L.interval
            update["interval"] = (low + later_s, high + later_s)
        return segment.model_copy(update={"L": segment.L.model_copy(update=update)})

    segments = tuple(shifted(s) for s in machine.inter.segments)
    return machine.model_copy(update={"inter": machine.inter.model_copy(update={"segments": segments})})


def _with(machine: Machine, **terms: Barrier | Wake | None) -> Machine:
    return machine.model_copy(update={"threads": machine.threads.model_copy(update=terms)})


def _filled(found: dict[int, float], most: int) -> dict[str, Any]:
    """Up to teams of `most`, those that were not measured as the largest that was."""
    times = {**found, most: found.get(most, found[max(found)])}
    return {"threads": tuple(sorted(times)), "time": tuple(f"{times[t]:.9g} s" for t in sorted(times))}


def _barrier(found: dict[int, float], most: int, said: str) -> Barrier:
    return validated(Barrier, {**_filled(found, most), "source": "measured", "why": said}, "barrier")


def _wake(found: dict[int, float], most: int, said: str) -> Wake:
    return validated(Wake, {**_filled(found, most), "source": "measured", "why": said}, "wake")


def shared_cores(performed: Iterable[Performed]) -> list[str]:
    """Who shared cores, and what of the short exchanges was a wait for one; nothing where every rank had a core."""
    crowded = [p for p in performed if p.ranks_here > p.cores]
    if not crowded:
        return []
    ranks, cores = crowded[0].ranks_here, crowded[0].cores
    times = [(p.core_wait_s / p.steps, float(np.median(p.communication_s))) for p in crowded]
    short = [(wait, time) for wait, time in times if time < SHORT_S]
    who = f"{ranks} ranks share {cores} core{'s' * (cores > 1)}"
    if not short:
        return [who]
    wait, share = float(np.median([w for w, _ in short])), float(np.median([w / t for w, t in short]))
    return [
        f"{who}: of exchanges under {SHORT_S * 1e3:g} ms each rank waits {wait * 1e6:.3g} us ({share:.0%}) for a core, "
        "so they judge this machine's scheduler, too"
    ]
