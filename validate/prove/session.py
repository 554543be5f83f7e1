"""A user's workload: its exchange predicted and measured, side by side."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from pready.calibrate.machine.calibration import calibrate, provenance, run_measurements
from pready.calibrate.measure.exchange_plan import step_plan
from pready.calibrate.measure.raw_file import read
from pready.calibrate.measure.session import Progress, environment_of, measure
from pready.model.advice.predict import as_sent_by, chosen_ways, predict, with_library
from pready.model.approach.interfaces import Approach
from pready.model.common.errors import PreadyError
from pready.model.engine.layout import of_a_step
from pready.model.machine import machine
from pready.model.machine.machine import Machine
from pready.model.machine.writing import dumps
from pready.model.result.verdict import INDISTINCT, MIN_GAIN
from pready.model.toml import dotted
from pready.model.workload.workload import Workload
from pready.validate.prove import design, placement
from pready.validate.prove.as_performed import as_performed
from pready.validate.prove.case import Case, cases_of
from pready.validate.prove.decision import between, decision, off_by, percent
from pready.validate.prove.design import Way
from pready.validate.prove.expected import Expected
from pready.validate.prove.judgement import Judgement, judge
from pready.validate.prove.performed import performed_in
from pready.validate.prove.placement import shared_cores
from pready.validate.prove.site import Site, Told, about_run, library_notes

PLANS, RAW, RAW_MACHINE = "plans", "exchange.jsonl", "machine.jsonl"
CALIBRATING = 0.5
"""Share of the budget for the calibration, where no machine is given."""
POINT_BUDGET_S = 0.4
"""Seconds of one of its points: many points, each measured briefly."""
SLOWER = 3.0
"""A round counts as hanging after ten times its predicted duration, times this factor."""
VCIS = "MPIR_CVAR_CH4_NUM_VCIS"
"""Gives MPICH so many VCIs; others do not know the variable."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What to measure, where and how long."""

    site: Site
    folder: Path  # where raw records, plans and the machine are kept
    budget_s: float
    seed: int = 0
    library: str | None = None  # to predict for; None: the machine's
    approaches: Sequence[Sequence[Approach]] = ()
    """Beside bulk, one for each exchange of the workload; empty: the advised ones and the best of the next
    interfaces."""
    min_gain: float = MIN_GAIN
    rounds: int = design.ROUNDS  # how often each way is measured
    on_progress: Callable[[Told], object] = lambda _: None

    @property
    def raw(self) -> Path:
        return self.folder / RAW

    @property
    def plans(self) -> Path:
        return self.folder / PLANS


@dataclass(frozen=True)
class Proof:
    """The result."""

    workload: Workload
    machine: Machine
    advised: Way
    cases: tuple[Case, ...]
    judged: Judgement  # what measuring says of the advised way
    decision: str  # the result in words
    below: tuple[str, ...]  # what else a decision takes into account
    failures: Mapping[str, str]  # why a way could not be measured, by its name
    title: str  # the workload, and how its ranks were started
    notes: tuple[str, ...]
    about: Mapping[str, str]  # what was measured where: library, hosts, seed, records

    def to_dict(self) -> dict[str, Any]:
        return {
            "decision": self.decision,
            "judged": asdict(self.judged),
            "title": self.title,
            "workload": dotted.written(self.workload),
            "folder": str(Path(self.workload.folder).absolute()),
            "cases": [c.to_dict() for c in self.cases],
            "notes": self.notes,
            "failures": dict(self.failures),
        }


