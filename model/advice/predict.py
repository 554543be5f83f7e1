"""The main job: Machine + Workload → Prediction.

The timeline predicts two ranks. The engine simulates patterns of more, because a late neighbour delays both bulk and
the approach, and its own neighbours an iteration later.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Literal

from pready.model.advice.advise import advise, best_and_as_good, decided, rivals
from pready.model.advice.capture_check import held_against
from pready.model.advice.case import OneExchange, StepOfSeveral
from pready.model.advice.certainty import with_certainty
from pready.model.advice.contenders import rows_in_question
from pready.model.approach.interfaces import BULK, INTERFACES, Approach, Interface
from pready.model.approach.libraries import LibraryProfile, version_in
from pready.model.approach.libraries import library as library_by_name
from pready.model.approach.vcis import enumerate_approaches, transport_counts
from pready.model.common.errors import PreadyError
from pready.model.engine.evaluate import Evaluation, WholeStep
from pready.model.engine.layout import cut, of_a_step, unable
from pready.model.engine.messages import partitions_per_direction
from pready.model.equations.closed_form import closed_form
from pready.model.machine.contention_by_library import with_contention
from pready.model.machine.machine import Machine
from pready.model.machine.transports import with_puts
from pready.model.result.prediction import Advice, Prediction
from pready.model.result.verdict import MIN_GAIN, verdict_of
from pready.model.version import VERSION
from pready.model.workload import supported_by
from pready.model.workload.workload import Workload

Engine = Literal["timeline", "engine"]
STEP_DRAWS = 100
"""Draws of the machine for the interval of a step of several exchanges."""


def effective_library(machine: Machine, name: str | None = None) -> LibraryProfile:
    """The library profile to predict for.

    Of a library named by the user, the profile holds. The default is the machine's own, corrected by what was measured
    there ("does MPI_Pready send early?"); if that cannot be installed, the one that can be in its place.
    """
    profile = library_by_name(machine.library.name if name is None else name)
    if name is None and profile.installable:
        return library_by_name(profile.installable)
    own = profile.name == machine.library.name
    if own and profile.part_since and not profile.version:
        profile = profile.at(version_in(machine.library.version))
    measured = machine.library.early_send
    if measured is None:
        return profile
    does = "sends" if measured.value else "does not send"
    said = f"measured on {machine.name}: MPI_Pready {does} early ({measured.why})"
    if name is None and profile.part is None:
        # Its profile has no partitioned operations, but they were measured: as in the released libraries.
        like = library_by_name("openmpi-persist" if measured.value else "mpich-release")
        return replace(profile, messages=like.messages, early=measured.value, part_vcis=1, why=said)
    if profile.part is None or not own or measured.value == profile.early:
        return profile
    return profile.measured(early=measured.value, why=said)


def with_library(machine: Machine, name: str | None = None) -> tuple[Machine, LibraryProfile]:
    """A machine as used by the library to predict for: its puts and its contention, and that library."""
    profile = effective_library(machine, name)
    return as_used_by(machine, profile), profile


def as_used_by(machine: Machine, profile: LibraryProfile) -> Machine:
    """The machine with a library's puts and contention."""
    return with_contention(with_puts(machine, profile), profile)


def approaches(machine: Machine, workload: Workload, library: LibraryProfile) -> list[Approach]:
    """Every approach to evaluate, the baseline first."""
    counts = list(workload.transport_partitions or transport_counts(partitions_per_direction(workload)))
    contexts = machine.contexts.value
    out: list[Approach] = []
    for interface in INTERFACES:
        if interface.partitioned and interface is not library.part:
            continue
        vcis = library.part_vcis if interface.partitioned else library.max_vcis
        if workload.pattern == "bcast":
            if interface.one_sided:  # nothing tells who sends on
                continue
            vcis = 1 if interface.completes == "master" else vcis
        if allowed := allowed_transports(workload, library, interface, counts):
            out += enumerate_approaches((interface,), workload.threads, allowed, contexts, vcis)
    return [workload.baseline, *(a for a in out if a != workload.baseline)]


def allowed_transports(
    workload: Workload, library: LibraryProfile, interface: Interface, counts: list[int]
) -> list[int]:
    """Which of some counts of transport partitions a library makes of a buffer, and the workload allows."""
    received = workload.receive_partitions
    if workload.consume is not None and received is not None:  # each is in one message
        counts = [t for t in counts if received % t == 0]
    if not interface.partitioned:
        return counts
    if workload.weights is not None:  # MPI_Psend_init's partitions are all of one size
        return []
    able = library.transports(counts, workload.threads, workload.n_partitions, received)
    if library.told_if_alike and workload.consume is not None and received is not None:
        able = [t for t in able if t == received]
    return able


