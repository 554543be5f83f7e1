"""The main job: Machine + Workload → Prediction.

The timeline predicts two ranks. The engine simulates patterns of more, because a late neighbour delays both bulk and
the approach, and its own neighbours an iteration later.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Literal

from pready.model.advice.advise import advise, verdict_on, with_inputs
from pready.model.advice.capture_check import held_against
from pready.model.advice.inputs import levers
from pready.model.advice.savings import Savings
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
from pready.model.machine.rma_by_library import with_rma
from pready.model.machine.transports import with_border, with_puts
from pready.model.result.prediction import Advice, ApproachPrediction, Prediction
from pready.model.result.verdict import INDISTINCT, MIN_GAIN, best_port, candidates, certainty_of, trouble
from pready.model.version import VERSION
from pready.model.workload import supported_by
from pready.model.workload.workload import Workload

Engine = Literal["timeline", "engine"]
MOST_DRAWN = 10
"""Ways that are simulated on drawn machines, the baseline among them: the best of each interface."""
CHOICE = 64
"""The first draws, by which the way to advise is chosen; all draws then say what it saves."""


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
    """A machine as used by the library to predict for, and that library."""
    profile = effective_library(machine, name)
    return as_used_by(machine, profile), profile


def as_used_by(machine: Machine, profile: LibraryProfile) -> Machine:
    """The machine with a library's puts, contention and border of the rendezvous."""
    of_library = with_rma(with_border(with_puts(machine, profile), profile), profile)
    return with_contention(of_library, profile)


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
        found = predict_step(machine, workload, *given, whole=whole)
        return held_against(found, workload.captured)
    evaluation, notes = evaluator(machine, workload, seed, engine, draws)
    wanted = whole is None or workload.name in whole
    found = _answered(evaluation, profile, library, min_gain, notes, whole=wanted)
    return held_against(found, workload.captured)


def drawn_ways(rows: Sequence[ApproachPrediction], workload: Workload, min_gain: float) -> list[ApproachPrediction]:
    """The baseline, and the best of each interface by the machine's values, those that save most first."""
    base, by_interface = workload.baseline, dict[Interface, list[ApproachPrediction]]()
    for row in candidates(rows, base):
        by_interface.setdefault(row.approach.interface, []).append(row)
    now = next(p for p in rows if p.approach == base)
    each = [best_port(some, now, workload.iterations, min_gain) for some in by_interface.values()]
    each.sort(key=lambda p: -p.speedup_percent)
    return [now, *each[: MOST_DRAWN - 1]]


def chosen(savings: Savings, drawn: Sequence[ApproachPrediction], iterations: int, min_gain: float) -> int:
    """Which way to advise: the simplest among those that save most on average over the drawn machines; if that is not
    enough, `best_port` of their rows."""
    expected = savings.percent[1:].mean(axis=1)
    if expected.max() < 100 * min_gain:
        return [*drawn].index(best_port(drawn[1:], drawn[0], iterations, min_gain))
    close = [n for n, x in enumerate(expected, 1) if x >= expected.max() - 100 * INDISTINCT]
    return min(close, key=lambda n: trouble(savings.ways[n][0]))


def drawn_rows(
    evaluation: Evaluation, rows: list[ApproachPrediction], min_gain: float, *, every: bool
) -> tuple[ApproachPrediction, Savings | None]:
    """The row to advise; rows of ways that are drawn are replaced by what their draws say, in place.

    `every`: all ways that may be advised, else what is advised and the baseline.
    """
    workload = evaluation.workload
    drawn = drawn_ways(rows, workload, min_gain)
    if evaluation.draws == 0 or len(drawn) == 1:
        return best_port(drawn[1:] or drawn, drawn[0], workload.iterations, min_gain), None
    step, ways = evaluation.drawn, [evaluation.way(p.approach) for p in drawn]
    at = chosen(Savings(step, tuple(ways), CHOICE), drawn, workload.iterations, min_gain)
    some = [*range(len(ways))] if every else [0, at]
    savings = Savings(step, tuple(ways[n] for n in some))
    timed = len(step.parts) == 1
    for n, row in zip(some, savings.rows([drawn[n] for n in some], min_gain, timed=timed, compared=every), strict=True):
        rows[rows.index(drawn[n])] = row
        drawn[n] = row
    return drawn[at], savings


