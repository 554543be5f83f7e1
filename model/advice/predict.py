"""The main job: Machine + Workload → Prediction.

The timeline predicts two ranks. The engine simulates patterns of more, because a late neighbour delays both bulk and
the approach, and its own neighbours an iteration later.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Literal

from pready.model.advice.advise import advise, with_inputs
from pready.model.advice.best_way import drawn_rows
from pready.model.advice.capture_check import held_against
from pready.model.advice.inputs import asked_for, levers, measure_next
from pready.model.advice.proven import Proven, chosen, with_proofs
from pready.model.advice.savings import Savings, drawn_row
from pready.model.approach.interfaces import (
    BULK,
    INTERFACES,
    PART_AM,
    SEVERAL,
    Approach,
    Interface,
    boundary_first,
    tested,
)
from pready.model.approach.libraries import LibraryProfile, early, version_in
from pready.model.approach.libraries import library as library_by_name
from pready.model.approach.vcis import enumerate_approaches, transport_counts
from pready.model.common.arrays import Array
from pready.model.common.errors import PreadyError
from pready.model.common.parallel import all_cores
from pready.model.engine.layout import Step, check_memory_of, cut, of_a_step, unable
from pready.model.engine.messages import partitions_per_direction
from pready.model.engine.runs import Rows, Runs
from pready.model.equations.closed_form import closed_form
from pready.model.equations.metrics import speedup_percent
from pready.model.machine.contention_by_library import with_contention
from pready.model.machine.machine import Machine
from pready.model.machine.rma_by_library import unmeasured, with_rma
from pready.model.machine.transports import with_border, with_copies, with_puts
from pready.model.result.interval import interval, median
from pready.model.result.prediction import Advice, ApproachPrediction, Merged, Partitioned, Prediction, Verdict
from pready.model.result.verdict import (
    INDISTINCT,
    MIN_GAIN,
    certainty_of,
    enough,
    never,
    verdict_on,
)
from pready.model.version import VERSION
from pready.model.workload import supported_by
from pready.model.workload.merging import merged
from pready.model.workload.workload import Workload

Engine = Literal["timeline", "engine"]


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
        return replace(profile, messages=like.messages, early=measured.value, why=said)
    if profile.part is None or not own or measured.value == profile.early:
        return profile
    return profile.measured(early=measured.value, why=said)


def with_library(machine: Machine, name: str | None = None) -> tuple[Machine, LibraryProfile]:
    """A machine as used by the library to predict for, and that library."""
    profile = effective_library(machine, name)
    return as_used_by(machine, profile), profile


def as_sent_by(workload: Workload, profile: LibraryProfile) -> Workload:
    """A workload whose partitions of today go in one message, where the library sends none early."""
    if workload.today != "partitioned" or profile.part is not PART_AM:
        return workload
    return workload.model_copy(update={"today": "partitioned, sent whole"})


def as_used_by(machine: Machine, profile: LibraryProfile) -> Machine:
    """The machine with a library's puts, contention, copies and border of the rendezvous."""
    of_library = with_rma(with_border(with_puts(machine, profile), profile), profile)
    return with_copies(with_contention(of_library, profile), profile)


def approaches(machine: Machine, workload: Workload, library: LibraryProfile) -> list[Approach]:
    """Every approach to evaluate, the baseline first."""
    counts = list(workload.transport_partitions or transport_counts(partitions_per_direction(workload)))
    contexts = machine.contexts.value
    out: list[Approach] = []
    for interface in menu(machine, workload, library):
        if interface is SEVERAL and not workload.baseline.interface.splits:
            continue
        vcis = library.part_vcis if interface.partitioned else library.max_vcis
        if workload.pattern == "bcast":
            if interface.one_sided or interface.tests:  # nothing tells who sends on
                continue
            vcis = 1 if interface.completes == "master" else vcis
        allowed = allowed_transports(workload, library, interface, counts)
        if interface is SEVERAL:  # fewer and larger ones than today; of one, there is SINGLE
            allowed = [t for t in allowed if 1 < t < workload.baseline.messages]
        if allowed:
            out += enumerate_approaches((interface,), workload.threads, allowed, contexts, vcis)
    return [workload.baseline, *(a for a in out if a != workload.baseline)]


