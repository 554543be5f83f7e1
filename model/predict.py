"""The main job: Machine + Workload → Prediction.

Two ranks are predicted by the timeline. Patterns of more are simulated by the engine, because a late
neighbour delays both bulk and the approach, and its own neighbours an iteration later.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from pready.model import abilities, congestion, left_open
from pready.model.advise import advise
from pready.model.approach import (
    INTERFACES,
    Approach,
    enumerate_approaches,
    transport_counts,
)
from pready.model.closed_form import closed_form
from pready.model.decides import decides
from pready.model.engine.layout import cut, layout, unable
from pready.model.engine.many_ranks import ManyRanks
from pready.model.engine.mapping import partitions_per_direction
from pready.model.errors import PreadyError
from pready.model.evaluate import DRAWS, Evaluation
from pready.model.libraries import LibraryProfile
from pready.model.libraries import library as library_by_name
from pready.model.machine import Machine
from pready.model.prediction import ApproachPrediction, Prediction
from pready.model.verdict import MIN_GAIN
from pready.model.version import VERSION
from pready.model.workload import Workload

Engine = Literal["timeline", "engine"]


def effective_library(machine: Machine, name: str | None = None) -> LibraryProfile:
    """The library profile to predict for.

    A library named by the user is taken at its profile's word. If none is named it is the machine's own,
    corrected by what was measured there ("does MPI_Pready send early?"); where that cannot be installed, what can
    be in its place.
    """
    profile = library_by_name(name or machine.library.name)
    if name is None and profile.installable:
        return library_by_name(profile.installable)
    measured = machine.library.early_send
    if (
        measured is None
        or profile.part is None
        or profile.name != machine.library.name
        or measured.value == profile.early
    ):
        return profile
    does = "sends" if measured.value else "does not send"
    said = f"measured on {machine.name}: MPI_Pready {does} early ({measured.why})"
    return replace(profile, early=measured.value, why=said)


def approaches(machine: Machine, workload: Workload, library: LibraryProfile) -> list[Approach]:
    """Every approach to evaluate, first what the application does today."""
    n = workload.n_partitions
    counts = list(workload.transport_partitions or transport_counts(partitions_per_direction(workload)))
    contexts = machine.contexts.value
    out: list[Approach] = []
    for interface in INTERFACES:
        if interface.partitioned:
            if interface is not library.part:
                continue
            allowed, vcis = library.transports(counts, workload.threads, n), library.part_vcis
        else:
            allowed, vcis = counts, library.max_vcis
        out += enumerate_approaches((interface,), workload.threads, allowed, contexts, vcis)
    return [workload.baseline, *(a for a in out if a != workload.baseline)]


def wished(machine: Machine, workload: Workload, library: str | None) -> list[tuple[Approach, str]]:
    """What the machine's own library would add to one that can be installed, and what it needs for that."""
    own = library_by_name(machine.library.name)
    if library is not None or not own.installable:
        return []
    return [(a, own.needs) for a in approaches(machine, workload, own) if a.interface.partitioned]


def evaluator(
    machine: Machine,
    workload: Workload,
    seed: int = 0,
    engine: Engine | None = None,
    draws: int | None = None,
    cores: int | None = None,
) -> tuple[Evaluation | ManyRanks, list[str]]:
    """What answers for a workload, and what to say if it is not what the pattern asks for.

    Parameters
    ----------
    engine
        Absent: the timeline for two ranks, the engine for more, where it can.
    draws
        Of the machine's parameters; absent, as many as the engine needs.
    cores
        That the engine may use; absent, all.

    Raises
    ------
    PreadyError
        `engine` cannot simulate the workload.
    """
    one = abilities.beyond(workload, "timeline") is None
    if engine is not None or not one:
        abilities.check(workload, engine or "engine")
    why = unable(workload)
    if engine == "engine" and why is not None:
        raise PreadyError(f"engine = 'engine': {why}", valid="'timeline'")
    if engine == "engine" or (engine is None and (workload.pattern != "pt2pt" or not one) and why is None):
        many = ManyRanks(machine, workload, seed, draws, cores=cores)
        return many, stands_for(workload, many)
    notes: list[str] = []
    if workload.pattern != "pt2pt":
        because = "asked for the timeline" if why is None else why
        notes.append(f"{because}: predicted from one exchange, without waiting for late neighbours")
    if workload.thread_grid is not None or workload.edge is not None or workload.corner is not None:
        notes.append("the timeline takes every neighbour's buffer as a face, to which all threads contribute")
    return Evaluation(machine, workload, seed, draws=DRAWS if draws is None else draws), notes