def prove(workload: Workload, given: Machine | None, asked: Asked, on_note: Callable[[str], object]) -> Proof:
    """Measure a workload's exchange and compare the prediction with it.

    Resumes: results in the folder for the same workload, machine, seed and launcher are not measured again. Raises
    PreadyError: a workload that cannot be performed, a benchmark that does not run, or nothing to compare.

    Parameters
    ----------
    given
        None: calibrated first, with half of the budget; an earlier calibration in the folder is taken.
    on_note
        Receives what to know before measuring: threads that share cores, another library.
    """
    workload, notes = performable(workload, given, asked.approaches, asked.seed)
    about = environment_of(asked.site.launcher, asked.site.built)
    placement.check_ranks(about["hosts"], ranks_of(workload), asked.site.launcher.name)
    placement.check(workload, about["hosts"])
    notes += library_notes(about, given, asked.library)
    if shared := shared_cores(about, workload.threads):
        on_note(f"{shared}: the result will be undecided; give each thread a core (fewer ranks or threads, more nodes)")
    on = given if given is not None else _calibrated(workload, asked)
    on, profile = with_library(on, asked.library)
    workload = as_sent_by(workload, profile)
    left_s = asked.budget_s if given is not None else asked.budget_s * (1 - CALIBRATING)
    prediction = predict(on, workload, library=asked.library, seed=asked.seed, min_gain=asked.min_gain)
    baseline = design.way_of([w.baseline for w in workload.parts], workload)
    advised = design.advised(prediction, workload)
    told = chosen_ways(workload, prediction.exchanges) if prediction.exchanges else [prediction.advised.approach]
    if missing := {a.name for a, w in zip(told, workload.parts, strict=True) if not design.measurable(a, w)}:
        notes.append(f"not performed: {', '.join(sorted(missing))}, which is advised; the best that is stands for it")
    named = [tuple(design.as_done_by(profile, a) for a in each) for each in asked.approaches]
    wanted = [baseline.approaches, *named] if named else advised
    ways = [design.way_of(each, workload) for each in dict.fromkeys(wanted)]
    (steps,) = {of.pattern(w).exchanges(w.blocks) for w, of in zip(workload.parts, of_a_step(workload), strict=True)}
    first, count = design.iterations(
        prediction.bulk.iteration_s, len(ways), left_s, max(steps, len(workload.parts)), asked.rounds
    )
    name = step_plan(workload, first + count, asked.seed).write(asked.plans)
    environments, failures = _measure(ways, name, asked, left_s, (first + count) * prediction.bulk.iteration_s)
    content = read(asked.raw)
    unsupported = content.unsupported()
    failures |= {str(w): unsupported[p] for w in ways if (p := str(w.point(name, 0))) in unsupported}
    seen = {
        way: ran
        for way in ways
        if (ran := performed_in(content, way, environments[way.vcis], name, first, steps, asked.rounds)) is not None
    }
    if baseline not in seen or len(seen) < 2:
        measured = sum(r.get("parameters", {}).get("plan") == name for r in content.select("exchange"))
        raise _unmeasured(asked, failures, measured, len(ways) * asked.rounds)
    cases = cases_of(workload, Expected(on, workload, asked.seed, first, count, asked.min_gain), seen)
    environment = list(content.environments.values())[-1]
    advice = prediction.advice
    doubt = advice.doubt if advice.verdict == "undecided" else ""
    found = Found(workload, on, cases, failures, environment, tuple(notes), doubt)
    return _concluded(asked, found, advised[:2][-1])


def _unmeasured(asked: Asked, failures: Mapping[str, str], measured: int, wanted: int) -> PreadyError:
    """The error of a session that compared nothing, after so many of the wanted points."""
    why = "; ".join(f"{way}: {reason}" for way, reason in failures.items())
    valid = "approaches that can be performed here"
    if not failures:
        why = f"the budget ended after {measured} of {wanted}"
        valid = (
            f"a larger budget, such as --budget '{math.ceil(asked.budget_s * wanted / max(measured, 1))} s'; it resumes"
        )
    problem = f"bulk and another way were not measured in every round: {why}"
    return PreadyError(problem, valid=valid, source=str(asked.folder))


def performable(
    workload: Workload, given: Machine | None, approaches: Sequence[Sequence[Approach]], seed: int
) -> tuple[Workload, list[str]]:
    """The workload as it is measured, and what to say of it; what cannot be performed is refused, nothing started.
    Raises PreadyError: the workload, or one of the approaches that are named."""
    if any(part.consume is not None for part in workload.parts):
        raise PreadyError("pready prove with consume", valid="a workload without consume, or --source for a program")
    workload, notes = as_performed(workload)
    step_plan(workload, 1, seed)
    for each in ([w.baseline for w in workload.parts], *approaches):
        design.way_of(each, workload)
        design.check_windows(each, workload)
    if given is None and len(set(placement.nodes_of(workload) or ())) > 1:
        raise PreadyError(
            "ranks_per_node without --machine: only the path between nodes is calibrated here",
            valid="--machine FILE with an [intra] table, measured by 'pready calibrate --intra' on one node",
        )
    return workload, notes


def ranks_of(workload: Workload) -> int:
    """How many, of all exchanges."""
    return math.prod(of_a_step(workload)[0].grid)


def _calibrated(workload: Workload, asked: Asked) -> Machine:
    raw = asked.folder / RAW_MACHINE
    file = raw.with_suffix(".toml")
    if file.exists():
        return machine.load(str(file))
    asked.folder.mkdir(parents=True, exist_ok=True)

    def told(p: Progress) -> None:
        asked.on_progress(Told("calibrating", p.done, p.total, p.left_s))

    run_measurements(
        asked.site.launcher,
        asked.site.built,
        raw,
        threads=max(workload.threads, 2),
        budget_s=asked.budget_s * CALIBRATING,
        seed=asked.seed,
        on_point=told,
        point_budget_s=POINT_BUDGET_S,
    )
    done = calibrate(raw, name=asked.site.library, seed=asked.seed)
    on = done.described.machine
    if len(set(placement.nodes_of(workload) or range(ranks_of(workload)))) == 1:
        on = on.model_copy(update={"intra": on.inter})  # all ranks share a node: two of them measured there
    file.write_text(dumps(on, provenance(raw, done, asked.seed)), encoding="utf-8")
    return on