def menu(machine: Machine, workload: Workload, library: LibraryProfile) -> list[Interface]:
    """Interfaces to port to: the interior comes later where a workload says what it is, and a thread makes progress
    where a rendezvous may wait for one."""
    of = () if library.part is None else (library.part, tested(library.part), boundary_first(library.part))
    keys = {i.key for i in of}
    on_call = machine.progress.value == "on-call" or machine.progress.source != "measured"

    def fits(interface: Interface) -> bool:
        helped = interface.tests or interface.progress_thread
        return not (
            (interface.partitioned and interface.key not in keys)
            or (helped and not (on_call and workload.receiver_computes))
            or (interface.boundary_first and workload.interior is None)
            or (interface.all_pack and (workload.pack is None or workload.packed_by != "one"))
        )

    return [interface for interface in INTERFACES if fits(interface)]


def allowed_transports(
    workload: Workload, library: LibraryProfile, interface: Interface, counts: list[int]
) -> list[int]:
    """Which of some counts of transport partitions a library makes of a buffer, and the workload allows."""
    received = workload.receive_partitions
    if workload.consume is not None and received is not None:  # each is in one message
        counts = [t for t in counts if received % t == 0]
    if not interface.partitioned:
        return counts
    able = library.transports(counts, workload.threads, workload.n_partitions, received)
    if library.told_if_alike and workload.consume is not None and received is not None:
        able = [t for t in able if t == received]
    return able


def wished(machine: Machine, workload: Workload, library: LibraryProfile) -> list[tuple[Approach, str]]:
    """Partitioned calls that send early, where a library's do not, and what they need."""
    other = early(library)
    if other is None:
        return []
    able = [a for a in approaches(machine, workload, other) if a.interface is other.part and a != workload.baseline]
    widest = {a.transport_partitions: a for a in sorted(able, key=lambda a: a.vcis)}
    needs = other.needs or (f"{other.name} from {other.part_since}" if other.name == library.name else other.name)
    return [(a, needs) for a in widest.values()]


def runs_of(
    machine: Machine,
    workload: Workload,
    seed: int = 0,
    engine: Engine | None = None,
    draws: int | None = None,
    cores: int | None = None,
    picks: tuple[int, ...] = (),
) -> tuple[Runs, list[str]]:
    """The runs that predict a workload, and notes where they are not all of its ranks; arguments as `predict`'s.

    Raises
    ------
    PreadyError
        `engine` cannot simulate the workload.
    """
    several, one = workload.exchanges is not None, supported_by.beyond(workload, "timeline") is None
    if engine is not None or several or not one:
        supported_by.check(workload, engine or "engine")
    why, pair = unable(workload), workload.pattern == "pt2pt" and one
    rest = engine == "timeline" or (engine is None and not several and (pair or why is not None))
    if why is not None and not rest:
        if several:
            raise PreadyError(f"several exchanges per step: {why}", valid="a file for each exchange")
        raise PreadyError(f"engine = 'engine': {why}", valid="'timeline'")
    if not rest:
        runs = Runs(machine, Step.of_a_part(workload), Rows(draws, seed, picks=picks), cores)
        return runs, stands_for(workload, runs)
    if several and all(w.neighbours is None for w in workload.parts):
        for layout, part in zip(of_a_step(workload), workload.parts, strict=True):
            layout.pattern(part)  # refuses exchanges of different numbers of ranks
    notes = [] if several else from_rest(workload, why)
    return Runs(machine, Step.from_rest(workload), Rows(draws, seed, picks=picks), cores), notes


def from_rest(workload: Workload, because: str | None = None) -> list[str]:
    """Notes for exchanges from rest that stand for many ranks."""
    notes: list[str] = []
    if workload.pattern != "pt2pt":
        why = because or "asked for the timeline"
        notes.append(f"{why}: predicted from one exchange, without late neighbours")
    if workload.blocks_of_threads is not None:
        notes.append("the timeline ignores thread_grid: all threads fill every neighbour's buffer")
    return notes