def _answered(
    evaluation: Evaluation,
    profile: LibraryProfile,
    library: str | None,
    min_gain: float,
    notes: list[str],
    *,
    whole: bool,
) -> Prediction:
    """The prediction from the evaluation of one exchange; `whole`: see `predict`."""
    machine, workload, seed = evaluation.machine, evaluation.workload, evaluation.seed
    able = approaches(machine, workload, profile)
    evaluation.check_memory(len(able))
    wishes = [w for w in wished(machine, workload, library) if whole and w[0] != workload.baseline]
    rows = evaluation.predict_all([*able, *(a for a, _ in wishes)])
    rows[len(able) :] = [replace(p, needs=needs) for p, (_, needs) in zip(rows[len(able) :], wishes, strict=True)]
    best, savings = drawn_rows(evaluation, rows, min_gain, every=whole)
    if profile.name != machine.library.name and library is None:
        notes.insert(
            0,
            f"{machine.library.name}, {machine.name}'s own, is not released: predicted for {profile.name}",
        )
    if workload.weights is not None:
        notes.append("MPI_Psend_init's partitions are all of one size: Pt2Pt part is left out (thread_shares)")
    rate = evaluation.delay / workload.partition_size
    form = closed_form(workload.threads, workload.partitions_per_thread, rate, evaluation.bandwidth)
    advice = advise(evaluation, profile, rows, best, min_gain, whole=whole)
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
    if savings is None or evaluation.step is not None:
        return prediction
    at = savings.ways.index((best.approach,))
    return with_inputs(prediction, levers(evaluation.drawn.sampler, savings.percent[at], min_gain))


def predict_step(
    machine: Machine,
    workload: Workload,
    library: str | None,
    seed: int,
    engine: Engine | None,
    draws: int | None,
    min_gain: float,
    *,
    whole: Collection[str] | None,
) -> Prediction:
    """Each exchange of a step with the others in bulk, and the step with each as advised.

    Arguments and errors as of `predict`.
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
    for of in each[1:]:  # the same machines for all
        of.drawn = each[0].drawn
    step = WholeStep(machine, workload, seed, each[0])
    stand_for = [] if rest else _stand_for(workload, each[0])

    def answered(of: Evaluation, *, all_of_it: bool) -> Prediction:
        notes = _of_one_exchange(machine, of.workload, "asked for the timeline") if of.rest else []
        return _answered(of, profile, library, min_gain, notes, whole=all_of_it)

    found = [answered(of, all_of_it=whole is None or of.workload.name in whole) for of in each]
    first = max(range(len(found)), key=lambda i: found[i].advised.speedup_percent)
    if whole != () and not found[first].advice.because:  # the reason of the step
        found[first] = answered(each[first], all_of_it=True)
    exchanges, most = tuple(found), found[first]
    ways = chosen_ways(workload, exchanges)
    rows, savings = step.predict(ways), None
    if len(rows) > 1 and draws != 0:
        savings = Savings(each[0].drawn, (tuple(w.baseline for w in workload.parts), tuple(ways)))
        rows = savings.rows(rows, min_gain)
    best = rows[-1]
    verdict = verdict_on(best, min_gain) if len(rows) > 1 else "do not port"
    common = [x for x in exchanges[0].advice.warnings if all(x in e.advice.warnings for e in exchanges)]
    own = [f"{e.workload['name']}: {x}" for e in exchanges for x in e.advice.warnings if x not in common]
    advice = Advice(
        verdict=verdict,
        best=best,
        min_gain=min_gain,
        here=None,
        pays=[],
        from_iterations=None,
        settings=list(dict.fromkeys(x for e in exchanges for x in e.advice.settings)),
        because=f"{most.workload['name']}, which saves most: {most.advice.because}",
        warnings=[*common, *own, *stand_for],
        certainty="" if best.probability is None else certainty_of(best.probability),
        probability=best.probability,
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
    if savings is None:
        return made
    return with_inputs(made, levers(savings.step.sampler, savings.percent[-1], min_gain))


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