def wished(machine: Machine, workload: Workload, library: str | None) -> list[tuple[Approach, str]]:
    """Approaches that the machine's own library adds to the installable one, and what they need."""
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
) -> tuple[Evaluation, list[str]]:
    """The evaluation of a workload, and notes where it is not the one that the pattern needs.

    Parameters
    ----------
    engine
        Absent: the timeline for two ranks, the engine for more, where it can.
    draws
        Of the machine's parameters; absent, the engine's default.
    cores
        For the engine; absent, all.

    Raises
    ------
    PreadyError
        `engine` cannot simulate the workload.
    """
    if workload.exchanges is not None:
        raise PreadyError(
            "several exchanges per step", valid="one exchange here, or 'pready predict' or 'simulate' of the whole step"
        )
    one = supported_by.beyond(workload, "timeline") is None
    if engine is not None or not one:
        supported_by.check(workload, engine or "engine")
    why = unable(workload)
    if engine == "engine" and why is not None:
        raise PreadyError(f"engine = 'engine': {why}", valid="'timeline'")
    if engine == "engine" or (engine is None and (workload.pattern != "pt2pt" or not one) and why is None):
        many = Evaluation(machine, workload, seed, draws, alone=False, cores=cores)
        return many, stands_for(workload, many)
    notes = _of_one_exchange(machine, workload, "asked for the timeline" if why is None else why)
    return Evaluation(machine, workload, seed, draws, alone=True, cores=cores), notes


def _of_one_exchange(machine: Machine, workload: Workload, because: str) -> list[str]:
    """Notes for a timeline that stands for many ranks."""
    notes: list[str] = []
    if workload.pattern != "pt2pt":
        notes.append(f"{because}: predicted from one exchange, without late neighbours")
    if workload.thread_grid is not None:
        notes.append("the timeline ignores thread_grid: all threads fill every neighbour's buffer")
    return notes


def stands_for(workload: Workload, many: Evaluation) -> list[str]:
    """A note if fewer ranks or iterations were simulated than the workload has."""
    less = cut(workload)
    return [less] if less is not None else _stand_for(workload, many)


def _stand_for(workload: Workload, many: Evaluation) -> list[str]:
    whole = of_a_step(workload)[0].grid
    if math.prod(whole) == math.prod(many.grid) and many.iterations == workload.iterations:
        return []
    some, all_ = (" × ".join(str(n) for n in g if n > 1) or "1" for g in (many.grid, whole))
    return [
        f"simulated {some} ranks, {many.iterations} iterations, instead of {all_}, {workload.iterations} "
        "('pready simulate' runs the full size)"
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
    whole: Collection[str] | None = None,
) -> Prediction:
    """What every approach costs on a machine, and the advice.

    Parameters
    ----------
    machine, workload
        See `pready.model.machine.machine.load` and `pready.model.workload.workload.load`.
    library
        Name of a library profile; absent, the machine's own.
    seed
        Of arrivals and parameter draws; the same seed gives the same prediction.
    engine
        "timeline" or "engine"; absent, the engine for patterns of more than two ranks.
    draws
        Of the machine's parameters, for the intervals; 0: no intervals and no sensitivity.
    min_gain
        Share of an iteration that a port has to save to be advised.
    whole
        The exchanges of a step, or the workload, whose approaches are all wanted, with the buffers for which they pay
        and a reason; absent, all. Of the others only what may be advised is simulated.

    Raises
    ------
    PreadyError
        An unknown library, or a workload outside what the machine describes.
    """
    machine, profile = with_library(machine, library)
    if workload.exchanges is not None:
        given = library, seed, engine, draws, min_gain
        found = predict_step(machine, workload, *given, deciding=draws != 0, whole=whole)
        return held_against(found, workload.captured)
    evaluation, notes = evaluator(machine, workload, seed, engine, draws)
    wanted = whole is None or workload.name in whole
    found = _answered(evaluation, profile, library, min_gain, notes, deciding=draws != 0, whole=wanted)
    return held_against(found, workload.captured)


def _answered(
    evaluation: Evaluation,
    profile: LibraryProfile,
    library: str | None,
    min_gain: float,
    notes: list[str],
    *,
    deciding: bool,
    whole: bool,
) -> Prediction:
    """The prediction from the evaluation of one exchange; `deciding`: with its sensitivity; `whole`: see `predict`."""
    machine, workload, seed = evaluation.machine, evaluation.workload, evaluation.seed
    able = approaches(machine, workload, profile)
    evaluation.check_memory(len(able))
    if whole:
        wishes = [w for w in wished(machine, workload, library) if w[0] != workload.baseline]
        rows = evaluation.predict_all([*able, *(a for a, _ in wishes)])
        rows[len(able) :] = [replace(p, needs=needs) for p, (_, needs) in zip(rows[len(able) :], wishes, strict=True)]
    else:
        rows = rows_in_question(evaluation, able, min_gain)
    if profile.name != machine.library.name and library is None:
        notes.insert(
            0,
            f"{machine.library.name}, {machine.name}'s own, is not released: predicted for {profile.name}",
        )
    if workload.weights is not None:
        notes.append("MPI_Psend_init's partitions are all of one size: Pt2Pt part is left out (thread_shares)")
    rate = evaluation.delay / workload.partition_size
    form = closed_form(workload.threads, workload.partitions_per_thread, rate, evaluation.bandwidth)
    if deciding and evaluation.draws is None:
        drawn, best, others = decided(evaluation, rows, min_gain)
    else:
        drawn, (best, others) = evaluation, best_and_as_good(evaluation, rows, min_gain)
    advice = advise(evaluation, profile, rows, best, others, min_gain, whole=whole)
    many = None if evaluation.rest else evaluation
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
    if deciding:
        prediction = with_certainty(prediction, OneExchange(drawn, best.approach), rivals(workload, rows, best))
    return prediction