def stands_for(workload: Workload, many: Runs) -> list[str]:
    """A note if fewer ranks or iterations were simulated than the workload has."""
    if workload.exchanges is None and (less := cut(workload)) is not None:
        return [less]
    whole = of_a_step(workload)[0].grid
    if math.prod(whole) == math.prod(many.pattern().grid) and many.iterations == workload.iterations:
        return []
    some, all_ = (" × ".join(str(n) for n in g if n > 1) or "1" for g in (many.pattern().grid, whole))
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
    sizes: bool | None = None,
    cores: int | None = None,
    proofs: Sequence[Proven] = (),
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
        The exchanges of a step, or the workload, whose approaches are all wanted, with a reason; absent, all. Of the
        others only what may be advised is simulated.
    sizes
        Also the buffers and messages for which a port pays, if there is one exchange; absent, with what `whole` names.
    cores
        For the engine; absent, all.
    proofs
        Exchanges that were measured with real MPI on this machine.

    Raises
    ------
    PreadyError
        An unknown library, or a workload outside what the machine describes.
    """
    machine, profile = with_library(machine, library)
    workload = as_sent_by(workload, profile)
    if workload.on_gpu and whole is None:
        runs, notes = runs_of(machine, workload.in_waves(), seed, engine, draws, cores)
        by = {"compute": workload.compute.model_dump(mode="json")}
        found = _of_gpu(runs, profile, min_gain, notes)
        return replace(found, workload=found.workload | by)
    known = chosen(machine, proofs, seed, cores) if proofs else None
    runs, notes = runs_of(machine, workload, seed, engine, draws, cores, known.picks if known else ())
    if workload.exchanges is not None:
        found = _step(runs, profile, library, min_gain, notes, whole=whole)
    else:
        wanted = whole is None or workload.name in whole
        sizes = wanted if sizes is None else sizes
        found = _answered(runs, 0, profile, library, min_gain, notes, whole=wanted, sizes=sizes)
        if wanted and runs.draws and not found.advice.ask:
            found = replace(found, advice=replace(found.advice, ask=_today_asked(runs, found)))
    found = held_against(found, workload.captured)
    return found if known is None else with_proofs(found, workload, proofs, known)


def _today_asked(runs: Runs, found: Prediction) -> str:
    """Ask how a code sends that nothing would help, where many messages of its own would be worth joining."""
    (workload,), advice = runs.parts, found.advice
    if "today" in workload.model_fields_set or advice.verdict != "do not port" or workload.n_partitions == 1:
        return ""
    try:
        several = runs.of(workload.changed(today="several messages"))
        (row,) = several.predicted([(BULK,)], calm=False)
    except PreadyError:  # what is not sent in several messages
        return ""
    if verdict_on(row, advice.min_gain) != "port":
        return ""
    saves = f"one in place of {workload.n_partitions} saves {row.speedup_percent:.2g} %"
    return f"Say `today` in the workload, where a neighbour gets several messages: {saves}"


def _of_gpu(runs: Runs, profile: LibraryProfile, min_gain: float, notes: list[str]) -> Prediction:
    """The bound alone of a GPU's waves: no time of a device is known."""
    today = runs.predicted([runs.step.today], 0)
    bound = bound_row(runs, min_gain)
    advice = advise(runs, profile, today, today[0], min_gain, where=False, reason=False)
    told = replace(
        advice, partitioned=None, bound=bound, never=never(bound, min_gain, shared=runs.shared_adapter), warnings=notes
    )
    could = verdict_on(bound, min_gain)
    verdict: Verdict = "do not port" if could == "do not port" else "undecided"
    sure = certainty_of(bound.probability or 0.0) if verdict == "do not port" else ""
    return _prediction(runs, 0, profile, today, replace(told, verdict=verdict, certainty=sure, probability=None))


def bound_row(runs: Runs, min_gain: float, number: int = 0) -> ApproachPrediction:
    """What no library exceeds in one exchange of a step."""
    approach = runs.bound(number)
    if runs.draws == 0:
        return runs.predicted([runs.step.way(approach, number)], number)[0]
    return drawn_row(runs, approach, min_gain=min_gain, number=number)


def _answered(
    runs: Runs,
    number: int,
    profile: LibraryProfile,
    library: str | None,
    min_gain: float,
    notes: list[str],
    *,
    whole: bool,
    sizes: bool,
) -> Prediction:
    """The prediction of one exchange of a step; `whole` and `sizes`: see `predict`."""
    machine, workload = runs.machine, runs.parts[number]
    able = approaches(machine, workload, profile)
    if not whole and unmeasured(machine):  # not advised, and not shown
        able = [a for a in able if a == workload.baseline or not a.interface.one_sided]
    check_memory_of(workload, runs.pattern(number), len(able), runs.cores or all_cores())
    wishes = wished(machine, workload, profile)
    rows = runs.predicted([runs.step.way(a, number) for a in (*able, *(a for a, _ in wishes))], number)
    rows[len(able) :] = [replace(p, needs=needs) for p, (_, needs) in zip(rows[len(able) :], wishes, strict=True)]
    best, savings = drawn_rows(runs, rows, min_gain, every=whole, number=number)
    bound = bound_row(runs, min_gain, number) if whole else None
    if bound is not None:
        at = next(n for n, row in enumerate(rows) if row is best)
        rows = [row.within(bound, rows[0]) for row in rows]
        best = rows[at]
    if profile.name != machine.library.name and library is None:
        notes.insert(0, f"{machine.library.name}, {machine.name}'s own, is not released: predicted for {profile.name}")
    advice = advise(runs, profile, rows, best, min_gain, where=sizes, reason=whole, number=number)
    advice = replace(advice, warnings=[*advice.warnings, *notes])
    if bound is not None:
        advice = replace(advice, bound=bound, never=never(bound, min_gain, shared=runs.shared_adapter))
    prediction = _prediction(runs, number, profile, rows, advice)
    if savings is None or not whole or len(runs.parts) > 1:
        return prediction
    return _with_inputs(prediction, runs, savings.percent[savings.ways.index((best.approach,))])