def _measure(
    ways: Sequence[Way], plan: str, asked: Asked, budget_s: float, round_s: float
) -> tuple[dict[int, str], dict[str, str]]:
    """All rounds of all ways.

    Returns
    -------
    The environment's key by VCIs, and why a way could not be measured.
    """
    listed = design.order(ways, asked.seed, asked.rounds)
    total, done = len(listed), 0
    environments: dict[int, str] = {}
    failures: dict[str, str] = {}
    launcher = asked.site.launcher
    for vcis in sorted({way.vcis for way in ways}):
        some = {w.point(plan, r): w for w, r in listed if w.vcis == vcis}
        settings = {VCIS: str(vcis)} if vcis > 1 else {}

        def told(p: Progress, before: int = done) -> None:
            asked.on_progress(Told("measuring", before + p.done, total, p.left_s))

        outcome = measure(
            some,
            replace(launcher, environment={**launcher.environment, **settings}),
            asked.raw,
            budget_s,
            told,
            built=asked.site.built,
            point_budget_s=max(SLOWER * round_s / 10, 0.5),
            seed=asked.seed % 2**32,
            folder=asked.plans,
        )
        done += len(some)
        environments[vcis] = outcome.environment
        for point, way in some.items():
            if str(point) in outcome.failures:
                failures[str(way)] = outcome.failures[str(point)].split("\n")[0]
    return environments, failures


@dataclass(frozen=True)
class Found:
    """What was measured, beside what was predicted."""

    workload: Workload
    machine: Machine
    cases: tuple[Case, ...]  # the baseline first
    failures: Mapping[str, str]  # why a way could not be measured, by its name
    environment: Mapping[str, Any]  # the benchmark's record of where it ran
    notes: tuple[str, ...]
    doubt: str = ""  # why the prediction is none of the captured run; empty: it is, or there was none


def _concluded(asked: Asked, found: Found, advised: tuple[Approach, ...]) -> Proof:
    """The decision, from the advised way's saving; undecided where threads share cores, now or when captured."""
    workload, cases, environment = found.workload, found.cases, found.environment
    fine = [c for c in cases if c.way.approach != workload.baseline]
    chosen = next((c for c in fine if c.way.approaches == advised), max(fine, key=lambda c: c.expected.eta))
    e, shared = chosen.expected, shared_cores(environment, workload.threads) or found.doubt
    (today,) = (c for c in cases if c.way.approach == workload.baseline)
    off = off_by(today.measured.iteration_s, today.iteration, asked.min_gain)
    judged = judge(
        (e.saving, e.saving_low, e.saving_high),
        e.probability,
        chosen.measured.saving,
        asked.min_gain,
        shared=bool(shared),
        off=bool(off),
    )
    rounds = judged.saving.rounds
    more = judged.rounds or rounds
    options = f"--rounds {more} --budget '{math.ceil(asked.budget_s * more / rounds)} s'"
    hosts = set(environment.get("hosts", ()))
    noted = [
        *found.notes,
        f"{cases[0].performed.times.shape[1] - cases[0].performed.first} iterations of {len(cases)} ways, {rounds} "
        f"rounds side by side; communication repeats within {100 * max(c.performed.spread for c in cases):.1f} %",
        *(f"{way} could not be measured: {why}" for way, why in found.failures.items()),
    ]
    if placement.nodes_of(workload) is None and 0 < len(hosts) < ranks_of(workload):
        noted.append(
            f"{ranks_of(workload)} ranks ran on {len(hosts)} host{'s' * (len(hosts) > 1)}, and the workload gives each "
            "an adapter of its own (ranks_per_node says otherwise)"
        )
    site = asked.site
    return Proof(
        workload,
        found.machine,
        chosen.way,
        cases,
        judged,
        decision(chosen.words, judged, shared, options, off),
        (*_better(chosen, fine), *([f"{chosen.words}: {chosen.why}"] if chosen.why else [])),
        found.failures,
        f"{workload.name}: {site.launcher.name}",
        tuple(noted),
        {"machine": found.machine.name, **about_run(environment, site.launcher, site.built, asked.seed, asked.raw)},
    )


def _better(chosen: Case, others: Sequence[Case]) -> list[str]:
    """A way that measured clearly better than the advised one."""
    best = max(others, key=lambda c: c.measured.saving.value)
    s, advised = best.measured.saving, chosen.measured.saving
    if s.low <= advised.high or s.value - advised.value < INDISTINCT:
        return []
    return [f"measured best: {best.words} saved {percent(s.value)} of an iteration ({between(s.low, s.high)})"]