def predict_step(
    machine: Machine,
    workload: Workload,
    library: str | None,
    seed: int,
    engine: Engine | None,
    draws: int | None,
    min_gain: float,
    *,
    deciding: bool,
    whole: Collection[str] | None,
) -> Prediction:
    """Each exchange of a step with the others in bulk, and the step with each as advised.

    Arguments and errors as of `predict`; `deciding`: with the sensitivity of the step.
    """
    machine, profile = with_library(machine, library)
    supported_by.check(workload, engine or "engine")
    rest = engine == "timeline"
    if rest and all(w.neighbours is None for w in workload.parts):
        for of_part, part in zip(of_a_step(workload), workload.parts, strict=True):
            of_part.pattern(part)  # refuses exchanges of different numbers of ranks
    why = None if rest else unable(workload)
    if why is not None:
        raise PreadyError(f"several exchanges per step: {why}", valid="a file for each exchange")
    each = [
        Evaluation(machine, w, seed, draws, alone=rest, step=workload, number=i) for i, w in enumerate(workload.parts)
    ]
    like = each[0].with_draws(STEP_DRAWS) if deciding and draws is None else each[0]
    step = WholeStep(machine, workload, seed, like)
    stand_for = [] if rest else _stand_for(workload, each[0])

    def answered(of: Evaluation, *, all_of_it: bool) -> Prediction:
        notes = _of_one_exchange(machine, of.workload, "asked for the timeline") if of.rest else []
        return _answered(of, profile, library, min_gain, notes, deciding=False, whole=all_of_it)

    found = [answered(of, all_of_it=whole is None or of.workload.name in whole) for of in each]
    first = max(range(len(found)), key=lambda i: found[i].advised.speedup_percent)
    if deciding and not found[first].advice.because:  # the reason of the step
        found[first] = answered(each[first], all_of_it=True)
    exchanges, most = tuple(found), found[first]
    chosen = chosen_ways(workload, exchanges)
    rows, saving = step.predict(chosen)
    best = rows[-1]
    verdict = verdict_of(best, min_gain) if len(rows) > 1 else "do not port"
    common = [x for x in exchanges[0].advice.warnings if all(x in e.advice.warnings for e in exchanges)]
    own = [f"{e.workload['name']}: {x}" for e in exchanges for x in e.advice.warnings if x not in common]
    advice = Advice(
        verdict=verdict,
        best=best,
        min_gain=min_gain,
        here=None,
        pays=[],
        certain=[],
        as_good=[],
        from_iterations=None,
        settings=list(dict.fromkeys(x for e in exchanges for x in e.advice.settings)),
        because=f"{most.workload['name']}, which saves most: {most.advice.because}",
        warnings=[*common, *own, *stand_for],
    )
    delay = sum(e.closed_form["delay_s"] for e in exchanges)
    made = Prediction(
        version=VERSION,
        seed=seed,
        machine=machine.name,
        library=profile.name,
        workload=workload.model_dump(mode="json"),
        closed_form={**max(exchanges, key=lambda e: e.bulk.time_s).closed_form, "delay_s": delay},
        approaches=rows,
        advice=advice,
        engine=exchanges[0].engine,
        ranks=exchanges[0].ranks,
        iterations=exchanges[0].iterations,
        exchanges=exchanges,
        share=workload.share,
    )
    if deciding and len(rows) > 1:
        return with_certainty(made, StepOfSeveral(step, tuple(chosen), saving), ())
    return made


def chosen_ways(workload: Workload, exchanges: Sequence[Prediction]) -> list[Approach]:
    """The approach of each exchange of a step.

    One that saves too little by itself may be worth porting with the others.
    """
    return [
        e.advised.approach if e.advised.speedup_percent > 0 else w.baseline
        for e, w in zip(exchanges, workload.parts, strict=True)
    ]


def ways_said(workload: Workload, exchanges: Sequence[Prediction]) -> str:
    """How each exchange of a step is sent, in words."""
    ways = chosen_ways(workload, exchanges)
    return ", ".join(f"{e.workload['name']}: {_way(a)}" for e, a in zip(exchanges, ways, strict=True))


def _way(approach: Approach) -> str:
    if approach == BULK:
        return "bulk"
    return f"{approach.name}, {approach.transport_partitions} × {approach.vcis} VCI"