def _prediction(
    runs: Runs, number: int, profile: LibraryProfile, rows: list[ApproachPrediction], advice: Advice
) -> Prediction:
    """What is said of one exchange."""
    machine, workload = runs.machine, runs.parts[number]
    delay, many = runs.delay(number), None if runs.step.rest else runs
    rate, bandwidth = delay / workload.partition_size, runs.bandwidth(number)
    form = closed_form(workload.threads, workload.partitions_per_thread, rate, bandwidth)
    return Prediction(
        version=VERSION,
        seed=runs.rows.seed,
        machine=machine.name,
        library=profile.name,
        workload=workload.model_dump(mode="json"),
        closed_form={"eta": form.eta, "gamma_s_per_byte": form.gamma, "delay_s": delay},
        approaches=rows,
        advice=advice,
        engine="engine" if many else "timeline",
        ranks=many.pattern().grid if many else (),
        iterations=many.iterations if many else 1,
    )


def _step(
    runs: Runs,
    profile: LibraryProfile,
    library: str | None,
    min_gain: float,
    stand_for: list[str],
    *,
    whole: Collection[str] | None,
) -> Prediction:
    """Each exchange of a step with the others in bulk, and the step with each as advised; `whole`: see `predict`."""
    machine, workload, numbers = runs.machine, runs.step.workload, range(len(runs.parts))

    def answered(number: int, *, all_of_it: bool) -> Prediction:
        notes = from_rest(runs.parts[number]) if runs.step.rest else []
        return _answered(runs, number, profile, library, min_gain, notes, whole=all_of_it, sizes=False)

    found = [answered(n, all_of_it=whole is None or runs.parts[n].name in whole) for n in numbers]
    first = max(numbers, key=lambda i: found[i].advised.speedup_percent)
    if whole != () and not found[first].advice.because:  # the reason of the step
        found[first] = answered(first, all_of_it=True)
    exchanges, most = tuple(found), found[first]
    base, ways = [*runs.step.today], chosen_ways(workload, exchanges)
    asked = [_partitioned_ways(workload, exchanges, early=early) for early in (False, True)]
    most_ways = [] if whole == () else [[runs.bound(n) for n in numbers]]
    distinct = [*dict.fromkeys(map(tuple, (base, ways, *asked, *most_ways)))]
    rows, savings = runs.predicted(distinct), None
    if len(rows) > 1 and runs.draws:
        savings = Savings(runs, tuple(distinct))
        rows = savings.rows(rows, min_gain)
    by_way = dict(zip(distinct, rows, strict=True))
    best, row, if_early = (by_way[tuple(of)] for of in (ways, *asked))
    sends = exchanges[0].advice.partitioned
    assert sends is not None
    needs = next((p.needs for e in exchanges if (p := e.advice.partitioned and e.advice.partitioned.if_early)), "")
    partitioned = Partitioned(
        row if asked[0] != base else None,
        "do not port" if asked[0] == base else verdict_on(row, min_gain),
        replace(if_early, needs=needs) if needs else None,
        sends.unknown,
    )
    verdict = verdict_on(best, min_gain) if ways != base else "do not port"
    exchanges = tuple(_of_the_step(e, verdict, best, w, profile) for e, w in zip(exchanges, runs.parts, strict=True))
    common = [x for x in exchanges[0].advice.warnings if all(x in e.advice.warnings for e in exchanges)]
    own = [f"{e.workload['name']}: {x}" for e in exchanges for x in e.advice.warnings if x not in common]
    advice = Advice(
        verdict=verdict,
        best=best,
        min_gain=min_gain,
        here=None,
        pays=None,
        from_iterations=None,
        settings=list(dict.fromkeys(x for e in exchanges for x in e.advice.settings)),
        because=f"{most.workload['name']}, which saves most: {most.advice.because}",
        warnings=[*common, *own, *stand_for],
        certainty="" if best.probability is None else certainty_of(best.probability),
        probability=best.probability,
        partitioned=partitioned,
        merged=_merged(runs, min_gain) if runs.draws else None,
    )
    if most_ways:
        bound = by_way[tuple(most_ways[0])]
        advice = replace(advice, bound=bound, never=never(bound, min_gain, shared=runs.shared_adapter))
    delay = sum(e.closed_form["delay_s"] for e in exchanges)
    made = Prediction(
        version=VERSION,
        seed=runs.rows.seed,
        machine=machine.name,
        library=profile.name,
        workload=workload.model_dump(mode="json"),
        closed_form={**max(exchanges, key=lambda e: e.bulk.time_s).closed_form, "delay_s": delay},
        approaches=[by_way[tuple(base)], *([best] if ways != base else [])],
        advice=advice,
        engine=exchanges[0].engine,
        ranks=exchanges[0].ranks,
        iterations=exchanges[0].iterations,
        exchanges=exchanges,
        share=workload.share,
    )
    if savings is None:
        return made
    return _with_inputs(made, runs, savings.percent[distinct.index(tuple(ways))])


