"""The main job: Machine + Workload → Prediction.

Two ranks are predicted by the timeline. Patterns of more are simulated by the engine, because a late
neighbour delays both bulk and the approach, and its own neighbours an iteration later.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from pready.model import congestion
from pready.model.advise import advise
from pready.model.approach import (
    INTERFACES,
    Approach,
    enumerate_approaches,
    transport_counts,
)
from pready.model.closed_form import closed_form
from pready.model.engine.layout import cut, unable
from pready.model.engine.many_ranks import ManyRanks
from pready.model.engine.mapping import partitions_per_direction
from pready.model.errors import PreadyError
from pready.model.evaluate import DRAWS, Evaluation
from pready.model.libraries import LibraryProfile
from pready.model.libraries import library as library_by_name
from pready.model.machine import Machine
from pready.model.prediction import Prediction
from pready.model.version import VERSION
from pready.model.workload import Workload

Engine = Literal["timeline", "engine"]


def effective_library(machine: Machine, name: str | None = None) -> LibraryProfile:
    """The library profile to predict for.

    A library named by the user is taken at its profile's word; the machine's own is corrected by what
    was measured there ("does MPI_Pready send early?").
    """
    profile = library_by_name(name or machine.library.name)
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
    """Every approach to evaluate."""
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
    return out


def evaluator(
    machine: Machine, workload: Workload, seed: int = 0, engine: Engine | None = None, draws: int | None = None
) -> tuple[Evaluation | ManyRanks, list[str]]:
    """What answers for a workload, and what to say if it is not what the pattern asks for.

    Parameters
    ----------
    engine
        Absent: the timeline for two ranks, the engine for more, where it can.
    draws
        Of the machine's parameters; absent, as many as the engine needs.

    Raises
    ------
    PreadyError
        `engine` cannot simulate the workload.
    """
    why = unable(machine, workload)
    if engine == "engine" and why is not None:
        raise PreadyError(f"engine = 'engine': {why}", valid="'timeline'")
    if engine == "engine" or (engine is None and workload.pattern != "pt2pt" and why is None):
        less = cut(workload)
        return ManyRanks(machine, workload, seed, draws), [] if less is None else [less]
    notes: list[str] = []
    if workload.pattern != "pt2pt":
        because = "asked for the timeline" if why is None else why
        notes.append(f"{because}: predicted from one exchange, without waiting for late neighbours")
    if workload.thread_grid is not None or workload.edge is not None or workload.corner is not None:
        notes.append("the timeline takes every neighbour's buffer as a face, to which all threads contribute")
    return Evaluation(machine, workload, seed, draws=DRAWS if draws is None else draws), notes


def predict(
    machine: Machine,
    workload: Workload,
    *,
    library: str | None = None,
    seed: int = 0,
    engine: Engine | None = None,
    draws: int | None = None,
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
        Of the machine's parameters, for the intervals; 0: none, the intervals are the values.

    Raises
    ------
    PreadyError
        An unknown library, or a workload outside what the machine describes.
    """
    profile = effective_library(machine, library)
    evaluation, notes = evaluator(machine, workload, seed, engine, draws)
    rows = evaluation.predict_all(approaches(machine, workload, profile))
    rate = evaluation.delay / workload.partition_size
    form = closed_form(workload.threads, workload.partitions_per_thread, rate, evaluation.bandwidth)
    advice = advise(evaluation, profile, rows)
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
    )
    said = congestion.warnings(machine, workload, prediction.bulk, prediction.advised)
    return replace(prediction, advice=replace(prediction.advice, warnings=[*prediction.advice.warnings, *said]))