def stands_for(workload: Workload, many: ManyRanks) -> list[str]:
    """What to say where fewer ranks or iterations were simulated than the workload has."""
    less, whole = cut(workload), layout(workload).grid
    if less is not None:
        return [less]
    if math.prod(whole) == math.prod(many.grid) and many.iterations == workload.iterations:
        return []
    some, all_ = (" × ".join(str(n) for n in g if n > 1) or "1" for g in (many.grid, whole))
    return [
        f"{some} ranks in {many.iterations} iterations stand for {all_} in {workload.iterations} "
        "(pready simulate takes them all)"
    ]


def predict(
    machine: Machine,
    workload: Workload,
    *,
    library: str | None = None,
    seed: int = 0,
    engine: Engine | None = None,
    draws: int | None = None,
    min_gain: float = MIN_GAIN,
) -> Prediction:
    """What every way of sending the buffer costs on a machine, and what to do.

    Parameters
    ----------
    machine, workload
        See `pready.model.machine.load` and `pready.model.workload.load`.
    library
        Name of a library profile; absent, the machine's own.
    seed
        Of arrivals and parameter draws; the same seed gives the same prediction.
    engine
        "timeline" or "engine"; absent, the engine for patterns of more than two ranks.
    draws
        Of the machine's parameters, for the intervals; 0: none, the intervals are the values, and what decides is
        not looked for.
    min_gain
        Share of an iteration that a port has to save to be advised.

    Raises
    ------
    PreadyError
        An unknown library, or a workload outside what the machine describes.
    """
    profile = effective_library(machine, library)
    evaluation, notes = evaluator(machine, workload, seed, engine, draws)

    def at_values(other: Workload, some: Sequence[Approach]) -> list[ApproachPrediction]:
        return evaluator(machine, other, seed, engine, 0)[0].predict_all(some)

    able, wishes = approaches(machine, workload, profile), wished(machine, workload, library)
    rows = evaluation.predict_all([*able, *(a for a, _ in wishes)])
    rows[len(able) :] = [replace(p, needs=needs) for p, (_, needs) in zip(rows[len(able) :], wishes, strict=True)]
    if profile.name != machine.library.name and library is None:
        notes.insert(
            0,
            f"{machine.name} was described with {library_by_name(machine.library.name).title}, which nobody ships: "
            f"predicted for {profile.title} (--library {machine.library.name} asks for the other)",
        )
    rate = evaluation.delay / workload.partition_size
    form = closed_form(workload.threads, workload.partitions_per_thread, rate, evaluation.bandwidth)
    advice = advise(evaluation, profile, rows, min_gain)
    notes += left_open.said(workload, rows, advice.best, min_gain, at_values)
    many = evaluation if isinstance(evaluation, ManyRanks) else None
    prediction = Prediction(
        version=VERSION,
        seed=seed,
        machine=machine.name,
        library=profile.name,
        workload=workload.model_dump(mode="json"),
        closed_form={"eta": form.eta, "gamma_s_per_byte": form.gamma, "delay_s": evaluation.delay},
        approaches=rows,
        advice=replace(advice, warnings=[*advice.warnings, *notes]),
        engine="engine" if many else "timeline",
        ranks=many.grid if many else (),
        iterations=many.iterations if many else 1,
        decides=[] if draws == 0 else decides(evaluation, advice.best.approach, min_gain),
    )
    said = congestion.warnings(machine, workload, prediction.bulk, prediction.advised)
    return replace(prediction, advice=replace(prediction.advice, warnings=[*prediction.advice.warnings, *said]))