def _with_inputs(prediction: Prediction, runs: Runs, percent: Array) -> Prediction:
    """A prediction with what the drawn savings of its advised way rest on."""
    of = runs.sampler, percent, prediction.advice.min_gain
    return with_inputs(prediction, levers(*of), ask=asked_for(*of), measure_next=measure_next(*of))


def _merged(runs: Runs, min_gain: float) -> Merged | None:
    """What a step saves, on the same drawn machines, if exchanges that follow each other are one."""
    found = merged(runs.step.workload)
    if found is None:
        return None
    other, names = found
    step = Step.from_rest(other) if runs.step.rest else Step.of_a_part(other)
    one = Runs(runs.machine, step, replace(runs.rows, draws=runs.draws), runs.cores)
    before, after = (Savings(of, (of.step.today,)).times(of.step.today)[1] for of in (runs, one))
    percent = speedup_percent(before, after)
    return Merged(names, median(percent), *interval(percent), float(enough(percent, min_gain).mean()))


def _of_the_step(
    made: Prediction, verdict: Verdict, best: ApproachPrediction, workload: Workload, profile: LibraryProfile
) -> Prediction:
    """An exchange with the step's verdict, if it is among those to port: alone it may save too little."""
    advice, approach = made.advice, made.advised.approach
    if not enough(made.advised.speedup_percent, INDISTINCT):
        return replace(made, advice=replace(advice, verdict="do not port", settings=[]))
    sure = "" if best.probability is None else certainty_of(best.probability)
    settings = profile.settings(approach, workload.buffer, workload.threads, workload.n_partitions)
    said = replace(advice, verdict=verdict, certainty=sure, probability=best.probability)
    return replace(made, advice=replace(said, settings=settings if verdict != "do not port" else []))


def _partitioned_ways(workload: Workload, exchanges: Sequence[Prediction], *, early: bool) -> list[Approach]:
    """Each exchange of a step by MPI_Psend where that saves anything, else as today; `early`: if it sent early."""
    out = []
    for e, w in zip(exchanges, workload.parts, strict=True):
        of = e.advice.partitioned
        row = None if of is None else of.if_early if early and of.if_early is not None else of.row
        out.append(row.approach if row is not None and row.speedup_percent >= 100 * INDISTINCT else w.baseline)
    return out


def advised(
    machine: Machine, workload: Workload, *, library: str | None = None, seed: int = 0, engine: Engine | None = None
) -> list[Approach]:
    """The approach that `predict` advises for each exchange; arguments and errors as there."""
    made = predict(machine, workload, library=library, seed=seed, engine=engine, whole=(), sizes=False)
    return [of.advised.approach for of in made.exchanges or (made,)]


def chosen_ways(workload: Workload, exchanges: Sequence[Prediction]) -> list[Approach]:
    """The approach of each exchange of a step.

    One that saves too little by itself may be worth porting with the others.
    """
    return [
        e.advised.approach if e.advised.speedup_percent >= 100 * INDISTINCT else w.baseline
        for e, w in zip(exchanges, workload.parts, strict=True)
    ]


def ways_said(workload: Workload, exchanges: Sequence[Prediction]) -> str:
    """How each exchange of a step is sent, in words."""
    names, ways = [e.workload["name"] for e in exchanges], chosen_ways(workload, exchanges)
    said = ["bulk" if a == BULK else f"{a.name}, {a.transport_partitions} × {a.vcis} VCI" for a in ways]
    return ", ".join(f"{name}: {way}" for name, way in zip(names, said, strict=True))
